use super::*;
use std::num::NonZero;
use std::path::Path;

use crate::datagen::opening::OpeningSettings;
use crate::datagen::play::Budget;
use crate::nnue::{HIDDEN, Network, synthetic};
use crate::record::GameReader;
use crate::teacher::tests::narrow_net;

fn config(directory: &Path, games: usize, chunk: usize) -> DatagenConfig {
    DatagenConfig {
        directory: directory.to_path_buf(),
        name: "test".to_owned(),
        games,
        chunk,
        seed: 9,
        threads: 2,
        kind: DatagenKind::Search(play()),
        teacher: None,
    }
}

fn play() -> PlaySettings {
    PlaySettings {
        budget: Budget::Nodes {
            soft: 100,
            hard: 1000,
        },
        hash: 1,
        opening: OpeningSettings {
            check_nodes: 200,
            ..OpeningSettings::default()
        },
        ..PlaySettings::default()
    }
}

fn eval_kind() -> EvalKind {
    EvalKind::Network(Network::embedded())
}

/// The bytes of the files in a folder, by name.
fn files(directory: &Path) -> Vec<(String, Vec<u8>)> {
    let mut files: Vec<_> = fs::read_dir(directory)
        .expect("a folder")
        .map(|entry| entry.expect("an entry"))
        .map(|entry| {
            let name = entry.file_name().to_string_lossy().into_owned();
            (name, fs::read(entry.path()).expect("a file"))
        })
        .collect();
    files.sort();
    files
}

#[test]
fn an_interrupted_run_makes_what_is_missing() {
    let directory = tempfile::tempdir().expect("a folder");
    let config = config(directory.path(), 3, 1);
    let summary = run(&config, &eval_kind()).expect("a run");
    assert_eq!(summary.games, 3);
    assert!(summary.quiet > 0 && summary.quiet <= summary.plies);
    let whole = files(directory.path());
    assert_eq!(whole.len(), 3 + 1, "and the run's settings");
    fs::remove_file(path_of(&config, 1)).expect("a chunk");
    assert_eq!(run(&config, &eval_kind()).expect("a run").games, 1);
    assert_eq!(files(directory.path()), whole);
    let games = GameReader::open(&path_of(&config, 0)).expect("a chunk");
    assert_eq!(games.filter_map(Result::ok).count(), 1);
}

#[test]
fn a_run_that_goes_on_with_other_settings_is_refused() {
    let directory = tempfile::tempdir().expect("a folder");
    let first = config(directory.path(), 1, 1);
    run(&first, &eval_kind()).expect("a run");
    let longer = config(directory.path(), 2, 1);
    assert_eq!(run(&longer, &eval_kind()).expect("a run").games, 1);
    let mut other = config(directory.path(), 3, 1);
    other.kind = DatagenKind::Search(PlaySettings { hash: 2, ..play() });
    let error = run(&other, &eval_kind()).expect_err("another table");
    assert!(
        format!("{error:#}").contains("hash 1 there, 2 here"),
        "{error:#}"
    );
    assert!(run(&longer, &EvalKind::Tapered).is_err(), "another player");
    let mut namesake = synthetic::random(HIDDEN, 1);
    namesake.name = Network::embedded().name().to_owned();
    let namesake = Network::new(&namesake).expect("this build's width");
    let error = run(&longer, &EvalKind::Network(namesake.into())).expect_err("a namesake");
    assert!(format!("{error:#}").contains("network_digest"), "{error:#}");
    // Files without a record are kept, and none is made up for them.
    let record = directory.path().join("test-9.json");
    fs::remove_file(&record).expect("a record");
    assert_eq!(run(&other, &eval_kind()).expect("a run").games, 1);
    assert!(!record.exists());
}

#[test]
fn so_many_games_are_played_as_were_asked_for() {
    let directory = tempfile::tempdir().expect("a folder");
    let five = config(directory.path(), 5, 3);
    assert_eq!(run(&five, &eval_kind()).expect("a run").games, 5);
    let lengths: Vec<usize> = (0..2)
        .map(|number| GameReader::open(&path_of(&five, number)).expect("a chunk"))
        .map(|reader| reader.filter(Result::is_ok).count())
        .collect();
    assert_eq!(lengths, [3, 2]);
    assert_eq!(run(&five, &eval_kind()).expect("a run").games, 0);
    // A longer run makes the short chunk again, with the same games and one more.
    let six = config(directory.path(), 6, 3);
    assert_eq!(run(&six, &eval_kind()).expect("a run").games, 3);
    assert_eq!(run(&five, &eval_kind()).expect("a run").games, 0);
}

