//! The node: principal variation search, step by step.
//!
//! Every step is a function in a file of its own or shares one with its kin; this file is the
//! order in which they come and why that order. Scores are fail-soft: outside the window they
//! are still the best bound that the node could prove.
//!
//! The Elo beside a step is what the whole search loses without it at 8,000 nodes a move, unless
//! another limit is named (2026-11-21). Errors are around ±40, so what is near nothing may be
//! either; the book's record of tests has the games, and the worth of whole waves of steps.

use super::kinds::{NodeType, NonPv, Pv, Window};
use super::singular::Singular;
use super::worker::Worker;
use super::{Searched, moves};
use crate::board::{Legality, Position};
use crate::params as p;
use crate::tt::{Entry, Hit};
use crate::types::{Bound, Depth, MAX_DEPTH, Move, PackedMove, Ply, Score};

/// What the steps of one node know of it.
pub(super) struct Node<'a> {
    pub position: &'a Position,
    pub legality: Legality,
    pub ply: Ply,
    pub depth: Depth,
    /// The window as the node was entered; the move loop raises its own alpha.
    pub window: Window,
    /// Expected to be a cut node.
    pub cut: bool,
    /// The move that a singular search leaves out, or none.
    pub excluded: PackedMove,
    pub hit: Option<Hit>,
    /// The table's move, if it is legal here.
    pub tt_move: Option<Move>,
    /// On a principal variation now or in an earlier search.
    pub tt_pv: bool,
    /// The bare evaluation, as the table keeps it; `None` in check.
    pub raw_eval: Option<Score>,
    /// What the correction histories add to it, in centipawns.
    pub correction: i32,
    /// The corrected evaluation.
    pub static_eval: Score,
    /// The static evaluation, or the table's score where that is nearer the truth.
    pub eval: Score,
    /// By how much the evaluation has risen since our last move, in centipawns.
    pub improvement: i32,
}

impl Node<'_> {
    pub fn in_check(&self) -> bool {
        self.position.in_check()
    }

    pub fn improving(&self) -> bool {
        self.improvement > 0
    }

    /// The table's move captures or promotes.
    pub fn tt_noisy(&self) -> bool {
        self.tt_move.is_some_and(moves::is_noisy)
    }

    /// Whole-node pruning is allowed: not on a principal variation (`pv`), for whose exact score
    /// we care; not in check, where the evaluation says little; not in a singular search, which
    /// asks about the other moves only.
    pub fn prunable<T: NodeType>(&self) -> bool {
        !T::PV && !self.in_check() && self.excluded.is_none()
    }
}

