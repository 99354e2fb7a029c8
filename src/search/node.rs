//! The node: principal variation search, step by step.
//!
//! Every step is a function in a file of its own or shares one with related steps; this file is
//! their order and the reasons for it. Scores are fail-soft: they may lie outside the window. A score
//! above beta is moved towards beta, the more so the shallower the search.
//!
//! Steps 13 to 18 are the move loop's (`moves.rs`):
//!
//! 13. shallow pruning of a move: late move, history, futility and SEE pruning (`prune_move`);
//! 14. extension of the table's move by what the singular search found (`search_moves`);
//! 15. late move reduction, and the re-search of a reduced move that did better than expected
//!     (`search_move`);
//! 16. principal variation search: a zero window first, the whole window where it was raised
//!     (`search_move`);
//! 17. a new best move, a raised alpha (later moves get less depth), or a cutoff (`note_score`);
//! 18. mate or stalemate; the histories, the table's entry and the correction of the evaluation
//!     (`finish`).
//!
//! The book explains the terms (`book/src/how/glossary.md`) and the steps
//! (`book/src/how/selectivity.md`); what each technique is worth is in its record of tests
//! (`book/src/testing.md`).

use std::ops::ControlFlow;

use super::Searched;
use super::draws::score_without_moves;
use super::node_state::{Node, legal_tt_move};
use super::node_type::{NodeType, NonPv, Pv};
use super::singular::Singular;
use super::tablebase_cutoff::FromTables;
use super::window::Window;
use super::worker::SearchWorker;
use crate::board::Position;
use crate::params as p;
use crate::tt::TtEntry;
use crate::types::{Bound, Depth, MAX_DEPTH, PackedMove, Ply, Score};

impl SearchWorker {
    /// Searches a position to a depth and returns its score. `cut_node` means that a node with a
    /// zero window is expected to fail high.
    pub(super) fn node<T: NodeType>(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut_node: bool,
    ) -> Searched<Score> {
        // Step 1. Horizon: no depth left, so only captures are searched until it is quiet.
        if depth <= Depth::ZERO {
            return self.horizon::<T>(position, ply, window);
        }
        let depth = depth.min(MAX_DEPTH);
        self.enter::<T>(ply)?;
        self.stats.interior += 1;

        // Step 2. Draws and short mates: the rules and the distance to the root bound the score.
        let mut window = window;
        if !T::ROOT {
            window = match self.draws(position, ply, window) {
                ControlFlow::Continue(window) => window.within_mate_distance(ply),
                ControlFlow::Break(score) => return Ok(score),
            };
            if window.is_empty() {
                return Ok(window.alpha);
            }
        }

        // Step 3. Transposition table: another path may have searched this position deeply
        // enough already. PV nodes are searched all the same, so that their lines stay whole.
        let excluded = self.stack.at(ply).excluded;
        let tt_entry = if excluded.is_some() {
            None
        } else {
            self.shared
                .tt
                .probe(position.key(), ply, position.halfmoves())
        };
        if !T::PV
            && let Some(tt_entry) = tt_entry
            && let Some(score) = self.tt_cutoff(position, ply, depth, window, cut_node, &tt_entry)
        {
            return Ok(score);
        }

        // Step 4. Tablebases: with few pieces on the board the result is known.
        let mut known = Window::OPEN;
        if !T::ROOT && self.probing.is_some() && excluded.is_none() {
            match self.tablebase_cutoff(position, ply, depth, window, T::PV) {
                FromTables::Cutoff(score) => return Ok(score),
                FromTables::Within(scores) => known = scores,
            }
            window.alpha = window.alpha.max(known.alpha);
        }

        let mut node = self.open_node::<T>(position, ply, depth, window, cut_node, tt_entry);
        node.known = known;

        // Step 5. Static evaluation, its correction and its trend.
        self.evaluate_node::<T>(&mut node);
        if excluded.is_none() {
            self.stack.forget_grandchildren(ply);
        }

        if self.selective() {
            // Step 6. Hindsight: the move that led here was reduced on an expectation that the
            // evaluation can now confirm or refute.
            self.hindsight::<T>(&mut node);
            // Steps 7 to 10. Whole-node pruning: razoring, reverse futility, null move, ProbCut.
            if let Some(score) = self.prune_node::<T>(&node)? {
                return Ok(score);
            }
            // Step 11. Internal iterative reductions: without a table move the ordering is poor;
            // search less now and leave a move for the next visit.
            self.internal_iterative_reduction::<T>(&mut node);
        }

        // Step 12. Singular extensions: is the table's move better by far than every other?
        let extension = match self.singular::<T>(&node)? {
            Singular::Cut(score) => return Ok(score),
            Singular::Extend(extension) => extension,
        };

        // Steps 13 to 18. The moves.
        self.search_moves::<T>(&node, extension)
    }

