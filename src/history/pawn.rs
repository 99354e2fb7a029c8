//! Quiet moves by pawn structure.

use super::continuation::{PIECE_TO, PieceTo, PieceToRow};
use super::{Cell, table};
use crate::memory::LargeTable;
use crate::params as p;

/// Pawn structures told apart; a power of two.
const STRUCTURES: usize = 1024;

/// What every structure shows while the technique is off.
static NOTHING: [Cell; PIECE_TO] = [Cell::ZERO; PIECE_TO];

/// Indexed `[pawn key][piece and square]`.
#[derive(Debug)]
pub struct PawnHistory(LargeTable<Cell>);

impl Default for PawnHistory {
    fn default() -> PawnHistory {
        PawnHistory(table(STRUCTURES * PIECE_TO))
    }
}

impl PawnHistory {
    /// Forgets everything, without allocating.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn row(pawn_key: u64) -> usize {
        pawn_key as usize & (STRUCTURES - 1)
    }

    /// The histories of all moves with this pawn structure.
    #[must_use]
    #[inline]
    pub fn with(&self, pawn_key: u64) -> PieceToRow<'_> {
        if p::use_pawn_history() {
            PieceToRow::at(&self.0, PawnHistory::row(pawn_key))
        } else {
            PieceToRow::at(&NOTHING, 0)
        }
    }

    #[inline]
    pub fn update(&mut self, pawn_key: u64, now: PieceTo, bonus: i32) {
        self.0[PawnHistory::row(pawn_key) * PIECE_TO + now.index()].update(bonus);
    }
}
