//! `pleach annotate` and `pleach suite` as their users see them: the real binary on real files.

mod common;

use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use common::fields;
use tempfile::TempDir;

const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games.pgn");
/// Few enough to be quick, and the same on every machine.
const NODES: &str = "300";
/// Of the games in the file, the third is broken on purpose.
const GOOD_GAMES: usize = 4;

fn pleach(arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_pleach"));
    command.args(arguments).stdin(Stdio::null());
    command
}

fn run(arguments: &[&str]) -> Output {
    pleach(arguments).output().expect("the program starts")
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// Annotates the games into a file of the directory, with further arguments.
fn annotate(directory: &Path, output: &str, more: &[&str]) -> String {
    let path = directory.join(output);
    let mut arguments = vec!["annotate", GAMES, "-o", path.to_str().expect("UTF-8")];
    arguments.extend(["--hash", "1"]);
    arguments.extend(more);
    if !more.contains(&"--nodes") {
        arguments.extend(["--nodes", NODES]);
    }
    let done = run(&arguments);
    assert!(done.status.success(), "{}", stderr(&done));
    fs::read_to_string(path).expect("an output")
}

fn directory() -> TempDir {
    tempfile::tempdir().expect("a directory")
}

fn progress(output: &Path) -> PathBuf {
    output.with_extension("pgn.progress")
}

#[test]
fn games_keep_what_they_had_and_gain_evaluations() {
    let directory = directory();
    let text = annotate(directory.path(), "out.pgn", &["--threads", "2"]);
    assert_eq!(text.matches("[Event ").count(), GOOD_GAMES);
    // Lines may break anywhere.
    let flowing = text.split_whitespace().collect::<Vec<_>>().join(" ");
    for kept in [
        "[%clk 0:09:58]",
        "Philidor's",
        "{gains time}",
        "[%csl Rb5][%cal Gc3b5]",
        "[Variant \"Chess960\"]",
        "[FEN \"8/8/8/3k4/3P4/3K4/8/8 b - - 0 40\"]",
        "10. Nxb5 $3",
        "[Opening \"Philidor Defense\"]",
    ] {
        assert!(flowing.contains(kept), "{kept} is not in\n{text}");
    }
    let plies = 33 + 45 + 10 + 20;
    assert!(text.matches("[%eval ").count() >= plies - 3, "{text}");
    assert!(text.contains("[WhiteAccuracy ") && text.contains("[BlackACPL "));
    assert!(!progress(&directory.path().join("out.pgn")).exists());
    // Columns below 80, as the standard asks.
    assert!(
        text.lines()
            .all(|line| line.starts_with('[') || line.chars().count() < 80)
    );
}

#[test]
fn the_same_nodes_give_the_same_output_whatever_the_threads() {
    let directory = directory();
    let one = annotate(directory.path(), "one.pgn", &["--threads", "1"]);
    let three = annotate(directory.path(), "three.pgn", &["--threads", "3"]);
    assert_eq!(one, three);
}

#[test]
fn shards_joined_are_one_run() {
    let directory = directory();
    let whole = annotate(directory.path(), "whole.pgn", &[]);
    let parts: Vec<String> = (1..=3)
        .map(|index| {
            let shard = format!("{index}/3");
            annotate(
                directory.path(),
                &format!("{index}.pgn"),
                &["--shard", &shard],
            )
        })
        .collect();
    assert_eq!(parts.concat(), whole);
}

/// Whether a run has written a game and goes on: its journal holds a line for the settings and
/// one for each game, and is removed in the end.
fn is_under_way(output: &Path) -> bool {
    let journal = fs::read_to_string(progress(output)).unwrap_or_default();
    journal.lines().count() >= 2
}

/// Kills a run once it has written a game. `false` if it was over before.
fn is_killed_under_way(arguments: &[&str], output: &Path) -> bool {
    const TIMEOUT: Duration = Duration::from_secs(300);
    let mut child = pleach(arguments)
        .stderr(Stdio::null())
        .spawn()
        .expect("a child");
    let started = Instant::now();
    while !is_under_way(output) && child.try_wait().expect("a child").is_none() {
        assert!(started.elapsed() < TIMEOUT, "no game was written");
        thread::sleep(Duration::from_millis(2));
    }
    child.kill().expect("killed");
    child.wait().expect("ended");
    is_under_way(output)
}

#[test]
fn an_interrupted_run_goes_on_where_it_ended() {
    // On a busy machine a run may be over before it is seen under way: then a longer one is tried.
    const TRIES: [&str; 4] = ["1000", "2000", "4000", "8000"];
    let is_tried = |nodes: &&str| interrupt_and_go_on(nodes);
    assert!(TRIES.iter().any(is_tried), "never under way");
}

/// Compares an interrupted run with a whole one. `false` if it was over before the interruption.
fn interrupt_and_go_on(nodes: &str) -> bool {
    let directory = directory();
    let path = directory.path().join("out.pgn");
    let name = path.to_str().expect("UTF-8");
    let arguments = [
        "annotate",
        GAMES,
        "-o",
        name,
        "--hash",
        "1",
        "--nodes",
        nodes,
        "--threads",
        "1",
    ];
    if !is_killed_under_way(&arguments, &path) {
        return false;
    }
    // As if it had been killed in the middle of a write.
    let mut torn = fs::read(&path).expect("an output");
    torn.extend_from_slice(b"[Event \"torn");
    fs::write(&path, torn).expect("written");
    let other = run(&["annotate", GAMES, "-o", name, "--nodes", "7"]);
    assert!(!other.status.success() && stderr(&other).contains("other settings"));
    let done = run(&arguments);
    assert!(done.status.success(), "{}", stderr(&done));
    assert!(stderr(&done).contains("done before"), "{}", stderr(&done));
    let whole = annotate(directory.path(), "whole.pgn", &["--nodes", nodes]);
    assert_eq!(fs::read_to_string(&path).expect("an output"), whole);
    // A finished output is not touched again.
    let again = run(&arguments);
    assert!(!again.status.success() && stderr(&again).contains("--overwrite"));
    true
}

#[test]
fn broken_games_are_named_and_the_report_escapes_names() {
    let directory = directory();
    let report = directory.path().join("pages");
    let output = directory.path().join("out.pgn");
    let done = run(&[
        "annotate",
        GAMES,
        "-o",
        output.to_str().expect("UTF-8"),
        "--nodes",
        NODES,
        "--report",
        report.to_str().expect("UTF-8"),
    ]);
    assert!(done.status.success());
    assert!(
        stderr(&done).contains("game 3: 2. Ke3"),
        "{}",
        stderr(&done)
    );
    let read = |name: &str| fs::read_to_string(report.join(name)).expect("a page");
    for page in [read("game-000004.html"), read("index.html")] {
        assert!(page.contains("&#60;script&#62;document.title"), "{page}");
        assert!(!page.contains("<script>document") && !page.contains("<img"));
        assert!(!page.contains("<script>alert"));
    }
    assert_eq!(
        read("game-000001.html").matches("<rect data-ply").count(),
        34
    );
    assert!(!report.join("game-000003.html").exists());
}

#[test]
fn the_input_is_never_overwritten() {
    let directory = directory();
    let games = directory.path().join("games.pgn");
    fs::copy(GAMES, &games).expect("copied");
    let name = games.to_str().expect("UTF-8");
    let done = run(&["annotate", name, "-o", name, "--overwrite", "--nodes", "1"]);
    assert!(!done.status.success() && stderr(&done).contains("is the input"));
    assert_eq!(
        fs::read(&games).expect("readable"),
        fs::read(GAMES).expect("readable")
    );
}

#[test]
fn tablebases_give_their_verdict_where_it_changes() {
    const TABLES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/syzygy");
    let directory = directory();
    let games = directory.path().join("endgame.pgn");
    let fen = "8/8/3k4/8/8/3Kp3/4P3/8 b - - 0 1";
    let headers = format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n");
    // White can take with the opposition, a win of the tables, which the last move gives away.
    fs::write(
        &games,
        format!("{headers}\n1... Ke5 2. Kxe3 Kd5 3. Kf4 Kd4 4. e3+ Kd5 5. e4+ *\n"),
    )
    .expect("written");
    let output = directory.path().join("out.pgn");
    let done = run(&[
        "annotate",
        games.to_str().expect("UTF-8"),
        "-o",
        output.to_str().expect("UTF-8"),
        "--nodes",
        NODES,
        "--syzygy",
        TABLES,
    ]);
    assert!(done.status.success(), "{}", stderr(&done));
    let text = fs::read_to_string(&output).expect("an output");
    let verdicts: Vec<&str> = text.split("Tablebase:").skip(1).collect();
    assert_eq!(verdicts.len(), 2, "{text}");
    assert!(verdicts[0].trim_start().starts_with("win"), "{text}");
    assert!(verdicts[1].trim_start().starts_with("draw"), "{text}");
}

#[test]
fn standard_input_without_a_game_is_an_error() {
    let directory = directory();
    let output = directory.path().join("out.pgn");
    let done = run(&["annotate", "-", "-o", output.to_str().expect("UTF-8")]);
    assert!(!done.status.success());
    assert!(stderr(&done).contains("no game in standard input"));
    assert!(!output.exists() && !progress(&output).exists());
}

#[test]
fn suites_are_scored_and_misses_are_listed() {
    let directory = directory();
    let path = directory.path().join("suite.epd");
    let lines = "6k1/5ppp/8/8/8/8/8/R3K3 w - - bm Ra8#; id \"back rank\";\n\
                 6k1/5ppp/8/8/8/8/8/R3K3 w - - am Ra8#; id \"impossible\";\n\
                 6k1/5ppp/8/8/8/8/8/R3K3 w - - dm 1; acd 4; id \"mate\";\n";
    fs::write(&path, lines).expect("written");
    let suite = path.to_str().expect("UTF-8");
    let shown = run(&["suite", suite, "--depth", "5", "--threads", "2"]);
    let text = String::from_utf8_lossy(&shown.stdout).into_owned();
    assert!(text.contains("Solved 2 of 3 (66.7 %)"), "{text}");
    assert!(text.contains("impossible  am Ra8#  Ra8#"), "{text}");
    // Latin-1, as older suites are.
    let latin1: Vec<u8> = format!("# Ren\u{e9}\n{lines}")
        .chars()
        .map(|c| c as u8)
        .collect();
    fs::write(&path, latin1).expect("written");
    let json = run(&["suite", suite, "--nodes", "500", "--json"]);
    let text = String::from_utf8_lossy(&json.stdout).into_owned();
    let objects: Vec<serde_json::Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).expect("JSON"))
        .collect();
    let solved: Vec<Option<bool>> = objects
        .iter()
        .map(|value| value["solved"].as_bool())
        .collect();
    assert_eq!(solved, [Some(true), Some(false), Some(true), None]);
    assert_eq!(
        fields(&objects[0]),
        [
            "cp",
            "depth",
            "fen",
            "found_depth",
            "found_ms",
            "found_nodes",
            "goal",
            "id",
            "mate",
            "nodes",
            "number",
            "played",
            "points",
            "san",
            "solved",
            "time_ms",
            "type"
        ]
    );
    assert_eq!(
        fields(&objects[3]),
        [
            "median_found_ms",
            "nodes",
            "points",
            "points_possible",
            "positions",
            "search_ms",
            "solved",
            "type",
            "wall_ms"
        ]
    );
    fs::write(&path, "6k1/5ppp/8/8/8/8/8/R3K3 w - - id \"nothing\";\n").expect("written");
    let refused = run(&["suite", suite]);
    assert!(!refused.status.success() && stderr(&refused).contains("line 1"));
}

