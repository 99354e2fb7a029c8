//! Alpha-beta windows.

use std::ops::Neg;

use crate::params::SHARE_UNIT;
use crate::types::{Ply, Score};

/// The scores that matter to a node: the side to move has at least `alpha` already, and its
/// opponent can hold it to `beta`. Scores outside need not be exact.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Window {
    pub alpha: Score,
    pub beta: Score,
}

impl Window {
    /// Nothing is known.
    pub const OPEN: Window = Window {
        alpha: Score::from_raw(-Score::INFINITE.raw()),
        beta: Score::INFINITE,
    };

    pub fn new(alpha: Score, beta: Score) -> Window {
        Window { alpha, beta }
    }

    /// The zero window that asks whether the score is above `alpha`.
    pub fn above(alpha: Score) -> Window {
        Window {
            alpha,
            beta: alpha + 1,
        }
    }

    /// The zero window that asks whether the score is at least `beta`.
    pub fn at_least(beta: Score) -> Window {
        Window {
            alpha: beta - 1,
            beta,
        }
    }

    /// Whether no score lies inside: the question is answered.
    pub fn is_empty(self) -> bool {
        self.alpha >= self.beta
    }

    /// Mate distance pruning: no line from a node at `ply` is better than mating on the next ply, or
    /// worse than being mated now.
    pub fn within_mate_distance(self, ply: Ply) -> Window {
        Window {
            alpha: self.alpha.max(Score::mated_in(ply)),
            beta: self.beta.min(Score::mate_in(ply.next())),
        }
    }
}

/// The window as the opponent sees it.
impl Neg for Window {
    type Output = Window;
    fn neg(self) -> Window {
        Window {
            alpha: -self.beta,
            beta: -self.alpha,
        }
    }
}

/// A score that fails high by an uncertain margin counts for beta and a share, in 1/64, of what
/// lies above it. Decisive scores are proofs and stay as they are.
pub(super) fn blend_fail_high(score: Score, beta: Score, share: i32) -> Score {
    if score.is_decisive() || beta.is_decisive() {
        score
    } else {
        beta + (score - beta) * share / SHARE_UNIT
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_opponent_sees_the_window_turned_round() {
        let window = Window::new(Score::cp(-30), Score::cp(50));
        assert_eq!(-window, Window::new(Score::cp(-50), Score::cp(30)));
        assert_eq!(-Window::OPEN, Window::OPEN);
        assert_eq!(Window::above(Score::cp(9)), Window::at_least(Score::cp(10)));
    }

    #[test]
    fn a_blended_score_lies_between_beta_and_the_score() {
        let beta = Score::cp(40);
        assert_eq!(blend_fail_high(Score::cp(100), beta, 16), Score::cp(55));
        assert_eq!(blend_fail_high(beta, beta, 32), beta);
        let mate = Score::mate_in(Ply(5));
        assert_eq!(blend_fail_high(mate, beta, 32), mate);
        assert_eq!(blend_fail_high(Score::cp(100), -mate, 32), Score::cp(100));
    }
}
