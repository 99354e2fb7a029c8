//! Whatever a client sends, in whatever order: each `go` gets one `bestmove`, each `isready` one
//! `readyok`, and the session ends. Random conversations, in process and without pauses, so that
//! commands meet searches at every stage.

use crossbeam_channel::unbounded;
use pleach::uci::Session;
use proptest::prelude::*;

const LINES: &[&str] = &[
    "uci",
    "isready",
    "ucinewgame",
    "position startpos",
    "position startpos moves e2e4 e7e5",
    "position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1",
    "position fen 7k/5Q2/6K1/8/8/8/8/8 b - - 0 1",
    "position fen nonsense",
    "go depth 3",
    "go nodes 500",
    "go movetime 2",
    "go wtime 20 btime 20",
    "go mate 1 nodes 500",
    "go infinite",
    "go ponder wtime 20 btime 20",
    "go ponder depth 2",
    "go searchmoves e2e4 depth 2",
    "go perft 2",
    "stop",
    "stop",
    "ponderhit",
    "setoption name Hash value 1",
    "setoption name Hash value 2",
    "setoption name Threads value 2",
    "setoption name Threads value 1",
    "setoption name MultiPV value 3",
    "setoption name UCI_Chess960 value true",
    "setoption name Clear Hash",
    "setoption name Nothing",
    "debug on",
    "d",
    "flip",
    "eval",
    "",
    "gibberish",
];

/// Holds the conversation to its end and returns what the engine said.
fn talk(lines: &[&str]) -> String {
    let (sender, receiver) = unbounded();
    for line in lines {
        sender
            .send((*line).to_owned())
            .expect("the session listens");
    }
    drop(sender);
    let mut out = Vec::new();
    Session::new(&mut out)
        .run(&receiver)
        .expect("a vector takes all");
    String::from_utf8(out).expect("text")
}

fn count(lines: &[&str], beginning: &str) -> usize {
    lines
        .iter()
        .filter(|line| line.starts_with(beginning))
        .count()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 100, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_question_is_answered_once(choices in prop::collection::vec(0..LINES.len(), 0..25)) {
        let lines: Vec<&str> = choices.iter().map(|&choice| LINES[choice]).collect();
        let said = talk(&lines);
        let said: Vec<&str> = said.lines().collect();
        let asked = count(&lines, "go ") - count(&lines, "go perft");
        let answered = count(&said, "bestmove ");
        prop_assert_eq!(answered, asked, "{:?}\n{:#?}", lines, said);
        prop_assert_eq!(count(&said, "readyok"), count(&lines, "isready"));
        let greetings = lines.iter().filter(|line| **line == "uci").count();
        prop_assert_eq!(count(&said, "uciok"), greetings);
    }
}
