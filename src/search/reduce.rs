//! Step 14, late move reductions: the later a move comes in the order, the less likely it is to
//! be best, and the less deep it is searched at first.

use super::kinds::NodeType;
use super::node::Node;
use super::worker::Worker;
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

/// What is known of a move when its reduction is decided.
#[derive(Clone, Copy)]
pub(super) struct Candidate {
    /// Its place in the order, from 1.
    pub number: usize,
    pub noisy: bool,
    pub gives_check: bool,
    pub killer: bool,
    /// Its history, in the units of the tables.
    pub history: i32,
}

impl Worker {
    /// The reduction of a move in 1/1024 ply; may be negative.
    pub(super) fn reduction<T: NodeType>(&self, node: &Node<'_>, candidate: &Candidate) -> i32 {
        /// Children that failed high at this ply before it counts.
        const MANY_CUTOFFS: u32 = 2;
        let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
        let depth = node.depth.plies();
        let mut reduction = self
            .reductions
            .base(candidate.noisy, depth, candidate.number);
        reduction += when(node.cut, p::lmr_cut_node());
        reduction += when(!node.improving(), p::lmr_not_improving());
        reduction += when(node.tt_noisy() && !candidate.noisy, p::lmr_table_noisy());
        reduction -= when(node.tt_pv, p::lmr_tt_pv());
        reduction -= when(T::PV, p::lmr_pv());
        reduction -= when(candidate.gives_check, p::lmr_check());
        reduction -= when(candidate.killer, p::lmr_killer());
        let cutoffs = self.stack.at(node.ply.next()).cutoffs;
        reduction += when(cutoffs > MANY_CUTOFFS, p::lmr_cutoffs());
        let one_ply = if candidate.noisy {
            p::lmr_noisy_history()
        } else {
            p::lmr_history()
        };
        reduction -= candidate.history * PLY / one_ply;
        reduction - node.correction.abs() * p::lmr_correction()
    }
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
