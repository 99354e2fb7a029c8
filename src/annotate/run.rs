//! Many games: read, analysed on several threads, and written in the order of the input.
//!
//! A reader takes games from the input, the workers analyse them, and the caller's thread writes.
//! At most a fixed number of games is in memory at any time, so memory does not grow with the
//! input.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::{self, Read, Seek as _, Write as _};
use std::ops::RangeInclusive;
use std::path::Path;
use std::thread::Builder;

use anyhow::{Context as _, bail, ensure};
use crossbeam_channel::{Receiver, Sender, bounded};

use super::analysis::analyse;
use super::job::AnnotateJob;
use super::journal::{Done, Journal};
use super::markup::{annotate, command, prose};
use super::opening_names::add_opening_name;
use super::output::{check_paths, create_output, open_output};
use super::report::{GameInfo, IndexEntry, game_file, page, write_index};
use crate::board::{PgnError, PgnGame, PgnReader, decompress, open_input};
use crate::engine::{Engine, EngineError};
use crate::types::Move;

/// What is said if the system refuses a thread.
const NO_THREAD: &str = "cannot start a thread";

/// Games in memory for each worker: one that it analyses, one ready for it, and some that wait
/// for an earlier game to be written.
const GAMES_A_WORKER: usize = 8;

/// Receives a run's progress; called from several threads.
pub trait AnnotateProgress: Sync {
    /// How many games there are, if that is known, and how many of them were done before.
    fn begin(&self, total: Option<u64>, done: u64);
    /// A position has been searched, in a game of this many.
    fn position(&self, positions: usize);
    /// A game has been written or skipped.
    fn done(&self, number: u64);
    /// A broken game is skipped: none of its positions is searched.
    fn skipped(&self, number: u64, reason: &str);
    /// A part of a game has been left out.
    fn left_out(&self, number: u64, reason: &str);
}

/// The result of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RunTotals {
    pub annotated: u64,
    pub broken: u64,
    /// Games that an earlier run had done.
    pub done_before: u64,
}

/// A game that its worker has finished.
struct Made {
    pgn: String,
    html: Option<String>,
    entry: Option<IndexEntry>,
    warnings: Vec<String>,
}

/// A game in progress with its number in the input; for a broken one, the reason.
type Numbered<T> = (u64, Result<T, String>);

/// Annotates all games of the job that an earlier run has not done yet.
///
/// # Errors
/// If a file cannot be read or written, the input holds no game, or an engine fails. A broken game
/// is not an error.
pub fn run(
    job: &AnnotateJob,
    new_engine: impl Fn() -> Result<Engine, EngineError> + Sync,
    progress: &impl AnnotateProgress,
) -> anyhow::Result<RunTotals> {
    check_paths(job)?;
    let identity = identity(job)?;
    let begun = open_output(job, &identity)?;
    let total = count(job)?;
    ensure!(total != Some(0), "no game in {}", input_label(job));
    let games = match (job.shard, total) {
        (Some(shard), Some(total)) => shard.games(total),
        (Some(_), None) => bail!("a shard needs an input that can be read twice: a file"),
        (None, _) => 1..=u64::MAX,
    };
    if let Some(directory) = &job.report {
        fs::create_dir_all(directory)
            .with_context(|| format!("cannot create {}", directory.display()))?;
    }
    // Last: an output left by a run that fails at once would block the next one.
    let (output, journal) = match begun {
        Some(begun) => begun,
        None => create_output(job, &identity)?,
    };
    let wanted = total.map(|total| (*games.end()).min(total) + 1 - *games.start());
    let first = journal
        .last()
        .map_or(*games.start(), |done| done.number + 1);
    let done_before = first - games.start();
    progress.begin(wanted, done_before);
    let mut writer = Writer {
        job,
        output,
        journal,
        totals: RunTotals {
            done_before,
            ..RunTotals::default()
        },
        progress,
    };
    annotate_games(&(first..=*games.end()), new_engine, &mut writer)?;
    if total.is_none() && writer.is_empty() {
        writer.discard()?;
        bail!("no game in {}", input_label(job));
    }
    writer.finish()
}

