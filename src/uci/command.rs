//! Parses a client's lines into typed [`Command`]s. No text makes it panic.

use thiserror::Error;

use crate::board::{Start, quote};
use crate::engine::Request;

/// One line of a client, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Command {
    Uci,
    Debug(bool),
    IsReady,
    /// The option's name as sent, any case; buttons have no value.
    SetOption {
        name: String,
        value: Option<String>,
    },
    /// `register` in any form: there is nothing to register.
    Register,
    NewGame,
    Position {
        start: Start,
        moves: Vec<String>,
    },
    /// A search, and remarks on the parts of the line that made no sense.
    Go {
        request: Box<Request>,
        remarks: Vec<String>,
    },
    /// `go perft N` and `perft N`: plies.
    Perft(u32),
    Stop,
    PonderHit,
    Quit,
    /// `d`: show the position.
    Display,
    Eval,
    /// Exchange the colours.
    Flip,
    /// `bench` with its arguments as sent.
    Bench(Vec<String>),
    /// `compiler`: how this program was built.
    Compiler,
    Help,
    License,
    /// An empty line.
    Nothing,
}

/// Why a line was not understood.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ParseError {
    #[error("unknown command '{0}'")]
    Unknown(String),
    #[error("setoption: expected 'name', as in 'setoption name Hash value 64'")]
    OptionName,
    #[error("debug: expected 'on' or 'off'")]
    Debug,
    #[error("perft: expected a depth, as in 'perft 5'")]
    PerftDepth,
}

/// No move, in UCI notation.
const NULL_MOVE: &str = "0000";
/// Words that begin a limit in `go`; a list of moves ends at any of them.
const GO_WORDS: [&str; 15] = [
    "searchmoves",
    "excludemoves",
    "ponder",
    "wtime",
    "btime",
    "winc",
    "binc",
    "movestogo",
    "depth",
    "nodes",
    "mate",
    "movetime",
    "infinite",
    "perft",
    "go",
];

impl Command {
    /// Reads one line. As UCI demands, unknown words before a known command are skipped.
    ///
    /// # Errors
    /// If there is no known command, or its form is wrong; the text says how.
    pub fn parse(line: &str) -> Result<Command, ParseError> {
        let line = line.trim_start_matches('\u{feff}').trim();
        if line.is_empty() {
            return Ok(Command::Nothing);
        }
        let mut rest = line;
        while let Some((word, tail)) = split_word(rest) {
            if let Some(command) = Command::parse_known(word, tail) {
                return command;
            }
            rest = tail;
        }
        Err(ParseError::Unknown(quote(line)))
    }

    /// Whether a word begins a command.
    #[must_use]
    pub fn is_known(word: &str) -> bool {
        Command::parse_known(word, "").is_some()
    }

    fn parse_known(word: &str, tail: &str) -> Option<Result<Command, ParseError>> {
        Some(match word {
            "uci" => Ok(Command::Uci),
            "debug" => parse_debug(tail),
            "isready" => Ok(Command::IsReady),
            "setoption" => parse_option(tail),
            "register" => Ok(Command::Register),
            "ucinewgame" => Ok(Command::NewGame),
            "position" => Ok(parse_position(tail)),
            "go" => parse_go(tail),
            "stop" => Ok(Command::Stop),
            "ponderhit" => Ok(Command::PonderHit),
            "quit" | "exit" => Ok(Command::Quit),
            "d" | "display" => Ok(Command::Display),
            "eval" => Ok(Command::Eval),
            "flip" => Ok(Command::Flip),
            "bench" => Ok(Command::Bench(
                tail.split_whitespace().map(str::to_owned).collect(),
            )),
            "perft" => parse_perft(tail),
            "compiler" => Ok(Command::Compiler),
            "help" | "--help" => Ok(Command::Help),
            "license" | "--license" => Ok(Command::License),
            _ => return None,
        })
    }
}

/// The first word and what follows it.
fn split_word(text: &str) -> Option<(&str, &str)> {
    let text = text.trim_start();
    if text.is_empty() {
        return None;
    }
    Some(text.split_once(char::is_whitespace).unwrap_or((text, "")))
}

fn parse_debug(tail: &str) -> Result<Command, ParseError> {
    match tail.trim() {
        "on" => Ok(Command::Debug(true)),
        "off" => Ok(Command::Debug(false)),
        _ => Err(ParseError::Debug),
    }
}

/// `name` and `value` may both hold spaces; the first `value` word separates them.
fn parse_option(tail: &str) -> Result<Command, ParseError> {
    let (word, rest) = split_word(tail).ok_or(ParseError::OptionName)?;
    if !word.eq_ignore_ascii_case("name") {
        return Err(ParseError::OptionName);
    }
    let mut name: Vec<&str> = Vec::new();
    let mut value = None;
    let mut rest = rest;
    while let Some((word, tail)) = split_word(rest) {
        if word.eq_ignore_ascii_case("value") {
            value = Some(tail.trim().to_owned());
            break;
        }
        name.push(word);
        rest = tail;
    }
    if name.is_empty() {
        return Err(ParseError::OptionName);
    }
    Ok(Command::SetOption {
        name: name.join(" "),
        value,
    })
}

