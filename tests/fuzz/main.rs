//! Every fuzzing target on seeded mutations of its corpus, for a bounded time: the same bytes in
//! every run, so that a failure can be repeated. `PLEACH_FUZZ_SECONDS=N` gives each target N
//! seconds instead, with mutations that no run has seen before.

mod targets;

use std::env;
use std::fs;
use std::io::Cursor;
use std::panic::catch_unwind;
use std::path::Path;
use std::time::{Duration, Instant};

use fastrand::Rng;
use pleach::board::{Epd, PgnReader};
use pleach::nnue::QuantisedNet;
use pleach::opening_book::OpeningBook;
use pleach::record::{GameReader, GameRecord, PositionReader};
use pleach::types::CastlingMode;
use targets::{TARGETS, Target};

/// Inputs of a target in an ordinary test run.
const ROUNDS: usize = 300;
/// Longest time of a target in an ordinary test run.
const LONGEST: Duration = Duration::from_secs(8);
/// Most changes that make one input of a corpus' entry.
const MOST_CHANGES: usize = 8;
/// Longest input.
const LONGEST_INPUT: usize = 1 << 16;

/// The entries of a target's corpus, sorted by name.
fn corpus(name: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("fuzz/corpus")
        .join(name);
    let mut paths: Vec<_> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.expect("an entry").path())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} is empty", folder.display());
    paths
        .iter()
        .map(|path| fs::read(path).expect("readable"))
        .collect()
}

/// One change: bytes flipped, dropped, doubled or replaced by a piece of another entry.
fn change(bytes: &mut Vec<u8>, entries: &[Vec<u8>], rng: &mut Rng) {
    let other = &entries[rng.usize(..entries.len())];
    let at = rng.usize(..=bytes.len());
    let length = rng.usize(1..=16).min(bytes.len() - at);
    match rng.u8(..6) {
        0 if at < bytes.len() => bytes[at] ^= 1 << rng.u8(..8),
        1 if at < bytes.len() => bytes[at] = rng.u8(..),
        2 => drop(bytes.drain(at..at + length)),
        3 => {
            let piece = bytes[at..at + length].to_vec();
            bytes.splice(at..at, piece);
        }
        4 => bytes.truncate(at),
        _ => {
            let from = rng.usize(..=other.len());
            let piece = &other[from..(from + rng.usize(1..=32)).min(other.len())];
            bytes.splice(at..at + length, piece.iter().copied());
        }
    }
    bytes.truncate(LONGEST_INPUT);
}

/// Runs a target on its corpus and then on changed entries until rounds or time are used up.
fn run(target: &Target, seed: u64, rounds: usize, longest: Duration) {
    let entries = corpus(target.name);
    entries.iter().for_each(|entry| (target.run)(entry));
    let mut rng = Rng::with_seed(seed);
    let start = Instant::now();
    for round in 0..rounds {
        if start.elapsed() > longest {
            break;
        }
        let mut bytes = entries[round % entries.len()].clone();
        for _ in 0..rng.usize(1..=MOST_CHANGES) {
            change(&mut bytes, &entries, &mut rng);
        }
        if catch_unwind(|| (target.run)(&bytes)).is_err() {
            let file = env::temp_dir().join(format!("pleach-fuzz-{}", target.name));
            fs::write(&file, &bytes).expect("the input is kept");
            panic!(
                "target {}, seed {seed}, round {round}: {}",
                target.name,
                file.display()
            );
        }
    }
}

/// One target by name, briefly and repeatably, or for as long as the environment asks.
fn fuzz(name: &str) {
    let target = TARGETS
        .iter()
        .find(|target| target.name == name)
        .expect("a target");
    match env::var("PLEACH_FUZZ_SECONDS") {
        Ok(seconds) => {
            let seconds = Duration::from_secs(seconds.parse().expect("whole seconds"));
            run(target, fastrand::u64(..), usize::MAX, seconds);
        }
        Err(_) => run(target, 1, ROUNDS, LONGEST),
    }
}

/// One test a target, and a list of them to compare with the targets.
macro_rules! fuzz_tests {
    ($($name:ident)*) => {
        $(#[test]
        fn $name() {
            fuzz(stringify!($name));
        })*

        #[test]
        fn every_target_has_a_test() {
            let names: Vec<_> = TARGETS.iter().map(|target| target.name).collect();
            assert_eq!(names, [$(stringify!($name)),*]);
        }
    };
}

fuzz_tests!(fen moves pgn epd command session record positions network book tablebase);

/// If a corpus were refused whole, as after a change of its format, nothing behind the refusal would
/// be tested.
#[test]
fn something_of_each_format_is_accepted() {
    let accepted = |name: &str, is_read: fn(&[u8]) -> bool| {
        let found = corpus(name).iter().any(|entry| is_read(entry));
        assert!(found, "{name}");
    };
    accepted("network", |bytes| QuantisedNet::from_bytes(bytes).is_ok());
    accepted("book", |bytes| OpeningBook::from_bytes(bytes).is_ok());
    accepted("record", |bytes| {
        let game = GameReader::new(Cursor::new(bytes)).read_into(&mut GameRecord::empty());
        game.is_ok_and(|found| found)
    });
    accepted("positions", |bytes| {
        let reader = PositionReader::new(Cursor::new(bytes));
        reader.is_ok_and(|mut reader| reader.any(|record| record.is_ok()))
    });
    accepted("pgn", |bytes| PgnReader::new(bytes).flatten().count() > 0);
    accepted("epd", |bytes| {
        let text = String::from_utf8_lossy(bytes);
        let mut lines = text.lines();
        lines.any(|line| Epd::parse(line, CastlingMode::Standard).is_ok())
    });
}
