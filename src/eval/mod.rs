//! From a position to a score: the network, or the tapered evaluation that preceded it, and the
//! adjustments that come after either.

mod misjudge;
mod sample;
mod tapered;

use std::sync::Arc;

use crate::board::{DirtyPieces, Position};
use crate::nnue::{Accumulators, Network, material};
use crate::params as p;
use crate::types::Score;

pub(crate) use misjudge::Misjudgement;
pub(crate) use sample::EvaluationSample;

/// What evaluates positions.
#[derive(Clone)]
pub enum EvalKind {
    /// A network.
    Network(Arc<Network>),
    /// Material and piece-square values, tapered by phase, for comparison.
    Tapered,
}

impl EvalKind {
    /// The static evaluation of a single position, from the side to move's point of view. Searches
    /// use an [`Evaluator`], which gives the same.
    #[must_use]
    pub fn evaluate(&self, position: &Position) -> Score {
        Score::cp(match self {
            EvalKind::Network(network) => scaled(network, network.evaluate(position), position),
            EvalKind::Tapered => tapered::evaluate(position),
        })
    }
}

/// A network's output, scaled by the material on the board unless the network learnt to. The
/// factor is that of Stockfish 15.1, the teacher, with a steeper slope found by tuning.
fn scaled(network: &Network, output: i32, position: &Position) -> i32 {
    if network.is_bare() {
        let counts = material::counts(position.board());
        material::scale_by(output, p::eval_base(), p::eval_slope(), counts)
    } else {
        output
    }
}

/// Evaluates the positions of a line that is played and taken back move by move.
pub struct Evaluator {
    accumulators: Option<Accumulators>,
    misjudgement: Option<Misjudgement>,
    sample: Option<EvaluationSample>,
}

impl Evaluator {
    #[must_use]
    pub fn new(eval_kind: EvalKind) -> Evaluator {
        let accumulators = match eval_kind {
            EvalKind::Network(network) => Some(Accumulators::new(network)),
            EvalKind::Tapered => None,
        };
        Evaluator {
            accumulators,
            misjudgement: None,
            sample: None,
        }
    }

    /// Evaluates like a weaker player from now on, or at full strength again.
    pub(crate) fn set_misjudgement(&mut self, misjudgement: Option<Misjudgement>) {
        self.misjudgement = misjudgement;
    }

    /// Keeps a sample of the positions that are evaluated from now on, or none.
    pub(crate) fn set_sample(&mut self, sample: Option<EvaluationSample>) {
        self.sample = sample;
    }

    /// The sample kept so far, which begins anew.
    pub(crate) fn take_sample(&mut self) -> Vec<Position> {
        let sample = self.sample.as_mut();
        sample.map(EvaluationSample::take).unwrap_or_default()
    }

    /// Starts a new line.
    pub fn reset(&mut self, root: &Position) {
        if let Some(accumulators) = &mut self.accumulators {
            accumulators.reset(root);
        }
    }

    /// A move is played.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        if let Some(accumulators) = &mut self.accumulators {
            accumulators.push(dirty);
        }
    }

    /// The last move is taken back.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(accumulators) = &mut self.accumulators {
            accumulators.pop();
        }
    }

    /// The static evaluation of the line's last position, from the side to move's point of view.
    #[must_use]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        if let Some(sample) = &mut self.sample {
            sample.note(position);
        }
        let evaluation = match &mut self.accumulators {
            Some(accumulators) => {
                let output = accumulators.evaluate(position);
                scaled(accumulators.network(), output, position)
            }
            None => tapered::evaluate(position),
        };
        Score::cp(match &self.misjudgement {
            Some(misjudgement) => misjudgement.apply(evaluation, position),
            None => evaluation,
        })
    }
}

/// An evaluation fades as the 50-move rule comes nearer without progress, and is corrected by
/// what the search has learnt about similar positions (`correction`, in centipawns).
///
/// Nothing here scales it by the material on the board: [`Evaluator::evaluate`] has done so, or
/// the labels that the network learnt, and a second factor lost games (see the book's record of
/// tests).
#[must_use]
pub fn adjust(raw: Score, halfmoves: u32, correction: i32) -> Score {
    let fade = p::eval_fade();
    let left = fade - (halfmoves as i32).min(fade);
    Score::cp(raw.raw() * left / fade + correction)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_fade_towards_the_fifty_move_rule() {
        assert_eq!(adjust(Score::cp(100), 0, 0), Score::cp(100));
        let half = p::eval_fade() as u32 / 2;
        assert_eq!(adjust(Score::cp(100), half, 0), Score::cp(50));
        assert_eq!(adjust(Score::cp(100), 1000, 0), Score::cp(0));
        assert_eq!(adjust(Score::cp(100), 0, -30), Score::cp(70));
    }
}