/// Reads the games of a range, has the workers annotate them, and writes them in order.
fn annotate_games<P: AnnotateProgress>(
    range: &RangeInclusive<u64>,
    new_engine: impl Fn() -> Result<Engine, EngineError> + Sync,
    writer: &mut Writer<'_, P>,
) -> anyhow::Result<()> {
    let (job, progress) = (writer.job, writer.progress);
    let input = open(job)?;
    std::thread::scope(|scope| {
        let window = job.workers * GAMES_A_WORKER;
        let (tickets, returned) = bounded(window);
        for _ in 0..window {
            let _ = tickets.send(());
        }
        let (read, waiting) = bounded(job.workers);
        let reader = Builder::new()
            .spawn_scoped(scope, move || read_games(input, range, &returned, &read))
            .context(NO_THREAD)?;
        let (made, finished) = bounded(window);
        for _ in 0..job.workers {
            let (waiting, made, new_engine) = (waiting.clone(), made.clone(), &new_engine);
            Builder::new()
                .spawn_scoped(scope, move || {
                    work(job, &waiting, &made, new_engine, progress);
                })
                .context(NO_THREAD)?;
        }
        drop((made, waiting));
        let mut early = BTreeMap::new();
        let mut next = *range.start();
        for game in finished {
            let (number, game) = game?;
            early.insert(number, game);
            while let Some(game) = early.remove(&next) {
                writer.write(next, game)?;
                let _ = tickets.send(());
                next += 1;
            }
        }
        drop(tickets);
        match reader.join() {
            Ok(read) => read,
            Err(_) => bail!("the reading thread panicked"),
        }
    })
}

fn index_title(job: &AnnotateJob) -> String {
    let name = job.input.as_deref().and_then(Path::file_name);
    name.map_or_else(
        || "Games".to_owned(),
        |name| name.to_string_lossy().into_owned(),
    )
}

/// The input in messages.
fn input_label(job: &AnnotateJob) -> String {
    let path = job.input.as_ref();
    path.map_or_else(
        || "standard input".to_owned(),
        |path| path.display().to_string(),
    )
}

/// What must be the same when a run is continued.
fn identity(job: &AnnotateJob) -> anyhow::Result<String> {
    let identity = format!("{}; {}", job.settings, input_name(job)?);
    Ok(match &job.report {
        Some(report) => format!("{identity}; report in {}", report.display()),
        None => identity,
    })
}

/// Identifies the input when a run is continued: its name and length.
fn input_name(job: &AnnotateJob) -> anyhow::Result<String> {
    let name = input_label(job);
    let Some(path) = &job.input else {
        return Ok(name);
    };
    let found = fs::metadata(path).with_context(|| format!("cannot read {name}"))?;
    Ok(format!("{name} of {} bytes", found.len()))
}

fn open(job: &AnnotateJob) -> anyhow::Result<Box<dyn Read + Send>> {
    match &job.input {
        Some(path) => open_input(path).with_context(|| format!("cannot read {}", path.display())),
        None => Ok(decompress(io::stdin())?),
    }
}

/// How many games a file has, broken ones included; `None` for an input that can be read only
/// once, which a pipe is as well.
fn count(job: &AnnotateJob) -> anyhow::Result<Option<u64>> {
    let Some(path) = job.input.as_ref().filter(|_| job.is_read_again()) else {
        return Ok(None);
    };
    let mut total = 0;
    for game in PgnReader::main_lines(open(job)?) {
        if let Err(PgnError::Input { source, .. }) = game {
            return Err(source).with_context(|| format!("cannot read {}", path.display()));
        }
        total += 1;
    }
    Ok(Some(total))
}

/// Takes games from the input, as many as there are tickets.
fn read_games(
    input: Box<dyn Read + Send>,
    range: &RangeInclusive<u64>,
    tickets: &Receiver<()>,
    games: &Sender<Numbered<PgnGame>>,
) -> anyhow::Result<()> {
    for (number, game) in (1..).zip(PgnReader::new(input)) {
        if number > *range.end() {
            return Ok(());
        }
        if number < *range.start() {
            continue;
        }
        let game = match game {
            Ok(game) => Ok(game),
            Err(PgnError::Game { reason, .. }) => Err(reason),
            Err(error @ PgnError::Input { .. }) => return Err(error.into()),
        };
        // A closed channel means that the run has been aborted.
        if tickets.recv().is_err() || games.send((number, game)).is_err() {
            return Ok(());
        }
    }
    Ok(())
}

/// Runs one worker, which receives games and sends annotated games.
fn work(
    job: &AnnotateJob,
    games: &Receiver<Numbered<PgnGame>>,
    made: &Sender<anyhow::Result<Numbered<Made>>>,
    new_engine: &impl Fn() -> Result<Engine, EngineError>,
    progress: &impl AnnotateProgress,
) {
    // Made for the first game: there may be fewer games than workers.
    let mut engine: Option<Engine> = None;
    for (number, game) in games {
        let result = match game {
            Err(reason) => Ok((number, Err(reason))),
            Ok(game) => with_engine(&mut engine, new_engine)
                .and_then(|engine| make(job, number, game, engine, progress))
                .map(|game| (number, Ok(game))),
        };
        if made.send(result).is_err() {
            return;
        }
    }
}

