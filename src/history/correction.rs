//! How far the static evaluation has been off lately in positions that share a feature (their
//! pawns, one side's pieces, the minor pieces, the moves that led there), so that it can be
//! corrected before it is used. (Caissa, 2023.)

use super::{COLORS, HistoryCell, color_index, table};
use crate::memory::{LargeTable, prefetch};
use crate::types::Color;

/// Bound of a correction cell.
pub const CORRECTION_LIMIT: i32 = 1024;

/// Features told apart; a power of two.
const FEATURES: usize = 16_384;

/// Indexed `[color][feature]`.
#[derive(Debug)]
pub struct CorrectionHistory(LargeTable<HistoryCell<CORRECTION_LIMIT>>);

impl Default for CorrectionHistory {
    fn default() -> CorrectionHistory {
        CorrectionHistory(table(COLORS * FEATURES))
    }
}

impl CorrectionHistory {
    /// Forgets everything, without allocating.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn index(color: Color, key: u64) -> usize {
        color_index(color) * FEATURES + (key as usize & (FEATURES - 1))
    }

    #[must_use]
    #[inline]
    pub fn get(&self, color: Color, key: u64) -> i32 {
        self.0[CorrectionHistory::index(color, key)].get()
    }

    /// Prefetches a cell.
    #[inline]
    pub fn prefetch(&self, color: Color, key: u64) {
        prefetch(&self.0[CorrectionHistory::index(color, key)]);
    }

    #[inline]
    pub fn update(&mut self, color: Color, key: u64, bonus: i32) {
        self.0[CorrectionHistory::index(color, key)].update(bonus);
    }
}
