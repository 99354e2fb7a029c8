//! A UCI engine in another process, asked for scores.
//!
//! Reading and writing happen on separate threads, so that no engine can block the caller: every
//! answer has a deadline, and an engine that does not quit is killed.

use std::io::{self, BufRead, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};
use thiserror::Error;

/// The longest line accepted, in bytes. The longest lines of UCI are principal variations.
const MAX_LINE_BYTES: u64 = 1 << 16;
/// Lines buffered for the caller; when the buffer is full, the engine has to wait.
const QUEUED_LINES: usize = 1 << 10;
/// How long an engine may take to end after `quit`.
const QUIT_TIMEOUT: Duration = Duration::from_secs(2);
const QUIT_POLL: Duration = Duration::from_millis(5);

/// The option with which castling is the king taking its rook.
const CHESS960: &str = "UCI_Chess960";

/// Why the engine gave no answer.
#[derive(Debug, Error)]
pub enum ClientError {
    #[error("cannot start {}: {source}", path.display())]
    Start { path: PathBuf, source: io::Error },
    #[error("the engine's output cannot be read: {0}")]
    Output(io::Error),
    #[error("the engine closed its output")]
    Closed,
    #[error("the engine wrote a line of more than {MAX_LINE_BYTES} bytes")]
    EndlessLine,
    #[error("the engine has no option {CHESS960}, in whose notation castling is sent to it")]
    NoChess960,
    #[error("the engine gave no {expected:?} within {} s", timeout.as_secs_f64())]
    Late { expected: String, timeout: Duration },
}

/// Whether a line of the greeting declares the option.
fn declares(line: &str, option: &str) -> bool {
    let mut words = line.split_whitespace();
    [words.next(), words.next(), words.next()] == [Some("option"), Some("name"), Some(option)]
}

/// A running UCI engine.
#[derive(Debug)]
pub struct UciClient {
    process: Child,
    commands: Sender<String>,
    lines: Receiver<Result<String, ClientError>>,
    timeout: Duration,
}

impl UciClient {
    /// Starts an engine, found as the shell finds programs, and completes the greeting.
    /// `timeout` is the longest wait for any answer.
    ///
    /// # Errors
    /// The program can't be started or gives no `uciok` in time.
    pub fn start(path: &Path, timeout: Duration) -> Result<UciClient, ClientError> {
        let mut process = Command::new(path)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(|source| ClientError::Start {
                path: path.to_path_buf(),
                source,
            })?;
        let pipes = (process.stdin.take(), process.stdout.take());
        let (Some(input), Some(output)) = pipes else {
            return Err(ClientError::Closed);
        };
        let (commands, to_write) = unbounded();
        let (read, lines) = bounded(QUEUED_LINES);
        thread::spawn(move || write_commands(input, &to_write));
        thread::spawn(move || read_lines(output, &read));
        let mut client = UciClient {
            process,
            commands,
            lines,
            timeout,
        };
        let mut has_chess960 = false;
        client.ask("uci", "uciok", |line| {
            has_chess960 |= declares(line, CHESS960)
        })?;
        // Recorded castling is the king taking its rook, whatever the start. An engine that reads it
        // otherwise would evaluate the position before it.
        if !has_chess960 {
            return Err(ClientError::NoChess960);
        }
        client.ask(
            "setoption name UCI_Chess960 value true\nisready",
            "readyok",
            |_| (),
        )?;
        Ok(client)
    }

    /// Sends commands and shows the answer's lines up to the one whose first word is `last`.
    ///
    /// # Errors
    /// The engine ended, or that line did not come in time.
    pub fn ask(
        &mut self,
        commands: &str,
        last: &str,
        mut show: impl FnMut(&str),
    ) -> Result<(), ClientError> {
        self.commands
            .send(format!("{commands}\n"))
            .map_err(|_| ClientError::Closed)?;
        let late = || ClientError::Late {
            expected: last.to_owned(),
            timeout: self.timeout,
        };
        let deadline = Instant::now() + self.timeout;
        loop {
            // The wait below never times out if the engine keeps writing lines.
            if Instant::now() >= deadline {
                return Err(late());
            }
            let line = match self.lines.recv_deadline(deadline) {
                Ok(line) => line?,
                Err(RecvTimeoutError::Timeout) => return Err(late()),
                Err(RecvTimeoutError::Disconnected) => return Err(ClientError::Closed),
            };
            let line = line.trim();
            if line.split_whitespace().next() == Some(last) {
                return Ok(());
            }
            show(line);
        }
    }
}