fn with_engine<'a>(
    engine: &'a mut Option<Engine>,
    new_engine: &impl Fn() -> Result<Engine, EngineError>,
) -> anyhow::Result<&'a mut Engine> {
    Ok(match engine {
        Some(engine) => engine,
        None => engine.insert(new_engine()?),
    })
}

fn make(
    job: &AnnotateJob,
    number: u64,
    mut game: PgnGame,
    engine: &mut Engine,
    progress: &impl AnnotateProgress,
) -> anyhow::Result<Made> {
    let moves: Vec<Move> = game.main_line.moves.iter().map(|m| m.played).collect();
    let positions = moves.len() + 1;
    let analysis = analyse(engine, &game.start, &moves, &job.method, || {
        progress.position(positions);
    })?;
    add_opening_name(&mut game);
    let (html, entry) = match &job.report {
        None => (None, None),
        Some(_) => {
            let info = info(number, &game);
            let (html, entry) = page(&info, &analysis, job.method.curve, &job.settings)?;
            (Some(html), Some(entry))
        }
    };
    annotate(&mut game, &analysis, job.line_plies);
    Ok(Made {
        pgn: game.to_string(),
        html,
        entry,
        warnings: game.warnings,
    })
}

fn info(number: u64, game: &PgnGame) -> GameInfo {
    let result = game.result_header();
    let others = game.headers.iter().filter(|(name, _)| *name != "Result");
    let moves = &game.main_line.moves;
    GameInfo {
        number,
        tags: others
            .chain([("Result", result.as_str())])
            .map(|(name, value)| (name.to_owned(), value.to_owned()))
            .collect(),
        clocks: moves
            .iter()
            .map(|m| command(&m.comment, "clk").map(str::to_owned))
            .collect(),
        comments: moves.iter().map(|m| prose(&m.comment)).collect(),
        nags: moves.iter().map(|m| m.nags.clone()).collect(),
    }
}

/// Writes what the workers have made.
struct Writer<'a, P> {
    job: &'a AnnotateJob,
    output: File,
    journal: Journal,
    totals: RunTotals,
    progress: &'a P,
}