impl Worker {
    /// Searches a position to a depth and returns its score within a window. `cut` says that a
    /// zero-window node is expected to fail high.
    pub(super) fn node<T: NodeType>(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut: bool,
    ) -> Searched<Score> {
        // Step 1. Horizon: no depth left, so only captures are looked at until it is quiet.
        // Its table: +47. Its pruning: +54.
        if depth <= Depth::ZERO {
            return self.horizon::<T>(position, ply, window);
        }
        let depth = depth.min(MAX_DEPTH);
        self.enter::<T>(ply)?;
        self.stats.interior += 1;

        // Step 2. Draws and short mates: the rules and the distance to the root bound the score.
        let mut window = window;
        if !T::ROOT {
            window = self.claim_repetition(position, window);
            if window.alpha >= window.beta {
                return Ok(window.alpha);
            }
            if let Some(score) = self.terminal(position, ply) {
                return Ok(score);
            }
            // Mate distance pruning: no line from here is better than mating on the next ply
            // or worse than being mated now.
            let worst = window.alpha.max(Score::mated_in(ply));
            let best = window.beta.min(Score::mate_in(ply.next()));
            if worst >= best {
                return Ok(worst);
            }
            window = Window::new(worst, best);
        }

        // Step 3. Transposition table: another path may have searched this position deeply
        // enough already. PV nodes are searched all the same, so that their lines stay whole.
        // Its cutoffs: +55.
        let excluded = self.stack.at(ply).excluded;
        let hit = if excluded.is_some() {
            None
        } else {
            self.shared
                .tt
                .probe(position.key(), ply, position.halfmoves())
        };
        if !T::PV
            && excluded.is_none()
            && let Some(score) = self.table_cutoff(position, depth, window, cut, hit)
        {
            if let Some(hit) = hit
                && score >= window.beta
                && hit.best.is_some()
            {
                self.reward_table_move(position, ply, depth, hit.best);
            }
            return Ok(score);
        }

        let mut node = self.open_node::<T>(position, ply, depth, window, cut, hit);

        // Step 4. Static evaluation, its correction (+30) and its trend.
        self.evaluate_node::<T>(&mut node);
        self.stack.at_mut(ply.next().next()).cutoffs = 0;

        if self.selective() {
            // Step 5. Hindsight: the move that led here was reduced on an expectation that the
            // evaluation can now confirm or refute.
            self.hindsight::<T>(&mut node);
            // Steps 6 to 9. Whole-node pruning, cheapest first: razoring, reverse futility (+58),
            // null move (+6), ProbCut (-35). With step 10 and the table's score as evaluation the
            // first three came in as a wave of +126.
            if let Some(score) = self.razor::<T>(&node)? {
                return Ok(score);
            }
            if let Some(score) = self.reverse_futility::<T>(&node) {
                return Ok(score);
            }
            if let Some(score) = self.null_move::<T>(&node)? {
                return Ok(score);
            }
            if let Some(score) = self.probcut::<T>(&node)? {
                return Ok(score);
            }
            // Step 10. Internal iterative reductions: without a table move the ordering is poor;
            // search less now and leave a move for the next visit (-8).
            self.reduce_without_move::<T>(&mut node);
        }

        // Steps 11 to 17: the moves. Singular extensions: +70 at 2+0.02. What orders the moves
        // came in two waves: butterfly and capture history, killers and the split by exchange
        // +184, continuation (alone: +65), pawn and correction history +44.
        let singular = self.singular::<T>(&node)?;
        let extension = match singular {
            Singular::Cut(score) => return Ok(score),
            Singular::Extend(extension) => extension,
        };
        self.search_moves::<T>(&node, extension)
    }

    /// Collects what is known of a node before its evaluation.
    fn open_node<'a, T: NodeType>(
        &mut self,
        position: &'a Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut: bool,
        hit: Option<Hit>,
    ) -> Node<'a> {
        let legality = position.legality();
        let excluded = self.stack.at(ply).excluded;
        let tt_move = if T::ROOT {
            Some(self.root.first())
        } else if p::use_table_move() == 0 {
            None
        } else {
            hit.and_then(|hit| position.unpack_with(hit.best, &legality))
        };
        if excluded.is_none() {
            let frame = *self.stack.before(ply, 1);
            let mine = self.stack.at_mut(ply);
            mine.threats = legality.danger;
            mine.tt_pv = T::PV || hit.is_some_and(|hit| hit.pv);
            mine.double_extensions = if T::ROOT { 0 } else { frame.double_extensions };
        }
        Node {
            position,
            legality,
            ply,
            depth,
            window,
            cut,
            excluded,
            hit,
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
            let mated = if position.in_check() {
                Score::mated_in(ply)
            } else {
                Score::DRAW
            };
            return Ok(mated);
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
        let entry = Entry {
            best,
            score,
            bound,
            depth: node.depth,
            pv: node.tt_pv,
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
        cut: bool,
    ) -> Searched<Score> {
        Ok(-self.node::<NonPv>(child, ply.next(), depth, -window, cut)?)
    }

    /// Whether a technique is switched on and results may be approximate.
    pub(super) fn uses(&self, switch: i32) -> bool {
        switch == 1 && self.selective()
    }

    /// Step 10.
    fn reduce_without_move<T: NodeType>(&mut self, node: &mut Node<'_>) {
        if self.uses(p::use_internal_reductions())
            && (T::PV || node.cut)
            && node.tt_move.is_none()
            && node.excluded.is_none()
            && node.depth >= Depth(p::iir_depth())
        {
            node.depth -= 1;
            self.stats.internal_reductions += 1;
        }
    }
}
