//! New scores for recorded games and positions.
//!
//! They come from a network file of another engine, computed here at some microseconds each
//! ([`teacher`](crate::teacher)), or from any UCI engine ([`engine`]), which runs in a separate
//! process ([`client`]). Scores are centipawns from White's side.

pub mod client;
pub mod engine;
mod nearby;

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use thiserror::Error;

use crate::files;
use crate::record::{
    GameReader, GameRecord, GameWriter, PositionFormat, PositionReader, PositionRecord,
    PositionWriter, RecordError, holds_positions,
};
use crate::teacher::{IllegalRecord, TeacherLabeller};

use client::ClientError;
pub use nearby::Nearby;

/// Gives scores, on one thread.
pub trait Labeller: Send {
    /// Rewrites the scores of a game.
    ///
    /// # Errors
    /// The game's start or a move is illegal, or there is no score.
    fn game(&mut self, game: &mut GameRecord) -> Result<(), LineError>;

    /// Rewrites the score of a position.
    ///
    /// # Errors
    /// The position is illegal, or there is no score.
    fn position(&mut self, record: &mut PositionRecord) -> Result<(), LineError>;
}

impl Labeller for TeacherLabeller {
    fn game(&mut self, game: &mut GameRecord) -> Result<(), LineError> {
        Ok(TeacherLabeller::game(self, game)?)
    }

    fn position(&mut self, record: &mut PositionRecord) -> Result<(), LineError> {
        Ok(TeacherLabeller::position(self, record)?)
    }
}

/// Why a game or a position got no label.
#[derive(Debug, Error)]
pub enum LineError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error(
        "the engine gave no score for {0} (without --nodes, only what it prints as 'Final \
         evaluation' after 'eval' is read)"
    )]
    NoScore(String),
    #[error(transparent)]
    Illegal(#[from] IllegalRecord),
}

/// Why labelling failed.
#[derive(Debug, Error)]
pub enum LabelError {
    #[error("{} would be replaced by its own labels: name another output", .0.display())]
    InputIsOutput(PathBuf),
    #[error("files of games have no place for hints: {} would hold none", .0.display())]
    HintsOfGames(PathBuf),
    #[error("{}: {source}", path.display())]
    Record { path: PathBuf, source: RecordError },
    #[error("{}: {kind} {number}: {source}", path.display())]
    Line {
        path: PathBuf,
        kind: &'static str,
        number: u64,
        source: LineError,
    },
    #[error("a labelling thread panicked")]
    Thread,
}

/// What is labelled and where the labels go.
#[derive(Clone, Debug)]
pub struct LabelJob {
    /// A file of games or of positions.
    pub input: PathBuf,
    /// A file of the same kind, or of positions if these are to be [`Nearby`].
    pub output: PathBuf,
    /// Label positions near the recorded ones instead of these.
    pub nearby: Option<Nearby>,
    /// How positions are written; only a teacher's network gives hints, and games have none.
    pub format: PositionFormat,
}

/// Progress of labelling.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct LabelProgress {
    /// Games, or positions in a file of positions.
    pub records: u64,
    /// Plies of games, or positions, that were labelled.
    pub positions: u64,
    /// Bytes of the input read so far.
    pub bytes: u64,
}

