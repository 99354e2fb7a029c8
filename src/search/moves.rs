//! The move loop, with the pruning of single moves, reductions and re-searches.

use super::Searched;
use super::draws::score_without_moves;
use super::node_state::Node;
use super::node_type::{NodeType, Pv};
use super::picker::Picker;
use super::reduce::MoveInfo;
use super::reductions::PLY;
use super::searched_moves::SearchedMoves;
use super::stats::PLIES;
use super::window::Window;
use super::worker::SearchWorker;
use crate::board::is_noisy;
use crate::params as p;
use crate::types::{Bound, Depth, Move, PackedMove, Ply, Score};

/// Late move pruning counts moves in 1/128.
const MOVE_UNIT: i32 = 128;

/// What the move loop has found so far.
struct MoveLoop {
    alpha: Score,
    /// What the next move is searched to, before its own extension and reduction.
    depth: Depth,
    best: Score,
    best_move: Option<Move>,
    /// The number of the best move, from 1.
    best_number: usize,
    /// Moves seen, searched or pruned.
    number: usize,
}

/// What shallow pruning decides about a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum MoveDecision {
    Search,
    Skip,
    /// And all later quiet moves with it.
    SkipQuiets,
}

/// A rule of shallow pruning that skips a move without exchange evaluation.
#[derive(Clone, Copy)]
enum Rule {
    /// So many moves have been searched that the later ones are not worth it.
    LateMove,
    /// The move did badly in earlier nodes.
    History,
    /// Even with a margin the evaluation does not reach alpha, only this value.
    Futility(Score),
    /// Nor does it with the captured piece.
    CaptureFutility,
}

impl SearchWorker {
    /// Searches the node's moves; `tt_extension` is what the singular search concluded for
    /// the first.
    pub(super) fn search_moves<T: NodeType>(
        &mut self,
        node: &Node<'_>,
        tt_extension: i32,
    ) -> Searched<Score> {
        let mut searched = SearchedMoves::default();
        let mut picker = Picker::all(node.tt_move);
        let mut so_far = MoveLoop {
            alpha: node.window.alpha,
            depth: node.depth,
            best: -Score::INFINITE,
            best_move: None,
            best_number: 0,
            number: 0,
        };

        while let Some(m) = picker.next(
            &self.histories,
            &self.stack,
            node.position,
            &node.legality,
            node.ply,
        ) {
            if PackedMove::new(m) == node.excluded || T::ROOT && !self.root.is_open(m) {
                continue;
            }
            so_far.number += 1;
            self.prefetch_child(node.position, m);
            if T::ROOT {
                self.announce(m, so_far.number);
            }
            let info = self.move_info::<T>(node, m, &so_far);

            // Step 13. Shallow pruning: most late moves need no search at all.
            if self.may_prune::<T>(node, &so_far) {
                match self.prune_move(node, m, &info, picker.proven_see(), &mut so_far) {
                    MoveDecision::Search => {}
                    MoveDecision::Skip => continue,
                    MoveDecision::SkipQuiets => {
                        picker.skip_quiets();
                        continue;
                    }
                }
            }

            // Step 14. Extension of the table's move, if it is singular.
            let extension = if node.tt_move == Some(m) {
                tt_extension
            } else {
                0
            };
            let nodes_before = self.nodes;
            let score = self.search_move::<T>(node, m, info, extension, &so_far)?;
            if T::ROOT {
                let raised = so_far.number == 1 || score > so_far.alpha;
                self.note_root_move(m, score, raised, self.nodes - nodes_before);
            }

            // Step 17. A new best move?
            if self.note_score::<T>(node, m, score, &mut so_far) {
                break;
            }
            if so_far.best_move != Some(m) {
                searched.push(m, info.noisy);
            }
        }
        // Step 18. The result.
        self.finish::<T>(node, so_far, &searched)
    }

    /// What pruning and reduction need to know about a move.
    fn move_info<T: NodeType>(&self, node: &Node<'_>, m: Move, so_far: &MoveLoop) -> MoveInfo {
        let noisy = is_noisy(m);
        let killers = &self.stack.at(node.ply).killers;
        let mut info = MoveInfo {
            number: so_far.number,
            noisy,
            killer: !noisy && killers.contains(&PackedMove::new(m)),
            history: if noisy {
                self.histories.capture.get(node.position.moved_piece(m), m)
            } else {
                self.quiet_history(node, m)
            },
            reduction: 0,
        };
        // The first move is neither pruned nor reduced.
        if so_far.number > 1 {
            info.reduction = self.reduction::<T>(node, &info, so_far.alpha);
        }
        info
    }

