//! Very short searches with several threads, many times over: every move played was searched,
//! and every score is one that a search found. `PLEACH_STRESS=2000` sets how many searches of
//! each kind are run; on a machine whose cores are all busy, threads are stopped before they
//! have begun.

mod common;

use std::thread::sleep;
use std::time::Duration;

use common::{Client, best_move, field};
use pleach::board::Position;
use pleach::types::CastlingMode;

/// Searches of each kind unless the environment says otherwise.
const SEARCHES: usize = 12;
const SEED: u64 = 20_261_121;
/// No position below is worth more than this, in centipawns.
const LARGEST_SCORE: i32 = 15_000;

/// None is mate in a few moves; the last two have a single legal move.
const POSITIONS: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "1r3rk1/5pp1/1n2qn1p/1p1pPNb1/2pP2QP/2P5/1PB3P1/R1B1R1K1 w - - 0 1",
    "8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1",
    "r6k/6pp/8/8/8/8/5rPP/R6K w - - 0 1",
    "rnbqk1nr/pppp1ppp/8/4p3/1b2P3/3P1N2/PPP2PPP/RNBQKB1R w KQkq - 0 1",
    "4k3/8/8/8/8/8/4q3/4K2R w - - 0 1",
    "7k/8/8/8/8/8/r5PP/r5RK w - - 0 1",
];

fn searches() -> usize {
    std::env::var("PLEACH_STRESS")
        .ok()
        .map_or(SEARCHES, |text| {
            text.parse().expect("PLEACH_STRESS is a number")
        })
}

/// Runs one search and holds what was written to what a search can have found.
fn search(client: &mut Client, fen: &str, limits: &str, then: &[(&str, u64)]) {
    client.send(&format!("position fen {fen}"));
    client.send(&format!("go {limits}"));
    for (line, pause) in then {
        sleep(Duration::from_micros(*pause));
        client.send(line);
    }
    let lines = client.expect("bestmove");
    let played = best_move(&lines);
    let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
    assert!(position.parse_uci(played).is_ok(), "{played} in {fen}");
    let scored: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains(" score "))
        .collect();
    let last = scored
        .last()
        .unwrap_or_else(|| panic!("{fen}, {limits}: nothing was searched: {lines:#?}"));
    assert_eq!(
        field(last, "pv"),
        Some(played),
        "{fen}, {limits}: {lines:#?}"
    );
    for line in scored {
        let depth: i32 = field(line, "depth")
            .and_then(|d| d.parse().ok())
            .expect("a depth");
        let score: i32 = field(line, "cp")
            .and_then(|cp| cp.parse().ok())
            .unwrap_or(0);
        assert!(
            depth >= 1 && score.abs() <= LARGEST_SCORE,
            "{fen}, {limits}: {lines:#?}"
        );
    }
}

fn stress(threads: usize) {
    let mut client = Client::greeted();
    client.send(&format!("setoption name Threads value {threads}"));
    let mut rng = fastrand::Rng::with_seed(SEED);
    for round in 0..searches() {
        if rng.u32(..8) == 0 {
            client.send("ucinewgame");
        }
        let fen = POSITIONS[round % POSITIONS.len()];
        let mut pause = || rng.u64(..3000);
        search(&mut client, fen, "nodes 500", &[]);
        search(&mut client, fen, "movetime 10", &[]);
        search(&mut client, fen, "wtime 100 btime 100", &[]);
        let ponder = "ponder wtime 100 btime 100";
        search(&mut client, fen, ponder, &[("ponderhit", pause())]);
        search(&mut client, fen, ponder, &[("stop", pause())]);
        let both = [("ponderhit", pause()), ("stop", pause())];
        search(&mut client, fen, ponder, &both);
    }
    client.send("quit");
    assert!(client.wait().success());
}

#[test]
fn two_threads_play_only_what_was_searched() {
    stress(2);
}

#[test]
fn four_threads_play_only_what_was_searched() {
    stress(4);
}

#[test]
fn sixteen_threads_play_only_what_was_searched() {
    stress(16);
}