    /// Collects what is known of a node before its evaluation.
    fn open_node<'a, T: NodeType>(
        &mut self,
        position: &'a Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut_node: bool,
        tt_entry: Option<TtEntry>,
    ) -> Node<'a> {
        let legality = position.legality();
        let excluded = self.stack.at(ply).excluded;
        let tt_move = if T::ROOT {
            Some(self.root.first())
        } else {
            tt_entry.and_then(|tt_entry| legal_tt_move(position, tt_entry.best, &legality))
        };
        if excluded.is_none() {
            let mine = self.stack.at_mut(ply);
            mine.threats = legality.threats;
            mine.tt_pv = T::PV || tt_entry.is_some_and(|tt_entry| tt_entry.pv);
        }
        Node {
            position,
            legality,
            ply,
            depth,
            window,
            known: Window::OPEN,
            cut_node,
            excluded,
            tt_entry,
            tt_move,
            tt_pv: self.stack.at(ply).tt_pv,
            raw_eval: None,
            correction: 0,
            static_eval: Score::DRAW,
            eval: Score::DRAW,
            improvement: 0,
        }
    }

    /// The quiescence search, or in plain mode the evaluation at once.
    fn horizon<T: NodeType>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
    ) -> Searched<Score> {
        if self.selective() {
            return if T::PV {
                self.quiescence::<Pv>(position, ply, window)
            } else {
                self.quiescence::<NonPv>(position, ply, window)
            };
        }
        self.enter::<T>(ply)?;
        if !position.has_legal_move() {
            return Ok(score_without_moves(position, ply));
        }
        Ok(match self.terminal(position, ply) {
            Some(score) => score,
            None => self.evaluator.evaluate(position),
        })
    }

    /// Stores what a node found, unless it left a move out.
    pub(super) fn store(&self, node: &Node<'_>, best: PackedMove, score: Score, bound: Bound) {
        if node.excluded.is_some() {
            return;
        }
        let entry = TtEntry {
            best,
            score,
            bound: Some(bound),
            depth: node.depth,
            pv: self.stack.at(node.ply).tt_pv,
            eval: node.raw_eval,
        };
        self.shared.tt.store(node.position.key(), node.ply, &entry);
    }

    /// A zero-window search of a child, seen from the parent.
    pub(super) fn scout(
        &mut self,
        child: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut_node: bool,
    ) -> Searched<Score> {
        Ok(-self.node::<NonPv>(child, ply.next(), depth, -window, cut_node)?)
    }

    /// Searches one ply less without a table move, where the node is likely to matter.
    fn internal_iterative_reduction<T: NodeType>(&mut self, node: &mut Node<'_>) {
        if self.uses(p::use_internal_reductions())
            && (T::PV || node.cut_node)
            && node.tt_move.is_none()
            && node.excluded.is_none()
            && node.depth >= Depth(p::iir_depth())
        {
            node.depth -= 1;
            self.stats.internal_reductions += 1;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{node, worker};

    #[test]
    fn without_a_table_move_a_cut_or_pv_node_loses_one_ply() {
        let position = Position::startpos();
        let reduced = |pv: bool, change: &dyn Fn(&mut Node<'_>)| {
            let mut at = node(&position, Depth(p::iir_depth()), Window::above(Score::DRAW));
            at.cut_node = !pv;
            change(&mut at);
            let before = at.depth;
            if pv {
                worker().internal_iterative_reduction::<Pv>(&mut at);
            } else {
                worker().internal_iterative_reduction::<NonPv>(&mut at);
            }
            before - at.depth
        };
        assert_eq!(reduced(true, &|_| ()), 1);
        assert_eq!(reduced(false, &|_| ()), 1);
        assert_eq!(reduced(false, &|at| at.cut_node = false), 0);
        assert_eq!(reduced(false, &|at| at.depth -= 1), 0);
        let m = position.parse_uci("e2e4").expect("legal");
        assert_eq!(reduced(false, &|at| at.tt_move = Some(m)), 0);
    }
}
