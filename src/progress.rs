//! Progress of long work on standard error: a bar on a terminal, a log line now and then elsewhere.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const TEMPLATE: &str = "{wide_bar} {percent} %  {msg}  {eta} left";
const LINE_EVERY: Duration = Duration::from_secs(30);

/// Shows how much of some work is done.
pub struct ProgressReporter {
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Instant,
}

impl ProgressReporter {
    /// Begins work of `length` units.
    #[must_use]
    pub fn new(length: u64) -> ProgressReporter {
        let bar = std::io::stderr().is_terminal().then(|| {
            let bar = ProgressBar::new(length);
            if let Ok(style) = ProgressStyle::with_template(TEMPLATE) {
                bar.set_style(style);
            }
            bar
        });
        let now = Instant::now();
        ProgressReporter {
            bar,
            started: now,
            last_line: now,
        }
    }

    /// The rate of a count since the beginning, per second.
    #[must_use]
    pub fn per_second(&self, things: u64) -> f64 {
        things as f64 / self.started.elapsed().as_secs_f64().max(1e-9)
    }

    /// This many units are done; `message` is shown beside them.
    pub fn update(&mut self, done: u64, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(message.to_owned());
        } else if self.last_line.elapsed() >= LINE_EVERY {
            self.last_line = Instant::now();
            log::info!("{message}");
        }
    }

    /// All is done.
    pub fn finish(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        log::info!("{message}: done");
    }
}
