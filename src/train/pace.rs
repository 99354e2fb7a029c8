//! The speed of a run.

use std::time::{Duration, Instant};

/// How long a speed is measured before it is given.
const INTERVAL: Duration = Duration::from_secs(1);

/// How many steps are made a second, measured once an [`INTERVAL`].
pub struct Pace {
    since: Instant,
    steps: u64,
    speed: f64,
}

impl Pace {
    /// Begins after `steps`.
    pub fn new(steps: u64) -> Pace {
        Pace {
            since: Instant::now(),
            steps,
            speed: 0.0,
        }
    }

    /// The last measured speed, in steps a second, when `steps` are made.
    pub fn batches(&mut self, steps: u64) -> f64 {
        let elapsed = self.since.elapsed();
        if elapsed > INTERVAL {
            let made = (steps - self.steps) as f64;
            *self = Pace {
                since: Instant::now(),
                steps,
                speed: made / elapsed.as_secs_f64(),
            };
        }
        self.speed
    }
}
