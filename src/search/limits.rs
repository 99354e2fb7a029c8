//! What ends a search: the first limit that is reached; with none given, only `stop`.

use crate::time::TimeBounds;
use crate::types::{Depth, Move};

/// The limits of one search; all apply together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The last iteration's depth.
    pub depth: Option<Depth>,
    /// Stop inside the tree after this many nodes (over all threads).
    pub nodes: Option<u64>,
    /// Begin no new iteration after this many nodes: a game-playing budget that leaves whole
    /// iterations, for data generation.
    pub soft_nodes: Option<u64>,
    /// Stop once a mate in this many full moves or fewer is proven.
    pub mate: Option<u32>,
    /// Stop when the time is up.
    pub time: Option<TimeBounds>,
    /// Search these root moves only; all legal moves when `None`.
    pub root_moves: Option<Vec<Move>>,
    /// How many of the best root moves get an exact score and a line; at least 1.
    pub multi_pv: usize,
}

impl Default for Limits {
    /// No limit, one line.
    fn default() -> Limits {
        Limits {
            depth: None,
            nodes: None,
            soft_nodes: None,
            mate: None,
            time: None,
            root_moves: None,
            multi_pv: 1,
        }
    }
}

impl Limits {
    /// A search to a fixed depth.
    #[must_use]
    pub fn to_depth(depth: Depth) -> Limits {
        Limits {
            depth: Some(depth),
            ..Limits::default()
        }
    }

    /// A search of a fixed number of nodes.
    #[must_use]
    pub fn to_nodes(nodes: u64) -> Limits {
        Limits {
            nodes: Some(nodes),
            ..Limits::default()
        }
    }
}