impl Drop for UciClient {
    fn drop(&mut self) {
        let _ = self.commands.send("quit\n".to_owned());
        let deadline = Instant::now() + QUIT_TIMEOUT;
        while Instant::now() < deadline {
            // An engine that is still writing must not be stuck on a full pipe.
            self.lines.try_iter().take(QUEUED_LINES).for_each(drop);
            if !matches!(self.process.try_wait(), Ok(None)) {
                return;
            }
            thread::sleep(QUIT_POLL);
        }
        log::warn!("the engine did not quit and is killed");
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// Passes commands on until the engine has ended or the client is dropped.
fn write_commands(mut input: ChildStdin, commands: &Receiver<String>) {
    for text in commands {
        if input.write_all(text.as_bytes()).is_err() || input.flush().is_err() {
            return;
        }
    }
}

/// Passes lines on until the engine has ended or the client is dropped. Invalid UTF-8 is replaced
/// by U+FFFD.
fn read_lines(output: ChildStdout, lines: &Sender<Result<String, ClientError>>) {
    let mut output = BufReader::new(output);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = output
            .by_ref()
            .take(MAX_LINE_BYTES)
            .read_until(b'\n', &mut bytes);
        let line = match read {
            Ok(0) => return,
            Ok(_) if bytes.len() as u64 == MAX_LINE_BYTES && !bytes.ends_with(b"\n") => {
                Err(ClientError::EndlessLine)
            }
            Ok(_) => Ok(String::from_utf8_lossy(&bytes).into_owned()),
            Err(error) => Err(ClientError::Output(error)),
        };
        let failed = line.is_err();
        if lines.send(line).is_err() || failed {
            return;
        }
    }
}

#[cfg(all(test, unix))]
mod tests {
    use super::*;
    use crate::label::tests::Script;

    /// For engines that answer, however busy the machine.
    const TIMEOUT: Duration = Duration::from_secs(20);
    /// For engines that don't; the greeting has to fit in.
    const SHORT: Duration = Duration::from_secs(2);
    /// Far above what an answer, a time-out and a kill take together.
    const GENEROUS: Duration = Duration::from_secs(60);

    /// The result of starting such an engine and sending it `go`, and the time taken, including
    /// the end of the process.
    fn ask(script: &str, timeout: Duration) -> (Result<Vec<String>, ClientError>, Duration) {
        let engine = Script::new(script);
        let started = Instant::now();
        let talk = || {
            let mut client = UciClient::start(engine.path(), timeout)?;
            let mut lines = Vec::new();
            client.ask("go", "bestmove", |line| lines.push(line.to_owned()))?;
            Ok(lines)
        };
        (talk(), started.elapsed())
    }

    const GREETING: &str = "read l; echo 'option name UCI_Chess960 type check default false'; \
        echo uciok; read l; read l; echo readyok; read l;";

    #[test]
    fn an_engine_that_cannot_read_castling_is_refused() {
        let (result, _) = ask(
            "read l; echo 'option name Hash'; echo uciok; read l",
            TIMEOUT,
        );
        assert!(matches!(result, Err(ClientError::NoChess960)), "{result:?}");
    }

    #[test]
    fn an_engine_that_ignores_quit_is_killed() {
        let script = format!("{GREETING} echo 'bestmove a2a3'; exec sleep 100000");
        let (result, time) = ask(&script, TIMEOUT);
        assert!(result.is_ok(), "{result:?}");
        assert!(time < GENEROUS, "{time:?}");
    }

    #[test]
    fn an_engine_without_an_answer_is_late() {
        let (result, time) = ask("exec sleep 100000", SHORT);
        assert!(
            matches!(result, Err(ClientError::Late { .. })),
            "{result:?}"
        );
        assert!(time < GENEROUS, "{time:?}");
    }

    #[test]
    fn endless_output_is_late_and_an_endless_line_refused() {
        let (result, time) = ask(&format!("{GREETING} exec yes 'info string more'"), SHORT);
        assert!(
            matches!(result, Err(ClientError::Late { .. })),
            "{result:?}"
        );
        assert!(time < GENEROUS, "{time:?}");
        let (result, time) = ask(&format!("{GREETING} exec cat /dev/zero"), TIMEOUT);
        assert!(
            matches!(result, Err(ClientError::EndlessLine)),
            "{result:?}"
        );
        assert!(time < GENEROUS, "{time:?}");
    }

    #[test]
    fn bytes_that_are_no_text_are_passed_over() {
        let script =
            format!("{GREETING} printf 'info string \\377\\376\\nbestmove a2a3\\n'; read l");
        let (result, _) = ask(&script, TIMEOUT);
        let lines = result.expect("an answer");
        assert_eq!(lines.len(), 1);
        assert!(lines[0].starts_with("info string"));
    }

    #[test]
    fn an_engine_that_ends_has_closed_its_output() {
        let (result, _) = ask("exit 3", TIMEOUT);
        assert!(matches!(result, Err(ClientError::Closed)), "{result:?}");
    }
}
