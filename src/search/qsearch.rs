//! Quiescence search: captures until the position is quiet, because a static evaluation in the
//! middle of an exchange is far off.

use std::ops::ControlFlow;

use super::Searched;
use super::node_state::legal_tt_move;
use super::node_type::NodeType;
use super::picker::Picker;
use super::static_eval::tt_adjusted_eval;
use super::window::{Window, blend_fail_high};
use super::worker::SearchWorker;
use crate::board::{Position, is_noisy};
use crate::params::{self as p, see_value};
use crate::tt::{TranspositionTable, TtEntry};
use crate::types::{Bound, Depth, Move, PackedMove, Ply, Score};

/// What the steps of one quiescence node know of it.
struct QuiescenceNode<'a> {
    position: &'a Position,
    ply: Ply,
    /// The window after the draw rules have narrowed it.
    window: Window,
    tt_entry: Option<TtEntry>,
    /// On a principal variation now or in an earlier search.
    tt_pv: bool,
    /// The bare evaluation, as the table keeps it; `None` in check.
    raw_eval: Option<Score>,
}

/// What the quiescence search has found so far in a node.
struct QuiescenceState {
    alpha: Score,
    best: Score,
    best_move: Option<Move>,
    /// Moves searched.
    number: usize,
    /// The static evaluation plus the futility margin, without the captured piece; `None` in check.
    futility: Option<Score>,
}

/// How much of what a score exceeds beta by is kept, in 1/64.
const BLEND: i32 = 32;

/// A score above beta as it is returned.
fn fail_high(score: Score, beta: Score) -> Score {
    if p::use_qsearch_blend() {
        blend_fail_high(score, beta, BLEND)
    } else {
        score
    }
}

/// Whether a move takes back on the square where the last move ended.
fn is_recapture(previous: PackedMove, m: Move) -> bool {
    m.is_capture() && previous.is_some() && previous.to() == m.to()
}

