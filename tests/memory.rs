//! Resident memory: the hash table and a fixed part, and no growth, neither over many searches nor
//! in one without end.
#![cfg(target_os = "linux")]

mod common;

use std::fs;
use std::time::{Duration, Instant};

use common::{Client, engine, field};
use pleach::board::Position;
use pleach::types::CastlingMode;

const KIB_PER_MIB: u64 = 1024;

/// Resident memory of a running engine in KiB.
fn resident(client: &Client) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", client.id())).expect("a process");
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"));
    let number = line.and_then(|line| line.split_whitespace().next());
    number.and_then(|text| text.parse().ok()).expect("a number")
}

/// MiB in use beside the hash table, as the bench says.
fn fixed_part(hash_mib: u64) -> u64 {
    let hash = hash_mib.to_string();
    let bench = engine()
        .args(["bench", "5", "--memory", "--hash", &hash])
        .output()
        .expect("the engine runs");
    let text = String::from_utf8(bench.stdout).expect("text");
    let line = text
        .lines()
        .find(|line| line.starts_with("Resident memory"))
        .expect("a line about memory");
    assert!(line.contains(&format!(" {hash} of them hash")), "{line}");
    let words: Vec<&str> = line.split_whitespace().collect();
    words[words.len() - 3].parse().expect("MiB")
}

#[test]
fn memory_is_hash_and_a_fixed_part() {
    /// A table that is not all in use yet looks smaller; the rest never differs by as much.
    const TOLERANCE: u64 = 8;
    let (small, large) = (fixed_part(4), fixed_part(64));
    assert!(
        small.abs_diff(large) <= TOLERANCE,
        "{small} and {large} MiB"
    );
}

/// `PLEACH_SEARCHES=100000` sets how many.
#[test]
fn a_thousand_searches_take_no_memory() {
    const SEARCHES: usize = 1000;
    const WARM_UP: usize = 200;
    /// Fragments of the allocator. A leak of a move list in each search is more.
    const MOST_GROWTH: u64 = KIB_PER_MIB;
    let searches = std::env::var("PLEACH_SEARCHES").map_or(SEARCHES, |text| {
        text.parse().expect("PLEACH_SEARCHES is a number")
    });
    let mut client = Client::greeted();
    client.send("setoption name Hash value 1\nsetoption name Threads value 2");
    let search = |client: &mut Client, round: usize| {
        if round.is_multiple_of(50) {
            client.send("ucinewgame");
        }
        let moves = ["e2e4", "d2d4", "g1f3", "c2c4 e7e5"][round % 4];
        client.send(&format!("position startpos moves {moves}"));
        client.go("nodes 300");
        client.heard.clear();
    };
    (0..WARM_UP).for_each(|round| search(&mut client, round));
    let before = resident(&client);
    (0..searches).for_each(|round| search(&mut client, round));
    let after = resident(&client);
    assert!(
        after <= before + MOST_GROWTH,
        "{before} KiB before, {after} KiB after {searches} searches"
    );
}

const MIDDLEGAME: &str = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
const LINES: usize = 4;

/// The depth of a line of a search, which is held to what a search can have found.
fn sane_depth(line: &str, root: &Position) -> i32 {
    /// The position is not worth more, in centipawns.
    const LARGEST_SCORE: i32 = 3000;
    let number = |name| field(line, name).and_then(|text| text.parse::<i32>().ok());
    let score = number("cp").unwrap_or_else(|| panic!("no score: {line}"));
    assert!(score.abs() <= LARGEST_SCORE, "{line}");
    let index = number("multipv").expect("an index");
    assert!((1..=LINES as i32).contains(&index), "{line}");
    let (_, moves) = line.split_once(" pv ").expect("a line");
    let mut position = root.clone();
    for text in moves.split(' ') {
        let played = position.parse_uci(text);
        position = position.play(played.unwrap_or_else(|error| panic!("{error}: {line}")));
    }
    number("depth").expect("a depth")
}

/// `PLEACH_ENDLESS_SECONDS=3600` sets how long the search is watched.
#[test]
fn a_search_without_end_takes_no_memory() {
    const WATCHED: Duration = Duration::from_secs(2);
    /// After so many iterations most of the tables are in use.
    const WARM_UP: i32 = 6;
    const STEP: Duration = Duration::from_millis(100);
    /// The hash table of a mebibyte and the histories may fill meanwhile.
    const MOST_GROWTH: u64 = 4 * KIB_PER_MIB;
    let watched = std::env::var("PLEACH_ENDLESS_SECONDS").map_or(WATCHED, |text| {
        Duration::from_secs(text.parse().expect("PLEACH_ENDLESS_SECONDS is a number"))
    });
    let root = Position::from_fen(MIDDLEGAME, CastlingMode::Standard).expect("a position");
    let mut client = Client::greeted();
    client.send(&format!(
        "setoption name Hash value 1\nsetoption name Threads value 2\n\
         setoption name MultiPV value {LINES}\nucinewgame\nposition fen {MIDDLEGAME}\ngo infinite"
    ));
    client.expect(&format!("info depth {WARM_UP} "));
    let (mut before, mut after) = (resident(&client), 0);
    let (mut deepest, started) = (WARM_UP, Instant::now());
    client.heard.clear();
    while started.elapsed() < watched {
        client.expect_silence("bestmove", STEP);
        for line in client.heard.drain(..).filter(|line| line.contains(" pv ")) {
            let depth = sane_depth(&line, &root);
            // In the middle of an iteration some lines are still those of the one before.
            assert!(depth >= deepest - 1, "depth {deepest} before {line}");
            deepest = deepest.max(depth);
        }
        after = resident(&client);
        before = before.min(after);
    }
    println!("{before} KiB at first, {after} KiB after {watched:?}, depth {deepest}");
    assert!(after <= before + MOST_GROWTH, "{before} and {after} KiB");
    client.send("stop");
    let played = client.expect("bestmove");
    assert!(root.parse_uci(common::best_move(&played)).is_ok());
}
