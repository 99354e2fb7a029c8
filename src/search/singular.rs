//! Singular extensions: is the table's move much better than every other?

use super::Searched;
use super::node_state::Node;
use super::node_type::{NodeType, NonPv};
use super::window::Window;
use super::worker::SearchWorker;
use crate::params as p;
use crate::types::{Bound, Depth, PackedMove, Score};

/// What a singular search concludes.
pub(super) enum Singular {
    /// Search the table's move that many plies deeper (or, below zero, less deep).
    Extend(i32),
    /// Another move reaches beta as well: more than one refutation, so leave (multi-cut).
    Cut(Score),
}

impl SearchWorker {
    /// Searches the node without its table move, at half the depth and below the table's score.
    /// If nothing else comes near, the move is forced and is extended; if something else reaches
    /// beta itself, the node is cut; if the table's move is merely good, it is searched less.
    pub(super) fn singular<T: NodeType>(&mut self, node: &Node<'_>) -> Searched<Singular> {
        let none = Singular::Extend(0);
        let (Some(tt_entry), Some(m)) = (node.tt_entry, node.tt_move) else {
            return Ok(none);
        };
        let least = p::singular_depth() + i32::from(node.tt_pv);
        if T::ROOT
            || !self.uses(p::use_singular())
            || node.excluded.is_some()
            || node.depth.plies() < least
            || !matches!(tt_entry.bound, Some(Bound::Lower | Bound::Exact))
            || tt_entry.score.is_decisive()
            || tt_entry.depth < node.depth - p::singular_tt_depth()
            // A line that keeps extending must end somewhere.
            || node.ply.index() >= 2 * self.root_depth.plies() as usize
        {
            return Ok(none);
        }

        let ply = node.ply;
        let beta = tt_entry.score - p::singular_margin() * node.depth.plies() / 64;
        let half = (node.depth - 1).plies() / 2;
        self.stats.singular_tried += 1;
        self.stack.at_mut(ply).excluded = PackedMove::new(m);
        let window = Window::at_least(beta);
        let score = self.node::<NonPv>(node.position, ply, Depth(half), window, node.cut_node)?;
        self.stack.at_mut(ply).excluded = PackedMove::NONE;

        Ok(if score < beta {
            self.stats.singular_extended += 1;
            Singular::Extend(self.singular_extension::<T>(node, beta - score))
        } else if score >= node.window.beta && !score.is_decisive() {
            self.stats.multi_cuts += 1;
            Singular::Cut(score)
        } else if tt_entry.score >= node.window.beta {
            Singular::Extend(-p::negative_extension())
        } else if node.cut_node {
            Singular::Extend(-p::negative_cut_extension())
        } else {
            none
        })
    }

    /// One ply, or two or three if the others are worse by far and the line has not had too many.
    fn singular_extension<T: NodeType>(&self, node: &Node<'_>, gap: i32) -> i32 {
        let so_far = self.stack.before(node.ply, 1).double_extensions;
        if T::PV || gap <= p::double_margin() || so_far >= p::double_limit() {
            return 1;
        }
        2 + i32::from(gap > p::triple_margin() && !node.tt_noisy())
    }
}
