//! Singular extensions: is the table's move much better than every other?

use super::Searched;
use super::node_state::Node;
use super::node_type::{NodeType, NonPv};
use super::window::Window;
use super::worker::SearchWorker;
use crate::params as p;
use crate::types::{Bound, Depth, PackedMove, Score};

/// From this multiple of the iteration's depth on nothing is extended.
const LONGEST_LINE: usize = 2;

/// What a singular search concludes.
pub(super) enum Singular {
    /// Search the table's move that many plies deeper (or, below zero, less deep).
    Extend(i32),
    /// Another move reaches beta as well: more than one refutation, so the node is cut
    /// (multi-cut).
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
            || node.ply.index() >= LONGEST_LINE * self.root_depth.plies() as usize
        {
            return Ok(none);
        }

        let ply = node.ply;
        let beta = tt_entry.score - p::singular_margin() * node.depth.plies() / p::SHARE_UNIT;
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
    /// For a capture a smaller gap is enough for two, and none for three.
    fn singular_extension<T: NodeType>(&self, node: &Node<'_>, gap: i32) -> i32 {
        let so_far = self.stack.before(node.ply, 1).double_extensions;
        let margin = p::double_margin() - p::double_noisy() * i32::from(node.tt_noisy());
        if T::PV || gap <= margin || so_far >= p::double_limit() {
            return 1;
        }
        2 + i32::from(gap > p::triple_margin() && !node.tt_noisy())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::node_type::Pv;
    use crate::search::tests::{node, position, worker, worker_at};
    use crate::tt::TtEntry;
    use crate::types::Ply;

    #[test]
    fn extensions_grow_with_the_gap_up_to_a_limit() {
        let position = Position::startpos();
        let mut worker = worker();
        let mut node = node(&position, Depth(8), Window::above(Score::DRAW));
        let (double, triple) = (p::double_margin(), p::triple_margin());
        for (gap, plies) in [(double, 1), (double + 1, 2), (triple, 2), (triple + 1, 3)] {
            assert_eq!(worker.singular_extension::<NonPv>(&node, gap), plies);
            assert_eq!(worker.singular_extension::<Pv>(&node, gap), 1);
        }
        let capture = crate::search::tests::position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        node.tt_move = capture.parse_uci("d2d5").ok();
        assert!(node.tt_noisy());
        let noisy = double - p::double_noisy();
        for (gap, plies) in [(noisy, 1), (noisy + 1, 2), (triple + 1, 2)] {
            assert_eq!(worker.singular_extension::<NonPv>(&node, gap), plies);
        }
        worker.stack.at_mut(Ply::ROOT).double_extensions = p::double_limit();
        assert_eq!(worker.singular_extension::<NonPv>(&node, triple + 1), 1);
    }

    /// What the singular search says of the only move that wins a queen; `change` may alter what
    /// the table knows of it.
    fn conclusion(depth: i32, change: impl Fn(&mut TtEntry)) -> (u64, i32) {
        let position = position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        let m = position.parse_uci("d2d5").expect("legal");
        let mut worker = worker_at(&position);
        worker.root_depth = Depth(20);
        let mut node = node(&position, Depth(depth), Window::at_least(Score::cp(900)));
        node.tt_move = Some(m);
        let mut entry = TtEntry {
            best: PackedMove::new(m),
            score: Score::cp(500),
            bound: Some(Bound::Lower),
            depth: Depth(depth),
            pv: false,
            eval: None,
        };
        change(&mut entry);
        node.tt_entry = Some(entry);
        let found = worker.singular::<NonPv>(&node).expect("not stopped");
        let extension = match found {
            Singular::Extend(extension) => extension,
            Singular::Cut(_) => i32::MIN,
        };
        (worker.stats.singular_tried, extension)
    }

    #[test]
    fn a_move_without_an_alternative_is_extended() {
        let least = p::singular_depth();
        let (tried, extension) = conclusion(least, |_| ());
        assert!(tried == 1 && extension > 0, "{tried} {extension}");
        let untried = (0, 0);
        assert_eq!(conclusion(least - 1, |_| ()), untried, "too shallow");
        let (tried, _) = conclusion(least, |entry| entry.depth -= p::singular_tt_depth());
        assert_eq!(tried, 1);
        let shallow = |entry: &mut TtEntry| entry.depth -= p::singular_tt_depth() + 1;
        assert_eq!(conclusion(least, shallow), untried);
        let upper = |entry: &mut TtEntry| entry.bound = Some(Bound::Upper);
        assert_eq!(conclusion(least, upper), untried);
    }
}