impl SearchWorker {
    /// The score of a position when only captures (in check: evasions) are searched.
    pub(super) fn quiescence<T: NodeType>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
    ) -> Searched<Score> {
        self.enter::<T>(ply)?;
        self.stats.quiescence += 1;
        let window = match self.draws(position, ply, window) {
            ControlFlow::Continue(window) => window,
            ControlFlow::Break(score) => return Ok(score),
        };

        let tt_entry = self
            .quiescence_tt()
            .and_then(|tt| tt.probe(position.key(), ply, position.halfmoves()));
        if let Some(tt_entry) = tt_entry
            && !T::PV
            && tt_entry.decides(window.beta)
        {
            return Ok(tt_entry.score);
        }

        let mut node = QuiescenceNode {
            position,
            ply,
            window,
            tt_entry,
            tt_pv: T::PV || tt_entry.is_some_and(|tt_entry| tt_entry.pv),
            raw_eval: None,
        };
        let mut found = QuiescenceState {
            alpha: window.alpha,
            best: -Score::INFINITE,
            best_move: None,
            number: 0,
            futility: None,
        };
        if !position.in_check() && self.stand_pat(&mut node, &mut found) {
            return Ok(found.best);
        }
        self.search_captures::<T>(&node, &mut found)?;
        if position.in_check() && found.number == 0 {
            return Ok(Score::mated_in(ply));
        }
        let bound = if found.best >= window.beta {
            self.stats.quiescence_cut_nodes += 1;
            self.stats.quiescence_cut_first += u64::from(found.number == 1);
            found.best = fail_high(found.best, window.beta);
            Bound::Lower
        } else {
            Bound::Upper
        };
        let best = found.best_move.map_or(PackedMove::NONE, PackedMove::new);
        self.store_quiescence(&node, best, found.best, bound);
        Ok(found.best)
    }

    /// Stand pat: the side to move need not capture anything, so the evaluation is the least that
    /// it can have. Returns whether that is enough for a cutoff.
    #[inline(always)]
    fn stand_pat(&mut self, node: &mut QuiescenceNode<'_>, found: &mut QuiescenceState) -> bool {
        let (position, tt_entry, beta) = (node.position, node.tt_entry, node.window.beta);
        let raw = tt_entry
            .and_then(|tt_entry| tt_entry.eval)
            .unwrap_or_else(|| self.evaluator.evaluate(position));
        node.raw_eval = Some(raw);
        let correction = self.correction(position, node.ply);
        let static_eval = crate::eval::adjust(raw, position.halfmoves(), correction);
        found.best = tt_adjusted_eval(static_eval, tt_entry);
        if found.best >= beta {
            found.best = fail_high(found.best, beta);
            if tt_entry.is_none_or(|tt_entry| tt_entry.bound.is_none()) {
                self.store_quiescence(node, PackedMove::NONE, found.best, Bound::Lower);
            }
            return true;
        }
        found.alpha = found.alpha.max(found.best);
        found.futility = Some(static_eval + p::qsearch_futility());
        false
    }

    /// The transposition table, unless the quiescence search does without.
    fn quiescence_tt(&self) -> Option<&TranspositionTable> {
        p::use_qsearch_tt().then_some(&self.shared.tt)
    }

    fn store_quiescence(
        &self,
        node: &QuiescenceNode<'_>,
        best: PackedMove,
        score: Score,
        bound: Bound,
    ) {
        let Some(tt) = self.quiescence_tt() else {
            return;
        };
        let entry = TtEntry {
            best,
            score,
            bound: Some(bound),
            depth: Depth::ZERO,
            pv: node.tt_pv,
            eval: node.raw_eval,
        };
        tt.store(node.position.key(), node.ply, &entry);
    }

    fn search_captures<T: NodeType>(
        &mut self,
        node: &QuiescenceNode<'_>,
        found: &mut QuiescenceState,
    ) -> Searched<()> {
        let (position, ply, beta) = (node.position, node.ply, node.window.beta);
        let legality = position.legality_for_captures();
        let tt_move = node
            .tt_entry
            .and_then(|tt_entry| legal_tt_move(position, tt_entry.best, &legality))
            .filter(|m| position.in_check() || is_noisy(*m));
        let mut picker = if position.in_check() {
            Picker::all(tt_move)
        } else {
            Picker::noisy(tt_move)
        };
        let previous = self.stack.before(ply, 1).current;
        while let Some(m) = picker.next(&self.histories, &self.stack, position, &legality, ply) {
            if !found.best.is_loss() {
                if position.in_check() {
                    // One evasion does not lose: further quiet ones would enlarge the tree too much.
                    if !is_noisy(m) && found.number > 0 {
                        picker.skip_quiets();
                        continue;
                    }
                } else if self.skip_capture(position, m, previous, found) {
                    continue;
                }
            }
            // Not as soon as it is picked, for captures that are skipped need no cluster.
            self.prefetch_child(position, m);
            found.number += 1;
            let child = self.play(position, ply, m);
            let window = Window::new(found.alpha, beta);
            let score = -self.quiescence::<T>(&child, ply.next(), -window)?;
            self.unplay();
            if score > found.best {
                found.best = score;
                if score > found.alpha {
                    found.best_move = Some(m);
                    found.alpha = score;
                    if T::PV {
                        self.pv.extend(ply, m);
                    }
                    if score >= beta {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// Skips a capture that cannot help: it comes too late in the order, wins too little to reach
    /// alpha, or loses the exchange. The best score becomes at least what a futile capture could
    /// have reached.
    #[inline(always)]
    fn skip_capture(
        &self,
        position: &Position,
        m: Move,
        previous: PackedMove,
        found: &mut QuiescenceState,
    ) -> bool {
        if !p::use_qsearch_pruning() {
            return false;
        }
        if let Some(futility) = found.futility
            && !m.is_promotion()
            && !is_recapture(previous, m)
        {
            if found.number as i32 >= p::qsearch_moves() {
                return true;
            }
            let victim = m.capture().map_or(0, see_value);
            if futility + victim <= found.alpha {
                found.best = found.best.max(futility + victim);
                return true;
            }
            if futility <= found.alpha && !position.see_ge(m, 1) {
                found.best = found.best.max(futility);
                return true;
            }
        }
        !position.see_ge(m, -p::qsearch_see())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;
    use crate::search::node_type::Pv;
    use crate::search::tests::{position, worker, worker_at};
    use crate::types::Role;

    #[test]
    fn never_less_than_standing_pat() {
        let mut worker = worker();
        let mut seen = 0;
        random_games(6, |position| {
            worker.shared.tt.clear(1);
            if position.in_check() || worker.terminal(position, Ply::ROOT).is_some() {
                return;
            }
            seen += 1;
            worker.evaluator.reset(position);
            let raw = worker.evaluator.evaluate(position);
            let correction = worker.correction(position, Ply::ROOT);
            let stand_pat = crate::eval::adjust(raw, position.halfmoves(), correction);
            let score = worker
                .quiescence::<Pv>(position, Ply::ROOT, Window::OPEN)
                .expect("not stopped");
            assert!(score >= stand_pat, "{} {score:?}", position.fen());
        });
        assert!(seen > 300, "{seen}");
    }

    #[test]
    fn a_hanging_queen_is_taken_and_mate_is_seen() {
        let score = |fen: &str| {
            let position = position(fen);
            worker_at(&position)
                .quiescence::<Pv>(&position, Ply::ROOT, Window::OPEN)
                .expect("not stopped")
        };
        let kept = score("4k3/8/8/3q4/8/8/8/R3K3 w - - 0 1");
        let taken = score("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        assert!(taken > kept + 500, "{taken:?} {kept:?}");
        let mate = score("k7/1Q6/1K6/8/8/8/8/8 b - - 0 1");
        assert_eq!(mate, Score::mated_in(Ply::ROOT));
    }

    #[test]
    fn futile_late_and_losing_captures_are_skipped() {
        let pawn = position("4k3/8/8/3p4/8/8/3R4/4K3 w - - 0 1");
        let defended = position("4k3/8/4p3/3p4/8/8/3R4/4K3 w - - 0 1");
        let skips = |at: &Position, futility: i32, number: usize, recaptures: bool| {
            let m = at.parse_uci("d2d5").expect("legal");
            let previous = if recaptures {
                PackedMove::new(m)
            } else {
                PackedMove::NONE
            };
            let mut found = QuiescenceState {
                alpha: Score::DRAW,
                best: Score::cp(-900),
                best_move: None,
                number,
                futility: Some(Score::cp(futility)),
            };
            let skipped = worker().skip_capture(at, m, previous, &mut found);
            (skipped, found.best)
        };
        let (victim, unchanged) = (see_value(Role::Pawn), Score::cp(-900));
        assert_eq!(skips(&pawn, -victim, 0, false), (true, Score::DRAW));
        assert_eq!(skips(&pawn, 1 - victim, 0, false), (false, unchanged));
        assert_eq!(skips(&pawn, -victim, 0, true), (false, unchanged));
        let most = p::qsearch_moves() as usize;
        assert_eq!(skips(&pawn, 900, most, false), (true, unchanged));
        assert_eq!(skips(&pawn, 900, most - 1, false), (false, unchanged));
        assert_eq!(skips(&defended, 900, 0, false), (true, unchanged));
    }

    #[test]
    fn recaptures_are_captures_on_the_last_moves_square() {
        let position = position("4k3/8/2p5/3Q4/8/8/8/4K3 b - - 0 1");
        let m = position.parse_uci("c6d5").expect("legal");
        let quiet = position.parse_uci("c6c5").expect("legal");
        let previous = PackedMove::new(m);
        assert!(is_recapture(previous, m) && !is_recapture(PackedMove::NONE, m));
        assert!(!is_recapture(PackedMove::new(quiet), m) && !is_recapture(previous, quiet));
    }
}
