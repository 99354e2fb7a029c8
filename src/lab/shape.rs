//! The shape of the engine's own search tree, in the terms of the textbooks.
//!
//! Theory says what a well-ordered tree looks like: cut nodes need one successor, PV nodes keep
//! their first move. The engine counts both as it searches; here the counts become shares that
//! can be held against the theory, on any position.

use std::sync::Arc;

use serde::Serialize;

use crate::board::Position;
use crate::eval::Judge;
use crate::search::{Job, Limits, Shared, Silent, Stats, Worker};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::Depth;

/// What one search's tree looked like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Shape {
    pub depth: u32,
    /// Nodes of the main search and of the quiescence search below it.
    pub interior: u64,
    pub quiescence: u64,
    /// Nodes whose moves were searched, by the kind that the result gave them.
    pub pv_nodes: u64,
    pub cut_nodes: u64,
    pub all_nodes: u64,
    /// Cut nodes whose first searched move cut off.
    pub cut_by_first: f64,
    /// PV nodes whose first searched move stayed best.
    pub pv_first_best: f64,
    /// Nodes that belong to the quiescence search: the engine's leaves and what hangs below them.
    pub leaf_share: f64,
    /// Nodes of this depth's search over those of the one before; `None` at the first.
    pub growth: Option<f64>,
}

impl Shape {
    fn new(depth: u32, stats: &Stats, before: Option<u64>) -> Shape {
        let nodes = stats.interior + stats.quiescence;
        Shape {
            depth,
            interior: stats.interior,
            quiescence: stats.quiescence,
            pv_nodes: stats.pv_nodes,
            cut_nodes: stats.cut_nodes,
            all_nodes: stats.all_nodes,
            cut_by_first: stats.first_move_cuts(),
            pv_first_best: stats.first_move_best(),
            leaf_share: super::Kinds::share(stats.quiescence, nodes),
            growth: before.map(|before| super::Kinds::share(nodes, before)),
        }
    }

    /// Nodes of both searches.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.interior + self.quiescence
    }
}

/// Searches `root` to each depth from 1 to `depth`, each time afresh and with one thread, and
/// measures the trees. The counts of a depth include its shallower iterations, as the engine
/// deepens iteratively.
///
/// # Errors
/// [`AllocError`] if there is no room for a table of `hash` MiB.
pub fn shapes(
    root: &Position,
    depth: u32,
    hash: usize,
    judge: &Judge,
) -> Result<Vec<Shape>, AllocError> {
    let mut shapes: Vec<Shape> = Vec::new();
    for depth in 1..=depth {
        let shared = Arc::new(Shared::new(TranspositionTable::new(hash)?, 1));
        shared.begin(false);
        let mut worker = Worker::new(0, shared, judge.clone());
        let limits = Limits::to_depth(Depth(depth as i32));
        worker.search(&Job::new(root.clone(), limits), Box::new(Silent));
        let before = shapes.last().map(Shape::nodes);
        shapes.push(Shape::new(depth, worker.stats(), before));
    }
    Ok(shapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_a_shape() {
        let shapes = shapes(&Position::startpos(), 6, 1, &Judge::Tapered).unwrap();
        assert_eq!(shapes.len(), 6);
        let last = &shapes[5];
        assert!(last.cut_nodes > 0 && last.all_nodes > 0 && last.pv_nodes > 0);
        assert!(last.cut_by_first > 0.5 && last.cut_by_first <= 1.0);
        assert!(last.growth.is_some_and(|growth| growth > 1.0));
    }
}