fn parse_position(tail: &str) -> Command {
    let mut words = tail.split_whitespace();
    let start = match words.next() {
        Some("startpos") => {
            // Without the word `moves`, what follows is read as moves all the same.
            if words.clone().next() == Some("moves") {
                words.next();
            }
            Start::Initial
        }
        // Without the word `fen`, the rest is read as a FEN all the same: what is none is refused as
        // a position, so that the one before is not searched in its place.
        first => {
            let first = first.filter(|&word| word != "fen");
            let rest = words.by_ref().take_while(|&word| word != "moves");
            let fen: Vec<&str> = first.into_iter().chain(rest).collect();
            Start::Fen(fen.join(" "))
        }
    };
    Command::Position {
        start,
        moves: words.map(str::to_owned).collect(),
    }
}

fn parse_perft(tail: &str) -> Result<Command, ParseError> {
    let depth = tail
        .split_whitespace()
        .next()
        .and_then(|word| word.parse().ok());
    depth.map(Command::Perft).ok_or(ParseError::PerftDepth)
}

/// A whole number; fractions are cut off and too large ones capped, as clients send both.
fn number(word: &str) -> Option<i64> {
    word.parse::<i64>().ok().or_else(|| {
        let float = word.parse::<f64>().ok().filter(|float| float.is_finite())?;
        // A float's cast to an integer saturates.
        Some(float as i64)
    })
}

fn parse_go(tail: &str) -> Result<Command, ParseError> {
    let mut request = Request::default();
    let mut remarks = Vec::new();
    let mut perft = None;
    let mut words = tail.split_whitespace().peekable();
    while let Some(word) = words.next() {
        match word {
            "ponder" => request.ponder = true,
            "infinite" => request.infinite = true,
            "searchmoves" | "excludemoves" => {
                let list = if word == "searchmoves" {
                    &mut request.search_moves
                } else {
                    &mut request.exclude_moves
                };
                while let Some(text) = words.next_if(|word| is_like_a_move(word)) {
                    list.push(text.to_owned());
                }
            }
            _ if GO_WORDS.contains(&word) => match words.peek().and_then(|value| number(value)) {
                Some(value) => {
                    words.next();
                    set_limit(&mut request, &mut perft, word, value);
                }
                None => remarks.push(format!("go: '{word}' without a number is ignored")),
            },
            _ => remarks.push(format!("go: '{}' is ignored", quote(word))),
        }
    }
    match perft {
        Some(depth) => Ok(Command::Perft(depth)),
        None => Ok(Command::Go {
            request: Box::new(request),
            remarks,
        }),
    }
}

/// Whether a word in a list of moves is meant as a move, if perhaps not a legal one: it names a
/// square. Anything else ends the list, so that a misspelt limit is noticed.
fn is_like_a_move(word: &str) -> bool {
    !GO_WORDS.contains(&word)
        && word.bytes().any(|byte| byte.is_ascii_digit())
        && word.parse::<f64>().is_err()
        || word == NULL_MOVE
}

