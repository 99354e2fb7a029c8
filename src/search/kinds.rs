//! Windows and kinds of nodes.
//!
//! A *PV node* is searched with an open window and may return an exact score; all others are
//! searched with a zero window, which only asks whether the score is above or below. Of those, a
//! *cut node* is expected to have one move that refutes the parent's move, an *all node* to try
//! every move in vain. The children of all nodes are expected to be cut nodes and the other way
//! round; of a PV node the first child is a PV node and the rest are cut nodes.

use std::ops::Neg;

use crate::types::Score;

/// What is known at compile time about a node's place in the tree.
pub(super) trait NodeType {
    /// Searched with an open window.
    const PV: bool;
    /// The root.
    const ROOT: bool;
}

/// The root: a PV node.
pub(super) struct Root;
/// A PV node below the root.
pub(super) struct Pv;
/// A cut or all node.
pub(super) struct NonPv;

impl NodeType for Root {
    const PV: bool = true;
    const ROOT: bool = true;
}

impl NodeType for Pv {
    const PV: bool = true;
    const ROOT: bool = false;
}

impl NodeType for NonPv {
    const PV: bool = false;
    const ROOT: bool = false;
}

/// What both sides are sure of so far: the side to move of at least `alpha`, its opponent of at
/// most `beta`. Scores outside need not be exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub alpha: Score,
    pub beta: Score,
}

impl Window {
    /// Nothing is known.
    pub const OPEN: Window = Window {
        alpha: Score::from_raw(-Score::INFINITE.raw()),
        beta: Score::INFINITE,
    };

    pub fn new(alpha: Score, beta: Score) -> Window {
        Window { alpha, beta }
    }

    /// The zero window that asks whether the score is above `alpha`.
    pub fn above(alpha: Score) -> Window {
        Window {
            alpha,
            beta: alpha + 1,
        }
    }

    /// The zero window that asks whether the score is at least `beta`.
    pub fn at_least(beta: Score) -> Window {
        Window {
            alpha: beta - 1,
            beta,
        }
    }
}

/// The window as the opponent sees it.
impl Neg for Window {
    type Output = Window;
    fn neg(self) -> Window {
        Window {
            alpha: -self.beta,
            beta: -self.alpha,
        }
    }
}
