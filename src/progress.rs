//! Progress of long work on standard error: a bar on a terminal, a log line now and then elsewhere.

use std::io::IsTerminal as _;
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressStyle};

const TEMPLATE: &str = "{wide_bar} {percent:>3} %  {msg}  {eta} left";
const LINE_EVERY: Duration = Duration::from_secs(30);
/// Seconds that rates count at least, so that none is infinite.
const SHORTEST_SECONDS: f64 = 1e-9;

/// A bar on stderr that looks as the template says, of a length that may be set later; `None` if
/// stderr is no terminal.
#[must_use]
pub fn terminal_bar(length: Option<u64>, template: &str) -> Option<ProgressBar> {
    std::io::stderr().is_terminal().then(|| {
        let bar = length.map_or_else(ProgressBar::no_length, ProgressBar::new);
        if let Ok(style) = ProgressStyle::with_template(template) {
            bar.set_style(style);
        }
        bar
    })
}

/// Shows how much of some work is done.
pub struct ProgressReporter {
    length: u64,
    bar: Option<ProgressBar>,
    started: Instant,
    last_line: Option<Instant>,
}

impl ProgressReporter {
    /// Begins work of `length` units.
    #[must_use]
    pub fn new(length: u64) -> ProgressReporter {
        ProgressReporter {
            length,
            bar: terminal_bar(Some(length), TEMPLATE),
            started: Instant::now(),
            last_line: None,
        }
    }

    /// The rate of a count since the beginning, per second.
    #[must_use]
    pub fn per_second(&self, things: u64) -> f64 {
        things as f64 / self.started.elapsed().as_secs_f64().max(SHORTEST_SECONDS)
    }

    /// This many units are done; `message` is shown beside them.
    pub fn update(&mut self, done: u64, message: &str) {
        if let Some(bar) = &self.bar {
            bar.set_position(done);
            bar.set_message(message.to_owned());
        } else if self
            .last_line
            .is_none_or(|last| last.elapsed() >= LINE_EVERY)
        {
            self.last_line = Some(Instant::now());
            let percent = 100.0 * done as f64 / self.length.max(1) as f64;
            log::info!("{percent:5.1} %  {message}");
        }
    }

    /// Prints a line that stays, above the bar.
    pub fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => log::info!("{text}"),
        }
    }

    /// Ends with a last message, without a bar.
    pub fn finish(&self, message: &str) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
        log::info!("{message}");
    }
}
