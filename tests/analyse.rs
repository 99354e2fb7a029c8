//! `pleach analyse` as its users see it: the real binary, its text, its JSON and Ctrl-C.

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Command, Output, Stdio};

use common::fields;
use serde_json::Value;

fn pleach(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.arg("analyse").args(arguments);
    command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped());
    command
}

fn run(arguments: &[&str]) -> Output {
    pleach(arguments).output().expect("the program starts")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{}", stderr(output));
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

fn json(arguments: &[&str]) -> Vec<Value> {
    let text = stdout(&run(arguments));
    let lines = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"));
    lines.collect()
}

/// The names of an object's fields.
/// The schema is a promise: a field that leaves or changes its name breaks programs.
#[test]
fn the_json_schema_is_kept() {
    let lines = json(&[
        "startpos",
        "moves",
        "e2e4",
        "--depth",
        "6",
        "--multipv",
        "2",
        "--json",
    ]);
    let (first, last) = (&lines[0], &lines[lines.len() - 1]);
    assert_eq!(fields(first), ["fen", "schema", "turn", "type"]);
    assert_eq!(
        (&first["schema"], &first["turn"]),
        (&1.into(), &"black".into())
    );
    let line = &lines[lines.len() - 2];
    assert_eq!(
        fields(line),
        [
            "bound", "cp", "depth", "effort", "hashfull", "mate", "multipv", "nodes", "nps", "pv",
            "san", "seldepth", "tbhits", "time_ms", "type", "wdl"
        ]
    );
    assert_eq!((&line["depth"], &line["multipv"]), (&6.into(), &2.into()));
    let effort = line["effort"].as_f64().expect("an effort");
    assert!((0.0..=1.0).contains(&effort));
    assert_eq!(
        fields(last),
        [
            "best", "cp", "depth", "efforts", "fen", "mate", "nodes", "ponder", "san", "time_ms",
            "type", "wdl"
        ]
    );
    let efforts = last["efforts"].as_array().expect("a list");
    assert_eq!(efforts.len(), 20);
    assert_eq!(fields(&efforts[0]), ["move", "nodes", "san"]);
    let wdl = last["wdl"].as_array().expect("a list");
    assert_eq!(wdl.iter().filter_map(Value::as_u64).sum::<u64>(), 1000);
}

#[test]
fn moves_are_chosen_and_excluded() {
    let best = |more: &[&str]| {
        let mut arguments = vec!["startpos", "--depth", "4", "--json"];
        arguments.extend(more);
        let lines = json(&arguments);
        lines[lines.len() - 1]["best"]
            .as_str()
            .expect("a move")
            .to_owned()
    };
    assert_eq!(best(&["--searchmoves", "Na3", "--hash", "1"]), "b1a3");
    let first = best(&[]);
    assert_ne!(best(&["--excludemoves", &first]), first);
    let none = run(&["startpos", "--searchmoves", "e4", "--excludemoves", "e2e4"]);
    assert!(!none.status.success() && stderr(&none).contains("no move is left"));
}

#[test]
fn what_is_out_of_range_is_refused() {
    for option in ["--threads", "--hash", "--multipv", "--depth", "--nodes"] {
        for value in ["0", "-5"] {
            let refused = run(&["startpos", option, value]);
            assert_eq!(refused.status.code(), Some(2), "{option}");
            let said = stderr(&refused);
            assert!(said.contains(&format!("invalid value '{value}'")), "{said}");
        }
    }
    assert_eq!(
        run(&["startpos", "--infinite", "--depth", "3"])
            .status
            .code(),
        Some(2)
    );
}

#[test]
fn without_a_terminal_there_are_plain_lines() {
    let text = stdout(&run(&["e4", "e5", "--depth", "5"]));
    assert!(
        text.contains("White to move") && text.contains("Best move: "),
        "{text}"
    );
    assert!(!text.contains('\u{1b}'), "{text}");
    let mated = stdout(&run(&["f3", "e5", "g4", "Qh4", "--infinite"]));
    assert!(mated.contains("No legal move: checkmate"), "{mated}");
    assert!(!mated.contains("depth"), "a table without lines: {mated}");
}

#[test]
fn the_plain_board_is_shown_from_blacks_side_if_asked_for() {
    let shown = |more: &[&str]| {
        let text = stdout(&run(
            &[&["startpos", "--depth", "1", "--plain"], more].concat()
        ));
        let board = text.lines().take_while(|line| !line.is_empty());
        board.map(str::to_owned).collect::<Vec<String>>()
    };
    let (usual, flipped) = (shown(&[]), shown(&["--flip"]));
    assert_eq!(usual[1], "8 | r | n | b | q | k | b | n | r |");
    assert_eq!(flipped[1], "1 | R | N | B | K | Q | B | N | R |");
    assert_eq!(
        flipped.last().map(String::as_str),
        Some("    h   g   f   e   d   c   b   a")
    );
}

/// What the program makes of a text on standard input.
fn run_on(input: &str, arguments: &[&str]) -> Output {
    let mut child = pleach(arguments)
        .stdin(Stdio::piped())
        .spawn()
        .expect("the program starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    stdin.write_all(input.as_bytes()).expect("written");
    drop(stdin);
    child.wait_with_output().expect("an output")
}

#[test]
fn words_that_are_no_moves_are_told() {
    let arguments = ["-", "--depth", "1"];
    let bare = run_on("e4 e5 Nf", &arguments);
    assert!(
        !bare.status.success() && stderr(&bare).contains("'Nf'"),
        "{}",
        stderr(&bare)
    );
    let game = run_on("[White \"A\"]\n\n1. d4 Nf d5 *\n", &arguments);
    assert!(stdout(&game).contains("Best move"));
    assert!(
        stderr(&game).contains("game 1: 1... 'Nf' is left out"),
        "{}",
        stderr(&game)
    );
}

#[test]
fn positions_come_on_standard_input() {
    let input = "[White \"A\"]\n\n1. d4 d5 *\n";
    let text = stdout(&run_on(input, &["-", "--depth", "3", "--json"]));
    assert!(
        text.contains("rnbqkbnr/ppp1pppp/8/3p4/3P4/8/PPP1PPPP/RNBQKBNR w"),
        "{text}"
    );
}

#[cfg(unix)]
#[test]
fn an_interrupt_ends_the_search_with_its_best_move() {
    let mut child = pleach(&["startpos", "--infinite", "--json"])
        .spawn()
        .expect("a child");
    let mut lines = BufReader::new(child.stdout.take().expect("a pipe")).lines();
    let mut next = || lines.next().expect("a line").expect("readable");
    while !next().contains("\"depth\":4,") {}
    interrupt(&child);
    loop {
        let line = next();
        if line.contains("\"type\":\"result\"") {
            let value: Value = serde_json::from_str(&line).expect("JSON");
            assert!(value["best"].is_string());
            break;
        }
    }
    assert!(child.wait().expect("ended").success());
}

#[cfg(unix)]
fn interrupt(child: &Child) {
    let killed = Command::new("kill")
        .args(["-INT", &child.id().to_string()])
        .status();
    assert!(killed.expect("kill exists").success());
}

#[test]
fn tablebases_that_are_missing_are_named() {
    let output = run(&["startpos", "--depth", "1", "--syzygy", "/no/such/folder"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(output.stdout.is_empty(), "{output:?}");
    let told = stderr(&output);
    assert!(told.contains("/no/such/folder"), "{told}");
    assert!(told.contains("Found 0 WDL and 0 DTZ"), "{told}");
}
