//! Quiescence search: captures until the position is quiet, so that the evaluation is not asked
//! in the middle of an exchange.

use super::Searched;
use super::early::sharpened;
use super::kinds::{NodeType, Window};
use super::moves::{is_noisy, is_recapture};
use super::picker::Picker;
use super::worker::Worker;
use crate::board::Position;
use crate::params::{self as p, see_value};
use crate::tt::Entry;
use crate::types::{Bound, Depth, Move, PackedMove, Ply, Score};

/// The loop's findings.
struct Quiet {
    alpha: Score,
    best: Score,
    best_move: Option<Move>,
    /// Moves searched.
    number: usize,
    /// What a capture adds to at best, before the victim's value; `None` in check.
    futility: Option<Score>,
}

/// What captures alone say above beta is believed by half.
fn halfway(score: Score, beta: Score) -> Score {
    if p::use_qsearch_halfway() == 0 || score.is_decisive() || beta.is_decisive() {
        score
    } else {
        beta + (score - beta) / 2
    }
}

impl Worker {
    /// The score of a position when only captures (in check: evasions) are searched.
    pub(super) fn quiescence<T: NodeType>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
    ) -> Searched<Score> {
        self.enter::<T>(ply)?;
        self.stats.quiescence += 1;
        let window = self.claim_repetition(position, window);
        if window.alpha >= window.beta {
            return Ok(window.alpha);
        }
        if let Some(score) = self.terminal(position, ply) {
            return Ok(score);
        }

        let key = position.key();
        let hit = if p::use_qsearch_table() == 1 {
            self.shared.tt.probe(key, ply, position.halfmoves())
        } else {
            None
        };
        if let Some(hit) = hit
            && !T::PV
            && hit.bound.decides(hit.score, window.beta)
        {
            return Ok(hit.score);
        }
        let tt_pv = T::PV || hit.is_some_and(|hit| hit.pv);

        // Stand pat: the side to move need not capture anything.
        let mut found = Quiet {
            alpha: window.alpha,
            best: -Score::INFINITE,
            best_move: None,
            number: 0,
            futility: None,
        };
        let mut raw_eval = None;
        if !position.in_check() {
            let raw = hit
                .and_then(|hit| hit.eval)
                .unwrap_or_else(|| self.evaluator.evaluate(position));
            let correction = self.correction(position, ply);
            let static_eval = crate::eval::adjust(raw, position.halfmoves(), correction);
            raw_eval = Some(raw);
            found.best = sharpened(static_eval, hit);
            if found.best >= window.beta {
                found.best = halfway(found.best, window.beta);
                if hit.is_none() {
                    let entry = Entry {
                        best: PackedMove::NONE,
                        score: found.best,
                        bound: Bound::Lower,
                        depth: Depth::ZERO,
                        pv: tt_pv,
                        eval: raw_eval,
                    };
                    self.shared.tt.store(key, ply, &entry);
                }
                return Ok(found.best);
            }
            found.alpha = found.alpha.max(found.best);
            found.futility = Some(static_eval + p::qsearch_futility());
        }

        let tt_move = hit.map_or(PackedMove::NONE, |hit| hit.best);
        self.search_captures::<T>(position, ply, window, tt_move, &mut found)?;

        if position.in_check() && found.number == 0 {
            return Ok(Score::mated_in(ply));
        }
        let bound = if found.best >= window.beta {
            found.best = halfway(found.best, window.beta);
            Bound::Lower
        } else {
            Bound::Upper
        };
        let entry = Entry {
            best: found.best_move.map_or(PackedMove::NONE, PackedMove::new),
            score: found.best,
            bound,
            depth: Depth::ZERO,
            pv: tt_pv,
            eval: raw_eval,
        };
        self.shared.tt.store(key, ply, &entry);
        Ok(found.best)
    }

    fn search_captures<T: NodeType>(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
        tt_move: PackedMove,
        found: &mut Quiet,
    ) -> Searched<()> {
        let legality = position.legality();
        let tt_move = position
            .unpack_with(tt_move, &legality)
            .filter(|m| position.in_check() || is_noisy(*m));
        let mut picker = if position.in_check() {
            Picker::all(tt_move)
        } else {
            Picker::noisy(tt_move)
        };
        let previous = self.stack.before(ply, 1).current;
        while let Some(m) = picker.next(self, position, &legality, ply) {
            self.prefetch_child(position, m);
            if !found.best.is_loss() {
                if position.in_check() {
                    // One evasion holds: further quiet ones would explode the tree.
                    if !is_noisy(m) && found.number > 0 {
                        picker.skip_quiets();
                        continue;
                    }
                } else if self.is_futile(position, m, previous, found) {
                    continue;
                }
            }
            found.number += 1;
            let child = self.play(position, ply, m);
            let score = -self.quiescence::<T>(
                &child,
                ply.next(),
                -Window::new(found.alpha, window.beta),
            )?;
            self.unplay();
            if score > found.best {
                found.best = score;
                if score > found.alpha {
                    found.best_move = Some(m);
                    found.alpha = score;
                    if T::PV {
                        self.pv.extend(ply, m);
                    }
                    if score >= window.beta {
                        break;
                    }
                }
            }
        }
        Ok(())
    }

    /// A capture that cannot help: it comes too late in the order, wins too little to reach
    /// alpha, or loses the exchange.
    fn is_futile(
        &self,
        position: &Position,
        m: Move,
        previous: PackedMove,
        found: &mut Quiet,
    ) -> bool {
        if p::use_qsearch_pruning() == 0 {
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
