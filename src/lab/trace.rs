//! A record of what a search did, step by step, for the drawings.

use super::game::{Value, Window};
use super::kinds::Kind;
use crate::types::Bound;

/// The way from the root to a node: natural indices of the moves.
pub type Path = Vec<usize>;

/// One step of a search.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// The search of a node begins.
    Enter {
        path: Path,
        window: Window,
        predicted: Kind,
    },
    /// The successor at `path` caused a cutoff in its predecessor.
    Cutoff { path: Path },
    /// The search of a node ends with `value`, seen by its side to move.
    Leave {
        path: Path,
        value: Value,
        kind: Kind,
        bound: Option<Bound>,
    },
    /// A table answered `value`, seen by the node's side to move, without a search.
    Known { path: Path, value: Value },
    /// A best-first search filed `value`, Max's bound on the node, to be looked at in its turn.
    Merit {
        path: Path,
        value: Value,
        solved: bool,
    },
    /// A new pass over the tree starts at the root: why, in words.
    Pass { why: String },
}

/// Every step of a search in order.
#[derive(Clone, Debug, Default)]
pub struct Trace {
    pub events: Vec<Event>,
}