    /// Whether moves may be pruned: not at the root, whose moves all count, not before a move that
    /// does not lose is known, and not where zugzwang is likely.
    fn may_prune<T: NodeType>(&self, node: &Node<'_>, so_far: &MoveLoop) -> bool {
        !T::ROOT
            && self.selective()
            && !so_far.best.is_loss()
            && node.position.has_non_pawn_material()
    }

    /// Late move pruning, history pruning, futility pruning and SEE pruning.
    fn prune_move(
        &mut self,
        node: &Node<'_>,
        m: Move,
        info: &MoveInfo,
        proven_see: i32,
        so_far: &mut MoveLoop,
    ) -> MoveDecision {
        let depth = so_far.depth.plies();
        // The node's depth less the move's reduction, and the depth that the move would really be
        // searched to. Futility pruning's margins and depth limit go with the first, as does the
        // depth limit of history pruning, whose margin goes with the whole depth.
        let lmr_depth = (depth - info.reduction / PLY).clamp(0, depth);
        let move_depth = (depth - 1 - info.reduction / PLY).clamp(0, depth);

        let rule = if info.noisy {
            capture_rule(node, m, info, lmr_depth, so_far)
        } else {
            quiet_rule(node, info, lmr_depth, so_far)
        };
        // Checks are forcing: a direct one is skipped only if it loses too much in exchange, or
        // after a rule that has ended the quiet moves.
        if let Some(rule) = rule
            && !node.position.gives_direct_check(m)
        {
            return self.apply(rule, so_far);
        }
        let floor = see_floor(info, depth, move_depth);
        if p::use_see_pruning()
            && depth <= p::see_depth()
            && proven_see < floor
            && !node.position.see_ge(m, floor)
        {
            self.stats.see_pruned += 1;
            return MoveDecision::Skip;
        }
        MoveDecision::Search
    }

    /// Skips a move, or all quiet moves, by a rule of pruning.
    fn apply(&mut self, rule: Rule, so_far: &mut MoveLoop) -> MoveDecision {
        match rule {
            Rule::LateMove => {
                self.stats.late_pruned += 1;
                MoveDecision::SkipQuiets
            }
            Rule::History => {
                self.stats.history_pruned += 1;
                MoveDecision::Skip
            }
            Rule::Futility(value) => {
                // The most that the pruned moves could have reached.
                if so_far.best < value && !so_far.best.is_decisive() {
                    so_far.best = value;
                }
                self.stats.futility_pruned += 1;
                MoveDecision::SkipQuiets
            }
            Rule::CaptureFutility => {
                self.stats.futility_pruned += 1;
                MoveDecision::Skip
            }
        }
    }

