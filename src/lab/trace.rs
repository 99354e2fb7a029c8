//! A record of what a search did, step by step, for the drawings.

use super::game::NodeValue;
use super::kinds::NodeKind;
use super::window::ValueWindow;
use crate::types::Bound;

/// The way from the root to a node: natural indices of the moves.
pub type NodePath = Vec<usize>;

/// One step of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SearchStep {
    /// The search of a node begins.
    Enter {
        path: NodePath,
        window: ValueWindow,
        predicted: NodeKind,
    },
    /// The successor at `path` caused a cutoff in its predecessor.
    Cutoff { path: NodePath },
    /// The search of a node ends with `value`, seen by its side to move.
    Leave {
        path: NodePath,
        value: NodeValue,
        kind: NodeKind,
        bound: Option<Bound>,
    },
    /// A table answered `value`, seen by the node's side to move, without a search.
    Known { path: NodePath, value: NodeValue },
    /// A best-first search filed `value`, Max's bound on the node, to be looked at in its turn.
    Merit {
        path: NodePath,
        value: NodeValue,
        solved: bool,
    },
    /// A new pass over the tree starts at the root: why, in words.
    Pass { why: String },
}

/// Every step of a search in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub events: Vec<SearchStep>,
}
