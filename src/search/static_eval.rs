//! The static evaluation of a node: from the table or the network, corrected by what earlier
//! searches found, and replaced by the table's score where that is a better bound.

use super::node_state::Node;
use super::node_type::NodeType;
use super::worker::SearchWorker;
use crate::board::{Keys, Position, is_noisy};
use crate::history::CORRECTION_LIMIT;
use crate::params as p;
use crate::tt::TtEntry;
use crate::types::{Bound, Color, Move, Ply, Score};

impl SearchWorker {
    /// Sets the node's evaluations: `raw_eval` from the table or the network, `static_eval` with
    /// the correction, and `eval`, which is the table's score where that is a better bound.
    pub(super) fn evaluate_node<T: NodeType>(&mut self, node: &mut Node<'_>) {
        let (position, ply) = (node.position, node.ply);
        if node.in_check() {
            // In check, this side's evaluation of two plies earlier.
            let earlier = self.stack.before(ply, 2).static_eval.unwrap_or(Score::DRAW);
            (node.static_eval, node.eval) = (earlier, earlier);
            self.stack.at_mut(ply).static_eval = None;
            return;
        }
        if node.excluded.is_some() {
            let known = self.stack.at(ply).static_eval.unwrap_or(Score::DRAW);
            (node.static_eval, node.eval) = (known, known);
            node.improvement = self.improvement(ply, known);
            return;
        }
        let raw = match node.tt_entry.and_then(|tt_entry| tt_entry.eval) {
            Some(raw) => raw,
            None => self.evaluate_and_store(node),
        };
        node.raw_eval = Some(raw);
        node.correction = self.correction(position, ply);
        node.static_eval = crate::eval::adjust(raw, position.halfmoves(), node.correction);
        node.eval = tt_adjusted_eval(node.static_eval, node.tt_entry);
        self.stack.at_mut(ply).static_eval = Some(node.static_eval);
        node.improvement = self.improvement(ply, node.static_eval);
        if !T::ROOT {
            self.update_from_eval_difference(ply, node.static_eval, position);
        }
    }

    /// The network's evaluation, kept in the table at once: a node that is pruned stores nothing
    /// else.
    fn evaluate_and_store(&mut self, node: &Node<'_>) -> Score {
        let raw = self.evaluator.evaluate(node.position);
        if node.tt_entry.is_none() {
            let entry = TtEntry::evaluation(raw, node.tt_pv);
            self.shared.tt.store(node.position.key(), node.ply, &entry);
        }
        raw
    }

    /// By how much the side to move's evaluation has risen since its last move (or the one
    /// before, if it was in check then).
    fn improvement(&self, ply: Ply, static_eval: Score) -> i32 {
        let earlier = self
            .stack
            .before(ply, 2)
            .static_eval
            .or(self.stack.before(ply, 4).static_eval);
        earlier.map_or(0, |earlier| static_eval - earlier)
    }

    /// What to add to the evaluation, in centipawns.
    #[inline(always)]
    pub(super) fn correction(&self, position: &Position, ply: Ply) -> i32 {
        if !self.uses(p::use_correction()) {
            return 0;
        }
        let (keys, us) = (position.keys(), position.turn());
        let h = &self.histories;
        let [black, white] = [Color::Black, Color::White].map(|color| {
            h.non_pawn_correction[color as usize].get(us, keys.non_pawns[color as usize])
        });
        let line = self.line_key(ply);
        let sum = h.pawn_correction.get(us, keys.pawns) * p::correction_pawn()
            + h.minor_correction.get(us, keys.minors) * p::correction_minor()
            + (black + white) * p::correction_non_pawn()
            + h.continuation_correction.get(us, line) * p::correction_continuation();
        sum / CORRECTION_LIMIT
    }

    /// Prefetches the cells that [`SearchWorker::correction`] reads for a position with these keys
    /// and this side to move, after moves with this key.
    #[inline]
    pub(super) fn prefetch_corrections(&self, keys: &Keys, us: Color, line: u64) {
        let h = &self.histories;
        h.pawn_correction.prefetch(us, keys.pawns);
        h.minor_correction.prefetch(us, keys.minors);
        for color in [Color::Black, Color::White] {
            h.non_pawn_correction[color as usize].prefetch(us, keys.non_pawns[color as usize]);
        }
        h.continuation_correction.prefetch(us, line);
    }

    /// A key of the last two moves before `ply`.
    fn line_key(&self, ply: Ply) -> u64 {
        self.stack
            .before(ply, 1)
            .played
            .pair_key(self.stack.before(ply, 2).played)
    }

    /// Moves the correction histories towards the search's score, where its bound allows to compare
    /// it with the static evaluation.
    #[inline(always)]
    pub(super) fn update_correction(
        &mut self,
        node: &Node<'_>,
        best: Option<Move>,
        score: Score,
        bound: Bound,
    ) {
        /// A result moves a cell by at most a quarter of the cell's bound.
        const MOST: i32 = CORRECTION_LIMIT / 4;
        /// `correction_bonus` counts in 1/8.
        const BONUS_UNIT: i32 = 8;
        let comparable = match bound {
            Bound::Exact => true,
            Bound::Lower => score > node.static_eval,
            Bound::Upper => score < node.static_eval,
        };
        if node.in_check()
            || node.excluded.is_some()
            || best.is_some_and(is_noisy)
            || !comparable
            || score.is_decisive()
        {
            return;
        }
        let gap = score - node.static_eval;
        let bonus =
            (gap * node.depth.plies() * p::correction_bonus() / BONUS_UNIT).clamp(-MOST, MOST);
        let (keys, us) = (*node.position.keys(), node.position.turn());
        let line = self.line_key(node.ply);
        let h = &mut self.histories;
        h.pawn_correction.update(us, keys.pawns, bonus);
        h.minor_correction.update(us, keys.minors, bonus);
        for color in [Color::Black, Color::White] {
            let table = &mut h.non_pawn_correction[color as usize];
            table.update(us, keys.non_pawns[color as usize], bonus);
        }
        h.continuation_correction.update(us, line, bonus);
    }
}

/// What the side that made the last move lost by it, in centipawns: both sides' evaluations of
/// themselves, after the move and before it, add up to that.
pub(super) fn loss_by_last_move(now: Score, before: Score) -> i32 {
    (now - Score::DRAW) + (before - Score::DRAW)
}

/// The table's score replaces the evaluation where its bound shows that it is more accurate.
pub(super) fn tt_adjusted_eval(static_eval: Score, tt_entry: Option<TtEntry>) -> Score {
    match tt_entry {
        Some(tt_entry)
            if p::use_tt_eval()
                && !tt_entry.score.is_decisive()
                && tt_entry.decides(static_eval + 1) =>
        {
            tt_entry.score
        }
        _ => static_eval,
    }
}
