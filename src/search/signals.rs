//! Signals to a running search: stop, and the pondered move was played.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Signals shared by all threads of a search. While they search, the threads read two flags without
/// a lock; they take it only to stop the search themselves. [`Signals::hold`] sleeps and does not
/// spin.
#[derive(Debug)]
pub struct Signals {
    stopped: AtomicBool,
    pondering: AtomicBool,
    /// When the search began and when its clock began to run (`ponderhit`), in nanoseconds
    /// since `epoch`.
    began: AtomicU64,
    clock_began: AtomicU64,
    epoch: Instant,
    /// Protects only the sleep in `hold`, so that no wake-up is lost.
    lock: Mutex<()>,
    changed: Condvar,
}

impl Default for Signals {
    fn default() -> Signals {
        Signals::new()
    }
}

impl Signals {
    /// Signals without a search: stopped.
    #[must_use]
    pub fn new() -> Signals {
        Signals {
            stopped: AtomicBool::new(true),
            pondering: AtomicBool::new(false),
            began: AtomicU64::new(0),
            clock_began: AtomicU64::new(0),
            epoch: Instant::now(),
            lock: Mutex::new(()),
            changed: Condvar::new(),
        }
    }

    /// A search begins, whose clock runs since `asked`. Called once, before any search thread is
    /// woken, so that a `stop` or `ponderhit` that follows at once is not lost.
    pub fn start(&self, pondering: bool, asked: Instant) {
        let began = nanoseconds(asked.saturating_duration_since(self.epoch));
        self.began.store(began, Ordering::Relaxed);
        self.clock_began.store(began, Ordering::Relaxed);
        self.pondering.store(pondering, Ordering::Relaxed);
        self.stopped.store(false, Ordering::Release);
    }

    /// End the search as soon as possible.
    pub fn stop(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        self.stopped.store(true, Ordering::Release);
        self.changed.notify_all();
    }

    /// Whether the search should end.
    #[must_use]
    pub fn is_stopped(&self) -> bool {
        self.stopped.load(Ordering::Relaxed)
    }

    /// The pondered move was played: from now on the clock runs and its bounds count.
    pub fn ponderhit(&self) {
        let _guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        if self.pondering.load(Ordering::Relaxed) {
            self.clock_began.store(self.now(), Ordering::Relaxed);
            self.pondering.store(false, Ordering::Release);
        }
        self.changed.notify_all();
    }

    /// Whether this is a ponder search whose move has not been played yet: time bounds do not
    /// count.
    #[must_use]
    pub fn is_pondering(&self) -> bool {
        self.pondering.load(Ordering::Acquire)
    }

    /// Time since the search began.
    #[must_use]
    pub fn elapsed(&self) -> Duration {
        self.since(&self.began)
    }

    /// Time since our own clock began to run: since `ponderhit` if the search began as a ponder
    /// search, else the same as [`Signals::elapsed`].
    #[must_use]
    pub fn clock_elapsed(&self) -> Duration {
        self.since(&self.clock_began)
    }

    /// Sleeps until the result of a finished search may be reported: at once in an ordinary search,
    /// after `ponderhit` or `stop` in a ponder search, only after `stop` in an `infinite` one.
    /// With `least`, the search's clock must also have run that long, unless it is stopped.
    pub fn hold(&self, infinite: bool, least: Option<Duration>) {
        let mut guard = self.lock.lock().unwrap_or_else(PoisonError::into_inner);
        while !self.is_stopped() {
            let rest = least.map_or(Duration::ZERO, |least| {
                least.saturating_sub(self.clock_elapsed())
            });
            guard = if infinite || self.is_pondering() {
                self.changed
                    .wait(guard)
                    .unwrap_or_else(PoisonError::into_inner)
            } else if rest > Duration::ZERO {
                self.changed
                    .wait_timeout(guard, rest)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0
            } else {
                return;
            };
        }
    }

    fn now(&self) -> u64 {
        nanoseconds(self.epoch.elapsed())
    }

    fn since(&self, then: &AtomicU64) -> Duration {
        Duration::from_nanos(self.now().saturating_sub(then.load(Ordering::Relaxed)))
    }
}

fn nanoseconds(duration: Duration) -> u64 {
    u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Arc;
    use std::thread;

    #[test]
    fn signals_that_follow_the_start_at_once_are_kept() {
        let signals = Signals::new();
        assert!(signals.is_stopped());
        signals.start(true, Instant::now());
        assert!(signals.is_pondering() && !signals.is_stopped());
        signals.ponderhit();
        assert!(!signals.is_pondering() && !signals.is_stopped());
        signals.stop();
        assert!(signals.is_stopped());
        signals.start(false, Instant::now());
        assert!(!signals.is_stopped() && !signals.is_pondering());
    }

    #[test]
    fn the_clock_begins_at_ponderhit() {
        let signals = Signals::new();
        signals.start(true, Instant::now());
        thread::sleep(Duration::from_millis(20));
        signals.ponderhit();
        assert!(signals.elapsed() >= Duration::from_millis(20));
        assert!(signals.clock_elapsed() < signals.elapsed());
    }

    #[test]
    fn holding_ends_with_the_right_signal() {
        let signals = Arc::new(Signals::new());
        signals.start(false, Instant::now());
        signals.hold(false, None);
        signals.start(true, Instant::now());
        let sleeper = {
            let signals = Arc::clone(&signals);
            thread::spawn(move || signals.hold(true, None))
        };
        signals.ponderhit();
        thread::sleep(Duration::from_millis(20));
        assert!(!sleeper.is_finished(), "an infinite search waits for stop");
        signals.stop();
        assert!(sleeper.join().is_ok());
    }
}
