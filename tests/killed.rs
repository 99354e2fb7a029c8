//! Programs that write files, killed at random moments: what was there before stays, what has the
//! final name is whole, and the next run finishes the work as if nothing had happened. Folders
//! that cannot be written to, and two processes with one output. `PLEACH_KILLS=200` sets how often
//! each is killed.
#![cfg(unix)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::Instant;

use common::engine;
use pleach::nnue::QuantisedNet;

/// How often each program is killed unless the environment says otherwise.
const KILLS: u32 = 4;
const SEED: u64 = 20_261_122;
const GAMES: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/games.pgn");

fn kills() -> u32 {
    std::env::var("PLEACH_KILLS").map_or(KILLS, |text| {
        text.parse().expect("PLEACH_KILLS is a number")
    })
}

/// A run of a subcommand in a folder.
fn run(folder: &Path, words: &[&str]) -> Command {
    let mut command = engine();
    command
        .args(words)
        .current_dir(folder)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command
}

/// The files that have their final names, by these. What a killed program leaves behind begins
/// with a point.
fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let mut found = BTreeMap::new();
    for entry in fs::read_dir(folder).expect("a folder") {
        let entry = entry.expect("an entry");
        let name = entry.file_name().to_string_lossy().into_owned();
        if !name.starts_with('.') {
            found.insert(name, fs::read(entry.path()).expect("readable"));
        }
    }
    found
}

/// How an output comes to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Grows {
    AtOnce,
    /// The file is the beginning of the whole, and a journal beside it says how much is done.
    ByGames,
    /// The file is a whole network, as it was at the last checkpoint.
    ByCheckpoints,
}

/// Kills runs of a subcommand in `prepared` folders, and compares what they leave with an
/// undisturbed run: each file named in `whole` is absent, as it was before, or whole (or grows). The last run
/// is not killed.
fn kill_at_random(words: &[&str], whole: &[&str], grows: Grows, prepare: impl Fn(&Path)) {
    let undisturbed = tempfile::tempdir().expect("a folder");
    prepare(undisturbed.path());
    let before = files(undisturbed.path());
    let started = Instant::now();
    let ended = run(undisturbed.path(), words).status().expect("it starts");
    assert!(ended.success(), "{words:?}");
    let longest = started.elapsed();
    let expected = files(undisturbed.path());
    let kept = |found: &BTreeMap<String, Vec<u8>>, name: &str| {
        let is_part = match (found.get(name), expected.get(name)) {
            (Some(found), Some(expected)) => match grows {
                Grows::AtOnce => false,
                Grows::ByGames => expected.starts_with(found),
                Grows::ByCheckpoints => QuantisedNet::from_bytes(found).is_ok(),
            },
            _ => false,
        };
        is_part || found.get(name) == expected.get(name) || found.get(name) == before.get(name)
    };
    let is_done = |found: &BTreeMap<String, Vec<u8>>| {
        expected
            .keys()
            .filter(|name| is_among(name, whole))
            .all(|name| found.get(name) == expected.get(name))
    };
    let mut rng = fastrand::Rng::with_seed(SEED);
    let mut folder = tempfile::tempdir().expect("a folder");
    prepare(folder.path());
    let mut killed_at_work = 0;
    for round in 0..kills() {
        let mut child = run(folder.path(), words).spawn().expect("it starts");
        sleep(longest.mul_f64(rng.f64()));
        killed_at_work += u32::from(child.try_wait().expect("a child").is_none());
        child.kill().expect("killed");
        child.wait().expect("a child");
        let found = files(folder.path());
        for name in expected.keys().filter(|name| is_among(name, whole)) {
            assert!(kept(&found, name), "{words:?}, kill {round}: {name}");
        }
        // What is finished leaves the next run nothing to do in which it could be killed.
        if is_done(&found) && round + 1 < kills() {
            folder = tempfile::tempdir().expect("a folder");
            prepare(folder.path());
        }
    }
    assert!(killed_at_work > 0, "{words:?}: every run was over before");
    // Some refuse to do again what is done.
    if !is_done(&files(folder.path())) {
        let ended = run(folder.path(), words).status().expect("it starts");
        assert!(ended.success(), "{words:?} after kills");
    }
    let found = files(folder.path());
    for name in expected.keys().filter(|name| is_among(name, whole)) {
        assert_eq!(found.get(name), expected.get(name), "{words:?}: {name}");
    }
}

/// Whether a name has one of the endings.
fn is_among(name: &str, endings: &[&str]) -> bool {
    endings.iter().any(|ending| name.ends_with(ending))
}

/// A few quick games to label and to train on.
const MAKE_GAMES: &[&str] = &[
    "datagen",
    ".",
    "--kind",
    "quick",
    "--games",
    "5",
    "--chunk",
    "5",
    "--name",
    "in",
    "--threads",
    "1",
];

