//! With everything switched off that changes results, the engine's alpha-beta returns the value
//! of plain minimax: checked on random positions against a minimax too simple to be wrong.

use std::sync::Arc;
use std::time::Instant;

use pleach::board::Position;
use pleach::eval::{EvalKind, Evaluator};
use pleach::search::{Limits, SearchRequest, SearchWorker, Selectivity, Shared, Silent};
use pleach::tt::TranspositionTable;
use pleach::types::{Depth, Ply, Score};
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Three plies: a fourth could repeat a position, which the engine calls a draw.
const DEEPEST: i32 = 3;
const FIFTY_MOVES: u32 = 100;
/// The same positions in every run.
const SEED: u64 = 1;

/// Plays the game that these choices make, or as much of it as there is.
fn play(choices: &[usize]) -> Position {
    let mut position = Position::startpos();
    for choice in choices {
        let moves = position.legal_moves();
        let Some(&m) = moves.get(choice % moves.len().max(1)) else {
            break;
        };
        let next = position.play(m);
        if !next.has_legal_move() || next.is_insufficient_material() {
            break;
        }
        position = next;
    }
    position
}

fn minimax(position: &Position, depth: i32, ply: Ply) -> Score {
    let moves = position.legal_moves();
    if moves.is_empty() {
        return if position.in_check() {
            Score::mated_in(ply)
        } else {
            Score::DRAW
        };
    }
    if ply > Ply::ROOT
        && (position.is_insufficient_material() || position.halfmoves() >= FIFTY_MOVES)
    {
        return Score::DRAW;
    }
    if depth == 0 {
        let mut evaluator = Evaluator::new(EvalKind::Tapered);
        evaluator.reset(position);
        return evaluator.evaluate(position);
    }
    moves
        .into_iter()
        .map(|m| -minimax(&position.play(m), depth - 1, ply.next()))
        .max()
        .unwrap_or(Score::DRAW)
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 24,
        rng_seed: RngSeed::Fixed(SEED),
        failure_persistence: None,
        ..ProptestConfig::default()
    })]

    #[test]
    fn alpha_beta_is_minimax(
        choices in prop::collection::vec(0usize..300, 0..90),
        depth in 1..=DEEPEST,
    ) {
        let root = play(&choices);
        let table = TranspositionTable::new(1).expect("a mebibyte");
        let shared = Arc::new(Shared::new(table, 1));
        let mut worker = SearchWorker::new(0, Arc::clone(&shared), EvalKind::Tapered);
        shared.begin(false, Instant::now());
        let mut request = SearchRequest::new(root.clone(), Limits::to_depth(Depth(depth)));
        request.selectivity = Selectivity::Plain;
        // Nothing is searched where the game is over.
        let outcome = worker.search(&request, Box::new(Silent));
        prop_assert_eq!(outcome.is_some(), root.has_legal_move(), "{}", root.fen());
        if let Some(outcome) = outcome {
            prop_assert_eq!(outcome.score, minimax(&root, depth, Ply::ROOT), "{}", root.fen());
        }
    }
}
