//! What a node teaches the histories of the best move, of the moves searched without becoming best,
//! and of the move that led to the node: mostly at its end, but also after its evaluation and after
//! a re-search.

use super::node_state::Node;
use super::searched_moves::SearchedMoves;
use super::static_eval::loss_by_last_move;
use super::worker::SearchWorker;
use crate::board::{Position, is_noisy};
use crate::history::{CONTINUATIONS, PieceTo, bonus, malus};
use crate::params as p;
use crate::types::{Depth, Move, PackedMove, Ply, Score};

impl SearchWorker {
    /// The history of a quiet move, as reductions and pruning see it.
    pub(super) fn quiet_history(&self, node: &Node<'_>, m: Move) -> i32 {
        let piece = node.position.moved_piece(m);
        let now = PieceTo::new(piece, m.to());
        let h = &self.histories;
        let butterfly = h
            .butterfly
            .get(piece.color, node.legality.threats, PackedMove::new(m));
        let pawn = h.pawn.with(node.position.keys().pawns).get(now);
        let mut history = butterfly * p::history_butterfly() / p::SHARE_UNIT
            + pawn * p::history_pawn() / p::SHARE_UNIT;
        for back in [1, 2] {
            let earlier = self.stack.before(node.ply, back).played;
            history += h.continuation.after(earlier).get(now);
        }
        history
    }

    /// The best move gains, the moves searched without becoming best lose: captures always, quiet
    /// moves only if the best move is quiet too.
    pub(super) fn update_histories(
        &mut self,
        node: &Node<'_>,
        best: Move,
        searched: &SearchedMoves,
    ) {
        let position = node.position;
        let (bonus, malus) = (bonus(node.depth), malus(node.depth));
        if is_noisy(best) {
            self.histories
                .capture
                .update(position.moved_piece(best), best, bonus);
        } else {
            self.remember_killer(node.ply, PackedMove::new(best));
            self.update_quiet(node, best, bonus);
            for m in &searched.quiet {
                self.update_quiet(node, *m, -malus);
            }
        }
        for m in &searched.noisy {
            self.histories
                .capture
                .update(position.moved_piece(*m), *m, -malus);
        }
    }

    /// Without killers the slots stay empty, and no move matches them.
    fn remember_killer(&mut self, ply: Ply, m: PackedMove) {
        if !p::use_killers() {
            return;
        }
        let killers = &mut self.stack.at_mut(ply).killers;
        if killers[0] != m {
            *killers = [m, killers[0]];
        }
    }

    fn update_quiet(&mut self, node: &Node<'_>, m: Move, bonus: i32) {
        let piece = node.position.moved_piece(m);
        let threats = node.legality.threats;
        self.histories
            .butterfly
            .update(piece.color, threats, PackedMove::new(m), bonus);
        let pawns = node.position.keys().pawns;
        let now = PieceTo::new(piece, m.to());
        let share = bonus * p::update_pawn() / p::SHARE_UNIT;
        self.histories.pawn.update(pawns, now, share);
        self.update_continuations(node.ply, now, bonus);
    }

    /// After the reduced search of a quiet move failed high: its continuation histories gain if the
    /// search to `depth` failed high as well, and lose otherwise.
    #[inline(always)]
    pub(super) fn update_after_re_search(
        &mut self,
        node: &Node<'_>,
        m: Move,
        depth: Depth,
        failed_high: bool,
    ) {
        let bonus = if failed_high {
            bonus(depth)
        } else {
            -bonus(depth)
        };
        let now = PieceTo::new(node.position.moved_piece(m), m.to());
        let share = bonus * p::update_re_search() / p::SHARE_UNIT;
        self.update_continuations(node.ply, now, share);
    }

    /// Updates the continuation histories of a move at `ply`.
    #[inline(always)]
    pub(super) fn update_continuations(&mut self, ply: Ply, now: PieceTo, bonus: i32) {
        let shares = [
            p::update_one(),
            p::update_two(),
            p::update_four(),
            p::update_six(),
        ];
        for (back, share) in CONTINUATIONS.into_iter().zip(shares) {
            let earlier = self.stack.before(ply, back).played;
            let bonus = bonus * share / p::SHARE_UNIT;
            self.histories.continuation.update(earlier, now, bonus);
        }
    }

