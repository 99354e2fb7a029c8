//! Perft: counting the leaves of the tree of legal moves, the standard test of a move generator.

use shakmaty::{Chess, Position as _};

use super::legality::Legality;
use super::movegen::{self, Stage};
use super::position::Position;
use crate::types::MoveList;

/// How many lines of `depth` legal moves the position has.
#[must_use]
pub fn perft(position: &Position, depth: u32) -> u64 {
    if depth == 0 {
        1
    } else {
        count(position.chess(), depth)
    }
}

fn count(chess: &Chess, depth: u32) -> u64 {
    let Some(king) = chess.board().king_of(chess.turn()) else {
        return 0;
    };
    let legality = Legality::new(chess, king, chess.checkers());
    if depth == 1 {
        return movegen::count(chess, &legality);
    }
    let mut moves = MoveList::new();
    movegen::list(chess, &legality, Stage::All, &mut moves);
    moves
        .into_iter()
        .map(|m| {
            let mut child = chess.clone();
            child.play_unchecked(m);
            count(&child, depth - 1)
        })
        .sum()
}
