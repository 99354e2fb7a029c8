//! Mates in one to four moves are found, with the right distance and a line that mates.

use std::ops::ControlFlow;

use pleach::board::{Game, Position};
use pleach::engine::{AnalysisLine, Engine, Event, Request};
use pleach::types::CastlingMode;

/// Positions and the fewest moves in which the side to move mates.
const MATES: &[(&str, i32)] = &[
    ("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1", 1),
    (
        "r1bqkb1r/pppp1ppp/2n2n2/4p2Q/2B1P3/8/PPPP1PPP/RNB1K1NR w KQkq - 4 4",
        1,
    ),
    ("3k4/8/4K3/8/8/8/8/7R w - - 0 1", 2),
    (
        "r2qkb1r/pp2nppp/3p4/2pNN1B1/2BnP3/3P4/PPP2PPP/R2bK2R w KQkq - 1 1",
        2,
    ),
    ("4kb1r/p2n1ppp/4q3/4p1B1/4P3/1Q6/PPP2PPP/2KR4 w k - 1 1", 2),
    (
        "5rkr/pp2Rp2/1b1p1Pb1/3P2Q1/2n3P1/2p5/P4P2/4R1K1 w - - 1 1",
        2,
    ),
    ("r5rk/5p1p/5R2/4B3/8/8/7P/7K w - - 0 1", 3),
    ("r4r1k/1R1R2p1/7p/8/8/3Q1Ppq/P7/6K1 w - - 0 1", 4),
    ("8/8/5Q2/8/3K2k1/8/8/8 w - - 0 1", 4),
    ("8/8/8/8/8/5K2/7Q/5k2 b - - 0 1", -1),
];

/// Nodes within which each of these mates must be proven; far more than needed.
const NODES: u64 = 2_000_000;

fn solve(fen: &str, moves: i32) -> AnalysisLine {
    let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
    let mut engine = Engine::new();
    let request = Request {
        mate: u32::try_from(moves).ok(),
        nodes: Some(NODES),
        depth: Some(30),
        ..Request::default()
    };
    let mut last = None;
    engine
        .analyse(&Game::from(position), &request, |event| {
            if let Event::Line(line) = event {
                last = Some(line.clone());
            }
            ControlFlow::Continue(())
        })
        .expect("a search");
    last.expect("a line")
}

#[test]
fn mates_are_found_and_carried_out() {
    for &(fen, moves) in MATES {
        let line = solve(fen, moves);
        assert_eq!(
            line.info.score.mate_moves(),
            Some(moves),
            "{fen}: {}",
            line.info.score
        );
        let mut position = (*line.root).clone();
        for &m in &line.pv {
            position = position.play(m);
        }
        assert!(
            position.in_check() && !position.has_legal_move(),
            "{fen}: the line does not mate"
        );
    }
}
