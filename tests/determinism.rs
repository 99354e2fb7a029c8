//! A search with one thread is a pure function of its inputs: the position, the options, and what
//! was searched since the game began. (`.ci/run` compares the bench of both kinds of builds.)

mod common;

use std::ops::ControlFlow;

use common::engine;
use pleach::board::{Game, Start};
use pleach::engine::{Engine, Request};
use pleach::nnue::Isa;
use pleach::types::CastlingMode;

const DEPTH: i32 = 6;
/// Deep enough that entries of a table of a mebibyte are replaced.
const REPLACING_DEPTH: i32 = 14;
const POSITIONS: &[&str] = &[
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
];

/// Everything that a search found, as text.
fn search(engine: &mut Engine, fen: &str, depth: i32) -> String {
    let start = Start::Fen(fen.to_owned());
    let game = Game::new(&start, &[], CastlingMode::Standard).expect("a position");
    let found = engine
        .analyse(&game, &Request::to_depth(depth), |_| {
            ControlFlow::Continue(())
        })
        .expect("a search");
    let lines: Vec<_> = found
        .lines
        .iter()
        .map(|line| (line.info.score, line.info.hashfull, line.pv.clone()))
        .collect();
    format!("{} nodes, {:?}, {lines:?}", found.nodes, found.best)
}

/// A game's worth of searches, each on what the ones before left in the tables.
fn searches(engine: &mut Engine) -> Vec<String> {
    let searched = POSITIONS.iter().map(|fen| search(engine, fen, DEPTH));
    searched.collect()
}

#[test]
fn twice_in_one_process_and_at_once() {
    let all = std::thread::scope(|scope| {
        let runs: Vec<_> = (0..3)
            .map(|_| scope.spawn(|| searches(&mut Engine::new())))
            .collect();
        let ended = runs.into_iter().map(|run| run.join().expect("no panic"));
        ended.collect::<Vec<_>>()
    });
    assert!(all.iter().all(|run| *run == all[0]), "{all:#?}");
}

#[test]
fn a_new_game_forgets_everything() {
    let fresh = searches(&mut Engine::new());
    let mut used = Engine::new();
    used.settings.multi_pv = 3;
    search(&mut used, POSITIONS[1], DEPTH + 1);
    used.settings.multi_pv = 1;
    assert_ne!(
        searches(&mut used),
        fresh,
        "what was searched is remembered"
    );
    used.new_game().expect("a pool");
    assert_eq!(searches(&mut used), fresh);
}

#[test]
fn threads_that_are_gone_leave_nothing_behind() {
    let fresh = searches(&mut Engine::new());
    let mut engine = Engine::new();
    engine.set_threads(3).expect("threads");
    search(&mut engine, POSITIONS[1], DEPTH);
    engine.set_threads(1).expect("a thread");
    assert_eq!(searches(&mut engine), fresh);
}

#[test]
fn every_size_of_hash_repeats_itself() {
    for mib in [1, 3, 5, 7, 12, 16] {
        // Both live at once, so that their tables lie at different addresses.
        let [mut first, mut second] = [Engine::new(), Engine::new()];
        let run = |engine: &mut Engine| {
            engine.set_hash(mib).expect("memory");
            let mut found = searches(engine);
            found.push(search(engine, POSITIONS[1], REPLACING_DEPTH));
            found
        };
        assert_eq!(run(&mut first), run(&mut second), "{mib} MiB");
    }
}

#[test]
fn every_instruction_set_searches_the_same() {
    let nodes = |simd: &str| {
        let bench = engine()
            .args(["bench", "4"])
            .env("PLEACH_SIMD", simd)
            .env_remove("RUST_LOG")
            .output()
            .expect("the engine runs");
        // A name that is not taken is said to be so.
        let refused = String::from_utf8_lossy(&bench.stderr).into_owned();
        assert_eq!(refused, "", "{simd}");
        let text = String::from_utf8(bench.stdout).expect("text");
        let last = text.lines().last().unwrap_or_default();
        let nodes = last.split(' ').next().map(str::parse::<u64>);
        nodes.and_then(Result::ok).expect("a number of nodes")
    };
    let counts = Isa::available().into_iter().map(|isa| nodes(isa.name()));
    let counts: Vec<u64> = counts.collect();
    assert!(counts.iter().all(|&count| count == counts[0]), "{counts:?}");
}

/// Otherwise a misspelt name would compare a set with itself.
#[test]
fn an_unknown_instruction_set_is_warned_of() {
    let bench = engine()
        .args(["bench", "1"])
        .env("PLEACH_SIMD", "avx1024")
        .env_remove("RUST_LOG")
        .output()
        .expect("the engine runs");
    let warning = String::from_utf8_lossy(&bench.stderr).into_owned();
    assert!(bench.status.success());
    assert!(
        warning.contains("PLEACH_SIMD") && warning.contains("avx1024"),
        "{warning}"
    );
}
