//! The three kinds of nodes, found after a search and predicted before it.
//!
//! Knuth and Moore (1975) numbered them 1, 2 and 3; Marsland and Popowich (1985) named them PV,
//! cut and all. A node's kind follows from its window and from the best value that its successors
//! returned, seen by its side to move:
//!
//! | kind | cutting off at beta (`≥`) | cutting off above beta (`>`) | the value is |
//! |---|---|---|---|
//! | PV | alpha < best < beta | alpha ≤ best ≤ beta | exact |
//! | cut | best ≥ beta | best > beta | a lower bound |
//! | all | best ≤ alpha | best < alpha | an upper bound |
//!
//! A leaf has no successors, so strictly it has no kind. It is labelled by the same rule, its own
//! value standing for the best one: with perfect ordering it then has the kind that the rules of
//! the perfect tree give it, although its value is exact in every case.

use serde::Serialize;

use super::game::NodeValue;
use super::window::{Criterion, ValueWindow};

/// The kind of a node. A leaf gets the kind that its value would give an interior node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum NodeKind {
    Pv,
    Cut,
    All,
}

impl NodeKind {
    /// Every kind, in the order of the rows and columns of [`KindCounts`].
    pub const EVERY: [NodeKind; 3] = [NodeKind::Pv, NodeKind::Cut, NodeKind::All];

    /// The kind of a node that was searched with `window` and whose best successor (or leaf
    /// value) is `best`; see the table above. A node is an all node exactly when its value,
    /// negated, would cut off a predecessor with the same window negated.
    #[must_use]
    pub fn found(best: NodeValue, window: ValueWindow, criterion: Criterion) -> NodeKind {
        if criterion.cuts(best, window.beta) {
            NodeKind::Cut
        } else if criterion.cuts(-best, -window.alpha) {
            NodeKind::All
        } else {
            NodeKind::Pv
        }
    }

    /// The kind to expect of the successor searched in place `order` (0 is the first) below a
    /// node expected to be of this kind, when the successor belongs to the other side.
    #[must_use]
    pub const fn expected_successor(self, order: usize) -> NodeKind {
        match self {
            NodeKind::Pv if order == 0 => NodeKind::Pv,
            NodeKind::Pv | NodeKind::All => NodeKind::Cut,
            NodeKind::Cut => NodeKind::All,
        }
    }

    /// The same node as the opponent would name it; used where a side moves twice in a row, so
    /// that the successor's view is not negated.
    #[must_use]
    pub const fn turned(self) -> NodeKind {
        match self {
            NodeKind::Pv => NodeKind::Pv,
            NodeKind::Cut => NodeKind::All,
            NodeKind::All => NodeKind::Cut,
        }
    }

    /// The name used in tables and pictures.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            NodeKind::Pv => "PV",
            NodeKind::Cut => "cut",
            NodeKind::All => "all",
        }
    }
}

/// Statistics of the kinds of one search.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct KindCounts {
    /// Nodes by kind, `[predicted][found]`, both in the order of [`NodeKind::EVERY`]; leaves too.
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

impl KindCounts {
    /// Every node counted, interior and leaf.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.table.iter().flatten().sum()
    }

    /// Nodes whose kind was predicted right.
    #[must_use]
    pub fn right(&self) -> u64 {
        (0..NodeKind::EVERY.len())
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
                let window = ValueWindow::new(-1, 2);
                let up = NodeKind::found(-value, -window, criterion);
                assert_eq!(NodeKind::found(value, window, criterion).turned(), up);
            }
        }
    }

    /// The field's definitions, value by value.
    #[test]
    fn kinds_follow_from_the_window_under_both_criteria() {
        use NodeKind::{All, Cut, Pv};
        let found = |criterion| {
            [-2, -1, 0, 1, 2, 3]
                .map(|best| NodeKind::found(best, ValueWindow::new(-1, 2), criterion))
        };
        assert_eq!(found(Criterion::AtLeast), [All, All, Pv, Pv, Cut, Cut]);
        assert_eq!(found(Criterion::Above), [All, Pv, Pv, Pv, Pv, Cut]);
    }

    #[test]
    fn values_on_the_window_are_exact_only_when_cutoffs_are_above_beta() {
        let window = ValueWindow::new(-1, 2);
        for edge in [window.alpha, window.beta] {
            assert_eq!(
                NodeKind::found(edge, window, Criterion::Above),
                NodeKind::Pv
            );
            assert_ne!(
                NodeKind::found(edge, window, Criterion::AtLeast),
                NodeKind::Pv
            );
        }
    }

    #[test]
    fn predictions_follow_the_perfect_tree() {
        assert_eq!(NodeKind::Pv.expected_successor(0), NodeKind::Pv);
        assert_eq!(NodeKind::Pv.expected_successor(3), NodeKind::Cut);
        assert_eq!(NodeKind::Cut.expected_successor(0), NodeKind::All);
        assert_eq!(NodeKind::All.expected_successor(2), NodeKind::Cut);
    }
}