impl<P: AnnotateProgress> Writer<'_, P> {
    /// Writes the next game in order: the output first, then its page, then the journal, so that
    /// every game in the journal has its output and page.
    fn write(&mut self, number: u64, game: Result<Made, String>) -> anyhow::Result<()> {
        let entry = match game {
            Err(reason) => {
                self.totals.broken += 1;
                self.progress.skipped(number, &reason);
                None
            }
            Ok(made) => self.write_annotated(number, made)?,
        };
        self.journal.add(&Done {
            number,
            bytes: self.output.stream_position()?,
            entry,
        })?;
        self.progress.done(number);
        Ok(())
    }

    /// Writes an annotated game and its page; what the index shows of it is returned.
    fn write_annotated(&mut self, number: u64, made: Made) -> anyhow::Result<Option<IndexEntry>> {
        self.totals.annotated += 1;
        self.output
            .write_all(made.pgn.as_bytes())
            .with_context(|| format!("cannot write {}", self.job.output.display()))?;
        for warning in &made.warnings {
            self.progress.left_out(number, warning);
        }
        if let (Some(directory), Some(html)) = (&self.job.report, &made.html) {
            let path = directory.join(game_file(number));
            fs::write(&path, html).with_context(|| format!("cannot write {}", path.display()))?;
        }
        Ok(made.entry)
    }

    /// Whether neither this run nor an earlier one has met a game.
    const fn is_empty(&self) -> bool {
        self.totals.annotated + self.totals.broken + self.totals.done_before == 0
    }

    /// Removes the output and the journal.
    fn discard(self) -> io::Result<()> {
        drop(self.output);
        self.journal.remove()?;
        fs::remove_file(&self.job.output)
    }

    /// Writes the report's index and removes the journal: the run is complete.
    fn finish(self) -> anyhow::Result<RunTotals> {
        if let Some(directory) = &self.job.report {
            let (title, settings) = (index_title(self.job), &self.job.settings);
            write_index(directory, &title, settings, self.journal.entries()?)
                .with_context(|| format!("cannot write the index in {}", directory.display()))?;
        }
        self.journal.remove()?;
        Ok(self.totals)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::analysis::Method;
    use crate::annotate::job::Shard;
    use crate::annotate::journal::path_of;
    use crate::annotate::{Curve, Thresholds};
    use crate::engine::Request;

    /// Progress that nobody follows.
    struct Unseen;

    impl AnnotateProgress for Unseen {
        fn begin(&self, _total: Option<u64>, _done: u64) {}
        fn position(&self, _positions: usize) {}
        fn done(&self, _number: u64) {}
        fn skipped(&self, _number: u64, _reason: &str) {}
        fn left_out(&self, _number: u64, _reason: &str) {}
    }

    fn job(input: &Path, output: &Path) -> AnnotateJob {
        AnnotateJob {
            input: Some(input.to_owned()),
            output: output.to_owned(),
            report: None,
            shard: None,
            workers: 1,
            overwrite: false,
            method: Method {
                request: Request {
                    nodes: Some(1),
                    ..Request::default()
                },
                only_moves: false,
                backward: false,
                curve: Curve::default(),
                thresholds: Thresholds::default(),
            },
            line_plies: 1,
            settings: String::new(),
        }
    }

    fn attempt(job: &AnnotateJob) -> anyhow::Result<RunTotals> {
        run(job, || Ok(Engine::new()), &Unseen)
    }

    /// The message of a run that is refused and leaves no files.
    fn refusal(job: &AnnotateJob) -> String {
        let error = attempt(job).expect_err("refused");
        assert!(!job.output.is_file() && !path_of(&job.output).exists());
        format!("{error:#}")
    }

    #[test]
    fn the_report_has_the_result_of_the_header() {
        for (header, end, shown) in [
            ("0-0", "*", "0-0"),
            ("0-0", "1-0", "1-0"),
            ("1/2", "*", "1/2-1/2"),
            ("*", "*", "*"),
        ] {
            let text = format!("[Result \"{header}\"]\n\n1. e4 {end}\n");
            let mut games = PgnReader::new(text.as_bytes());
            let game = games.next().expect("a game").expect("readable");
            let tags = info(1, &game).tags;
            let results: Vec<&(String, String)> =
                tags.iter().filter(|(name, _)| name == "Result").collect();
            assert_eq!(results.len(), 1);
            assert_eq!(results[0].1, shown);
        }
    }

    #[test]
    fn an_input_without_a_game_is_refused() {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, output) = (directory.path().join("in"), directory.path().join("out"));
        let mut job = job(&input, &output);
        for (text, message) in [
            ("", "no game in"),
            ("\n \n", "no game in"),
            ("PK\x03\x04", "zip"),
        ] {
            fs::write(&input, text).expect("written");
            let refused = refusal(&job);
            assert!(
                refused.contains(message) && refused.contains("in"),
                "{refused}"
            );
        }
        // A part without a game is none of these.
        fs::write(&input, "1. e4 *\n").expect("written");
        job.shard = Some(Shard { index: 1, count: 2 });
        assert_eq!(attempt(&job).expect("nothing to do"), RunTotals::default());
        assert!(output.exists());
    }

    #[test]
    fn a_run_that_cannot_begin_leaves_no_files() {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, output) = (directory.path().join("in"), directory.path().join("out"));
        assert!(refusal(&job(directory.path(), &output)).contains("folder"));
        fs::write(&input, "1. e4 *\n").expect("written");
        let reported = AnnotateJob {
            report: Some(input.join("report")),
            ..job(&input, &output)
        };
        assert!(refusal(&reported).contains("cannot create"));
    }

    #[test]
    fn the_output_must_be_a_file() {
        let directory = tempfile::tempdir().expect("a directory");
        let input = directory.path().join("in");
        fs::write(&input, "1. e4 *\n").expect("written");
        assert!(refusal(&job(&input, Path::new("-"))).contains("-o annotated.pgn"));
        let folder = AnnotateJob {
            overwrite: true,
            ..job(&input, directory.path())
        };
        assert!(refusal(&folder).contains("no regular file"));
    }

    /// The message of a run that finds the output of an interrupted one, which `begun` describes.
    fn refusal_to_go_on(begun: &AnnotateJob, now: &AnnotateJob) -> String {
        let identity = identity(begun).expect("an input");
        create_output(begun, &identity).expect("files");
        let error = attempt(now).expect_err("refused");
        format!("{error:#}")
    }

    #[test]
    fn a_run_goes_on_with_the_same_games_and_report_only() {
        let directory = tempfile::tempdir().expect("a directory");
        let (input, output) = (directory.path().join("in"), directory.path().join("out"));
        fs::write(&input, "1. e4 *").expect("a game");
        let begun = job(&input, &output);
        let piped = AnnotateJob {
            input: None,
            ..begun.clone()
        };
        assert!(refusal_to_go_on(&piped, &piped).contains("games of a file"));
        let report = |name: &str| AnnotateJob {
            report: Some(directory.path().join(name)),
            ..begun.clone()
        };
        let message = refusal_to_go_on(&report("one"), &report("two"));
        assert!(message.contains("other settings"), "{message}");
    }
}
