//! Captures and promotions by moving piece, destination and captured role.

use super::{Cell, PIECES, SQUARES, piece_index, table};
use crate::memory::LargeTable;
use crate::params as p;
use crate::types::{Move, Piece, Role};

/// Captured roles (a king is never captured), and none for a promotion without capture.
const VICTIMS: usize = 6;

/// Indexed `[piece][to][victim]`.
#[derive(Debug)]
pub struct CaptureHistory(LargeTable<Cell>);

impl Default for CaptureHistory {
    fn default() -> CaptureHistory {
        CaptureHistory(table(PIECES * SQUARES * VICTIMS))
    }
}

impl CaptureHistory {
    /// Forgets everything, without allocating.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn index(piece: Piece, m: Move) -> usize {
        let victim = m.capture().map_or(0, |role: Role| role as usize);
        (piece_index(piece) * SQUARES + m.to().to_usize()) * VICTIMS + victim
    }

    #[must_use]
    #[inline]
    pub fn get(&self, piece: Piece, m: Move) -> i32 {
        if !p::use_capture_history() {
            return 0;
        }
        self.0[CaptureHistory::index(piece, m)].get()
    }

    #[inline]
    pub fn update(&mut self, piece: Piece, m: Move, bonus: i32) {
        self.0[CaptureHistory::index(piece, m)].update(bonus);
    }
}