#[test]
fn a_teacher_scores_what_was_played() {
    let directory = tempfile::tempdir().expect("a folder");
    let config = DatagenConfig {
        teacher: Some(narrow_net()),
        ..config(directory.path(), 1, 1)
    };
    run(&config, &eval_kind()).expect("a run");
    let mut reader = GameReader::open(&path_of(&config, 0)).expect("a chunk");
    let game = reader.next().expect("a game").expect("sound");
    let mut again = game.clone();
    let mut labeller = TeacherLabeller::new(narrow_net(), false);
    labeller.game(&mut again).expect("legal");
    assert_eq!(again, game);
}

/// As [`config`], but for positions that the search evaluated.
fn evaluated(directory: &Path, games: usize, chunk: usize) -> DatagenConfig {
    let settings = PlaySettings {
        sample: NonZero::new(16),
        ..play()
    };
    DatagenConfig {
        kind: DatagenKind::Evaluated(settings),
        ..config(directory, games, chunk)
    }
}

#[test]
fn evaluated_positions_are_kept_and_scored() {
    let directory = tempfile::tempdir().expect("a folder");
    let config = DatagenConfig {
        teacher: Some(narrow_net()),
        ..evaluated(directory.path(), 2, 1)
    };
    let summary = run(&config, &eval_kind()).expect("a run");
    let mut labeller = TeacherLabeller::new(narrow_net(), false);
    let mut count = 0;
    for number in 0..2 {
        for record in PositionReader::open(&path_of(&config, number)).expect("a chunk") {
            let record = record.expect("sound");
            let mut again = record;
            labeller.position(&mut again).expect("legal");
            // The labeller gives hints as well, which a plain file leaves out.
            again.hints = None;
            assert_eq!(again, record);
            count += 1;
        }
    }
    assert_eq!(count, summary.positions);
    assert!(count > 100, "{count}");
    assert_eq!(run(&config, &eval_kind()).expect("a run").games, 0);
}

#[test]
fn a_longer_run_completes_a_short_file_of_positions() {
    let directory = tempfile::tempdir().expect("a folder");
    let of = |games| evaluated(directory.path(), games, 2);
    let made = |games| run(&of(games), &eval_kind()).expect("a run").games;
    assert_eq!((made(3), made(3)), (3, 0));
    let positions = || {
        let reader = PositionReader::open(&path_of(&of(4), 1)).expect("a chunk");
        reader.filter(Result::is_ok).count()
    };
    let short = positions();
    assert_eq!((made(4), made(4), made(3)), (2, 0, 0));
    assert!(positions() > short);
    // Who asks for less is given less, which a longer run notices.
    fs::remove_file(path_of(&of(4), 1)).expect("a chunk");
    assert_eq!((made(3), made(4)), (1, 2));
    // The last file stays short when earlier ones are made again.
    assert_eq!((made(5), made(7)), (1, 3));
    fs::remove_file(path_of(&of(4), 0)).expect("a chunk");
    assert_eq!((made(2), made(8)), (2, 2));
    // A run for more was interrupted after its last file, before the one that was short was made.
    assert_eq!((made(9), made(11)), (1, 3));
    let record = record_path(&of(11));
    run_record::set_short_files(&record, &BTreeMap::from([(4, 1), (5, 1)])).expect("a record");
    assert_eq!(made(12), 4);
}

#[test]
fn damaged_chunks_do_not_count() {
    let directory = tempfile::tempdir().expect("a folder");
    let config = config(directory.path(), 2, 1);
    run(&config, &eval_kind()).expect("a run");
    let whole = files(directory.path());
    fs::write(path_of(&config, 0), "").expect("emptied");
    let half = &whole[1].1[..whole[1].1.len() / 2];
    fs::write(path_of(&config, 1), half).expect("cut off");
    assert_eq!(run(&config, &eval_kind()).expect("a run").games, 2);
    assert_eq!(files(directory.path()), whole);
}

#[test]
fn an_error_on_one_thread_ends_the_run() {
    const GAMES: usize = 60;
    let directory = tempfile::tempdir().expect("a folder");
    let config = config(directory.path(), GAMES, 1);
    // A file can't take the place of a folder.
    fs::create_dir(path_of(&config, 0)).expect("a folder");
    assert!(run(&config, &eval_kind()).is_err());
    let made = fs::read_dir(directory.path()).expect("a folder").count() - 1;
    assert!(made < GAMES / 2, "{made} games");
}

#[test]
fn two_runs_in_one_folder_do_not_disturb_each_other() {
    let [alone, shared] = [(); 2].map(|()| tempfile::tempdir().expect("a folder"));
    run(&config(alone.path(), 4, 1), &eval_kind()).expect("a run");
    let config = config(shared.path(), 4, 1);
    let both: Vec<_> = std::thread::scope(|scope| {
        let runs = [(); 2].map(|()| scope.spawn(|| run(&config, &eval_kind())));
        runs.map(|run| run.join().expect("no panic")).into()
    });
    for summary in both {
        summary.expect("a run");
    }
    assert_eq!(files(shared.path()), files(alone.path()));
}
