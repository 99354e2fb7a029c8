//! Many games on several threads, kept in files.
//!
//! Games are written in chunks. A chunk depends only on the settings, the networks, the seed and its
//! number, not on the threads, and its file gets its final name when it is complete
//! ([`files`](crate::files)); a run that is started again makes the missing chunks. So a killed run
//! loses at most one chunk per thread.

use std::fs;
use std::panic::resume_unwind;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

use anyhow::Context;
use fastrand::Rng;
use serde::Serialize;

use crate::eval::{EvalKind, Evaluator};
use crate::progress::ProgressReporter;
use crate::record::{
    GameReader, GameRecord, GameWriter, NO_SCORE, PackedBoard, PositionFormat, PositionReader,
    PositionRecord, PositionWriter, RecordError,
};
use crate::teacher::{Teacher, TeacherLabeller, TeacherNet};

use super::opening::NothingEven;
use super::play::{PlaySettings, Played, Player};
use super::quick::{QuickEvaluator, QuickPlayer, QuickSettings};
use super::run_record;
use super::summary::DatagenSummary;

/// Chunks of a run have neighbouring seeds, and runs with neighbouring seeds are this far apart: runs
/// with different seeds share none, as no run has that many chunks.
const SEED_STRIDE: u64 = 1 << 32;
/// Seeds of runs are below this: larger ones would wrap around to those of others.
pub const SEED_LIMIT: u64 = u64::MAX / SEED_STRIDE + 1;

/// The settings of a run.
#[derive(Clone, Debug)]
pub struct DatagenConfig {
    /// Where the files go; they are called `NAME-SEED-CHUNK.vf.zst`.
    pub directory: PathBuf,
    pub name: String,
    pub games: usize,
    /// Games in a file.
    pub chunk: usize,
    /// Below [`SEED_LIMIT`].
    pub seed: u64,
    pub threads: usize,
    pub kind: DatagenKind,
    /// Scores the positions in place of the players' own scores, if given.
    pub teacher: Option<Arc<TeacherNet>>,
}

/// What is generated, and how.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum DatagenKind {
    /// Games by the search; the scores are its own.
    Search(PlaySettings),
    /// Games by evaluation one ply ahead: the teacher's if there is one, otherwise the engine's.
    Quick(QuickSettings),
    /// Single positions: a sample of those that the search evaluated in such games, with the
    /// game's result, and without a score unless there is a teacher.
    Evaluated(PlaySettings),
}

/// Plays games of some kind.
enum Generator {
    Search(Box<Player>),
    Quick(Box<QuickPlayer>),
}

impl Generator {
    fn new(config: &DatagenConfig, eval_kind: &EvalKind) -> anyhow::Result<Generator> {
        Ok(match &config.kind {
            DatagenKind::Search(settings) | DatagenKind::Evaluated(settings) => {
                Generator::Search(Box::new(Player::new(settings.clone(), eval_kind)?))
            }
            DatagenKind::Quick(settings) => {
                let eval_kind = match &config.teacher {
                    Some(net) => QuickEvaluator::Teacher(Box::new(Teacher::new(Arc::clone(net)))),
                    None => QuickEvaluator::Own(Box::new(Evaluator::new(eval_kind.clone()))),
                };
                Generator::Quick(Box::new(QuickPlayer::new(settings.clone(), eval_kind)))
            }
        })
    }

    fn play(&mut self, rng: &mut Rng) -> Result<Played, NothingEven> {
        match self {
            Generator::Search(player) => player.play(rng),
            Generator::Quick(player) => player.play(rng),
        }
    }
}

/// Plays the games that are still missing. Progress goes to stderr: a bar on a terminal, a log
/// line from time to time elsewhere.
///
/// # Errors
/// Files that cannot be written, no memory, or a run of this name and seed with other settings.
pub fn run(config: &DatagenConfig, eval_kind: &EvalKind) -> anyhow::Result<DatagenSummary> {
    fs::create_dir_all(&config.directory)
        .with_context(|| format!("cannot create {}", config.directory.display()))?;
    let started = Instant::now();
    let chunk = config.chunk.max(1);
    let missing: Vec<Chunk> = (0..config.games.div_ceil(chunk))
        .map(|number| Chunk {
            number,
            games: chunk.min(config.games - number * chunk),
        })
        .filter(|part| !is_complete(config, part))
        .collect();
    let kept = config.games.div_ceil(chunk) - missing.len();
    keep_settings(config, eval_kind, kept)?;
    if kept > 0 {
        log::info!(
            "{kept} files named {}-{} are complete and kept",
            config.name,
            config.seed
        );
    }
    let games: usize = missing.iter().map(|part| part.games).sum();
    let work = Work {
        config,
        missing: &missing,
        games,
        next: AtomicUsize::new(0),
        has_failed: AtomicBool::new(false),
        played: AtomicU64::new(0),
        progress: Mutex::new((ProgressReporter::new(games as u64), 0)),
    };
    let mut summary = work.do_all(eval_kind)?;
    summary.seconds = started.elapsed().as_secs_f64();
    Ok(summary)
}

