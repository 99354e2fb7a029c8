//! Progress of a run: a progress bar on a terminal, a log line from time to time elsewhere.

use std::io::IsTerminal;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

/// Steps of the bar: a run's whole length.
const BAR_STEPS: u64 = 10_000;
const LINE_EVERY: Duration = Duration::from_secs(30);
const TEMPLATE: &str = "{wide_bar} {percent:>3}%  {msg}  {eta} left";

/// One run's progress on stderr.
pub struct Reporter {
    bar: Option<ProgressBar>,
    last_line: Option<Instant>,
}

impl Reporter {
    pub fn new() -> Reporter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(BAR_STEPS);
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style);
            }
            bar
        });
        Reporter {
            bar,
            last_line: None,
        }
    }

    /// Shows how much of the run is done (0 to 1) and a message.
    pub fn update(&mut self, done: f64, message: impl FnOnce() -> String) {
        if let Some(bar) = &self.bar {
            bar.set_position((done * BAR_STEPS as f64) as u64);
            bar.set_message(message());
        } else if self
            .last_line
            .is_none_or(|last| last.elapsed() >= LINE_EVERY)
        {
            self.last_line = Some(Instant::now());
            log::info!("{:5.1} %  {}", 100.0 * done, message());
        }
    }

    /// Prints a line that is not overwritten.
    pub fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => log::info!("{text}"),
        }
    }

    pub fn finish(&self) {
        if let Some(bar) = &self.bar {
            bar.finish();
        }
    }
}

/// How many steps are made a second, measured once a second.
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
        let elapsed = self.since.elapsed().as_secs_f64();
        if elapsed > 1.0 {
            let made = (steps - self.steps) as f64;
            *self = Pace {
                since: Instant::now(),
                steps,
                speed: made / elapsed,
            };
        }
        self.speed
    }
}
