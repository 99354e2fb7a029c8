//! The loop between a client and the engine: one place that puts commands, signals and results
//! into order.
//!
//! While a search runs, `stop`, `ponderhit`, `isready` and everything that only reads take
//! effect at once; what needs the engine at rest waits in a queue, in order. A command that
//! cannot sensibly wait for the search to end by itself (`go`, `ucinewgame`) stops it first, so
//! that no client can hang the engine: each `go` gets its one `bestmove`.

use std::collections::VecDeque;
use std::io::{self, BufRead, Write};
use std::ops::ControlFlow;
use std::thread;

use crossbeam_channel::{Receiver, bounded, select};

use super::command::{Command, ParseError};
use super::options::{self, Preferences, Target};
use super::{draw, logfile, output};
use crate::bench;
use crate::board::Perft;
use crate::board::Start;
use crate::engine::{Engine, EngineError, Event, Request};

/// A line may hold a game of some hundred thousand moves; of a longer one the rest is dropped.
const LONGEST_LINE: u64 = 1 << 24;
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
    /// The running search was told to stop.
    stopping: bool,
    /// The client has said `uci`: before that, old ones mistake remarks for another protocol.
    greeted: bool,
    /// `debug on`.
    debug: bool,
    /// Something was asked that could not be done.
    failed: bool,
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
            stopping: false,
            greeted: false,
            debug: false,
            failed: false,
        }
    }

    /// Talks until `quit` or until the lines end.
    ///
    /// # Errors
    /// If the client no longer reads.
    pub fn run(&mut self, lines: &Receiver<String>) -> io::Result<()> {
        loop {
            let flow = select! {
                recv(lines) -> line => match line {
                    Ok(line) => self.hear(&line)?,
                    Err(_) => Flow::Quit,
                },
                recv(self.engine.events()) -> event => {
                    if let Ok(event) = event {
                        self.tell(&event)?;
                    }
                    Flow::Continue
                }
            };
            if flow == Flow::Quit {
                return self.end();
            }
        }
    }

    /// Runs each line to its end before the next, as for commands on the command line.
    ///
    /// # Errors
    /// If nobody reads the output.
    pub fn run_batch(&mut self, lines: &[String]) -> io::Result<bool> {
        self.greeted = true;
        for (index, line) in lines.iter().enumerate() {
            if self.hear(line)? == Flow::Quit {
                break;
            }
            let signal = lines.get(index + 1).is_some_and(|next| {
                matches!(Command::parse(next), Ok(Command::Stop | Command::PonderHit))
            });
            while self.engine.is_searching() && !signal {
                let Ok(event) = self.engine.events().recv() else {
                    break;
                };
                self.tell(&event)?;
            }
        }
        self.end()?;
        Ok(!self.failed)
    }

    /// Stops what runs and writes its last word; so for the searches that still wait.
    fn end(&mut self) -> io::Result<()> {
        self.waiting
            .retain(|command| !matches!(command, Command::Perft(_) | Command::Bench(_)));
        while self.engine.is_searching() {
            self.engine.stop();
            let Ok(event) = self.engine.events().recv() else {
                break;
            };
            self.tell(&event)?;
        }
        Ok(())
    }

    fn hear(&mut self, line: &str) -> io::Result<Flow> {
        log::debug!(target: logfile::TRAFFIC, ">> {line}");
        match Command::parse(line) {
            Ok(command) => self.receive(command),
            Err(error) => {
                self.failed = true;
                // UCI has unknown commands ignored; a person who typed one may like to know.
                if self.greeted || !matches!(error, ParseError::Unknown(_)) {
                    self.note(&error.to_string())?;
                }
                Ok(Flow::Continue)
            }
        }
    }

    fn tell(&mut self, event: &Event) -> io::Result<()> {
        self.engine.received(event);
        if let Some(line) = output::event(event, self.preferences.style) {
            self.say(&line)?;
        }
        if let Event::Line(line) = event
            && let Some(effort) = output::effort(line, self.preferences.style)
        {
            self.say(&effort)?;
        }
        if matches!(event, Event::Finished(_)) {
            self.stopping = false;
            for command in std::mem::take(&mut self.waiting) {
                self.receive(command)?;
            }
        }
        Ok(())
    }

    fn say(&mut self, line: &str) -> io::Result<()> {
        log::debug!(target: logfile::TRAFFIC, "<< {line}");
        writeln!(self.out, "{line}")?;
        self.out.flush()
    }

    fn note(&mut self, text: &str) -> io::Result<()> {
        self.say(&output::note(text))
    }

    fn complain(&mut self, error: &dyn std::error::Error) -> io::Result<()> {
        self.failed = true;
        self.note(&error.to_string())
    }

    /// Acts on a command now, or keeps it until the running search has ended.
    fn receive(&mut self, command: Command) -> io::Result<Flow> {
        if self.engine.is_searching() && self.must_wait(&command) {
            if stops_search(&command) {
                self.stop();
            }
            self.waiting.push_back(command);
            return Ok(Flow::Continue);
        }
        self.act(command)
    }

    fn must_wait(&self, command: &Command) -> bool {
        match command {
            // Signals belong to the search whose `go` stands last before them.
            Command::Stop | Command::PonderHit => self.waiting.iter().any(stops_search),
            // At once during a search; but in its turn where the search is about to end anyway.
            Command::IsReady => self.stopping && !self.waiting.is_empty(),
            // The running search has its own copy of the game.
            Command::Position { .. } => !self.waiting.is_empty(),
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
                    self.complain(&error)?;
                }
                self.say("readyok")?;
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
                    self.say(&line)?;
                }
            }
            Command::Eval => {
                let score = self.engine.static_eval();
                self.say(&format!("Static evaluation: {score} (side to move)"))?;
            }
            Command::Flip => self.try_to(Engine::flip)?,
            Command::Bench(arguments) => self.bench(&arguments)?,
            Command::Compiler => {
                self.say(&format!(
                    "{} {}",
                    env!("CARGO_PKG_NAME"),
                    env!("CARGO_PKG_VERSION")
                ))?;
                self.say(&format!(
                    "{} {}",
                    std::env::consts::ARCH,
                    std::env::consts::OS
                ))?;
            }
            Command::Help => self.say(HELP)?,
            Command::License => self.say("GPL-3.0-or-later")?,
        }
        Ok(Flow::Continue)
    }

    fn try_to(
        &mut self,
        action: impl FnOnce(&mut Engine) -> Result<(), EngineError>,
    ) -> io::Result<()> {
        match action(&mut self.engine) {
            Ok(()) => Ok(()),
            Err(error) => self.complain(&error),
        }
    }

    fn greet(&mut self) -> io::Result<()> {
        self.greeted = true;
        self.say(concat!("id name Pleach ", env!("CARGO_PKG_VERSION")))?;
        self.say("id author the Pleach authors")?;
        for line in options::declarations() {
            self.say(&line)?;
        }
        self.say("uciok")
    }

    fn set_option(&mut self, name: &str, value: Option<&str>) -> io::Result<()> {
        let mut target = Target {
            engine: &mut self.engine,
            preferences: &mut self.preferences,
            remarks: Vec::new(),
        };
        let outcome = options::set(&mut target, name, value);
        for remark in target.remarks {
            self.note(&remark)?;
        }
        match outcome {
            Ok(()) if self.debug => self.note(&format!("{name} set")),
            Ok(()) => Ok(()),
            Err(error) => self.complain(&error),
        }
    }

    fn set_position(&mut self, start: &Start, moves: &[String]) -> io::Result<()> {
        match self.engine.set_position(start, moves) {
            Ok(()) => Ok(()),
            Err(error) => self.complain(&error),
        }
    }

    fn go(&mut self, request: &Request, remarks: &[String]) -> io::Result<()> {
        for remark in remarks {
            self.note(remark)?;
        }
        match self.engine.go(request) {
            Ok(()) => {}
            Err(error) => {
                // The client waits for a move all the same.
                self.complain(&error)?;
                self.say("info depth 0 score cp 0")?;
                self.say(output::NO_MOVE)?;
            }
        }
        Ok(())
    }

    fn perft(&mut self, depth: u32) -> io::Result<()> {
        let root = self.engine.position().clone();
        let counts = match Perft::default().divide(&root, depth) {
            Ok(counts) => counts,
            Err(error) => return self.complain(&error),
        };
        for &(m, count) in &counts.moves {
            self.say(&format!("{}: {count}", root.uci(m)))?;
        }
        self.say("")?;
        self.say(&format!("Nodes searched: {}", counts.total))
    }

    fn bench(&mut self, arguments: &[String]) -> io::Result<()> {
        let options = match bench::Options::parse(arguments) {
            Ok(options) => options,
            Err(error) => return self.complain(&error),
        };
        let mut written = Ok(());
        let result = bench::run(&options, |position| {
            if let Some(position) = position {
                written = self.say(&bench::position_line(position));
            }
            match written {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        });
        written?;
        match result {
            Ok(summary) => {
                for line in summary.iter().flat_map(bench::Summary::lines) {
                    self.say(&line)?;
                }
                Ok(())
            }
            Err(error) => self.complain(&error),
        }
    }
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
  uci                             list the options
  setoption name Hash value 256   set one
  d, eval, flip, perft 5, bench   look around
  quit
Run `pleach --help` for the other things it can do.";

/// Speaks UCI on stdin and stdout until `quit` or the end of input.
///
/// # Errors
/// If stdout is closed.
pub fn interactive() -> io::Result<()> {
    logfile::install();
    let (sender, lines) = bounded(READ_AHEAD);
    // The thread ends with the process: a blocking read cannot be called back.
    thread::spawn(move || {
        let mut input = io::stdin().lock();
        while let Some(line) = read_line(&mut input) {
            if sender.send(line).is_err() {
                break;
            }
        }
    });
    Session::new(io::stdout().lock()).run(&lines)
}

/// Runs UCI commands one after the other; the answer tells whether all were understood.
///
/// # Errors
/// If stdout is closed.
pub fn batch(commands: &[String]) -> io::Result<bool> {
    logfile::install();
    Session::new(io::stdout().lock()).run_batch(commands)
}

/// The next line without its end, or `None` when there are no more. Bytes that are not UTF-8 are
/// read as Latin-1, in which old clients send paths.
fn read_line(input: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let read = io::Read::take(&mut *input, LONGEST_LINE).read_until(b'\n', &mut bytes);
    match read {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.last() != Some(&b'\n') && bytes.len() as u64 >= LONGEST_LINE {
        skip_line(input);
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()),
    )
}

/// Drops the rest of a line that is too long to keep.
fn skip_line(input: &mut impl BufRead) {
    while let Ok(buffer) = input.fill_buf() {
        if buffer.is_empty() {
            return;
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(buffer.len(), |index| index + 1);
        input.consume(used);
        if end.is_some() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_whatever_their_bytes() {
        let mut input: &[u8] = b"uci\r\nna\xefve\n\nlast";
        assert_eq!(read_line(&mut input).as_deref(), Some("uci"));
        assert_eq!(read_line(&mut input).as_deref(), Some("na\u{ef}ve"));
        assert_eq!(read_line(&mut input).as_deref(), Some(""));
        assert_eq!(read_line(&mut input).as_deref(), Some("last"));
        assert_eq!(read_line(&mut input), None);
    }

    #[test]
    fn the_rest_of_an_endless_line_is_dropped() {
        let mut text = vec![b'x'; LONGEST_LINE as usize + 10];
        text.extend_from_slice(b"\nisready\n");
        let mut input: &[u8] = &text;
        assert_eq!(
            read_line(&mut input).map(|line| line.len() as u64),
            Some(LONGEST_LINE)
        );
        assert_eq!(read_line(&mut input).as_deref(), Some("isready"));
    }
}
