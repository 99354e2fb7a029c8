//! A sample of the positions that are evaluated, for training on what a search asks about.

use std::num::NonZero;

use crate::board::Position;

/// Keeps one of every so many positions.
#[derive(Debug)]
pub struct EvaluationSample {
    every: NonZero<u32>,
    /// Evaluations since the last one kept.
    passed: u32,
    kept: Vec<Position>,
}

impl EvaluationSample {
    /// Keeps one of `every` positions.
    #[must_use]
    pub const fn new(every: NonZero<u32>) -> EvaluationSample {
        EvaluationSample {
            every,
            passed: 0,
            kept: Vec::new(),
        }
    }

    /// A position is evaluated.
    pub fn note(&mut self, position: &Position) {
        self.passed += 1;
        if self.passed >= self.every.get() {
            self.passed = 0;
            self.kept.push(position.clone());
        }
    }

    /// What has been kept since the last call; counting starts anew.
    pub fn take(&mut self) -> Vec<Position> {
        self.passed = 0;
        std::mem::take(&mut self.kept)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_every_so_many_is_kept() {
        let mut sample = EvaluationSample::new(NonZero::new(3).expect("not zero"));
        for _ in 0..10 {
            sample.note(&Position::startpos());
        }
        assert_eq!(sample.take().len(), 3);
        assert!(sample.take().is_empty());
        sample.note(&Position::startpos());
        sample.note(&Position::startpos());
        assert!(sample.take().is_empty(), "counting started anew");
    }
}
