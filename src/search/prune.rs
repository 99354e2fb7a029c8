//! Whole-node pruning: reasons to leave a node, or to search it less, before its first move.

use super::node_state::Node;
use super::node_type::{NodeType, NonPv};
use super::static_eval::loss_by_last_move;
use super::window::{Window, blend_fail_high};
use super::worker::SearchWorker;
use super::{Searched, picker::Picker};
use crate::board::is_noisy;
use crate::history::PieceTo;
use crate::params as p;
use crate::types::{Bound, Depth, PackedMove, Ply, Score};

/// How far below alpha the evaluation must be for razoring, in centipawns.
fn razor_margin(depth: Depth) -> i32 {
    p::razor_base() + p::razor_margin() * depth.plies()
}

/// How far above beta the evaluation must be for reverse futility pruning, in centipawns.
/// Improving alone never makes the margin vanish; `attacked` says that a piece of the mover's is.
fn rfp_margin(depth: Depth, improving: bool, attacked: bool, correction: i32) -> i32 {
    const LEAST: i32 = 20;
    let improving = p::rfp_improving() * i32::from(improving);
    (p::rfp_margin() * depth.plies() - improving).max(LEAST)
        + p::rfp_attacked() * i32::from(attacked)
        + correction.abs() * p::rfp_correction() / p::SHARE_UNIT
}

/// Whether the enemy attacks a piece of the side to move, pawns and the king not counted.
fn is_piece_attacked(node: &Node<'_>) -> bool {
    let board = node.position.board();
    let pieces = board.by_color(node.position.turn()) & !(board.pawns() | board.kings());
    !(node.legality.threats & pieces).is_empty()
}

/// How far above beta the static evaluation must be for a null move, in centipawns; may be
/// negative.
fn null_margin(depth: Depth) -> i32 {
    p::null_margin() - p::null_margin_depth() * depth.plies()
}

/// How much less deep a null move is searched, in plies, `above` centipawns above beta.
fn null_reduction(depth: Depth, above: i32, tt_noisy: bool) -> i32 {
    let above = (above / p::null_eval()).min(p::null_eval_most());
    p::null_base() + depth.plies() / p::null_divisor() + above + i32::from(tt_noisy)
}

/// The first ply at which a verification search to `depth` from `ply` may pass.
fn null_from(ply: Ply, depth: Depth) -> Ply {
    /// Null moves are off for three quarters of the verification's depth.
    const OFF: usize = 3;
    const WHOLE: usize = 4;
    Ply(ply.index() + depth.plies().max(0) as usize * OFF / WHOLE + 1)
}

/// The bound that ProbCut's shallow search must reach.
fn probcut_beta(beta: Score, improving: bool) -> Score {
    beta + p::probcut_margin() - p::probcut_improving() * i32::from(improving)
}

impl SearchWorker {
    /// Hindsight depth adjustment (as in Stockfish). If the parent's move was reduced a lot and yet the
    /// evaluation did not fall for the parent's side as expected, look deeper; if both sides'
    /// evaluations together say that the move lost something for the parent's side, look less deep.
    pub(super) fn hindsight<T: NodeType>(&mut self, node: &mut Node<'_>) {
        // In the verification of a null move depths stay as they are, down to where null moves are
        // tried again.
        if node.ply < self.null_from {
            return;
        }
        if T::ROOT || node.in_check() || node.excluded.is_some() || !self.uses(p::use_hindsight()) {
            return;
        }
        let parent = self.stack.before(node.ply, 1);
        let Some(parent_eval) = parent.static_eval else {
            return;
        };
        let loss = loss_by_last_move(node.static_eval, parent_eval);
        if parent.reduction >= p::hindsight_deeper() && loss <= 0 {
            node.depth += 1;
        } else if parent.reduction >= p::hindsight_shallower()
            && node.depth > Depth::ONE
            && loss > p::hindsight_margin()
        {
            node.depth -= 1;
        }
    }

