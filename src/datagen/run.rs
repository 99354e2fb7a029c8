//! Many games on several threads, kept in files.
//!
//! Games are written in chunks. A chunk depends only on the settings, the networks, the seed and its
//! number, not on the threads, and its file gets its final name when it is complete
//! ([`files`](crate::files)); a run that is started again makes the missing chunks. So a killed run
//! loses at most one chunk per thread.

use std::collections::BTreeMap;
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
    let record = record_path(config);
    let mut short_files = run_record::short_files(&record);
    let missing: Vec<Chunk> = (0..config.games.div_ceil(chunk))
        .map(|number| Chunk {
            number,
            games: chunk.min(config.games - number * chunk),
        })
        .filter(|part| {
            let held = short_files.get(&part.number);
            let is_short = held.is_some_and(|&games| games < part.games);
            is_short || !is_complete(config, part)
        })
        .collect();
    let kept = config.games.div_ceil(chunk) - missing.len();
    keep_settings(config, eval_kind, kept)?;
    // Entered before they are made, and taken out only when they have been made again: whenever a run
    // is interrupted, no short file is taken for a whole one.
    let short = missing.iter().filter(|part| part.games < chunk);
    short_files.extend(short.map(|part| (part.number, part.games)));
    keep_short_files(config, &short_files)?;
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
    for part in missing.iter().filter(|part| part.games == chunk) {
        short_files.remove(&part.number);
    }
    keep_short_files(config, &short_files)?;
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
    /// A hash of its first layer, for many networks have the same name.
    #[serde(skip_serializing_if = "Option::is_none")]
    network_digest: Option<String>,
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
        network_digest: match eval_kind {
            EvalKind::Network(network) => Some(format!("{:016x}", network.digest())),
            EvalKind::Tapered => None,
        },
        teacher: config.teacher.as_deref().map(TeacherNet::file_name),
        settings: &config.kind,
    };
    run_record::keep(&record_path(config), &settings, kept)
}

/// Writes which files of positions are of fewer games than the others: unlike a file of games, such a
/// file does not say how many it is from.
fn keep_short_files(config: &DatagenConfig, files: &BTreeMap<usize, usize>) -> anyhow::Result<()> {
    if matches!(config.kind, DatagenKind::Evaluated(_)) {
        run_record::set_short_files(&record_path(config), files)?;
    }
    Ok(())
}

fn record_path(config: &DatagenConfig) -> PathBuf {
    config
        .directory
        .join(format!("{}-{}.json", config.name, config.seed))
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

/// Whether a chunk's file exists and holds as many valid games as it should; a file of positions
/// need only be sound (see [`keep_short_files`]).
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
mod tests;
