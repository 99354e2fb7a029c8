//! A UCI client for tests: starts the real binary, sends lines, waits for lines.
// Each test program uses a part of this.
#![allow(dead_code)]

use std::env;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, Command, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, RecvTimeoutError, channel};
use std::thread;
use std::time::{Duration, Instant};

/// Longest wait for a line that must come. With a fiftieth of two cores, 1.5 minutes were seen for
/// what takes a second.
const TIMEOUT: Duration = Duration::from_secs(300);

/// A running engine.
pub struct Client {
    child: Child,
    stdin: Option<ChildStdin>,
    lines: Receiver<String>,
    /// Every line heard so far.
    pub heard: Vec<String>,
}

impl Client {
    /// Starts the engine without a word said.
    pub fn start() -> Client {
        Client::run(&mut engine())
    }

    /// As [`Client::start`], with arguments and an environment of the caller's choice.
    pub fn run(command: &mut Command) -> Client {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the engine starts");
        let stdin = child.stdin.take();
        let stdout = child.stdout.take().expect("a pipe");
        let (sender, lines) = channel();
        thread::spawn(move || {
            for line in BufReader::new(stdout).lines().map_while(Result::ok) {
                if sender.send(line).is_err() {
                    break;
                }
            }
        });
        Client {
            child,
            stdin,
            lines,
            heard: Vec::new(),
        }
    }

    /// Starts the engine and completes the greeting.
    pub fn greeted() -> Client {
        let mut client = Client::start();
        client.send("uci");
        client.expect("uciok");
        client
    }

    /// The engine's process number.
    pub fn id(&self) -> u32 {
        self.child.id()
    }

    /// Sends bytes as they are.
    pub fn send_bytes(&mut self, bytes: &[u8]) {
        let stdin = self.stdin.as_mut().expect("stdin is open");
        stdin
            .write_all(bytes)
            .and_then(|()| stdin.flush())
            .expect("the engine reads");
    }

    /// Sends lines.
    pub fn send(&mut self, lines: &str) {
        self.send_bytes(format!("{lines}\n").as_bytes());
    }

    /// Waits for a line that begins so, and returns all lines up to and including it.
    pub fn expect(&mut self, beginning: &str) -> Vec<String> {
        self.expect_within(beginning, TIMEOUT)
    }

    /// As [`Client::expect`], but no longer than this.
    pub fn expect_within(&mut self, beginning: &str, timeout: Duration) -> Vec<String> {
        let deadline = Instant::now() + timeout;
        let mut lines = Vec::new();
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    self.heard.push(line.clone());
                    lines.push(line);
                    if lines.last().is_some_and(|line| line.starts_with(beginning)) {
                        return lines;
                    }
                }
                Err(error) => panic!("no '{beginning}' ({error}) after {lines:#?}"),
            }
        }
    }

    /// Waits a while in which no line beginning so may come.
    pub fn expect_silence(&mut self, beginning: &str, wait: Duration) {
        let deadline = Instant::now() + wait;
        loop {
            match self
                .lines
                .recv_timeout(deadline.saturating_duration_since(Instant::now()))
            {
                Ok(line) => {
                    assert!(!line.starts_with(beginning), "'{line}' came too early");
                    self.heard.push(line);
                }
                Err(RecvTimeoutError::Timeout) => return,
                Err(error) => panic!("{error}"),
            }
        }
    }

    /// Waits until everything sent so far has been worked off; returns what was said meanwhile.
    pub fn sync(&mut self) -> Vec<String> {
        self.send("isready");
        self.expect("readyok")
    }

    /// Searches, and returns the lines up to `bestmove`.
    pub fn go(&mut self, limits: &str) -> Vec<String> {
        self.send(&format!("go {limits}"));
        self.expect("bestmove")
    }

    /// Ends the input and waits for the end of the program.
    pub fn close(&mut self) -> ExitStatus {
        self.stdin = None;
        self.wait()
    }

    /// Waits for the end of the program.
    pub fn wait(&mut self) -> ExitStatus {
        let status = wait(&mut self.child);
        // The reader may still hold lines.
        while let Ok(line) = self.lines.recv_timeout(TIMEOUT) {
            self.heard.push(line);
        }
        status
    }
}

/// Waits until a process ends by itself.
pub fn wait(child: &mut Child) -> ExitStatus {
    let deadline = Instant::now() + TIMEOUT;
    loop {
        if let Some(status) = child.try_wait().expect("a child") {
            return status;
        }
        if Instant::now() > deadline {
            let _ = child.kill();
            panic!("the engine does not end");
        }
        thread::sleep(Duration::from_millis(5));
    }
}

impl Drop for Client {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// A command that runs the engine: the one just built, or that which `PLEACH_TEST_ENGINE` names.
pub fn engine() -> Command {
    let built = env!("CARGO_BIN_EXE_pleach").into();
    Command::new(env::var_os("PLEACH_TEST_ENGINE").unwrap_or(built))
}

/// The word after `name` in a line.
pub fn field<'a>(line: &'a str, name: &str) -> Option<&'a str> {
    let mut words = line.split_whitespace();
    words.find(|&word| word == name)?;
    words.next()
}

/// The move of the `bestmove` that ends these lines.
pub fn best_move(lines: &[String]) -> &str {
    lines
        .last()
        .and_then(|line| field(line, "bestmove"))
        .expect("a bestmove")
}

/// The last `info` line with a score.
pub fn last_score(lines: &[String]) -> &str {
    lines
        .iter()
        .rev()
        .find(|line| line.starts_with("info") && line.contains(" score "))
        .expect("a score before bestmove")
}

/// The names of an object's fields in JSON, sorted.
pub fn fields(value: &serde_json::Value) -> Vec<&str> {
    let object = value.as_object().expect("an object");
    let mut names: Vec<&str> = object.keys().map(String::as_str).collect();
    names.sort_unstable();
    names
}