    /// Plays a move and searches it: reduced and with a zero window first, and
    /// again with more of either if it does better than expected.
    fn search_move<T: NodeType>(
        &mut self,
        node: &Node<'_>,
        m: Move,
        info: MoveInfo,
        extension: i32,
        so_far: &MoveLoop,
    ) -> Searched<Score> {
        let ply = node.ply;
        let alpha = so_far.alpha;
        let child = self.play(node.position, ply, m);
        let doubled = self.stack.before(ply, 1).double_extensions + i32::from(extension > 1);
        let frame = self.stack.at_mut(ply);
        (frame.double_extensions, frame.number) = (doubled, info.number);
        let mut depth = so_far.depth - 1 + extension;
        let mut score = -Score::INFINITE;
        let first = so_far.number == 1;
        // In an open window the first move is searched with all of it at once, and without
        // principal variation search so is every move.
        let zero_window_first = !T::PV || !first && p::use_zero_window();

        if self.uses(p::use_reductions()) && !first && so_far.depth > Depth::ONE {
            // Step 15. Late move reduction.
            let check = if child.in_check() { p::lmr_check() } else { 0 };
            let reduction = info.reduction - check;
            let deepest = depth + i32::from(T::PV);
            let reduced_depth = (depth - reduction / PLY).clamp(Depth::ONE, deepest);
            self.stack.at_mut(ply).reduction = depth - reduced_depth;
            self.stats.reduced += u64::from(reduced_depth < depth);
            score = self.scout(&child, ply, reduced_depth, Window::above(alpha), true)?;
            self.stack.at_mut(ply).reduction = 0;
            if score > alpha && reduced_depth < depth {
                // Better than expected: again without the reduction, or with even more depth.
                let gain = score - so_far.best;
                depth += i32::from(gain > p::lmr_deeper());
                depth -= i32::from(gain < p::lmr_shallower());
                if reduced_depth < depth {
                    self.stats.re_searched += 1;
                    score = self.scout(&child, ply, depth, Window::above(alpha), !node.cut_node)?;
                }
                if !info.noisy {
                    self.update_after_re_search(node, m, depth, score > alpha);
                }
            }
        } else if zero_window_first {
            self.stack.at_mut(ply).reduction = 0;
            score = self.scout(&child, ply, depth, Window::above(alpha), !node.cut_node)?;
        }

        // Step 16. Principal variation search: the first move, and any that raised alpha, get
        // the whole window.
        if T::PV && (!zero_window_first || score > alpha) {
            self.stack.at_mut(ply).reduction = 0;
            let window = Window::new(alpha, node.window.beta);
            score = -self.node::<Pv>(&child, ply.next(), depth, -window, false)?;
        }
        self.unplay();
        Ok(score)
    }

    /// Takes down a move's score and returns whether it is a cutoff.
    #[inline(always)]
    fn note_score<T: NodeType>(
        &mut self,
        node: &Node<'_>,
        m: Move,
        score: Score,
        so_far: &mut MoveLoop,
    ) -> bool {
        let beta = node.window.beta;
        so_far.best = so_far.best.max(score);
        if score <= so_far.alpha {
            return false;
        }
        so_far.best_move = Some(m);
        so_far.best_number = so_far.number;
        if T::PV {
            self.pv.extend(node.ply, m);
        }
        if score >= beta {
            return true;
        }
        so_far.alpha = score;
        so_far.depth = self.depth_after_raise(so_far.depth, score, beta);
        false
    }

    /// One good move found, the others are less likely to be better still: they are searched
    /// less deep (as in Stockfish). In an open window any score raises alpha, so a decisive bound
    /// turns this off.
    fn depth_after_raise(&self, depth: Depth, score: Score, beta: Score) -> Depth {
        /// Shallower and deeper nodes keep their depth.
        const DEPTHS: std::ops::Range<i32> = 3..14;
        if self.uses(p::use_raise_reduction())
            && DEPTHS.contains(&depth.plies())
            && !score.is_decisive()
            && !beta.is_decisive()
        {
            depth - p::raise_reduction()
        } else {
            depth
        }
    }

    /// After the last move: mate or stalemate if there was none; else the updates of the histories
    /// and the entry in the table.
    fn finish<T: NodeType>(
        &mut self,
        node: &Node<'_>,
        so_far: MoveLoop,
        searched: &SearchedMoves,
    ) -> Searched<Score> {
        let Window { alpha, beta } = node.window;
        if so_far.number == 0 {
            return Ok(if node.excluded.is_some() {
                alpha
            } else {
                score_without_moves(node.position, node.ply)
            });
        }
        let mut score = so_far.best;
        self.inherit_tt_pv::<T>(node, score);
        let bound = if score >= beta {
            Bound::Lower
        } else if so_far.best_move.is_some() {
            Bound::Exact
        } else {
            Bound::Upper
        };
        self.count_node_kind(node.ply, bound, so_far.best_number);
        match so_far.best_move {
            Some(best) => {
                if bound == Bound::Lower {
                    self.stack.at_mut(node.ply).cutoffs += 1;
                }
                self.update_histories(node, best, searched);
            }
            None => self.reward_prior_move(node),
        }
        if bound == Bound::Lower && self.selective() && !score.is_decisive() && !beta.is_decisive()
        {
            // The deeper the search, the more of a score above beta is kept.
            let depth = node.depth.plies();
            let (ours, theirs) = (p::SHARE_UNIT * depth, p::fail_high_beta());
            score = Score::from_raw((score.raw() * ours + beta.raw() * theirs) / (ours + theirs));
        }
        let (score, bound) = node.bounded_by_tables(score, bound);
        let best = so_far.best_move.map_or(PackedMove::NONE, PackedMove::new);
        if !(T::ROOT && self.root.leaves_out_moves()) {
            self.store(node, best, score, bound);
            self.update_correction(node, so_far.best_move, score, bound);
        }
        Ok(score)
    }

