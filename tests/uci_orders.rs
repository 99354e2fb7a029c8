//! A session as a state machine: whatever a client sends, in whatever order and at whatever pace,
//! each `go` gets one legal `bestmove` and in its turn, each `isready` one `readyok` and not
//! before it was asked, `stop` ends what runs, and the session ends. Random conversations in
//! process; a watchdog ends one that hangs. An ordinary run holds the same conversations each
//! time; `PLEACH_CONVERSATIONS=5000` holds so many that no run has held before.

use std::env;
use std::io::{self, Write};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, unbounded};
use pleach::board::{Game, Start};
use pleach::types::CastlingMode;
use pleach::uci::Session;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;

/// Conversations unless the environment says otherwise.
const CONVERSATIONS: u32 = 100;
const MOST_STEPS: usize = 30;
/// Of the conversations in an ordinary run.
const SEED: u64 = 1;
/// What must come takes milliseconds; with this much patience only a hang fails, on starved
/// machines too.
const TIMEOUT: Duration = Duration::from_secs(120);

const LINES: &[&str] = &[
    "uci",
    "ucinewgame",
    "position startpos",
    "position startpos moves e2e4 e7e5",
    "position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "position fen r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1",
    "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "position fen 7k/6Q1/6K1/8/8/8/8/8 b - - 0 1",
    "position fen nonsense",
    "position startpos moves e2e5",
    "stop",
    "ponderhit",
    "setoption name Hash value 1",
    "setoption name Hash value 2",
    "setoption name Threads value 1",
    "setoption name Threads value 2",
    "setoption name Threads value 3",
    "setoption name Threads value 4",
    "setoption name MultiPV value 1",
    "setoption name MultiPV value 3",
    "setoption name Move Overhead value 0",
    "setoption name Move Overhead value 100",
    "setoption name Skill Level value 3",
    "setoption name Skill Level value 20",
    "setoption name UCI_Chess960 value true",
    "setoption name UCI_Chess960 value false",
    "setoption name Clear Hash",
    "setoption name Nothing",
    "setoption name Hash value many",
    "go perft 2",
    "debug on",
    "d",
    "eval",
    "",
    "gibberish",
    "quit",
];

/// Every form of `go`; those that only `stop` ends are followed by one in the end at the latest.
const SEARCHES: &[&str] = &[
    "go",
    "go depth 3",
    "go depth x",
    "go nodes 500",
    "go nodes 0",
    "go movetime 2",
    "go movetime -1",
    "go wtime 20 btime 20",
    "go wtime 1 btime 1",
    "go wtime 0 btime 0",
    "go wtime -50 btime -50 winc 1 binc 1",
    "go wtime 30 btime 30 winc 5 binc 5 movestogo 1",
    "go mate 1 nodes 500",
    "go infinite",
    "go infinite searchmoves e2e4 e1d1",
    "go ponder",
    "go ponder wtime 20 btime 20",
    "go ponder movetime 3",
    "go ponder depth 2",
    "go searchmoves e2e4 depth 2",
    "go searchmoves a1a1 depth 2",
    "go wtime",
];

/// What a client does next.
#[derive(Clone, Copy, Debug)]
enum Step {
    Send(&'static str),
    /// Microseconds.
    Pause(u64),
    /// Sends `isready` and goes on.
    Ask,
    /// Sends `isready` and waits for the answer.
    Sync,
    /// Sends `stop` and waits until every search has had its answer.
    Stop,
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        6 => prop::sample::select(LINES).prop_map(Step::Send),
        5 => prop::sample::select(SEARCHES).prop_map(Step::Send),
        2 => (0..4000_u64).prop_map(Step::Pause),
        1 => Just(Step::Ask),
        1 => Just(Step::Sync),
        1 => Just(Step::Stop),
    ]
}

/// What a search may answer.
#[derive(Debug)]
struct Asked {
    /// The moves in UCI notation; empty if there is none to play.
    allowed: Vec<String>,
}

/// What the client knows about the engine: the position of the next search.
struct Model {
    game: Game,
    refused: bool,
    mode: CastlingMode,
}

impl Model {
    fn new() -> Model {
        Model {
            game: Game::default(),
            refused: false,
            mode: CastlingMode::Standard,
        }
    }