    /// No move raised alpha: the opponent's last quiet move was a good one, and the more of a
    /// surprise the later it came in the order.
    pub(super) fn reward_prior_move(&mut self, node: &Node<'_>) {
        /// Moves beyond this place in the order are late.
        const LATE: usize = 8;
        /// `prior_bonus` and `prior_late` count in 1/128.
        const BONUS_UNIT: i32 = 128;
        let ply = node.ply;
        if ply == Ply::ROOT || node.excluded.is_some() {
            return;
        }
        let Some(&previous) = self.stack.last_quiet(ply) else {
            return;
        };
        let late = p::prior_late() * i32::from(previous.number > LATE);
        let bonus = bonus(node.depth) * (p::prior_bonus() + late) / BONUS_UNIT;
        let parent = Ply(ply.index() - 1);
        self.update_continuations(parent, previous.played, bonus);
        let them = !node.position.turn();
        let share = bonus * p::prior_butterfly() / p::SHARE_UNIT;
        self.histories
            .butterfly
            .update(them, previous.threats, previous.current, share);
    }

    /// If a quiet move changed the static evaluation, its butterfly history follows by the
    /// difference, before any search result is known.
    #[inline(always)]
    pub(super) fn update_from_eval_difference(
        &mut self,
        ply: Ply,
        static_eval: Score,
        position: &Position,
    ) {
        let Some(previous) = self.stack.last_quiet(ply) else {
            return;
        };
        let Some(before) = previous.static_eval else {
            return;
        };
        let loss = loss_by_last_move(static_eval, before);
        let most = p::eval_difference_most();
        let bonus = (-loss * p::eval_difference()).clamp(-most, most);
        self.histories.butterfly.update(
            !position.turn(),
            previous.threats,
            previous.current,
            bonus,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::HISTORY_MAX;
    use crate::search::tests::{node, position, worker};
    use crate::search::window::Window;

    #[test]
    fn the_best_quiet_move_gains_and_the_others_lose() {
        let position = Position::startpos();
        let node = node(&position, Depth(5), Window::above(Score::DRAW));
        let m = |text: &str| position.parse_uci(text).expect("legal");
        let mut worker = worker();
        let mut searched = SearchedMoves::default();
        searched.push(m("a2a3"), false);
        searched.push(m("b2b3"), false);
        worker.update_histories(&node, m("e2e4"), &searched);
        assert!(worker.quiet_history(&node, m("e2e4")) > 0);
        for loser in ["a2a3", "b2b3"] {
            assert!(worker.quiet_history(&node, m(loser)) < 0, "{loser}");
        }
        assert_eq!(worker.quiet_history(&node, m("d2d4")), 0);
        let killers = worker.stack.at(node.ply).killers;
        assert_eq!(killers, [PackedMove::new(m("e2e4")), PackedMove::NONE]);
        worker.update_histories(&node, m("d2d4"), &SearchedMoves::default());
        worker.update_histories(&node, m("d2d4"), &SearchedMoves::default());
        let killers = worker.stack.at(node.ply).killers;
        assert_eq!(
            killers,
            ["d2d4", "e2e4"].map(|text| PackedMove::new(m(text)))
        );
    }

    #[test]
    fn every_history_of_quiet_moves_learns() {
        let start = Position::startpos();
        let mut worker = worker();
        let played = start.parse_uci("g1f3").expect("legal");
        let position = worker.play(&start, Ply::ROOT, played);
        let node = node(&position, Depth(5), Window::above(Score::DRAW));
        let m = position.parse_uci("g8f6").expect("legal");
        worker.update_histories(&node, m, &SearchedMoves::default());
        let (packed, piece) = (PackedMove::new(m), position.moved_piece(m));
        let now = PieceTo::new(piece, m.to());
        let h = &worker.histories;
        assert!(h.butterfly.get(piece.color, node.legality.threats, packed) > 0);
        assert!(h.pawn.with(position.keys().pawns).get(now) > 0);
        let earlier = worker.stack.before(node.ply, 1).played;
        assert!(h.continuation.after(earlier).get(now) > 0);
    }

    #[test]
    fn a_noisy_best_move_leaves_the_quiet_ones_alone() {
        let position = position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        let node = node(&position, Depth(5), Window::above(Score::DRAW));
        let m = |text: &str| position.parse_uci(text).expect("legal");
        let mut worker = worker();
        let mut searched = SearchedMoves::default();
        searched.push(m("d2e2"), false);
        worker.update_histories(&node, m("d2d5"), &searched);
        let rook = position.moved_piece(m("d2d5"));
        assert!(worker.histories.capture.get(rook, m("d2d5")) > 0);
        assert_eq!(worker.quiet_history(&node, m("d2e2")), 0);
        assert_eq!(worker.stack.at(node.ply).killers, [PackedMove::NONE; 2]);
    }

    #[test]
    fn histories_stay_within_their_bounds() {
        let position = Position::startpos();
        let node = node(
            &position,
            crate::types::MAX_DEPTH,
            Window::above(Score::DRAW),
        );
        let m = |text: &str| position.parse_uci(text).expect("legal");
        let mut worker = worker();
        let mut searched = SearchedMoves::default();
        searched.push(m("a2a3"), false);
        for _ in 0..500 {
            worker.update_histories(&node, m("e2e4"), &searched);
        }
        // Butterfly, two continuations and pawn history add up.
        const TABLES: i32 = 4;
        let (best, worst) = (m("e2e4"), m("a2a3"));
        let bound = TABLES * HISTORY_MAX;
        assert!((1..=bound).contains(&worker.quiet_history(&node, best)));
        assert!((-bound..0).contains(&worker.quiet_history(&node, worst)));
    }

    #[test]
    fn butterfly_and_pawn_history_count_by_their_weights() {
        const GAIN: i32 = 6400;
        let position = Position::startpos();
        let node = node(&position, Depth(5), Window::above(Score::DRAW));
        let m = position.parse_uci("e2e4").expect("legal");
        let piece = position.moved_piece(m);
        let mut butterfly = worker();
        let table = &mut butterfly.histories.butterfly;
        table.update(piece.color, node.legality.threats, PackedMove::new(m), GAIN);
        let history = butterfly.quiet_history(&node, m);
        assert_eq!(history, GAIN * p::history_butterfly() / p::SHARE_UNIT);
        let mut pawn = worker();
        let (pawns, now) = (position.keys().pawns, PieceTo::new(piece, m.to()));
        pawn.histories.pawn.update(pawns, now, GAIN);
        let history = pawn.quiet_history(&node, m);
        assert_eq!(history, GAIN * p::history_pawn() / p::SHARE_UNIT);
    }

    #[test]
    fn a_full_list_of_searched_moves_takes_no_more() {
        let position = Position::startpos();
        let mut searched = SearchedMoves::default();
        for _ in 0..5 {
            for m in position.legal_moves() {
                searched.push(m, false);
            }
        }
        assert!(searched.quiet.is_full() && searched.noisy.is_empty());
    }

    #[test]
    fn a_fail_low_rewards_any_quiet_move_that_led_there() {
        let before = position("4k3/8/8/8/3p4/8/4P3/R3K2R w KQ - 3 9");
        for text in ["a1a4", "e2e3", "e1g1"] {
            let m = before.parse_uci(text).expect("legal");
            let mut worker = worker();
            let after = worker.play(&before, Ply::ROOT, m);
            worker.reward_prior_move(&node(&after, Depth(6), Window::above(Score::DRAW)));
            let threats = worker.stack.at(Ply::ROOT).threats;
            let packed = PackedMove::new(m);
            let gained = worker
                .histories
                .butterfly
                .get(before.turn(), threats, packed);
            assert!(gained > 0, "{text}");
        }
        let capture = position("4k3/8/8/8/3p4/8/8/R2QK2R w KQ - 3 9");
        let m = capture.parse_uci("d1d4").expect("legal");
        let mut worker = worker();
        let after = worker.play(&capture, Ply::ROOT, m);
        worker.reward_prior_move(&node(&after, Depth(6), Window::above(Score::DRAW)));
        let packed = PackedMove::new(m);
        let threats = worker.stack.at(Ply::ROOT).threats;
        assert_eq!(
            worker
                .histories
                .butterfly
                .get(capture.turn(), threats, packed),
            0
        );
    }

    #[test]
    fn a_fail_low_rewards_a_late_move_more() {
        let start = Position::startpos();
        let m = start.parse_uci("g1f3").expect("legal");
        let gained = |number: usize| {
            let mut worker = worker();
            let after = worker.play(&start, Ply::ROOT, m);
            worker.stack.at_mut(Ply::ROOT).number = number;
            worker.reward_prior_move(&node(&after, Depth(3), Window::above(Score::DRAW)));
            let threats = worker.stack.at(Ply::ROOT).threats;
            let packed = PackedMove::new(m);
            worker
                .histories
                .butterfly
                .get(start.turn(), threats, packed)
        };
        assert!(gained(9) > gained(8));
        assert_eq!(gained(8), gained(0));
    }

    #[test]
    fn the_evaluation_difference_moves_the_last_quiet_moves_history() {
        let start = Position::startpos();
        let m = start.parse_uci("g1f3").expect("legal");
        let change = |after: i32| {
            let mut worker = worker();
            worker.stack.at_mut(Ply::ROOT).static_eval = Some(Score::DRAW);
            let child = worker.play(&start, Ply::ROOT, m);
            worker.update_from_eval_difference(Ply(1), Score::cp(after), &child);
            let threats = worker.stack.at(Ply::ROOT).threats;
            worker
                .histories
                .butterfly
                .get(start.turn(), threats, PackedMove::new(m))
        };
        assert!(change(-50) > 0, "the opponent's evaluation fell");
        assert!(change(50) < 0);
        assert_eq!(change(0), 0);
        assert_eq!(change(-9000), p::eval_difference_most());
    }
}
