//! The base of late move reductions, by depth and move number.

use crate::params as p;

/// One ply, in the unit of reductions.
pub(super) const PLY: i32 = 1024;

/// Depths and move numbers that the table tells apart.
const SIZE: usize = 64;

/// Base reductions by depth and move number, for quiet and for noisy moves, in 1/1024 ply:
/// `base + slope * ln(depth) * ln(number)`.
pub(super) struct Reductions {
    quiet: Box<[[i32; SIZE]; SIZE]>,
    noisy: Box<[[i32; SIZE]; SIZE]>,
}

impl Reductions {
    /// Computes both tables from the parameters.
    pub fn new() -> Reductions {
        Reductions {
            quiet: table(p::lmr_quiet_base(), p::lmr_quiet_slope()),
            noisy: table(p::lmr_noisy_base(), p::lmr_noisy_slope()),
        }
    }

    /// The base reduction of the `number`th move (from 1).
    pub fn base(&self, noisy: bool, depth: i32, number: usize) -> i32 {
        let table = if noisy { &self.noisy } else { &self.quiet };
        table[(depth.max(0) as usize).min(SIZE - 1)][number.min(SIZE - 1)]
    }
}

fn table(base: i32, slope: i32) -> Box<[[i32; SIZE]; SIZE]> {
    let mut table = Box::new([[0; SIZE]; SIZE]);
    let logs: [f64; SIZE] = std::array::from_fn(|n| (n.max(1) as f64).ln());
    for (depth, row) in table.iter_mut().enumerate().skip(1) {
        for (number, cell) in row.iter_mut().enumerate().skip(1) {
            *cell = base + (f64::from(slope) * logs[depth] * logs[number]) as i32;
        }
    }
    table
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn later_and_deeper_means_more() {
        let reductions = Reductions::new();
        for noisy in [false, true] {
            let base = |depth, number| reductions.base(noisy, depth, number);
            assert!(base(10, 20) > base(10, 5) && base(20, 10) > base(5, 10));
            assert!(base(500, 500) == base(63, 63) && base(0, 3) == 0);
        }
    }
}
