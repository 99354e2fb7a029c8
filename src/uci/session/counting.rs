//! `perft` and `bench`: they run where the command is handled, so that they read ahead for `stop`.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::panic::resume_unwind;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use super::{READ_AHEAD, Session, stops_search};
use crate::bench;
use crate::board::Perft;
use crate::uci::Command;

/// How often a running perft checks whether it is done or must stop.
const PERFT_POLL: Duration = Duration::from_millis(2);

impl<W: Write> Session<W> {
    pub(super) fn perft(&mut self, depth: u32) -> io::Result<()> {
        if let Err(error) = self.engine.check_position() {
            return self.report_error(&error);
        }
        let root = self.engine.position().clone();
        let stop = AtomicBool::new(false);
        let count = || Perft::default().divide_until(&root, depth, &stop);
        let counts = thread::scope(|scope| {
            let Ok(counting) = thread::Builder::new().spawn_scoped(scope, count) else {
                return count();
            };
            while !counting.is_finished() {
                if self.is_told_to_stop() {
                    stop.store(true, Ordering::Relaxed);
                }
                thread::sleep(PERFT_POLL);
            }
            counting.join().unwrap_or_else(|panic| resume_unwind(panic))
        });
        if stop.into_inner() {
            return self.note("perft stopped");
        }
        let counts = match counts {
            Ok(counts) => counts,
            Err(error) => return self.report_error(&error),
        };
        for &(m, count) in &counts.moves {
            self.write_line(&format!("{}: {count}", root.uci(m)))?;
        }
        self.write_line("")?;
        self.write_line(&format!("Nodes searched: {}", counts.total))
    }

    /// Whether `stop` or `quit` has come while something other than a search runs, or before, when
    /// it waited behind a search. Commands and lines are kept for later; so is a `stop` that belongs
    /// to a command before it.
    fn is_told_to_stop(&mut self) -> bool {
        while self.read_ahead.len() < READ_AHEAD
            && let Ok(line) = self.lines.try_recv()
        {
            self.read_ahead.push_back(line);
        }
        let is_end = |command: &Command| matches!(command, Command::Stop) || stops_search(command);
        let end = self.due.iter().position(is_end);
        if let Some(index) = end
            && matches!(self.due[index], Command::Stop)
        {
            self.due.remove(index);
            return true;
        }
        let mut other_begins = end.is_some();
        for index in 0..self.read_ahead.len() {
            match Command::parse(&self.read_ahead[index]) {
                Ok(Command::Quit) => return true,
                Ok(Command::Stop) => {
                    if !other_begins {
                        self.read_ahead.remove(index);
                    }
                    return true;
                }
                Ok(command) => other_begins |= stops_search(&command),
                Err(_) => {}
            }
        }
        false
    }

    pub(super) fn bench(&mut self, arguments: &[String]) -> io::Result<()> {
        let options = match bench::Options::parse(arguments) {
            Ok(options) => options,
            Err(error) => return self.report_error(&error),
        };
        let mut written = Ok(());
        let result = bench::run(&options, |position| {
            if let Some(position) = position {
                written = self.write_line(&bench::position_line(position));
            }
            if written.is_ok() && !self.is_told_to_stop() {
                ControlFlow::Continue(())
            } else {
                ControlFlow::Break(())
            }
        });
        written?;
        match result {
            Ok(Some(summary)) => {
                for line in summary.lines() {
                    self.write_line(&line)?;
                }
                Ok(())
            }
            Ok(None) => self.note("bench stopped"),
            Err(error) => self.report_error(&error),
        }
    }
}