    /// Whole-node pruning: razoring, reverse futility, null move and ProbCut, in this order. A score
    /// decides the node.
    pub(super) fn prune_node<T: NodeType>(&mut self, node: &Node<'_>) -> Searched<Option<Score>> {
        if let Some(score) = self.razor::<T>(node)? {
            return Ok(Some(score));
        }
        if let Some(score) = self.reverse_futility::<T>(node) {
            return Ok(Some(score));
        }
        if let Some(score) = self.null_move::<T>(node)? {
            return Ok(Some(score));
        }
        self.probcut::<T>(node)
    }

    /// Razoring. So far below alpha that only captures could help: let the quiescence
    /// search say whether they do.
    pub(super) fn razor<T: NodeType>(&mut self, node: &Node<'_>) -> Searched<Option<Score>> {
        let alpha = node.window.alpha;
        let margin = razor_margin(node.depth);
        if !self.uses(p::use_razoring())
            || !node.prunable::<T>()
            || node.depth > Depth(p::razor_depth())
            || alpha.is_decisive()
            || node.eval + margin > alpha
        {
            return Ok(None);
        }
        let score = self.quiescence::<NonPv>(node.position, node.ply, node.window)?;
        if score > alpha {
            return Ok(None);
        }
        self.stats.razored += 1;
        Ok(Some(score))
    }

    /// Reverse futility pruning (static null move pruning). So far above beta that the
    /// opponent's next move will hardly bring the score below it.
    #[inline(always)]
    pub(super) fn reverse_futility<T: NodeType>(&mut self, node: &Node<'_>) -> Option<Score> {
        let beta = node.window.beta;
        let attacked = is_piece_attacked(node);
        let margin = rfp_margin(node.depth, node.improving(), attacked, node.correction);
        let prunes = self.uses(p::use_reverse_futility())
            && node.prunable::<T>()
            && !node.tt_pv
            && node.depth <= Depth(p::rfp_depth())
            && node.eval - margin >= beta
            && !beta.is_loss()
            && !node.eval.is_win()
            // A quiet table move is worth a search of its own.
            && (node.tt_move.is_none() || node.tt_noisy());
        if !prunes {
            return None;
        }
        self.stats.reverse_futility += 1;
        Some(blend_fail_high(node.eval, beta, p::rfp_blend()))
    }

    /// Null move pruning. If the side to move may pass and is still above beta, its best
    /// move surely is; zugzwang is the exception, hence the conditions and the verification.
    pub(super) fn null_move<T: NodeType>(&mut self, node: &Node<'_>) -> Searched<Option<Score>> {
        let (position, ply, depth, beta) = (node.position, node.ply, node.depth, node.window.beta);
        if !self.uses(p::use_null_move())
            || !node.prunable::<T>()
            || !node.cut_node
            || depth < Depth(p::null_depth())
            || node.eval < beta
            || node.static_eval < beta + null_margin(depth)
            || beta.is_loss()
            || self.stack.before(ply, 1).played.is_none()
            || ply < self.null_from
            || !position.has_non_pawn_material()
            || node.tt_entry.is_some_and(|tt_entry| {
                tt_entry.bound == Some(Bound::Upper) && tt_entry.score < beta
            })
        {
            return Ok(None);
        }
        let Some(passed) = position.play_null() else {
            return Ok(None);
        };
        let reduction = null_reduction(depth, node.eval - beta, node.tt_noisy());

        self.stats.null_tried += 1;
        self.shared.tt.prefetch(passed.key());
        let frame = self.stack.at_mut(ply);
        (frame.current, frame.played, frame.reduction) = (PackedMove::NONE, PieceTo::NONE, 0);
        self.keys.push(position.key());
        let result = self.scout(
            &passed,
            ply,
            depth - reduction,
            Window::at_least(beta),
            false,
        );
        self.keys.pop();
        let mut score = result?;
        if score < beta {
            return Ok(None);
        }
        // A mate after a pass proves nothing.
        if score.is_decisive() {
            score = beta;
        }
        self.stats.null_cuts += 1;
        if depth < Depth(p::null_verify_depth()) || self.null_from > Ply::ROOT {
            return Ok(Some(score));
        }
        // Verify with passing forbidden in the upper part of the tree.
        let verified = depth - reduction;
        self.null_from = null_from(ply, verified);
        let result = self.node::<NonPv>(position, ply, verified, Window::at_least(beta), false);
        self.null_from = Ply::ROOT;
        Ok((result? >= beta).then_some(score))
    }

