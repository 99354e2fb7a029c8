//! Quiet moves by side, from and to squares, and by whether the enemy attacks either square.

use super::{COLORS, Cell, SQUARES, color_index, table};
use crate::memory::LargeTable;
use crate::params as p;
use crate::types::{Bitboard, Color, PackedMove};

/// Squares that the enemy attacks: a move out of an attack and one into it differ in kind.
pub type Threats = Bitboard;

/// Whether the from and the to square are attacked.
const THREATS: usize = 4;

/// Indexed `[color][from attacked][to attacked][from][to]`.
#[derive(Debug)]
pub struct ButterflyHistory(LargeTable<Cell>);

impl Default for ButterflyHistory {
    fn default() -> ButterflyHistory {
        ButterflyHistory(table(COLORS * THREATS * SQUARES * SQUARES))
    }
}

impl ButterflyHistory {
    /// Forgets everything, without allocating.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    fn index(color: Color, threats: Threats, m: PackedMove) -> usize {
        let (from, to) = (m.from(), m.to());
        let threat = 2 * usize::from(threats.contains(from)) + usize::from(threats.contains(to));
        ((color_index(color) * THREATS + threat) * SQUARES + from.to_usize()) * SQUARES
            + to.to_usize()
    }

    #[must_use]
    #[inline]
    pub fn get(&self, color: Color, threats: Threats, m: PackedMove) -> i32 {
        if !p::use_butterfly() {
            return 0;
        }
        self.0[ButterflyHistory::index(color, threats, m)].get()
    }

    #[inline]
    pub fn update(&mut self, color: Color, threats: Threats, m: PackedMove, bonus: i32) {
        self.0[ButterflyHistory::index(color, threats, m)].update(bonus);
    }
}
