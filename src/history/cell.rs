//! The one cell that every history table is made of.

use bytemuck::Zeroable;

/// A saturating counter: every update also pulls it towards zero in proportion to its own size
/// (gravity), so that it stays within ±`MAX` and old experience fades.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Zeroable)]
#[repr(transparent)]
pub struct HistoryCell<const MAX: i32>(i16);

impl<const MAX: i32> HistoryCell<MAX> {
    /// A cell that has learnt nothing.
    pub const ZERO: HistoryCell<MAX> = HistoryCell(0);

    /// The value, within ±`MAX`.
    #[inline]
    #[must_use]
    pub const fn get(self) -> i32 {
        self.0 as i32
    }

    /// Adds a bonus (or, below zero, a malus), clamped to ±`MAX` first.
    #[inline]
    pub fn update(&mut self, bonus: i32) {
        let bonus = bonus.clamp(-MAX, MAX);
        let value = i32::from(self.0);
        self.0 = (value + bonus - value * bonus.abs() / MAX) as i16;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_never_leaves_its_range() {
        let mut cell = HistoryCell::<1000>::default();
        for bonus in [5000, 900, 1000, 1, 1000] {
            cell.update(bonus);
            assert!((0..=1000).contains(&cell.get()));
        }
        assert_eq!(cell.get(), 1000);
        for _ in 0..50 {
            cell.update(-999);
            assert!((-1000..=1000).contains(&cell.get()));
        }
        assert!(cell.get() < -900);
    }

    #[test]
    fn surprises_move_a_cell_more_than_confirmations() {
        let mut cell = HistoryCell::<1000>::default();
        cell.update(500);
        let before = cell.get();
        cell.update(100);
        let up = cell.get() - before;
        let before = cell.get();
        cell.update(-100);
        assert!(before - cell.get() > up);
    }
}