/// The settings that a run's files follow from. How many games and threads there are is none of
/// them: a run may go on with more of both.
#[derive(Serialize)]
struct RunSettings<'a> {
    seed: u64,
    chunk: usize,
    /// The name of the network that plays.
    network: &'a str,
    /// The name of the teacher's file.
    teacher: Option<String>,
    settings: &'a DatagenKind,
}

/// Writes `NAME-SEED.json`, or compares it with the run's settings.
fn keep_settings(config: &DatagenConfig, eval_kind: &EvalKind, kept: usize) -> anyhow::Result<()> {
    let settings = RunSettings {
        seed: config.seed,
        chunk: config.chunk,
        network: match eval_kind {
            EvalKind::Network(network) => network.name(),
            EvalKind::Tapered => "tapered",
        },
        teacher: config.teacher.as_deref().map(TeacherNet::file_name),
        settings: &config.kind,
    };
    let file = format!("{}-{}.json", config.name, config.seed);
    run_record::keep(&config.directory.join(file), &settings, kept)
}

fn path_of(config: &DatagenConfig, number: usize) -> PathBuf {
    let extension = match config.kind {
        DatagenKind::Search(_) | DatagenKind::Quick(_) => "vf.zst",
        DatagenKind::Evaluated(_) => "pos.zst",
    };
    config.directory.join(format!(
        "{}-{}-{number:04}.{extension}",
        config.name, config.seed
    ))
}

/// A file to be made.
struct Chunk {
    number: usize,
    /// How many games it is to hold; the last chunk may be shorter than the others.
    games: usize,
}

/// Whether a chunk's file exists and holds as many valid games as it should. A file of positions
/// does not record how many games they are from, so its last chunk may stay shorter than a longer
/// run would make it.
fn is_complete(config: &DatagenConfig, chunk: &Chunk) -> bool {
    let path = &path_of(config, chunk.number);
    if !path.exists() {
        return false;
    }
    let sound = || -> Result<usize, RecordError> {
        if matches!(config.kind, DatagenKind::Evaluated(_)) {
            PositionReader::open(path)?.try_for_each(|record| record.map(|_| ()))?;
            return Ok(chunk.games);
        }
        let mut reader = GameReader::open(path)?;
        let mut game = GameRecord::empty();
        let mut count = 0;
        while reader.read_into(&mut game)? {
            count += 1;
        }
        Ok(count)
    };
    match sound() {
        Ok(count) => count >= chunk.games,
        Err(error) => {
            log::warn!("{} is made again: {error}", path.display());
            false
        }
    }
}

struct Work<'a> {
    config: &'a DatagenConfig,
    missing: &'a [Chunk],
    /// In all missing chunks.
    games: usize,
    next: AtomicUsize,
    /// Whether a thread has met an error, at which the others end too.
    has_failed: AtomicBool,
    played: AtomicU64,
    progress: Mutex<(ProgressReporter, u64)>,
}

