//! A panic in any thread: the client hears one remark that says where, gets a move if it waits for
//! one, and sees the process end with an exit code that tells of the failure.
//!
//! Builds with debug assertions panic where `PLEACH_PANIC` names the place. These tests unwind;
//! released programs abort. The same tests run on a build that aborts:
//!
//! ```text
//! cargo build --profile fast --config profile.fast.debug-assertions=true
//! PLEACH_TEST_ENGINE=$PWD/target/fast/pleach cargo test --test panics
//! ```
#![cfg(debug_assertions)]

mod common;

use std::fs;
use std::io::{Read as _, Write as _};
use std::process::Stdio;
use std::thread::{self, sleep};
use std::time::Duration;

use common::{Client, best_move, engine, wait};
use pleach::board::Position;

/// The exit code after a panic.
const EXIT_CODE: i32 = 101;
const AFTER_E4: &str = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";

/// An engine that will panic there, and has been greeted.
fn client(place: &str) -> Client {
    let mut client = Client::run(engine().env("PLEACH_PANIC", place).stderr(Stdio::null()));
    client.send("uci");
    client.expect("uciok");
    client
}

/// The remark about the panic; there must be exactly one.
fn remark(client: &Client) -> &str {
    let version = format!("info string pleach {} panicked", env!("CARGO_PKG_VERSION"));
    let remarks: Vec<&String> = client
        .heard
        .iter()
        .filter(|line| line.starts_with(&version))
        .collect();
    assert_eq!(remarks.len(), 1, "{:#?}", client.heard);
    remarks[0]
}

fn moves_heard(client: &Client) -> usize {
    let is_move = |line: &&String| line.starts_with("bestmove");
    client.heard.iter().filter(is_move).count()
}

/// Searches after 1.e4 until the engine breaks at `place`, in a thread of this name.
fn break_in_search(threads: usize, place: &str, thread: &str, then: &str) -> Client {
    let folder = tempfile::tempdir().expect("a folder");
    let log = folder.path().join("log");
    let mut client = client(place);
    client.send(&format!("setoption name Threads value {threads}"));
    client.send(&format!(
        "setoption name Debug Log File value {}",
        log.display()
    ));
    client.send("position startpos moves e2e4\ngo infinite");
    if !then.is_empty() {
        client.expect("info depth 3 ");
        client.send(then);
    }
    let lines = client.expect("bestmove");
    let mut position = Position::startpos();
    position = position.play(position.parse_uci("e2e4").expect("legal"));
    assert!(position.parse_uci(best_move(&lines)).is_ok(), "{lines:#?}");
    assert_eq!(client.wait().code(), Some(EXIT_CODE));
    assert_eq!(moves_heard(&client), 1);
    let remark = remark(&client);
    let command = if then.is_empty() { "go infinite" } else { then };
    assert!(remark.contains(&format!("in thread {thread}")), "{remark}");
    assert!(remark.contains(&format!("position {AFTER_E4}")), "{remark}");
    assert!(
        remark.ends_with(&format!("last command {command}")),
        "{remark}"
    );
    let log = fs::read_to_string(log).expect("a log");
    assert!(
        log.contains(remark.trim_start_matches("info string ")),
        "{log}"
    );
    assert!(
        log.contains("game: position fen rnbq") && log.contains(" moves e2e4\n"),
        "{log}"
    );
    client
}

#[test]
fn the_first_thread_breaks_and_its_last_iteration_is_played() {
    let mut whole = Client::greeted();
    whole.send("position startpos moves e2e4");
    let lines = whole.go("depth 5");
    for place in ["search 5", "report 5"] {
        let broken = break_in_search(1, place, "search-0", "");
        assert_eq!(best_move(&broken.heard), best_move(&lines), "{place}");
    }
}

#[test]
fn a_helper_breaks() {
    break_in_search(2, &format!("helper {AFTER_E4}"), "search-1", "");
}

#[test]
fn the_session_breaks() {
    break_in_search(2, "uci eval", "main", "eval");
}

#[test]
fn the_reader_of_input_breaks() {
    let mut client = client("input eval");
    client.send("position startpos\ngo infinite");
    client.expect("info depth 3 ");
    client.send("eval");
    assert_ne!(best_move(&client.expect("bestmove")), "(none)");
    assert_eq!(client.wait().code(), Some(EXIT_CODE));
    assert!(remark(&client).contains("in thread input"));
}

#[test]
fn without_a_search_no_move_is_given() {
    let mut client = client("uci eval");
    client.send("go depth 2");
    client.expect("bestmove");
    client.send("eval");
    assert_eq!(client.wait().code(), Some(EXIT_CODE));
    assert!(remark(&client).ends_with("last command eval"));
    assert_eq!(moves_heard(&client), 1);
}

#[test]
fn commands_in_arguments_break_too() {
    let mut client = Client::run(
        engine()
            .args(["position startpos", "go depth 9"])
            .env("PLEACH_PANIC", "search 5")
            .stderr(Stdio::null()),
    );
    assert_ne!(best_move(&client.expect("bestmove")), "(none)");
    assert_eq!(client.wait().code(), Some(EXIT_CODE));
    remark(&client);
}

/// More than the pipe holds has been written and nobody reads: the process ends all the same.
#[test]
fn a_client_that_does_not_read_keeps_nothing_alive() {
    let mut child = engine()
        .env("PLEACH_PANIC", "uci eval")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("the engine starts");
    let mut stdin = child.stdin.take().expect("a pipe");
    let lines = "uci\nd\n".repeat(200) + "eval\n";
    stdin.write_all(lines.as_bytes()).expect("a reader");
    assert!(!wait(&mut child).success());
    let mut text = String::new();
    let mut stdout = child.stdout.take().expect("a pipe");
    stdout.read_to_string(&mut text).expect("text");
    assert!(text.contains("uciok"));
}

/// The report goes to stderr, which is full, and is read only when the time for the remark is over:
/// the process waits for it.
#[test]
fn a_report_that_takes_long_is_finished() {
    const LONGER_THAN_A_REMARK: Duration = Duration::from_secs(4);
    /// More than the pipe holds.
    const FILLED: usize = 1 << 20;
    let (mut errors, theirs) = std::io::pipe().expect("a pipe");
    let mut ours = theirs.try_clone().expect("a copy");
    let filling = thread::spawn(move || ours.write_all(&[b'\n'; FILLED]));
    let mut client = Client::run(engine().env("PLEACH_PANIC", "uci eval").stderr(theirs));
    client.send("uci\neval");
    client.expect("info string pleach");
    sleep(LONGER_THAN_A_REMARK);
    let mut report = String::new();
    errors.read_to_string(&mut report).expect("text");
    assert!(report.contains("last command: eval"), "{report}");
    assert_eq!(client.wait().code(), Some(EXIT_CODE));
    filling.join().expect("no panic").expect("a reader");
}