    /// ProbCut. A capture that stays well above beta in a much shallower search will
    /// most likely stay above it in a full one.
    pub(super) fn probcut<T: NodeType>(&mut self, node: &Node<'_>) -> Searched<Option<Score>> {
        let (position, ply, depth) = (node.position, node.ply, node.depth);
        let beta = probcut_beta(node.window.beta, node.improving());
        if !self.uses(p::use_probcut())
            || !node.prunable::<T>()
            || depth < Depth(p::probcut_depth())
            || node.window.beta.is_decisive()
            || node
                .tt_entry
                .is_some_and(|tt_entry| tt_entry.bound.is_some() && tt_entry.score < beta)
        {
            return Ok(None);
        }
        let threshold = beta - node.static_eval;
        let tt_move = node
            .tt_move
            .filter(|m| is_noisy(*m) && position.see_ge(*m, threshold));
        let mut picker = Picker::captures(tt_move, threshold);
        let shallow = depth - p::probcut_reduction();
        while let Some(m) = picker.next(&self.histories, &self.stack, position, &node.legality, ply)
        {
            self.prefetch_child(position, m);
            let child = self.play(position, ply, m);
            let window = Window::at_least(beta);
            self.stack.at_mut(ply).reduction = 0;
            let mut result = self
                .quiescence::<NonPv>(&child, ply.next(), -window)
                .map(|score| -score);
            if shallow > Depth::ONE && result.is_ok_and(|score| score >= beta) {
                result = self.scout(&child, ply, shallow - 1, window, !node.cut_node);
            }
            self.unplay();
            let score = result?;
            if score >= beta {
                self.stats.probcut_cuts += 1;
                let entry = crate::tt::TtEntry {
                    best: PackedMove::new(m),
                    score,
                    bound: Some(Bound::Lower),
                    depth: shallow,
                    pv: node.tt_pv,
                    eval: node.raw_eval,
                };
                self.shared.tt.store(position.key(), ply, &entry);
                return Ok(Some(if score.is_decisive() {
                    score
                } else {
                    score - (beta - node.window.beta)
                }));
            }
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::node_type::Pv;
    use crate::search::tests::{node, position, worker, worker_at};
    use crate::tt::TtEntry;

    #[test]
    fn reverse_futility_prunes_from_its_margin_on() {
        let position = Position::startpos();
        let beta = Score::cp(30);
        let mut worker = worker();
        let mut at = node(&position, Depth(4), Window::at_least(beta));
        let margin = rfp_margin(at.depth, false, false, 0);
        at.eval = beta + margin;
        let score = worker.reverse_futility::<NonPv>(&at).expect("pruned");
        assert!((beta..=at.eval).contains(&score));
        at.eval = beta + (margin - 1);
        assert_eq!(
            worker.reverse_futility::<NonPv>(&at),
            None,
            "below the margin"
        );
    }

    #[test]
    fn reverse_futility_has_its_conditions() {
        let startpos = Position::startpos();
        let beta = Score::cp(30);
        let mut worker = worker();
        let mut prunes = |change: &dyn Fn(&mut Node<'_>)| {
            let mut at = node(&startpos, Depth(p::rfp_depth()), Window::at_least(beta));
            at.eval = Score::cp(5000);
            change(&mut at);
            worker.reverse_futility::<NonPv>(&at).is_some()
        };
        assert!(prunes(&|_| ()));
        assert!(!prunes(&|at| at.depth += 1), "too deep");
        assert!(!prunes(&|at| at.tt_pv = true));
        assert!(!prunes(&|at| at.excluded = PackedMove::from_bits(1)));
        assert!(!prunes(&|at| at.eval = Score::mate_in(Ply(3))));
        let quiet = startpos.parse_uci("e2e4").expect("legal");
        assert!(
            !prunes(&|at| at.tt_move = Some(quiet)),
            "a quiet table move"
        );
        let mut at = node(&startpos, Depth(2), Window::at_least(beta));
        at.eval = Score::cp(5000);
        assert_eq!(worker.reverse_futility::<Pv>(&at), None, "a PV node");
        let check = position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1");
        let mut at = node(&check, Depth(2), Window::at_least(beta));
        at.eval = Score::cp(5000);
        assert_eq!(worker.reverse_futility::<NonPv>(&at), None, "in check");
    }

    #[test]
    fn margins_grow_with_depth_and_never_vanish() {
        for depth in 1..10 {
            let depth = Depth(depth);
            let margin = |improving, correction| rfp_margin(depth, improving, false, correction);
            assert!(margin(true, 0) <= margin(false, 0));
            assert!(margin(false, 0) < rfp_margin(depth + 1, false, false, 0));
            assert!(margin(true, 0) > 0);
            assert!(margin(true, -40) > margin(true, 0));
            let attacked = rfp_margin(depth, true, true, 0);
            assert_eq!(attacked, margin(true, 0) + p::rfp_attacked());
            assert!(razor_margin(depth) < razor_margin(depth + 1));
            assert!(null_margin(depth) >= null_margin(depth + 1));
        }
    }

    #[test]
    fn attacked_pieces_are_neither_pawns_nor_the_king() {
        let attacked = |fen: &str| {
            let position = position(fen);
            is_piece_attacked(&node(&position, Depth(4), Window::above(Score::DRAW)))
        };
        assert!(attacked("k7/8/8/8/8/2r5/8/2N1K3 w - - 0 1"));
        assert!(!attacked("k7/8/8/8/8/2r5/8/1N2K3 w - - 0 1"));
        assert!(!attacked("k7/8/8/8/8/2r5/2P5/4K3 w - - 0 1"));
        assert!(!attacked("k7/8/8/8/8/8/8/2r1K3 w - - 0 1"));
    }

    #[test]
    fn razoring_asks_the_quiescence_search_from_its_margin_on() {
        let position = Position::startpos();
        let alpha = Score::cp(900);
        let mut worker = worker_at(&position);
        let mut at = node(&position, Depth::ONE, Window::above(alpha));
        at.eval = alpha - razor_margin(at.depth);
        let score = worker.razor::<NonPv>(&at).expect("not stopped");
        assert!(score.is_some_and(|score| score <= alpha));
        at.eval += 1;
        assert_eq!(worker.razor::<NonPv>(&at), Ok(None), "above the margin");
        at.eval = Score::cp(-5000);
        at.depth = Depth(p::razor_depth() + 1);
        assert_eq!(worker.razor::<NonPv>(&at), Ok(None), "too deep");
    }

    #[test]
    fn hindsight_changes_the_depth_after_a_reduction() {
        let position = Position::startpos();
        let depth_after = |reduction: i32, sum: i32| {
            let mut worker = worker();
            let parent = worker.stack.at_mut(Ply::ROOT);
            (parent.reduction, parent.static_eval) = (reduction, Some(Score::cp(-40)));
            let mut at = node(&position, Depth(5), Window::above(Score::DRAW));
            at.static_eval = Score::cp(sum + 40);
            worker.hindsight::<NonPv>(&mut at);
            at.depth
        };
        let (deeper, shallower) = (p::hindsight_deeper(), p::hindsight_shallower());
        assert_eq!(depth_after(deeper, 0), Depth(6));
        assert_eq!(depth_after(deeper, 1), Depth(5));
        assert_eq!(depth_after(deeper - 1, 0), Depth(5));
        let margin = p::hindsight_margin();
        assert_eq!(depth_after(shallower, margin + 1), Depth(4));
        assert_eq!(depth_after(shallower, margin), Depth(5));
        assert_eq!(depth_after(shallower - 1, margin + 1), Depth(5));
    }

    #[test]
    fn null_moves_have_their_conditions() {
        let startpos = Position::startpos();
        let beta = Score::cp(-300);
        let prunes = |position: &Position, change: &dyn Fn(&mut Node<'_>)| {
            let mut worker = worker_at(position);
            // Some move led here.
            worker.stack.at_mut(Ply::ROOT).played =
                PieceTo::new(crate::types::Color::Black.pawn(), crate::types::Square::E5);
            let mut at = node(position, Depth(p::null_depth()), Window::at_least(beta));
            at.cut_node = true;
            (at.eval, at.static_eval) = (Score::cp(100), Score::cp(100));
            change(&mut at);
            worker
                .null_move::<NonPv>(&at)
                .expect("not stopped")
                .is_some()
        };
        assert!(prunes(&startpos, &|_| ()));
        assert!(!prunes(&startpos, &|at| at.depth -= 1), "too shallow");
        assert!(!prunes(&startpos, &|at| at.cut_node = false));
        assert!(!prunes(&startpos, &|at| at.eval = beta - 1));
        let needed = beta + null_margin(Depth(p::null_depth()));
        assert!(prunes(&startpos, &|at| at.static_eval = needed));
        assert!(!prunes(&startpos, &|at| at.static_eval = needed - 1));
        assert!(!prunes(&startpos, &|at| at.tt_entry = Some(TtEntry {
            best: PackedMove::NONE,
            score: beta - 1,
            bound: Some(Bound::Upper),
            depth: Depth::ONE,
            pv: false,
            eval: None,
        })));
        let pawns = position("4k3/pppp4/8/8/8/8/PPPPPPPP/4K3 w - - 0 1");
        assert!(!prunes(&pawns, &|_| ()), "only pawns: zugzwang is likely");
    }

    #[test]
    fn null_moves_are_reduced_more_deeper_and_further_above_beta() {
        let base = null_reduction(Depth(6), 0, false);
        assert!(null_reduction(Depth(12), 0, false) > base);
        assert_eq!(null_reduction(Depth(6), 0, true), base + 1);
        assert_eq!(null_reduction(Depth(6), p::null_eval() - 1, false), base);
        assert_eq!(null_reduction(Depth(6), p::null_eval(), false), base + 1);
        let most = null_reduction(Depth(6), 100 * p::null_eval(), false);
        assert_eq!(most, base + p::null_eval_most());
    }

    #[test]
    fn probcut_cuts_with_a_winning_capture_only() {
        // The rook takes a queen that nothing defends.
        let hanging = position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        let depth = Depth(p::probcut_depth());
        let probcut = |position: &Position, beta: Score, depth: Depth, entry: Option<Score>| {
            let mut at = node(position, depth, Window::at_least(beta));
            at.tt_entry = entry.map(|score| TtEntry {
                best: PackedMove::NONE,
                score,
                bound: Some(Bound::Upper),
                depth: Depth::ONE,
                pv: false,
                eval: None,
            });
            at.static_eval = Score::cp(-400);
            let score = worker_at(position).probcut::<NonPv>(&at);
            score.expect("not stopped")
        };
        let beta = Score::cp(100);
        let cut = probcut(&hanging, beta, depth, None);
        assert!(cut.is_some_and(|score| score >= beta), "{cut:?}");
        assert_eq!(
            probcut(&hanging, beta, depth - 1, None),
            None,
            "too shallow"
        );
        let needed = probcut_beta(beta, false);
        assert_eq!(probcut(&hanging, beta, depth, Some(needed - 1)), None);
        assert!(probcut(&hanging, beta, depth, Some(needed)).is_some());
        let nothing = position("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1");
        assert_eq!(probcut(&nothing, beta, depth, None), None);
    }
}