impl Work<'_> {
    /// Makes the chunks on all threads; at the first error every thread leaves its chunk undone.
    fn do_all(&self, eval_kind: &EvalKind) -> anyhow::Result<DatagenSummary> {
        let thread = || {
            let made = self.thread(eval_kind);
            if made.is_err() {
                self.has_failed.store(true, Ordering::Relaxed);
            }
            made
        };
        std::thread::scope(|scope| {
            let handles: Vec<_> = (0..self.config.threads.max(1))
                .map(|_| scope.spawn(thread))
                .collect();
            let mut summary = DatagenSummary::default();
            for handle in handles {
                let made = handle.join().unwrap_or_else(|panic| resume_unwind(panic));
                summary.add(&made?);
            }
            Ok(summary)
        })
    }

    fn thread(&self, eval_kind: &EvalKind) -> anyhow::Result<DatagenSummary> {
        let mut generator = Generator::new(self.config, eval_kind)?;
        let teacher = self.config.teacher.as_ref();
        let mut labeller = teacher.map(|net| TeacherLabeller::new(Arc::clone(net), false));
        let mut summary = DatagenSummary::default();
        while !self.has_failed.load(Ordering::Relaxed) {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(chunk) = self.missing.get(index) else {
                break;
            };
            self.write_chunk(chunk, &mut generator, labeller.as_mut(), &mut summary)?;
        }
        Ok(summary)
    }

    fn write_chunk(
        &self,
        chunk: &Chunk,
        generator: &mut Generator,
        mut labeller: Option<&mut TeacherLabeller>,
        summary: &mut DatagenSummary,
    ) -> anyhow::Result<()> {
        let seed = self
            .config
            .seed
            .wrapping_mul(SEED_STRIDE)
            .wrapping_add(chunk.number as u64);
        let mut rng = Rng::with_seed(seed);
        let mut writer = ChunkWriter::create(self.config, chunk.number)?;
        for _ in 0..chunk.games {
            if self.has_failed.load(Ordering::Relaxed) {
                return Ok(());
            }
            let mut played = generator.play(&mut rng)?;
            summary.note(&played);
            summary.positions += writer.write(&mut played, labeller.as_deref_mut())?;
            let games = self.played.fetch_add(1, Ordering::Relaxed) + 1;
            self.show_progress(games, played.game.plies.len() as u64);
        }
        writer.finish()?;
        Ok(())
    }

    /// Reports that `games` games are played, the last one of them with `plies` plies.
    fn show_progress(&self, games: u64, plies: u64) {
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let (reporter, played) = &mut *progress;
        *played += plies;
        let speed = reporter.per_second(*played);
        let message = format!("{games} of {} games, {speed:.0} plies/s", self.games);
        reporter.update(games, &message);
    }
}

/// A chunk's file.
enum ChunkWriter {
    Games(GameWriter),
    Positions(PositionWriter),
}

impl ChunkWriter {
    fn create(config: &DatagenConfig, number: usize) -> Result<ChunkWriter, RecordError> {
        let path = path_of(config, number);
        Ok(match config.kind {
            DatagenKind::Search(_) | DatagenKind::Quick(_) => {
                ChunkWriter::Games(GameWriter::create(&path)?)
            }
            DatagenKind::Evaluated(_) => {
                ChunkWriter::Positions(PositionWriter::create(&path, PositionFormat::Plain)?)
            }
        })
    }

    /// Writes the records of a game, labelled, and returns the number of single positions.
    fn write(
        &mut self,
        played: &mut Played,
        labeller: Option<&mut TeacherLabeller>,
    ) -> anyhow::Result<u64> {
        match self {
            ChunkWriter::Games(writer) => {
                if let Some(labeller) = labeller {
                    labeller.game(&mut played.game)?;
                }
                writer.write(&played.game)?;
                Ok(0)
            }
            ChunkWriter::Positions(writer) => {
                let mut labeller = labeller;
                for position in &played.evaluated {
                    let score = labeller.as_mut().map_or(NO_SCORE, |labeller| {
                        labeller.reset(position);
                        labeller.score(position)
                    });
                    writer.write(&PositionRecord {
                        board: PackedBoard::pack(position),
                        score,
                        result: played.game.result,
                        hints: None,
                    })?;
                }
                Ok(played.evaluated.len() as u64)
            }
        }
    }

    fn finish(self) -> Result<(), RecordError> {
        match self {
            ChunkWriter::Games(writer) => writer.finish(),
            ChunkWriter::Positions(writer) => writer.finish(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::num::NonZero;
    use std::path::Path;

    use crate::datagen::opening::OpeningSettings;
    use crate::datagen::play::Budget;
    use crate::nnue::Network;
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

    #[test]
    fn evaluated_positions_are_kept_and_scored() {
        let directory = tempfile::tempdir().expect("a folder");
        let settings = PlaySettings {
            sample: NonZero::new(16),
            ..play()
        };
        let config = DatagenConfig {
            kind: DatagenKind::Evaluated(settings),
            teacher: Some(narrow_net()),
            ..config(directory.path(), 2, 1)
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
}
