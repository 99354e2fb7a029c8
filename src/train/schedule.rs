//! The length of a run and its learning rate over time.

use std::f64::consts::PI;

use serde::{Deserialize, Serialize};

/// When a run ends.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Length {
    /// After this many passes over the data: reproducible with one thread (several add up gradients
    /// in an order that differs from run to run).
    Epochs(f64),
    /// After this many minutes of training, whatever the load of the machine: the learning rate
    /// depends on the time.
    Minutes(f64),
}

/// Learning rate from `start` to `end` along half a cosine, after a short linear warm-up.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Schedule {
    pub length: Length,
    pub start: f64,
    pub end: f64,
    /// Steps over which the rate rises from nearly zero.
    pub warm_up: u64,
}

impl Schedule {
    /// How much of the run is done, from 0 to 1, after passes over all data and seconds of training.
    #[must_use]
    pub fn done(&self, epochs_done: f64, seconds: f64) -> f64 {
        const SECONDS_A_MINUTE: f64 = 60.0;
        let done = match self.length {
            Length::Epochs(epochs) => epochs_done / epochs,
            Length::Minutes(minutes) => seconds / (minutes * SECONDS_A_MINUTE).max(1.0),
        };
        done.clamp(0.0, 1.0)
    }

    /// The learning rate of the step after `steps` at a point of the run.
    #[must_use]
    pub fn rate(&self, done: f64, steps: u64) -> f64 {
        let warm = (steps + 1) as f64 / self.warm_up.max(1) as f64;
        half_cosine(self.start, self.end, done) * warm.min(1.0)
    }
}

/// From `start` to `end` along half a cosine, as `done` goes from 0 to 1.
#[must_use]
pub fn half_cosine(start: f64, end: f64, done: f64) -> f64 {
    end + (start - end) * (1.0 + (PI * done).cos()) / 2.0
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rate_rises_then_falls_to_its_end() {
        let schedule = Schedule {
            length: Length::Epochs(2.0),
            start: 1e-3,
            end: 1e-6,
            warm_up: 100,
        };
        assert!(schedule.rate(0.0, 0) < 2e-5);
        assert!((schedule.rate(0.5, 5000) - 5e-4).abs() < 1e-5);
        assert!((schedule.rate(1.0, 10_000) - 1e-6).abs() < 1e-9);
        assert!((schedule.done(1.0, 0.0) - 0.5).abs() < 1e-9);
        let clock = Schedule {
            length: Length::Minutes(10.0),
            ..schedule
        };
        assert!((clock.done(0.1, 300.0) - 0.5).abs() < 1e-9);
    }
}