    /// Follows a line; the answer tells what a search may play, if the line begins one.
    fn follow(&mut self, line: &str) -> Option<Asked> {
        let words: Vec<&str> = line.split_whitespace().collect();
        match words.as_slice() {
            ["ucinewgame"] => {
                self.game = Game::default();
                self.refused = false;
            }
            ["position", rest @ ..] => self.set_position(rest),
            ["setoption", "name", "UCI_Chess960", "value", value] => {
                self.mode = if *value == "true" {
                    CastlingMode::Chess960
                } else {
                    CastlingMode::Standard
                };
                self.game = self.game.in_mode(self.mode).expect("a standard position");
            }
            ["go", "perft", _] => {}
            ["go", rest @ ..] => return Some(self.asked(rest)),
            _ => {}
        }
        None
    }

    fn set_position(&mut self, words: &[&str]) {
        let moves = words.iter().position(|word| *word == "moves");
        let end = moves.unwrap_or(words.len());
        let start = match words[0] {
            "startpos" => Start::Initial,
            _ => Start::Fen(words[1..end].join(" ")),
        };
        let moves: Vec<String> = words
            .iter()
            .skip(end + 1)
            .map(|&word| word.to_owned())
            .collect();
        let game = Game::new(&start, &moves, self.mode);
        self.refused = game.is_err();
        if let Ok(game) = game {
            self.game = game;
        }
    }

    /// The moves that `go` with these words may play.
    fn asked(&self, words: &[&str]) -> Asked {
        let position = self.game.position();
        let legal: Vec<String> = position
            .legal_moves()
            .iter()
            .map(|&m| position.uci(m))
            .collect();
        let named: Vec<String> = legal
            .iter()
            .filter(|m| words.contains(&"searchmoves") && words.contains(&m.as_str()))
            .cloned()
            .collect();
        Asked {
            allowed: match (self.refused, named.is_empty()) {
                (true, _) => Vec::new(),
                (false, true) => legal,
                (false, false) => named,
            },
        }
    }
}

/// The engine's end of the conversation: sends each line that is written.
struct LineSender {
    line: Vec<u8>,
    lines: Sender<String>,
}

impl Write for LineSender {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        for &byte in bytes {
            if byte == b'\n' {
                let line = String::from_utf8(std::mem::take(&mut self.line));
                // The client listens to the end.
                let _ = self.lines.send(line.expect("UTF-8"));
            } else {
                self.line.push(byte);
            }
        }
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The client's end.
struct Talk {
    to_engine: Sender<String>,
    from_engine: Receiver<String>,
    model: Model,
    /// Everything sent and heard, in the client's order.
    transcript: Vec<String>,
    asked: Vec<Asked>,
    moves: Vec<String>,
    ready_asked: usize,
    ready_heard: usize,
    has_quit: bool,
    /// The session, until it has been waited for.
    session: Option<JoinHandle<()>>,
}

impl Talk {
    /// Starts a session in a thread of its own.
    fn begin() -> Talk {
        let (to_engine, input) = unbounded();
        let (lines, from_engine) = unbounded();
        let session = thread::spawn(move || {
            let line = Vec::new();
            let ended = Session::new(LineSender { line, lines }).run(&input);
            ended.expect("a channel takes all");
        });
        Talk {
            to_engine,
            from_engine,
            model: Model::new(),
            transcript: Vec::new(),
            asked: Vec::new(),
            moves: Vec::new(),
            ready_asked: 0,
            ready_heard: 0,
            has_quit: false,
            session: Some(session),
        }
    }

    fn send(&mut self, line: &str) {
        if self.has_quit {
            return;
        }
        self.transcript.push(format!("> {line}"));
        self.asked.extend(self.model.follow(line));
        self.ready_asked += usize::from(line == "isready");
        self.has_quit = line == "quit";
        // A session that has ended too early is found out by its answers.
        let _ = self.to_engine.send(line.to_owned());
    }

    /// Takes a line of the engine and holds it against what was asked.
    fn hear(&mut self, line: String) -> Result<(), String> {
        if line == "readyok" {
            self.ready_heard += 1;
            if self.ready_heard > self.ready_asked {
                return Err("readyok without isready".to_owned());
            }
        }
        if let Some(answer) = line.strip_prefix("bestmove ") {
            let played = answer.split(' ').next().unwrap_or_default().to_owned();
            let Some(asked) = self.asked.get(self.moves.len()) else {
                return Err(format!("{line} without go"));
            };
            let none = asked.allowed.is_empty() && played == "(none)";
            if !none && !asked.allowed.contains(&played) {
                return Err(format!("{line}, but allowed was {:?}", asked.allowed));
            }
            self.moves.push(played);
        }
        self.transcript.push(format!("< {line}"));
        Ok(())
    }