    /// A node that fails low below a PV node of an earlier search counts as one itself: it is the
    /// reason for the parent's move to be good.
    fn inherit_tt_pv<T: NodeType>(&mut self, node: &Node<'_>, score: Score) {
        /// Deeper nodes only.
        const DEPTH: Depth = Depth(3);
        let inherits = !T::ROOT
            && node.excluded.is_none()
            && score <= node.window.alpha
            && node.depth > DEPTH
            && self.stack.before(node.ply, 1).tt_pv;
        if inherits {
            self.stack.at_mut(node.ply).tt_pv = true;
        }
    }

    fn count_node_kind(&mut self, ply: Ply, bound: Bound, best_number: usize) {
        let first = u64::from(best_number == 1);
        let here = &mut self.ply_stats[ply.index().min(PLIES - 1)];
        match bound {
            Bound::Lower => {
                self.stats.cut_nodes += 1;
                self.stats.cut_first += first;
                here.cut_nodes += 1;
                here.cut_first += first;
            }
            Bound::Exact => {
                self.stats.pv_nodes += 1;
                self.stats.pv_first_best += first;
                here.pv_nodes += 1;
                here.pv_first_best += first;
            }
            Bound::Upper => {
                self.stats.all_nodes += 1;
                here.all_nodes += 1;
            }
        }
    }
}

/// The rule that prunes a quiet move, if one does. `reduced` is the node's depth less the move's
/// reduction.
fn quiet_rule(node: &Node<'_>, info: &MoveInfo, reduced: i32, so_far: &MoveLoop) -> Option<Rule> {
    let depth = so_far.depth.plies();
    if p::use_late_move_pruning()
        && info.number as i32 * MOVE_UNIT >= late_moves(depth, node.improving())
    {
        return Some(Rule::LateMove);
    }
    if p::use_history_pruning()
        && reduced < p::history_pruning_depth()
        && info.history < -p::history_pruning_margin() * depth
    {
        return Some(Rule::History);
    }
    let futility_value = node.static_eval
        + p::futility_base()
        + p::futility_margin() * reduced
        + info.history * p::futility_history() / p::HISTORY_UNIT;
    let futile = p::use_futility()
        && !node.in_check()
        && reduced < p::futility_depth()
        && futility_value <= so_far.alpha;
    futile.then_some(Rule::Futility(futility_value))
}

/// The rule that prunes a capture or promotion, if one does.
fn capture_rule(
    node: &Node<'_>,
    m: Move,
    info: &MoveInfo,
    reduced: i32,
    so_far: &MoveLoop,
) -> Option<Rule> {
    let futility_value = node.static_eval
        + p::capture_futility_base()
        + p::capture_futility_margin() * reduced
        + m.capture().map_or(0, p::see_value)
        + info.history * p::capture_futility_history() / p::HISTORY_UNIT;
    let futile = p::use_capture_futility()
        && !node.in_check()
        && !m.is_promotion()
        && reduced < p::futility_depth()
        && futility_value <= so_far.alpha;
    futile.then_some(Rule::CaptureFutility)
}

/// How many moves late move pruning leaves, in parts of [`MOVE_UNIT`].
fn late_moves(depth: i32, improving: bool) -> i32 {
    if improving {
        p::lmp_improving_base() + p::lmp_improving_scale() * depth * depth
    } else {
        p::lmp_base() + p::lmp_scale() * depth * depth
    }
}

/// What a move may lose in exchange before SEE pruning takes it out, as a threshold for
/// `Position::see_ge`: never above zero.
fn see_floor(info: &MoveInfo, depth: i32, searched: i32) -> i32 {
    let floor = if info.noisy {
        -p::see_noisy() * depth - info.history * p::see_noisy_history() / p::HISTORY_UNIT
    } else {
        -p::see_quiet() * searched * searched
            - info.history * p::see_quiet_history() / p::HISTORY_UNIT
    };
    floor.min(0)
}

#[cfg(test)]
mod tests;
