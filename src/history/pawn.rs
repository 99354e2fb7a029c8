//! Quiet moves by pawn structure.

use super::{Cell, PIECES, SQUARES, piece_index, table};
use crate::memory::LargeTable;
use crate::params as p;
use crate::types::{Piece, Square};

/// Pawn structures told apart; a power of two.
const STRUCTURES: usize = 1024;

/// Indexed `[pawn key][piece][to]`.
#[derive(Debug)]
pub struct PawnHistory(LargeTable<Cell>);

impl Default for PawnHistory {
    fn default() -> PawnHistory {
        PawnHistory(table(STRUCTURES * PIECES * SQUARES))
    }
}

impl PawnHistory {
    fn index(pawn_key: u64, piece: Piece, to: Square) -> usize {
        let structure = pawn_key as usize & (STRUCTURES - 1);
        (structure * PIECES + piece_index(piece)) * SQUARES + to.to_usize()
    }

    #[must_use]
    #[inline]
    pub fn get(&self, pawn_key: u64, piece: Piece, to: Square) -> i32 {
        if !p::use_pawn_history() {
            return 0;
        }
        self.0[PawnHistory::index(pawn_key, piece, to)].get()
    }

    #[inline]
    pub fn update(&mut self, pawn_key: u64, piece: Piece, to: Square, bonus: i32) {
        self.0[PawnHistory::index(pawn_key, piece, to)].update(bonus);
    }
}