    /// Hears until `done`, or until the session has ended.
    fn hear_until(&mut self, what: &str, done: impl Fn(&Talk) -> bool) -> Result<(), String> {
        let deadline = Instant::now() + TIMEOUT;
        while !done(self) {
            match self.from_engine.recv_deadline(deadline) {
                Ok(line) => self.hear(line)?,
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => return Err(format!("no {what}: it hangs")),
            }
        }
        Ok(())
    }

    fn take(&mut self, step: Step) -> Result<(), String> {
        match step {
            Step::Send(line) => self.send(line),
            Step::Pause(micros) => thread::sleep(Duration::from_micros(micros)),
            Step::Ask => self.send("isready"),
            Step::Sync => {
                self.send("isready");
                self.hear_until("readyok", |talk| talk.ready_heard == talk.ready_asked)?;
            }
            Step::Stop => {
                self.send("stop");
                self.hear_until("bestmove", |talk| talk.moves.len() == talk.asked.len())?;
            }
        }
        while let Ok(line) = self.from_engine.try_recv() {
            self.hear(line)?;
        }
        Ok(())
    }

    fn run(&mut self, steps: &[Step]) -> Result<(), String> {
        for &step in steps {
            self.take(step)?;
        }
        // The end of input, unless `quit` was sent before.
        self.to_engine = unbounded().0;
        self.hear_until("end", |_| false)?;
        let ended = self.session.take().map(JoinHandle::join);
        if ended.is_some_and(|ended| ended.is_err()) {
            return Err("the session panicked".to_owned());
        }
        let (asked, ready) = (self.asked.len(), self.ready_asked);
        if (self.moves.len(), self.ready_heard) != (asked, ready) {
            return Err(format!("{asked} go and {ready} isready, not all answered"));
        }
        Ok(())
    }
}

/// How many conversations, and from which seed.
fn conversations() -> (u32, RngSeed) {
    match env::var("PLEACH_CONVERSATIONS") {
        Ok(text) => {
            let count = text.parse().expect("PLEACH_CONVERSATIONS is a number");
            (count, RngSeed::Random)
        }
        Err(_) => (CONVERSATIONS, RngSeed::Fixed(SEED)),
    }
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: conversations().0,
        rng_seed: conversations().1,
        failure_persistence: None,
        max_shrink_iters: 100,
        max_shrink_time: 300_000,
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_question_is_answered_in_its_turn(
        steps in prop::collection::vec(step(), 0..MOST_STEPS)
    ) {
        let mut talk = Talk::begin();
        if let Err(what) = talk.run(&steps) {
            prop_assert!(false, "{}\n{:#?}", what, talk.transcript);
        }
    }
}

/// The model would notice a wrong answer.
#[test]
fn wrong_answers_are_found() {
    let mut talk = Talk::begin();
    assert!(talk.hear("readyok".to_owned()).is_err());
    assert!(talk.hear("bestmove e2e4".to_owned()).is_err());
    talk.send("go infinite searchmoves e2e4");
    assert!(talk.hear("bestmove d2d4".to_owned()).is_err());
    assert!(talk.hear("bestmove e2e4".to_owned()).is_ok());
}

/// A `stop` read while perft runs ends perft, and the search that was asked for in between too.
#[test]
fn a_stop_after_perft_and_go_ends_both() {
    let mut talk = Talk::begin();
    for line in ["go perft 9", "go perft 9", "go infinite"] {
        talk.send(line);
    }
    talk.take(Step::Stop).expect("one answer");
    assert_eq!(talk.moves.len(), 1, "{:#?}", talk.transcript);
}

/// The same where perft and the search behind it had to wait for a search before them.
#[test]
fn a_stop_after_perft_and_go_that_waited_ends_both() {
    // Whether both were read before the first search ended is a matter of chance.
    for _ in 0..20 {
        let mut talk = Talk::begin();
        for line in ["go infinite", "go perft 9", "go infinite"] {
            talk.send(line);
        }
        talk.hear_until("bestmove", |talk| talk.moves.len() == 1)
            .expect("the first search ends");
        talk.take(Step::Stop).expect("another answer");
        assert_eq!(talk.moves.len(), 2, "{:#?}", talk.transcript);
    }
}

/// A `stop` sent while perft waits for the search before it ends perft as well.
#[test]
fn a_stop_behind_a_perft_that_waits_ends_it() {
    for _ in 0..20 {
        let mut talk = Talk::begin();
        for line in ["go infinite", "go perft 9", "stop"] {
            talk.send(line);
        }
        talk.take(Step::Sync).expect("perft has ended");
        assert_eq!(talk.moves.len(), 1, "{:#?}", talk.transcript);
    }
}
