//! What a node leaves behind: histories of moves that refuted and of those that did not, and
//! corrections of the evaluation.

use super::moves::{Tried, is_noisy};
use super::node::Node;
use super::worker::Worker;
use crate::board::Position;
use crate::history::{CORRECTION_LIMIT, PieceTo};
use crate::params as p;
use crate::types::{Bound, Color, Depth, Move, PackedMove, Piece, Ply, Score, Square};

/// How far back continuation histories look, in plies.
pub(super) const CONTINUATIONS: [usize; 4] = [1, 2, 4, 6];

/// What a refuting move gains at a depth.
pub(super) fn bonus(depth: Depth) -> i32 {
    (p::bonus_margin() * depth.plies() - p::bonus_offset()).clamp(0, p::bonus_most())
}

/// What a move loses that was searched in vain before the best.
fn malus(depth: Depth) -> i32 {
    (p::malus_margin() * depth.plies() - p::malus_offset()).clamp(0, p::malus_most())
}

impl Worker {
    /// The history of a quiet move, as reductions and pruning see it.
    pub(super) fn quiet_history(&self, node: &Node<'_>, m: Move) -> i32 {
        let piece = node.position.moved(m);
        let now = PieceTo::new(piece, m.to());
        let mut history = 0;
        if p::use_butterfly() == 1 {
            let threats = node.legality.danger;
            history += self
                .histories
                .butterfly
                .get(piece.color, threats, PackedMove::new(m));
        }
        if p::use_continuation() == 1 {
            for back in [1, 2] {
                let earlier = self.stack.before(node.ply, back).played;
                history += self.histories.continuation.get(earlier, now);
            }
        }
        if p::use_pawn_history() == 1 {
            history += self
                .histories
                .pawn
                .get(node.position.keys().pawns, piece, m.to());
        }
        history
    }

    /// The best move gains, the moves tried before it lose.
    pub(super) fn learn_from_best(&mut self, node: &Node<'_>, best: Move, tried: &Tried) {
        let position = node.position;
        let (bonus, malus) = (bonus(node.depth), malus(node.depth));
        if is_noisy(best) {
            self.histories
                .capture
                .update(position.moved(best), best, bonus);
        } else {
            self.remember_killer(node.ply, PackedMove::new(best));
            self.update_quiet(node, best, bonus);
            for m in &tried.quiet {
                self.update_quiet(node, *m, -malus);
            }
        }
        for m in &tried.noisy {
            self.histories
                .capture
                .update(position.moved(*m), *m, -malus);
        }
    }

    fn remember_killer(&mut self, ply: Ply, m: PackedMove) {
        let killers = &mut self.stack.at_mut(ply).killers;
        if killers[0] != m {
            *killers = [m, killers[0]];
        }
    }

    fn update_quiet(&mut self, node: &Node<'_>, m: Move, bonus: i32) {
        let piece = node.position.moved(m);
        let threats = node.legality.danger;
        self.histories
            .butterfly
            .update(piece.color, threats, PackedMove::new(m), bonus);
        let pawns = node.position.keys().pawns;
        self.histories.pawn.update(pawns, piece, m.to(), bonus);
        self.update_continuations(node.ply, piece, m.to(), bonus);
    }

    /// Updates the continuation histories of a move at `ply`.
    pub(super) fn update_continuations(&mut self, ply: Ply, piece: Piece, to: Square, bonus: i32) {
        let now = PieceTo::new(piece, to);
        for back in CONTINUATIONS {
            let earlier = self.stack.before(ply, back).played;
            self.histories.continuation.update(earlier, now, bonus);
        }
    }

    /// Every move failed: the opponent's last quiet move was a good one.
    pub(super) fn learn_from_fail_low(&mut self, node: &Node<'_>) {
        let ply = node.ply;
        if ply == Ply::ROOT || node.excluded.is_some() {
            return;
        }
        let previous = *self.stack.before(ply, 1);
        let Some(piece) = last_quiet(node.position, previous.current) else {
            return;
        };
        let bonus = bonus(node.depth) * p::prior_bonus() / 128;
        let parent = Ply(ply.index() - 1);
        self.update_continuations(parent, piece, previous.current.to(), bonus);
        self.histories
            .butterfly
            .update(piece.color, previous.threats, previous.current, bonus);
    }

    /// If a quiet move changed the evaluation, its history follows, before any search result.
    pub(super) fn learn_from_eval(&mut self, ply: Ply, static_eval: Score, position: &Position) {
        let previous = *self.stack.before(ply, 1);
        let Some(before) = previous.static_eval else {
            return;
        };
        let Some(piece) = last_quiet(position, previous.current) else {
            return;
        };
        // What the move's maker lost by it is what both evaluations add up to.
        let loss = (static_eval - Score::DRAW) + (before - Score::DRAW);
        let most = p::eval_difference_most();
        let bonus = (-loss * p::eval_difference()).clamp(-most, most);
        self.histories
            .butterfly
            .update(piece.color, previous.threats, previous.current, bonus);
    }

    /// What to add to the evaluation, in centipawns.
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

    /// Asks for the cells that [`Worker::correction`] will want of this position, but for that of
    /// the line.
    #[inline]
    pub(super) fn prefetch_corrections(&self, position: &Position) {
        let (keys, us) = (position.keys(), position.turn());
        let h = &self.histories;
        h.pawn_correction.prefetch(us, keys.pawns);
        h.minor_correction.prefetch(us, keys.minors);
        for color in [Color::Black, Color::White] {
            h.non_pawn_correction[color as usize].prefetch(us, keys.non_pawns[color as usize]);
        }
    }

    /// A key of the last two moves.
    fn line_key(&self, ply: Ply) -> u64 {
        self.stack
            .before(ply, 1)
            .played
            .pair_key(self.stack.before(ply, 2).played)
    }

    /// The search's score against the static evaluation, where they can be compared.
    pub(super) fn learn_correction(
        &mut self,
        node: &Node<'_>,
        best: Option<Move>,
        score: Score,
        bound: Bound,
    ) {
        /// A result moves a cell by at most this share of its bound.
        const MOST: i32 = CORRECTION_LIMIT / 4;
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
        let bonus = (gap * node.depth.plies() * p::correction_bonus() / 8).clamp(-MOST, MOST);
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

/// The piece that made the last move, if that was a quiet one.
fn last_quiet(position: &Position, last: PackedMove) -> Option<Piece> {
    // A capture, a pawn move or a null move resets the clock or leaves no move behind.
    if last.is_none() || last.is_castle() || position.halfmoves() == 0 {
        return None;
    }
    position.board().piece_at(last.to())
}
