//! The shape of the engine's own search tree, in the terms of the textbooks.
//!
//! Theory says what a well-ordered tree looks like: cut nodes need one successor, PV nodes keep
//! their first move. The engine counts both as it searches; here the counts become shares that
//! can be compared with the theory, on any position.

use std::sync::Arc;
use std::time::Instant;

use serde::Serialize;

use crate::board::Position;
use crate::eval::EvalKind;
use crate::search::{Limits, PlyStats, SearchRequest, SearchWorker, Shared, Silent, Stats};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::Depth;

/// What one search's tree looked like.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct TreeShape {
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
    /// Nodes that belong to the quiescence search: the engine's leaves and the nodes below them.
    pub leaf_share: f64,
    /// Nodes of this depth's search over those of the one before; `None` at the first.
    pub growth: Option<f64>,
    /// The same by distance from the root; the last place may hold all that are further away.
    pub plies: Vec<PlyTreeShape>,
}

/// The nodes at one distance from the root, in the deepest search.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct PlyTreeShape {
    /// Plies from the root.
    pub ply: usize,
    pub pv_nodes: u64,
    pub cut_nodes: u64,
    pub all_nodes: u64,
    /// Cut nodes whose first searched move cut off; `None` without cut nodes.
    pub cut_by_first: Option<f64>,
    /// PV nodes whose first searched move stayed best; `None` without PV nodes.
    pub pv_first_best: Option<f64>,
}

impl PlyTreeShape {
    fn new(ply: usize, stats: &PlyStats) -> PlyTreeShape {
        let share = |part, whole: u64| (whole > 0).then(|| super::KindCounts::share(part, whole));
        PlyTreeShape {
            ply,
            pv_nodes: stats.pv_nodes,
            cut_nodes: stats.cut_nodes,
            all_nodes: stats.all_nodes,
            cut_by_first: share(stats.cut_first, stats.cut_nodes),
            pv_first_best: share(stats.pv_first_best, stats.pv_nodes),
        }
    }

    fn is_empty(&self) -> bool {
        self.pv_nodes + self.cut_nodes + self.all_nodes == 0
    }
}

/// The nodes of a search by their distance from the root, as far as there are any.
fn plies(stats: &[PlyStats]) -> Vec<PlyTreeShape> {
    let mut plies: Vec<_> = stats
        .iter()
        .enumerate()
        .map(|(ply, stats)| PlyTreeShape::new(ply, stats))
        .collect();
    while plies.last().is_some_and(PlyTreeShape::is_empty) {
        plies.pop();
    }
    plies
}

impl TreeShape {
    fn new(depth: u32, stats: &Stats, by_ply: &[PlyStats], before: Option<u64>) -> TreeShape {
        let nodes = stats.interior + stats.quiescence;
        TreeShape {
            depth,
            interior: stats.interior,
            quiescence: stats.quiescence,
            pv_nodes: stats.pv_nodes,
            cut_nodes: stats.cut_nodes,
            all_nodes: stats.all_nodes,
            cut_by_first: stats.first_move_cuts(),
            pv_first_best: stats.first_move_best(),
            leaf_share: super::KindCounts::share(stats.quiescence, nodes),
            growth: before.map(|before| super::KindCounts::share(nodes, before)),
            plies: plies(by_ply),
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
    eval_kind: &EvalKind,
) -> Result<Vec<TreeShape>, AllocError> {
    let mut shapes: Vec<TreeShape> = Vec::new();
    for depth in 1..=depth {
        let shared = Arc::new(Shared::new(TranspositionTable::new(hash)?, 1));
        shared.begin(false, Instant::now());
        let mut worker = SearchWorker::new(0, shared, eval_kind.clone());
        let limits = Limits::to_depth(Depth(depth as i32));
        worker.search(&SearchRequest::new(root.clone(), limits), Box::new(Silent));
        let before = shapes.last().map(TreeShape::nodes);
        shapes.push(TreeShape::new(
            depth,
            worker.stats(),
            worker.ply_stats(),
            before,
        ));
    }
    Ok(shapes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_search_has_a_shape() {
        let shapes = shapes(&Position::startpos(), 6, 1, &EvalKind::Tapered).unwrap();
        assert_eq!(shapes.len(), 6);
        let last = &shapes[5];
        assert!(last.cut_nodes > 0 && last.all_nodes > 0 && last.pv_nodes > 0);
        assert!(last.cut_by_first > 0.5 && last.cut_by_first <= 1.0);
        assert!(last.growth.is_some_and(|growth| growth > 1.0));
        // Distances from the root add up to the whole, and only a root is at none.
        let sum = |count: fn(&PlyTreeShape) -> u64| last.plies.iter().map(count).sum::<u64>();
        assert_eq!(sum(|ply| ply.cut_nodes), last.cut_nodes);
        assert_eq!(sum(|ply| ply.all_nodes), last.all_nodes);
        assert_eq!(sum(|ply| ply.pv_nodes), last.pv_nodes);
        let root = last.plies[0];
        assert!(root.pv_nodes + root.cut_nodes + root.all_nodes < 40);
        assert!(last.plies.len() > 5);
    }
}