/// Labels a whole file in its order, a share for each of the `labellers`; `report` is called from
/// time to time.
///
/// # Errors
/// A record or a labeller fails. The output is then left as it was.
pub fn run(
    job: &LabelJob,
    labellers: &mut [Box<dyn Labeller>],
    report: impl FnMut(LabelProgress),
) -> Result<LabelProgress, LabelError> {
    if files::are_same(&job.input, &job.output) {
        return Err(LabelError::InputIsOutput(job.output.clone()));
    }
    let input = |source| record_error(&job.input, source);
    let output = |source| record_error(&job.output, source);
    let read = Arc::new(AtomicU64::new(0));
    let bytes = Arc::clone(&read);
    let mut labelling = LabelRun {
        path: &job.input,
        labellers,
        bytes: &read,
        report,
        done: LabelProgress::default(),
    };
    let of_positions = holds_positions(&job.input).map_err(input)?;
    if !of_positions && job.nearby.is_none() && job.format == PositionFormat::Hinted {
        return Err(LabelError::HintsOfGames(job.output.clone()));
    }
    if of_positions {
        let mut reader = PositionReader::open_counted(&job.input, bytes).map_err(input)?;
        let mut writer = PositionWriter::create(&job.output, job.format).map_err(output)?;
        labelling.positions(&mut reader, job.nearby, |record| {
            writer.write(record).map_err(output)
        })?;
        writer.finish().map_err(output)?;
        return Ok(labelling.done);
    }
    let mut reader = GameReader::open_counted(&job.input, bytes).map_err(input)?;
    if let Some(nearby) = job.nearby {
        let mut writer = PositionWriter::create(&job.output, job.format).map_err(output)?;
        labelling.near_games(&mut reader, nearby, |record| {
            writer.write(record).map_err(output)
        })?;
        writer.finish().map_err(output)?;
    } else {
        let mut writer = GameWriter::create(&job.output).map_err(output)?;
        labelling.games(&mut reader, |record| writer.write(record).map_err(output))?;
        writer.finish().map_err(output)?;
    }
    Ok(labelling.done)
}

fn record_error(path: &Path, source: RecordError) -> LabelError {
    LabelError::Record {
        path: path.to_path_buf(),
        source,
    }
}

/// Games handed to a labeller at once.
const GAMES: usize = 64;

/// The labelling of one file.
struct LabelRun<'a, Report> {
    path: &'a Path,
    labellers: &'a mut [Box<dyn Labeller>],
    bytes: &'a AtomicU64,
    report: Report,
    done: LabelProgress,
}

