//! Whole-node pruning: reasons to leave a node, or to search it less, before its first move.

use super::node_state::Node;
use super::node_type::{NodeType, NonPv};
use super::window::{Window, blend_fail_high};
use super::worker::Worker;
use super::{Searched, picker::Picker};
use crate::board::is_noisy;
use crate::history::PieceTo;
use crate::params as p;
use crate::types::{Bound, Depth, PackedMove, Ply, Score};

/// Of how far a score without a search lies above beta, one part in so many is believed.
const RFP_BLEND: i32 = 3;

/// How far below alpha the evaluation must be for razoring, in centipawns.
fn razor_margin(depth: Depth) -> i32 {
    p::razor_base() + p::razor_margin() * depth.plies()
}

/// How far above beta the evaluation must be for reverse futility pruning, in centipawns.
/// Improving alone never makes the margin vanish.
fn rfp_margin(depth: Depth, improving: bool, correction: i32) -> i32 {
    const LEAST: i32 = 20;
    let improving = p::rfp_improving() * i32::from(improving);
    (p::rfp_margin() * depth.plies() - improving).max(LEAST)
        + correction.abs() * p::rfp_correction() / 64
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

/// The bound that ProbCut's shallow search must reach.
fn probcut_beta(beta: Score, improving: bool) -> Score {
    beta + p::probcut_margin() - p::probcut_improving() * i32::from(improving)
}

impl Worker {
    /// Hindsight depth adjustment. If the parent's move was reduced a lot and yet the
    /// evaluation did not fall for the parent's side as expected, look deeper; if both sides'
    /// evaluations together say that the move lost its maker something, look less deep.
    pub(super) fn hindsight<T: NodeType>(&mut self, node: &mut Node<'_>) {
        if T::ROOT || node.in_check() || node.excluded.is_some() || !self.uses(p::use_hindsight()) {
            return;
        }
        let parent = self.stack.before(node.ply, 1);
        let Some(parent_eval) = parent.static_eval else {
            return;
        };
        // Both sides' evaluations of themselves, before and after the parent's move.
        let sum = (node.static_eval - Score::DRAW) + (parent_eval - Score::DRAW);
        if parent.reduction >= p::hindsight_deeper() && sum <= 0 {
            node.depth += 1;
        } else if parent.reduction >= p::hindsight_shallower()
            && node.depth > Depth::ONE
            && sum > p::hindsight_margin()
        {
            node.depth -= 1;
        }
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
    pub(super) fn reverse_futility<T: NodeType>(&mut self, node: &Node<'_>) -> Option<Score> {
        let beta = node.window.beta;
        let margin = rfp_margin(node.depth, node.improving(), node.correction);
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
        Some(blend_fail_high(node.eval, beta, RFP_BLEND))
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
            || self.stack.before(ply, 1).played.is_none() && ply > Ply::ROOT
            || ply < self.null_from
            || !position.has_pieces()
            || node
                .tt_entry
                .is_some_and(|tt_entry| tt_entry.bound == Bound::Upper && tt_entry.score < beta)
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
        self.null_from = Ply(ply.index() + (verified.plies().max(0) as usize) * 3 / 4 + 1);
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
            || node.tt_entry.is_some_and(|tt_entry| tt_entry.score < beta)
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
                    bound: Bound::Lower,
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