#[test]
fn a_suite_ends_when_nobody_reads_its_output() {
    const POSITIONS: usize = 2000;
    /// Far less than the whole suite takes.
    const TIMEOUT: Duration = Duration::from_secs(120);
    let directory = directory();
    let path = directory.path().join("suite.epd");
    let line = "6k1/5ppp/8/8/8/8/8/R3K3 w - - am Ra8#; id \"impossible\";\n";
    fs::write(&path, line.repeat(POSITIONS)).expect("written");
    let suite = path.to_str().expect("UTF-8");
    let started = Instant::now();
    let mut child = pleach(&["suite", suite, "--movetime", "200", "-t", "1", "--json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .expect("a child");
    let mut first = String::new();
    BufReader::new(child.stdout.take().expect("a pipe"))
        .read_line(&mut first)
        .expect("readable");
    assert!(first.contains("impossible"), "{first}");
    let done = child.wait_with_output().expect("ended");
    assert!(
        done.status.success() && stderr(&done).is_empty(),
        "{}",
        stderr(&done)
    );
    assert!(started.elapsed() < TIMEOUT, "{:?}", started.elapsed());
}

/// JSON has the same centipawns as `pleach analyse --json`.
#[test]
fn a_suites_scores_are_in_the_shown_centipawns() {
    let directory = directory();
    let path = directory.path().join("suite.epd");
    let fen = "4k3/pppp4/8/8/8/8/PPPP4/2R1K3 w - -";
    fs::write(&path, format!("{fen} bm Rd1; id \"a rook up\";\n")).expect("written");
    let suite = path.to_str().expect("UTF-8");
    let score = |words: &[&str], kind: &str| {
        let output = run(words);
        String::from_utf8_lossy(&output.stdout)
            .lines()
            .map(|line| serde_json::from_str::<serde_json::Value>(line).expect("JSON"))
            .find(|value| value["type"] == kind)
            .and_then(|value| value["cp"].as_i64())
            .expect("a score")
    };
    let of_suite = score(
        &[
            "suite", suite, "--depth", "4", "-t", "1", "--hash", "16", "--json",
        ],
        "position",
    );
    let of_analyse = score(
        &["analyse", fen, "--depth", "4", "--hash", "16", "--json"],
        "result",
    );
    assert_eq!(of_suite, of_analyse);
}