impl<Report: FnMut(LabelProgress)> LabelRun<'_, Report> {
    /// Labels positions, or one near each.
    fn positions(
        &mut self,
        reader: &mut impl Iterator<Item = Result<PositionRecord, RecordError>>,
        nearby: Option<Nearby>,
        mut write: impl FnMut(&PositionRecord) -> Result<(), LabelError>,
    ) -> Result<(), LabelError> {
        const SHARE: usize = 1 << 14;
        let mut reader = reader.map(|record| record.map(Some));
        while let Some(block) =
            self.block(&mut reader, SHARE, "position", |by, number, record| {
                let Some(found) = record else { return Ok(()) };
                if let Some(nearby) = nearby {
                    *record = nearby.of_record(found, &mut nearby.rng(number))?;
                }
                record.as_mut().map_or(Ok(()), |record| by.position(record))
            })?
        {
            block.iter().flatten().try_for_each(&mut write)?;
            self.note(block.len(), block.iter().flatten().count());
        }
        Ok(())
    }

    /// Labels games.
    fn games(
        &mut self,
        reader: &mut impl Iterator<Item = Result<GameRecord, RecordError>>,
        mut write: impl FnMut(&GameRecord) -> Result<(), LabelError>,
    ) -> Result<(), LabelError> {
        while let Some(block) = self.block(reader, GAMES, "game", |by, _, game| by.game(game))? {
            block.iter().try_for_each(&mut write)?;
            let plies = block.iter().map(|game| game.plies.len()).sum();
            self.note(block.len(), plies);
        }
        self.some_game()
    }

    /// Labels one position near each of the games' positions.
    fn near_games(
        &mut self,
        reader: &mut impl Iterator<Item = Result<GameRecord, RecordError>>,
        nearby: Nearby,
        mut write: impl FnMut(&PositionRecord) -> Result<(), LabelError>,
    ) -> Result<(), LabelError> {
        let mut reader = reader.map(|game| game.map(|game| (game, Vec::new())));
        while let Some(block) = self.block(&mut reader, GAMES, "game", |by, number, item| {
            let (game, records) = item;
            *records = nearby.of_game(game, &mut nearby.rng(number))?;
            records
                .iter_mut()
                .try_for_each(|record| by.position(record))
        })? {
            let records = block.iter().flat_map(|(_, records)| records);
            records.clone().try_for_each(&mut write)?;
            self.note(block.len(), records.count());
        }
        self.some_game()
    }

    fn some_game(&self) -> Result<(), LabelError> {
        if self.done.records == 0 {
            return Err(record_error(self.path, RecordError::NoGames));
        }
        Ok(())
    }

    /// Reads up to `share` records for each labeller and has them labelled; `None` at the end.
    fn block<T: Send>(
        &mut self,
        reader: &mut impl Iterator<Item = Result<T, RecordError>>,
        share: usize,
        kind: &'static str,
        label: impl Fn(&mut dyn Labeller, u64, &mut T) -> Result<(), LineError> + Sync,
    ) -> Result<Option<Vec<T>>, LabelError> {
        let block: Result<Vec<T>, RecordError> =
            reader.take(share * self.labellers.len()).collect();
        let mut block = block.map_err(|source| record_error(self.path, source))?;
        if block.is_empty() {
            return Ok(None);
        }
        let share = block.len().div_ceil(self.labellers.len());
        let (path, before, label) = (self.path, self.done.records, &label);
        let has_failed = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let work = |(index, (labeller, part)): (usize, (&mut Box<dyn Labeller>, &mut [T]))| {
                let first = before + (index * share) as u64 + 1;
                for (number, record) in (first..).zip(part) {
                    // Another one's failure ends the run, and an engine may take hours for a share.
                    if has_failed.load(Ordering::Relaxed) {
                        break;
                    }
                    label(labeller.as_mut(), number, record).map_err(|source| {
                        has_failed.store(true, Ordering::Relaxed);
                        LabelError::Line {
                            path: path.to_path_buf(),
                            kind,
                            number,
                            source,
                        }
                    })?;
                }
                Ok(())
            };
            let shares = self.labellers.iter_mut().zip(block.chunks_mut(share));
            let handles: Vec<_> = shares
                .enumerate()
                .map(|share| scope.spawn(move || work(share)))
                .collect();
            for handle in handles {
                handle.join().map_err(|_| LabelError::Thread)??;
            }
            Ok(())
        })?;
        Ok(Some(block))
    }

    fn note(&mut self, records: usize, positions: usize) {
        self.done.records += records as u64;
        self.done.positions += positions as u64;
        self.done.bytes = self.bytes.load(Ordering::Relaxed);
        (self.report)(self.done);
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::engine::{EngineLabeller, LabelMode};
    use super::*;
    use crate::board::Position;
    use crate::record::NO_SCORE;

    /// A program for tests: a shell script that exists as long as this value.
    #[cfg(unix)]
    pub(super) struct Script {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    #[cfg(unix)]
    impl Script {
        pub(super) fn new(text: &str) -> Script {
            use std::io::Write as _;
            use std::process::{Command, Stdio};

            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("engine");
            // Written by another process: a file that this one had open for writing could not be
            // run while a process that another test just started still holds it.
            let mut shell = Command::new("sh")
                .args(["-c", "cat > \"$0\" && chmod +x \"$0\""])
                .arg(&path)
                .stdin(Stdio::piped())
                .spawn()
                .expect("a shell");
            let mut input = shell.stdin.take().expect("a pipe");
            write!(input, "#!/bin/sh\n{text}\n").expect("written");
            drop(input);
            assert!(shell.wait().expect("an end").success());
            Script {
                _folder: folder,
                path,
            }
        }

        pub(super) fn path(&self) -> &Path {
            &self.path
        }
    }

    /// Labels with two processes of an engine.
    #[cfg(unix)]
    fn label(
        job: &LabelJob,
        engine: &Script,
        mode: LabelMode,
    ) -> Result<LabelProgress, LabelError> {
        const TIMEOUT: Duration = Duration::from_secs(60);
        let start = || EngineLabeller::start(engine.path(), mode, TIMEOUT);
        let mut engines: Vec<Box<dyn Labeller>> = Vec::new();
        for _ in 0..2 {
            engines.push(Box::new(start().expect("an engine")));
        }
        run(job, &mut engines, |_| ())
    }

    /// A folder with a file of random games, and what to do with it.
    #[cfg(unix)]
    fn job() -> (tempfile::TempDir, LabelJob) {
        use crate::board::tests::Random;
        use crate::record::tests::{random_game, write_games};

        let folder = tempfile::tempdir().expect("a folder");
        let file = folder.path().join("games.vf.zst");
        let game = |seed| {
            let plies = 10 + seed as usize % 5;
            random_game(&mut Random(seed), Position::startpos(), plies, |_, _| 0).0
        };
        write_games(&file, &(0..40).map(game).collect::<Vec<_>>());
        let job = LabelJob {
            output: folder.path().join("labelled.vf.zst"),
            input: file,
            nearby: None,
            format: PositionFormat::Plain,
        };
        (folder, job)
    }

    #[cfg(unix)]
    const ANSWERS: &str = "
while read -r word rest; do
  case $word in
    uci) echo 'option name UCI_Chess960 type check default false'; echo uciok ;;
    isready) echo readyok ;;
    eval) echo 'Final evaluation +0.50 (white side)' ;;
    go) echo 'info depth 1 score cp 70 pv a2a3'; echo 'bestmove a2a3' ;;
    quit) exit ;;
  esac
