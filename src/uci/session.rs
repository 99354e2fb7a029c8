//! The loop between a client and the engine: one place that puts commands, signals and results
//! into order.
//!
//! While a search runs, `stop`, `ponderhit`, `isready` and everything that only reads take
//! effect at once; what needs the engine at rest waits in a queue, in order. A command that
//! cannot sensibly wait for the search to end by itself (`go`, `ucinewgame`) stops it first, so
//! that no client can hang the engine: each `go` gets its one `bestmove`.

pub(crate) mod batch;
mod counting;

use std::collections::VecDeque;
use std::io::{self, BufReader, IsTerminal as _, Write};
use std::thread;

use crossbeam_channel::{Receiver, bounded, never, select};

use super::command::{Command, ParseError};
use super::crash::{self, CrashRecord, OpenSearch};
use super::input::send_lines;
use super::options::{self, OptionTarget, Preferences};
use super::outbox::Outbox;
use super::{draw, logfile, output};
use crate::board::Start;
use crate::engine::{Engine, EngineError, Event, Request};
use crate::faults::panic_at;
use crate::stdio;

/// Lines read ahead of the engine.
const READ_AHEAD: usize = 1024;

/// Whether the conversation goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    Quit,
}

/// One client's conversation. Writing fails when the client is gone: then the session ends.
pub struct Session<W: Write> {
    engine: Engine,
    out: W,
    preferences: Preferences,
    /// Commands that wait for the running search to end.
    waiting: VecDeque<Command>,
    /// Commands that waited for a search that has ended, and are now handled one by one.
    due: VecDeque<Command>,
    /// The running search was told to stop.
    stopping: bool,
    /// Unknown commands get a remark: the client has sent `uci` (before that, old ones mistake a
    /// remark for another protocol), or a person types.
    remarks: bool,
    /// `debug on`.
    debug: bool,
    /// A command could not be carried out.
    failed: bool,
    /// Where lines come from, once the session runs.
    lines: Receiver<String>,
    /// Lines read while `perft` or `bench` ran, to be handled after it.
    read_ahead: VecDeque<String>,
    /// What to report if the program panics.
    record: CrashRecord,
}

impl<W: Write> Session<W> {
    /// A session with a fresh engine that writes to `out`.
    #[must_use]
    pub fn new(out: W) -> Session<W> {
        Session {
            engine: Engine::new(),
            out,
            preferences: Preferences::default(),
            waiting: VecDeque::new(),
            due: VecDeque::new(),
            stopping: false,
            remarks: false,
            debug: false,
            failed: false,
            lines: never(),
            read_ahead: VecDeque::new(),
            record: CrashRecord::default(),
        }
    }

    /// Handles commands until `quit` or the end of the lines.
    ///
    /// # Errors
    /// If the client no longer reads.
    pub fn run(&mut self, lines: &Receiver<String>) -> io::Result<()> {
        self.lines = lines.clone();
        loop {
            if let Some(line) = self.read_ahead.pop_front() {
                if self.handle_line(&line)? == Flow::Quit {
                    return self.end();
                }
                continue;
            }
            let flow = select! {
                recv(lines) -> line => match line {
                    Ok(line) => self.handle_line(&line)?,
                    Err(_) => Flow::Quit,
                },
                recv(self.engine.events()) -> event => {
                    if let Ok(event) = event {
                        self.on_event(&event)?;
                    }
                    Flow::Continue
                }
            };
            if flow == Flow::Quit {
                return self.end();
            }
        }
    }

    /// Stops the running search and writes its result; the same for the searches that still wait.
    /// What would run on for long is left out.
    fn end(&mut self) -> io::Result<()> {
        let waited = self.waiting.len();
        self.waiting
            .retain(|command| !matches!(command, Command::Perft(_) | Command::Bench(_)));
        if self.waiting.len() < waited {
            self.note("perft and bench that still waited are left out: the input has ended")?;
        }
        while self.engine.is_searching() {
            self.engine.stop();
            let Ok(event) = self.engine.events().recv() else {
                break;
            };
            self.on_event(&event)?;
        }
        Ok(())
    }

