//! Perft against published counts: the standard suite, and Chess960.

use pleach::board::{Position, perft};
use pleach::types::CastlingMode;

/// Counts up to this many leaves are checked: seconds, even in a debug build.
const MOST_LEAVES: u64 = 1_000_000;

/// Checks every line of a suite: a FEN, then `;D1 20 ;D2 400` and so on.
fn check(suite: &str, mode: CastlingMode) {
    let mut checked = 0;
    for line in suite.lines().filter(|line| !line.trim().is_empty()) {
        let (fen, counts) = line.split_once(';').expect("a count");
        let position = Position::from_fen(fen.trim(), mode).expect("a position");
        for count in counts.split(';') {
            let (depth, leaves) = count
                .trim()
                .trim_start_matches('D')
                .split_once(' ')
                .expect("depth and count");
            let depth: u32 = depth.parse().expect("a depth");
            let leaves: u64 = leaves.trim().parse().expect("a count");
            if leaves <= MOST_LEAVES {
                assert_eq!(perft(&position, depth), leaves, "{fen} at depth {depth}");
                checked += 1;
            }
        }
    }
    assert!(checked > 0);
}

#[test]
fn the_standard_suite() {
    check(include_str!("data/perftsuite.epd"), CastlingMode::Standard);
}

#[test]
fn the_standard_suite_under_chess960_rules() {
    check(include_str!("data/perftsuite.epd"), CastlingMode::Chess960);
}

#[test]
fn chess960() {
    check(include_str!("data/chess960.epd"), CastlingMode::Chess960);
}