/// Sets a limit that has a number; those that cannot be negative are cut off at zero.
fn set_limit(request: &mut Request, perft: &mut Option<u32>, word: &str, value: i64) {
    let unsigned = u64::try_from(value).unwrap_or(0);
    let small = u32::try_from(unsigned).unwrap_or(u32::MAX);
    match word {
        "wtime" => request.white_time = Some(value),
        "btime" => request.black_time = Some(value),
        "winc" => request.white_increment = value,
        "binc" => request.black_increment = value,
        "movestogo" => request.moves_to_go = Some(small),
        "depth" => request.depth = Some(i32::try_from(unsigned).unwrap_or(i32::MAX)),
        "nodes" => request.nodes = Some(unsigned),
        "mate" => request.mate = Some(small),
        "movetime" => request.movetime = Some(value),
        "perft" => *perft = Some(small),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use proptest::test_runner::RngSeed;

    fn go(line: &str) -> (Request, Vec<String>) {
        match Command::parse(line) {
            Ok(Command::Go { request, remarks }) => (*request, remarks),
            other => panic!("{line}: {other:?}"),
        }
    }

    #[test]
    fn all_limits_are_read_together() {
        let (request, remarks) = go(
            "go wtime 1000 btime -5 winc 10 binc 20 movestogo 3 depth 9 nodes 77 mate 2 \
             movetime 500.7 ponder searchmoves e2e4 d2d4 infinite",
        );
        assert!(remarks.is_empty());
        assert_eq!(request.white_time, Some(1000));
        assert_eq!(request.black_time, Some(-5));
        assert_eq!((request.white_increment, request.black_increment), (10, 20));
        assert_eq!(request.moves_to_go, Some(3));
        assert_eq!(
            (request.depth, request.nodes, request.mate),
            (Some(9), Some(77), Some(2))
        );
        assert_eq!(request.movetime, Some(500));
        assert!(request.ponder && request.infinite);
        assert_eq!(request.search_moves, ["e2e4", "d2d4"]);
    }

    #[test]
    fn a_misspelt_limit_ends_a_list_of_moves() {
        let (request, remarks) = go("go searchmoves e2e4 0000 mvtime 50");
        assert_eq!(request.search_moves, ["e2e4", "0000"]);
        assert_eq!(remarks.len(), 2, "{remarks:?}");
    }

    #[test]
    fn a_position_without_its_keyword_is_a_fen_or_refused() {
        let start = |line: &str| match Command::parse(line) {
            Ok(Command::Position { start, moves }) => (start, moves),
            other => panic!("{line}: {other:?}"),
        };
        let fen = "8/8/8/8/8/5kq1/8/7K b - - 0 1";
        let expected = (Start::Fen(fen.to_owned()), vec!["g3g2".to_owned()]);
        assert_eq!(start(&format!("position {fen} moves g3g2")), expected);
        assert_eq!(start(&format!("position fen {fen} moves g3g2")), expected);
        assert_eq!(start("position").0, Start::Fen(String::new()));
    }

    #[test]
    fn bad_limits_are_remarked_upon_and_skipped() {
        let (request, remarks) = go("go depth x movetime nodes 5 bananas wtime");
        assert_eq!(
            request,
            Request {
                nodes: Some(5),
                ..Request::default()
            }
        );
        assert_eq!(remarks.len(), 5);
    }

    #[test]
    fn huge_numbers_are_capped() {
        let (request, _) = go("go depth 99999999999999999999 wtime -99999999999999999999");
        assert_eq!(request.depth, Some(i32::MAX));
        assert_eq!(request.white_time, Some(i64::MIN));
    }

    #[test]
    fn option_names_and_values_keep_their_spaces() {
        let parse = |line| match Command::parse(line) {
            Ok(Command::SetOption { name, value }) => (name, value),
            other => panic!("{other:?}"),
        };
        assert_eq!(
            parse("setoption name Move  Overhead value 30"),
            ("Move Overhead".to_owned(), Some("30".to_owned()))
        );
        assert_eq!(
            parse("setoption name Clear Hash"),
            ("Clear Hash".to_owned(), None)
        );
        assert_eq!(
            parse("setoption name SyzygyPath value C:\\my  tables;D:\\value more"),
            (
                "SyzygyPath".to_owned(),
                Some("C:\\my  tables;D:\\value more".to_owned())
            )
        );
        assert_eq!(parse("setoption name X value").1, Some(String::new()));
        assert_eq!(
            Command::parse("setoption Hash 3"),
            Err(ParseError::OptionName)
        );
    }

    #[test]
    fn positions_are_split_into_start_and_moves() {
        assert_eq!(
            Command::parse("position startpos moves e2e4 e7e5"),
            Ok(Command::Position {
                start: Start::Initial,
                moves: vec!["e2e4".to_owned(), "e7e5".to_owned()],
            })
        );
        assert_eq!(
            Command::parse("position startpos e2e4"),
            Command::parse("position startpos moves e2e4")
        );
        assert_eq!(
            Command::parse("position fen 8/8/8/8/8/8/8/8 w - - 0 1"),
            Ok(Command::Position {
                start: Start::Fen("8/8/8/8/8/8/8/8 w - - 0 1".to_owned()),
                moves: Vec::new(),
            })
        );
    }

    #[test]
    fn unknown_words_before_a_command_are_skipped() {
        assert_eq!(Command::parse("joho debug on"), Ok(Command::Debug(true)));
        assert_eq!(Command::parse("  \t "), Ok(Command::Nothing));
        assert!(matches!(
            Command::parse("hello"),
            Err(ParseError::Unknown(_))
        ));
    }

    /// The same lines in every run.
    const SEED: u64 = 1;

    proptest! {
        #![proptest_config(ProptestConfig {
            rng_seed: RngSeed::Fixed(SEED),
            ..ProptestConfig::default()
        })]

        #[test]
        fn no_text_is_too_much(line in ".*") {
            let _ = Command::parse(&line);
        }

        #[test]
        fn no_arguments_are_too_much(
            word in "(go|position|setoption|perft|debug|bench) ",
            tail in "((name|value|fen|startpos|moves|depth|wtime|searchmoves|-?[0-9]{1,30}|.) ?)*"
        ) {
            let _ = Command::parse(&(word + &tail));
        }
    }
}