/// The file that `MAKE_GAMES` made gets a name that the tests know.
fn make_games(folder: &Path) {
    assert!(
        run(folder, MAKE_GAMES)
            .status()
            .expect("it starts")
            .success()
    );
    let made: Vec<String> = files(folder)
        .into_keys()
        .filter(|name| !name.ends_with(".json"))
        .collect();
    assert_eq!(made.len(), 1, "{made:?}");
    fs::rename(folder.join(&made[0]), folder.join("in.vf")).expect("renamed");
}

#[test]
fn datagen_is_killed_and_goes_on() {
    let words = [
        "datagen",
        ".",
        "--games",
        "6",
        "--chunk",
        "1",
        "--nodes",
        "50",
        "--threads",
        "2",
    ];
    kill_at_random(&words, &[".vf", ".zst", ".json"], Grows::AtOnce, |_| {});
}

#[test]
fn a_book_is_replaced_whole_or_not_at_all() {
    let words = ["book", "build", GAMES, "-o", "book.bin", "--min-games", "1"];
    kill_at_random(&words, &["book.bin"], Grows::AtOnce, |folder| {
        fs::write(folder.join("book.bin"), b"the book before").expect("written");
    });
}

#[test]
fn annotating_is_killed_and_goes_on() {
    let words = [
        "annotate",
        GAMES,
        "-o",
        "out.pgn",
        "--nodes",
        "50",
        "--threads",
        "1",
    ];
    kill_at_random(&words, &["out.pgn"], Grows::ByGames, |_| {});
}

#[test]
fn labels_appear_whole_or_not_at_all() {
    let asked = common::engine();
    let program = asked.get_program().to_string_lossy().into_owned();
    let words = [
        "label",
        "in.vf",
        "-o",
        "out.vf",
        "--engine",
        &program,
        "--nodes",
        "1",
        "--threads",
        "1",
    ];
    kill_at_random(&words, &["out.vf", "in.vf"], Grows::AtOnce, make_games);
}

#[test]
fn training_is_killed_and_goes_on_from_its_checkpoint() {
    let words = [
        "train",
        "in.vf",
        "-o",
        "net.pnn",
        "--hidden",
        "64",
        "--king-buckets",
        "1",
        "--epochs",
        "2",
        "--batch",
        "256",
        // The results of so few games need not fit one.
        "--scale",
        "250",
        "--threads",
        "1",
        "--checkpoint-minutes",
        "0.001",
    ];
    kill_at_random(
        &words,
        &["net.pnn", "in.vf"],
        Grows::ByCheckpoints,
        make_games,
    );
}

/// Not even root may write to this folder.
#[cfg(target_os = "linux")]
#[test]
fn a_folder_that_cannot_be_written_to_is_named() {
    for words in [
        ["book", "build", GAMES, "-o", "/sys/out", "--min-games", "1"].as_slice(),
        &["annotate", GAMES, "-o", "/sys/out", "--nodes", "50"],
        &["datagen", "/sys/out", "--games", "1", "--nodes", "50"],
    ] {
        let here = tempfile::tempdir().expect("a folder");
        let ended = run(here.path(), words)
            .stderr(Stdio::piped())
            .output()
            .expect("it starts");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert_eq!(ended.status.code(), Some(1), "{words:?}: {said}");
        assert!(said.contains("/sys"), "{words:?}: {said}");
        assert!(files(here.path()).is_empty(), "{words:?}");
    }
}

#[test]
fn two_processes_with_one_output_leave_a_whole_one() {
    let words = ["book", "build", GAMES, "-o", "book.bin", "--min-games", "1"];
    let alone = tempfile::tempdir().expect("a folder");
    assert!(
        run(alone.path(), &words)
            .status()
            .expect("it starts")
            .success()
    );
    let shared = tempfile::tempdir().expect("a folder");
    let both = [(); 2].map(|()| run(shared.path(), &words).spawn().expect("it starts"));
    for mut child in both {
        assert!(child.wait().expect("a child").success());
    }
    assert_eq!(files(shared.path()), files(alone.path()));
}

#[test]
fn a_book_is_not_written_over_its_games() {
    let folder = tempfile::tempdir().expect("a folder");
    let games = folder.path().join("games.pgn");
    std::fs::copy(GAMES, &games).expect("copied");
    let words = [
        "book",
        "build",
        "games.pgn",
        "-o",
        "./games.pgn",
        "--min-games",
        "1",
    ];
    let output = run(folder.path(), &words)
        .stderr(Stdio::piped())
        .output()
        .expect("it starts");
    assert!(!output.status.success());
    let told = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(told.contains("written over the games"), "{told}");
    assert_eq!(
        std::fs::read(&games).expect("still there"),
        std::fs::read(GAMES).expect("the original")
    );
}