    fn handle_line(&mut self, line: &str) -> io::Result<Flow> {
        log::debug!(target: logfile::TRAFFIC, ">> {line}");
        line.clone_into(&mut self.record.lock().command);
        panic_at("uci", line);
        match Command::parse(line) {
            Ok(command) => self.receive(command),
            Err(error) => {
                self.failed = true;
                // UCI has unknown commands ignored; a remark helps a person who typed one.
                if self.remarks || !matches!(error, ParseError::Unknown(_)) {
                    self.note(&error.to_string())?;
                }
                Ok(Flow::Continue)
            }
        }
    }

    fn on_event(&mut self, event: &Event) -> io::Result<()> {
        self.engine.received(event);
        if let Some(line) = output::event(event, self.preferences.style) {
            if matches!(event, Event::Finished(_)) {
                self.write_best_move(&line)?;
            } else {
                self.write_line(&line)?;
            }
        }
        if let Event::Line(line) = event
            && let Some(effort) = output::effort(line, self.preferences.style)
        {
            self.write_line(&effort)?;
        }
        if matches!(event, Event::Finished(_)) {
            self.stopping = false;
            self.due = std::mem::take(&mut self.waiting);
            while let Some(command) = self.due.pop_front() {
                self.receive(command)?;
            }
        }
        Ok(())
    }

