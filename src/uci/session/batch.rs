//! UCI commands on the command line, run one after the other.

use std::io::{self, Write};
use std::sync::Arc;

use super::{Flow, Session, crash, stops_search};
use crate::stdio;
use crate::uci::{Command, logfile};

impl<W: Write> Session<W> {
    /// Runs each line to its end before the next, as for commands on the command line.
    ///
    /// # Errors
    /// If the output is closed.
    pub fn run_batch(&mut self, lines: &[String]) -> io::Result<bool> {
        self.remarks = true;
        let mut endless = false;
        for (index, line) in lines.iter().enumerate() {
            endless = is_endless(line).unwrap_or(endless);
            if self.handle_line(line)? == Flow::Quit {
                break;
            }
            let signalled = is_end_ahead(endless, &lines[index + 1..]);
            while self.engine.is_searching() && !signalled {
                let Ok(event) = self.engine.events().recv() else {
                    break;
                };
                self.on_event(&event)?;
            }
        }
        self.end()?;
        Ok(!self.failed)
    }
}

/// Whether nothing but a later command ends the search that a line asks for; `None` if it asks for
/// none.
fn is_endless(line: &str) -> Option<bool> {
    match Command::parse(line) {
        Ok(Command::Go { request, .. }) => {
            Some(request.infinite || request.ponder || !request.has_limit())
        }
        _ => None,
    }
}

/// Whether a command ahead ends the running search, so that it is not to be waited for: `stop` or
/// `ponderhit` before the next search, or, if it is endless, the next search, `ucinewgame` or `quit`
/// as well.
fn is_end_ahead(endless: bool, ahead: &[String]) -> bool {
    let next = ahead.iter().find_map(|line| match Command::parse(line) {
        Ok(Command::Stop | Command::PonderHit) => Some(true),
        Ok(Command::Quit) if endless => Some(true),
        Ok(command) if stops_search(&command) => Some(endless),
        _ => None,
    });
    next.unwrap_or(false)
}

/// Runs UCI commands one after the other; returns whether all were understood.
///
/// # Errors
/// If stdout is closed.
pub fn batch(commands: &[String]) -> io::Result<bool> {
    logfile::install();
    let mut session = Session::new(stdio::stdout()?);
    crash::install(&session.record, Arc::default());
    session.run_batch(commands)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signal_counts_up_to_the_next_search() {
        let ahead = |endless, lines: &[&str]| {
            let lines: Vec<String> = lines.iter().map(|&line| line.into()).collect();
            is_end_ahead(endless, &lines)
        };
        for endless in [false, true] {
            assert!(ahead(endless, &["stop"]) && ahead(endless, &["isready", "d", "ponderhit"]));
            assert!(!ahead(endless, &[]) && !ahead(endless, &["isready"]));
        }
        for next in ["quit", "go depth 1", "ucinewgame", "perft 2"] {
            assert!(ahead(true, &[next, "stop"]), "{next}");
            assert!(!ahead(false, &["isready", next]), "{next}");
        }
        assert!(!ahead(false, &["go depth 1", "stop"]));
        for go in ["go infinite", "go ponder depth 2", "go"] {
            assert_eq!(is_endless(go), Some(true), "{go}");
        }
        assert_eq!(
            (is_endless("go depth 2"), is_endless("d")),
            (Some(false), None)
        );
    }

    /// Whether all commands were done, and what was written.
    fn done(lines: &[&str]) -> (bool, String) {
        let lines: Vec<String> = lines.iter().map(|&line| line.into()).collect();
        let mut session = Session::new(Vec::new());
        let done = session.run_batch(&lines).expect("memory");
        (done, String::from_utf8_lossy(&session.out).into_owned())
    }

    #[test]
    fn an_endless_search_ends_at_quit() {
        assert!(done(&["go infinite", "d", "quit"]).1.contains("bestmove"));
    }

    #[test]
    fn what_was_not_done_is_known() {
        assert!(done(&["go depth 1 searchmoves e2e4"]).0);
        assert!(!done(&["go depth 1 searchmoves e2e5"]).0);
        assert!(!done(&["setoption name SyzygyPath value /no/such/folder"]).0);
    }

    #[test]
    fn nothing_is_counted_from_a_refused_position() {
        let (done, text) = done(&["position fen nonsense", "perft 1"]);
        assert!(!done && !text.contains("Nodes searched"), "{text}");
    }
}
