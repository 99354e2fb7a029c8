//! The target that a network is trained on, and its losses.

use super::sample::Sample;

/// How the target of a position is computed.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Centipawns of a score that stand for an expectation of e/(1 + e), 73 %.
    pub scale: f32,
    /// How many times `scale` an output of 1.0 is worth.
    pub steepness: f32,
    /// Share of the game's result in the target; the rest is the score.
    pub lambda: f32,
    /// What the squared distances from the teacher's sums count in the loss that is minimised.
    pub hint_weight: f32,
}

impl Target {
    /// What an output expects, between 0 and 1.
    pub(super) fn expectation(self, output: f32) -> f32 {
        sigmoid(self.steepness * output)
    }

    /// The derivative of the squared error by the output.
    pub(super) fn slope(self, predicted: f32, goal: f32) -> f32 {
        2.0 * (predicted - goal) * predicted * (1.0 - predicted) * self.steepness
    }

    /// Expectations between 0 and 1: the target, the score's and the result.
    pub(super) fn of(self, sample: &Sample) -> (f32, f32, f32) {
        let score = sigmoid(f32::from(sample.score) / self.scale);
        let result = f32::from(sample.half_points) / 2.0;
        (
            self.lambda * result + (1.0 - self.lambda) * score,
            score,
            result,
        )
    }
}

/// Sums over positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    pub positions: f64,
    /// Squared error against the target.
    pub target: f64,
    /// Squared error against the score's expectation.
    pub score: f64,
    /// Squared error against the result.
    pub result: f64,
    /// Mean of each position's squared distances from the teacher's sums; a position without hints
    /// adds nothing but counts in [`Losses::mean`].
    pub hints: f64,
}

impl Losses {
    /// Adds another sum.
    pub fn add(&mut self, other: &Losses) {
        self.positions += other.positions;
        self.target += other.target;
        self.score += other.score;
        self.result += other.result;
        self.hints += other.hints;
    }

    /// The mean of a sum over the positions; zero when there are none.
    #[must_use]
    pub fn mean(&self, sum: f64) -> f64 {
        if self.positions > 0.0 {
            sum / self.positions
        } else {
            0.0
        }
    }

    /// Adds the errors of an output (given without its logistic function).
    pub fn add_output(&mut self, sample: &Sample, output: f32, target: Target) {
        let (goal, score, result) = target.of(sample);
        self.note(target.expectation(output), goal, score, result);
    }

    pub(super) fn note(&mut self, predicted: f32, target: f32, score: f32, result: f32) {
        let squared = |x: f32| f64::from((predicted - x) * (predicted - x));
        self.positions += 1.0;
        self.target += squared(target);
        self.score += squared(score);
        self.result += squared(result);
    }
}

/// The logistic function: expectation between 0 and 1 of an output.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}