done";

    #[cfg(unix)]
    #[test]
    fn games_are_labelled_in_order_for_both_colours() {
        let engine = Script::new(ANSWERS);
        let (_folder, job) = job();
        let read = |path: &Path| -> Vec<GameRecord> {
            GameReader::open(path)
                .expect("a file")
                .map(|game| game.expect("a game"))
                .collect()
        };
        let before = read(&job.input);
        let done = label(&job, &engine, LabelMode::Static).expect("labels");
        assert_eq!(done.records, 40);
        let mut after = read(&job.output);
        let scores: Vec<i16> = after
            .iter()
            .flat_map(|g| &g.plies)
            .map(|p| p.score)
            .collect();
        assert!(scores.iter().all(|&score| score == 50 || score == NO_SCORE));
        after
            .iter_mut()
            .flat_map(|game| &mut game.plies)
            .for_each(|ply| ply.score = 0);
        assert_eq!(after, before);
        label(&job, &engine, LabelMode::Nodes(100)).expect("labels");
        for game in read(&job.output) {
            let scores: Vec<i16> = game.plies.iter().map(|ply| ply.score).collect();
            assert!(
                scores.iter().step_by(2).all(|&score| score == 70),
                "White to move"
            );
            assert!(scores.iter().skip(1).step_by(2).all(|&score| score == -70));
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_engine_that_fails_leaves_the_output_as_it_was() {
        {
            let greeting = "echo 'option name UCI_Chess960'; echo uciok";
            let engine = Script::new(&format!(
                "read l; {greeting}; read l; read l; echo readyok; read l"
            ));
            let (folder, job) = job();
            std::fs::write(&job.output, "precious").expect("written");
            assert!(label(&job, &engine, LabelMode::Static).is_err());
            assert_eq!(std::fs::read(&job.output).expect("the file"), b"precious");
            let left = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(left, 2, "no temporary file stays");
        }
    }

    #[cfg(unix)]
    #[test]
    fn hints_are_refused_where_games_are_written() {
        let (_folder, mut job) = job();
        job.format = PositionFormat::Hinted;
        let result = run(&job, &mut [], |_| ());
        assert!(
            matches!(result, Err(LabelError::HintsOfGames(_))),
            "{result:?}"
        );
        assert!(!job.output.exists());
    }

    #[cfg(unix)]
    #[test]
    fn games_are_not_replaced_by_their_labels() {
        let engine = Script::new(ANSWERS);
        let (_folder, mut job) = job();
        let before = std::fs::read(&job.input).expect("the games");
        job.output = job.input.clone();
        let result = label(&job, &engine, LabelMode::Static);
        assert!(
            matches!(result, Err(LabelError::InputIsOutput(_))),
            "{result:?}"
        );
        assert_eq!(std::fs::read(&job.input).expect("the games"), before);
    }
}
