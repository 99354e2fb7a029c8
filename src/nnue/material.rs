//! The factor by which material scales the teacher's evaluation, and its inverse for labels.
//!
//! The teacher (Stockfish 15.1, `evaluate.cpp`) multiplies its network's output by a factor that
//! grows with the pieces on the board, from 1.04 with bare kings to 1.37 at the start. The factor
//! is known exactly, so a network need not learn it: labels are divided by it. The engine
//! multiplies by one of its own that is tuned for its search (`eval`).

use crate::types::{Board, Role};

/// What factors are measured in.
pub const ONE: i32 = 1024;
/// The factor without pieces.
const BASE: i32 = 1064;
/// What [`UNIT`] of non-pawn material adds to it.
const SLOPE: i32 = 106;
/// The non-pawn material that factors count by.
const UNIT: i32 = 5120;
/// Knight, bishop, rook and queen in the teacher's units, of both sides.
const VALUES: [i32; 4] = [781, 825, 1276, 2538];

/// Knights, bishops, rooks and queens of both sides.
#[must_use]
pub fn counts(board: &Board) -> [i32; 4] {
    [Role::Knight, Role::Bishop, Role::Rook, Role::Queen]
        .map(|role| board.by_role(role).count() as i32)
}

/// The value of these numbers of knights, bishops, rooks and queens in the teacher's units.
#[must_use]
pub const fn value(counts: [i32; 4]) -> i32 {
    let [knights, bishops, rooks, queens] = counts;
    knights * VALUES[0] + bishops * VALUES[1] + rooks * VALUES[2] + queens * VALUES[3]
}

/// The factor for these numbers of knights, bishops, rooks and queens of both sides, in 1024ths.
#[must_use]
pub const fn factor(counts: [i32; 4]) -> i32 {
    linear_factor(BASE, SLOPE, counts)
}

/// `base` without pieces and `slope` more for every [`UNIT`] of their value, in 1024ths.
const fn linear_factor(base: i32, slope: i32, counts: [i32; 4]) -> i32 {
    base + slope * value(counts) / UNIT
}

/// An evaluation times the factor.
#[must_use]
pub const fn scale(bare: i32, counts: [i32; 4]) -> i32 {
    scale_by(bare, BASE, SLOPE, counts)
}

/// An evaluation times a factor of the same form with another base and slope, in 1024ths. A product
/// of more than 32 bits, which only networks without sense lead to, keeps its sign.
#[must_use]
pub const fn scale_by(bare: i32, base: i32, slope: i32, counts: [i32; 4]) -> i32 {
    bare.saturating_mul(linear_factor(base, slope, counts)) / ONE
}

/// A label without the factor, to the nearest centipawn.
#[must_use]
pub fn unscale(label: i16, counts: [i32; 4]) -> i16 {
    (f32::from(label) * ONE as f32 / factor(counts) as f32).round() as i16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_factor_is_the_teachers() {
        assert_eq!(factor([0; 4]), 1064);
        // All pieces: 16,604 of material, 106 * 16,604 / 5120 = 343.
        assert_eq!(factor([4, 4, 4, 2]), 1407);
        assert_eq!(scale(-1000, [4, 4, 4, 2]), -1374);
        // 200 * 16,604 / 5120 = 648.
        assert_eq!(scale_by(1024, 1000, 200, [4, 4, 4, 2]), 1648);
        // More than any score that fits 16 bits, and of the right sign.
        for bare in [2_000_000, -2_000_000, i32::MAX, i32::MIN] {
            let scaled = scale(bare, [4, 4, 4, 2]);
            assert!(scaled.abs() > 1 << 20 && scaled.signum() == bare.signum());
        }
    }

    #[test]
    fn unscaling_is_the_inverse() {
        for counts in [[0; 4], [1, 2, 3, 1], [4, 4, 4, 2], [2, 0, 0, 0]] {
            for bare in [-2000, -333, -1, 0, 1, 250, 4000] {
                let back = unscale(scale(bare, counts) as i16, counts);
                assert!(
                    (i32::from(back) - bare).abs() <= 1,
                    "{bare} {counts:?} {back}"
                );
            }
        }
    }
}