    fn write_line(&mut self, line: &str) -> io::Result<()> {
        log::debug!(target: logfile::TRAFFIC, "<< {line}");
        // Held while writing, so that the report of a panic does not come in between.
        let _record = self.record.lock();
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    /// Answers a `go`.
    fn write_best_move(&mut self, line: &str) -> io::Result<()> {
        log::debug!(target: logfile::TRAFFIC, "<< {line}");
        let mut record = self.record.lock();
        record.search = None;
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.write_line(&output::note(text))
    }

    fn report_error(&mut self, error: &dyn std::error::Error) -> io::Result<()> {
        self.failed = true;
        self.note(&error.to_string())
    }

    /// Acts on a command now, or keeps it until the running search has ended.
    fn receive(&mut self, command: Command) -> io::Result<Flow> {
        if self.engine.is_searching() && self.must_wait(&command) {
            if stops_search(&command) {
                self.stop();
            }
            self.wait(command)?;
            return Ok(Flow::Continue);
        }
        self.act(command)
    }

    /// Queues a command. Of options set one after the other, only the last value of each is
    /// kept, so that the queue stays short however many are sent. A value that does not fit is
    /// refused at once, and does not replace one that does; a text is known to fit only when it is
    /// set, and replaces nothing but itself.
    fn wait(&mut self, command: Command) -> io::Result<()> {
        if let Command::SetOption { name, value } = &command {
            if let Err(error) = options::check(name, value.as_deref()) {
                return self.report_error(&error);
            }
            let is_option = |queued: &Command| matches!(queued, Command::SetOption { .. });
            let is_text = options::is_text(name);
            let same = |queued: &Command| {
                matches!(queued, Command::SetOption { name: other, value: earlier }
                    if other.eq_ignore_ascii_case(name) && (!is_text || earlier == value))
            };
            let last = self.waiting.len();
            let first = self
                .waiting
                .iter()
                .rposition(|queued| !is_option(queued))
                .map_or(0, |index| index + 1);
            if let Some(index) = (first..last).find(|&index| same(&self.waiting[index])) {
                self.waiting.remove(index);
            }
        }
        self.waiting.push_back(command);
        Ok(())
    }

    fn must_wait(&self, command: &Command) -> bool {
        match command {
            // Signals belong to the search whose `go` stands last before them.
            Command::Stop | Command::PonderHit => self.waiting.iter().any(stops_search),
            // At once during a search; but in its turn where the search is about to end anyway.
            Command::IsReady => self.stopping && !self.waiting.is_empty(),
            // The running search has its own copy of the game.
            Command::Position { .. } => !self.waiting.is_empty(),
            // The board that is asked for may not be set up yet.
            Command::Display | Command::Eval => self.waiting.iter().any(changes_position),
            Command::SetOption { .. } => true,
            other => stops_search(other),
        }
    }

    fn stop(&mut self) {
        self.stopping = true;
        self.engine.stop();
    }

    fn act(&mut self, command: Command) -> io::Result<Flow> {
        match command {
            Command::Nothing | Command::Register => {}
            Command::Uci => self.greet()?,
            Command::Debug(on) => self.debug = on,
            Command::IsReady => {
                if !self.engine.is_searching()
                    && let Err(error) = self.engine.prepare()
                {
                    self.report_error(&error)?;
                }
                self.write_line("readyok")?;
            }
            Command::SetOption { name, value } => self.set_option(&name, value.as_deref())?,
            Command::NewGame => self.try_to(Engine::new_game)?,
            Command::Position { start, moves } => self.set_position(&start, &moves)?,
            Command::Go { request, remarks } => self.go(&request, &remarks)?,
            Command::Perft(depth) => self.perft(depth)?,
            Command::Stop if self.engine.is_searching() => self.stop(),
            Command::PonderHit if self.engine.is_searching() => self.engine.ponderhit(),
            Command::Stop | Command::PonderHit => {}
            Command::Quit => return Ok(Flow::Quit),
            Command::Display => {
                for line in draw::position(self.engine.position()) {
                    self.write_line(&line)?;
                }
            }
            Command::Eval => {
                let score = self.engine.static_eval();
                self.write_line(&format!("Static evaluation: {score} (side to move)"))?;
            }
            Command::Flip => self.try_to(Engine::flip)?,
            Command::Bench(arguments) => self.bench(&arguments)?,
            Command::Compiler => {
                self.write_line(&format!(
                    "{} {}",
                    env!("CARGO_PKG_NAME"),
                    env!("CARGO_PKG_VERSION")
                ))?;
                self.write_line(&format!(
                    "{} {}",
                    std::env::consts::ARCH,
                    std::env::consts::OS
                ))?;
            }
            Command::Help => {
                self.write_line(HELP)?;
                for line in options::descriptions() {
                    self.write_line(&line)?;
                }
            }
            Command::License => self.write_line("GPL-3.0-or-later")?,
        }
        Ok(Flow::Continue)
    }

    fn try_to(
        &mut self,
        action: impl FnOnce(&mut Engine) -> Result<(), EngineError>,
    ) -> io::Result<()> {
        let outcome = action(&mut self.engine);
        self.record.lock().game = self.engine.game().clone();
        match outcome {
            Ok(()) => Ok(()),
            Err(error) => self.report_error(&error),
        }
    }

    fn greet(&mut self) -> io::Result<()> {
        self.remarks = true;
        self.write_line(concat!("id name Pleach ", env!("CARGO_PKG_VERSION")))?;
        self.write_line("id author the Pleach authors")?;
        for line in options::declarations() {
            self.write_line(&line)?;
        }
        self.write_line("uciok")
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        let mut target = OptionTarget {
            engine: &mut self.engine,
            preferences: &mut self.preferences,
            remarks: Vec::new(),
            incomplete: false,
        };
        let outcome = options::set(&mut target, name, value);
        self.failed |= target.incomplete;
        for remark in target.remarks {
            self.note(&remark)?;
        }
        match outcome {
            Ok(()) if self.debug => self.note(&format!("{name} set")),
            Ok(()) => Ok(()),
            Err(error) => self.report_error(&error),
        }
    }

    /// Remarks on parts of a command that were not understood or done.
    fn note_failures(&mut self, remarks: &[String]) -> io::Result<()> {
        for remark in remarks {
            self.failed = true;
            self.note(remark)?;
        }
        Ok(())
    }

    fn set_position(&mut self, start: &Start, moves: &[String]) -> io::Result<()> {
        self.try_to(|engine| engine.set_position(start, moves))
    }

    fn go(&mut self, request: &Request, remarks: &[String]) -> io::Result<()> {
        self.note_failures(remarks)?;
        // A request that was not understood must not become an endless search.
        let mut request = request.clone();
        if !remarks.is_empty() && !request.infinite && !request.has_limit() {
            request.depth = Some(1);
            self.note("go: without a limit that makes sense, the search ends at depth 1")?;
        }
        self.record.lock().search = Some(OpenSearch {
            root: self.engine.position().clone(),
            best: self.engine.best_so_far().clone(),
        });
        match self.engine.go(&request) {
            Ok(ignored) => self.note_failures(&ignored)?,
            Err(error) => {
                // The client waits for a move nevertheless.
                self.report_error(&error)?;
                self.write_best_move(output::NO_MOVE)?;
            }
        }
        Ok(())
    }
}

/// Whether the board is another one after a command.
const fn changes_position(command: &Command) -> bool {
    matches!(
        command,
        Command::Position { .. } | Command::NewGame | Command::Flip
    )
}

/// Whether a command that arrives during a search ends it.
const fn stops_search(command: &Command) -> bool {
    matches!(
        command,
        Command::Go { .. }
            | Command::NewGame
            | Command::Perft(_)
            | Command::Bench(_)
            | Command::Flip
    )
}

const HELP: &str = "\
Pleach speaks UCI, the Universal Chess Interface; chess programs use it, and you can type it:
  position startpos moves e2e4    set up a position
  go movetime 3000                think for three seconds
  go infinite / stop              think until told to stop
  setoption name Hash value 256   set an option
  d, eval, flip, perft 5, bench   look around
  quit
Run `pleach --help` for the other things it can do.
Options:";

/// Speaks UCI on stdin and stdout until `quit` or the end of input.
///
/// # Errors
/// If stdout is closed.
pub fn interactive() -> io::Result<()> {
    logfile::install();
    let mut out = Outbox::new()?;
    let unwritten = out.unwritten();
    let mut session = Session::new(&mut out);
    session.remarks = io::stdin().is_terminal();
    crash::install(&session.record, unwritten);
    let (sender, lines) = bounded(READ_AHEAD);
    let input = BufReader::new(stdio::Stdin::new()?);
    let search = session.engine.stop_handle();
    // The thread ends with the process: a blocking read cannot be cancelled.
    thread::Builder::new()
        .name("input".to_owned())
        .spawn(move || send_lines(input, &sender, &search))?;
    let result = session.run(&lines);
    result.and(out.finish())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn options_set_over_and_over_wait_once() {
        let mut session = Session::new(Vec::new());
        let set = |name: &str, value: usize| Command::SetOption {
            name: name.to_owned(),
            value: Some(value.to_string()),
        };
        let mut wait = |command| session.wait(command).expect("memory");
        for value in 1..=256 {
            wait(set("Hash", value));
            wait(set("MULTIPV", value));
            wait(set("multipv", 0));
        }
        wait(Command::Flip);
        wait(set("hash", 7));
        let expected = [
            set("Hash", 256),
            set("MULTIPV", 256),
            Command::Flip,
            set("hash", 7),
        ];
        assert_eq!(session.waiting, expected);
    }

    #[test]
    fn a_text_that_may_be_refused_replaces_no_other() {
        let mut session = Session::new(Vec::new());
        let set = |value: &str| Command::SetOption {
            name: "EvalFile".to_owned(),
            value: Some(value.to_owned()),
        };
        for value in ["<tapered>", "<tapered>", "missing.pnn", "missing.pnn"] {
            session.wait(set(value)).expect("memory");
        }
        assert_eq!(session.waiting, [set("<tapered>"), set("missing.pnn")]);
    }
}
