//! The three kinds of nodes, found after a search and predicted before it.
//!
//! Knuth and Moore (1975) numbered them 1, 2 and 3; Marsland and Popowich (1985) named them PV,
//! cut and all. A node's kind follows from the negated return values of its successors:
//!
//! * **cut**: a successor caused a cutoff, so some successors may not have been searched;
//! * **PV**: no cutoff, and some successor reached alpha: the value is exact;
//! * **all**: every successor was searched and none reached alpha.

use serde::Serialize;

use super::criterion::Criterion;
use super::game::{Value, Window};

/// The kind of a node. A leaf gets the kind that its value would give an interior node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    Pv,
    Cut,
    All,
}

impl Kind {
    /// Every kind, in the order of the rows and columns of [`Kinds`].
    pub const EVERY: [Kind; 3] = [Kind::Pv, Kind::Cut, Kind::All];

    /// The kind of a node that was searched with `window` and whose best successor (or leaf
    /// value) is `best`. What "reaches" alpha means mirrors the cutoff criterion: a value is
    /// below alpha here exactly when its negation would cut off the predecessor. So a node is
    /// an all node if and only if it refutes the move that led to it.
    #[must_use]
    pub fn found(best: Value, window: Window, criterion: Criterion) -> Kind {
        if criterion.cuts(best, window.beta) {
            Kind::Cut
        } else if criterion.cuts(-best, -window.alpha) {
            Kind::All
        } else {
            Kind::Pv
        }
    }

    /// The kind to expect of the successor searched in place `order` (0 is the first) below a
    /// node expected to be of this kind, when the successor belongs to the other side.
    #[must_use]
    pub const fn expected_successor(self, order: usize) -> Kind {
        match self {
            Kind::Pv if order == 0 => Kind::Pv,
            Kind::Pv | Kind::All => Kind::Cut,
            Kind::Cut => Kind::All,
        }
    }

    /// The same node as the opponent would name it; used where a side moves twice in a row, so
    /// that the successor's view is not turned around.
    #[must_use]
    pub const fn turned(self) -> Kind {
        match self {
            Kind::Pv => Kind::Pv,
            Kind::Cut => Kind::All,
            Kind::All => Kind::Cut,
        }
    }

    /// The name used in tables and pictures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Kind::Pv => "PV",
            Kind::Cut => "cut",
            Kind::All => "all",
        }
    }
}

/// Statistics of the kinds of one search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Kinds {
    /// Nodes by kind, `[predicted][found]`, both in the order of [`Kind::EVERY`]; leaves too.
    pub table: [[u64; 3]; 3],
    /// Interior nodes by the kind found.
    pub interior: [u64; 3],
    /// Cut nodes whose first searched successor caused the cutoff.
    pub cut_by_first: u64,
    /// PV nodes whose first searched successor stayed the best.
    pub pv_first_best: u64,
    /// Leaves.
    pub leaves: u64,
}

impl Kinds {
    /// Every node counted, interior and leaf.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.table.iter().flatten().sum()
    }

    /// Nodes whose kind was predicted right.
    #[must_use]
    pub fn right(&self) -> u64 {
        (0..Kind::EVERY.len())
            .map(|kind| self.table[kind][kind])
            .sum()
    }

    /// `part / whole`, or zero of nothing.
    #[must_use]
    pub fn share(part: u64, whole: u64) -> f64 {
        if whole == 0 {
            0.0
        } else {
            part as f64 / whole as f64
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_all_node_refutes_and_a_cut_node_is_refuted() {
        for criterion in [Criterion::Above, Criterion::AtLeast] {
            for value in -3..=3 {
                let window = Window::new(-1, 2);
                let up = Kind::found(-value, -window, criterion);
                assert_eq!(Kind::found(value, window, criterion).turned(), up);
            }
        }
    }

    #[test]
    fn values_on_the_window_are_exact_only_when_cutoffs_are_above_beta() {
        let window = Window::new(-1, 2);
        for edge in [window.alpha, window.beta] {
            assert_eq!(Kind::found(edge, window, Criterion::Above), Kind::Pv);
            assert_ne!(Kind::found(edge, window, Criterion::AtLeast), Kind::Pv);
        }
    }

    #[test]
    fn predictions_follow_the_perfect_tree() {
        assert_eq!(Kind::Pv.expected_successor(0), Kind::Pv);
        assert_eq!(Kind::Pv.expected_successor(3), Kind::Cut);
        assert_eq!(Kind::Cut.expected_successor(0), Kind::All);
        assert_eq!(Kind::All.expected_successor(2), Kind::Cut);
    }
}
