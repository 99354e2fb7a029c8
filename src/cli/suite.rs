//! `pleach suite`: solves a test suite and lists the misses.

use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use serde::Serialize;

use super::CommandResult;
use super::interruption::interruption;
use super::limits::{EngineArguments, LimitArguments, cores, hash_range, threads_range};
use crate::board::{Epd, open_input, read_text};
use crate::engine::Request;
use crate::progress::terminal_bar;
use crate::stdio::Stdout;
use crate::suite::{self, Attempt, Problem, SuiteEnd, SuiteSettings, SuiteSummary};
use crate::types::{CastlingMode, Score};

/// Time for each position if neither the command line nor the position sets a limit.
const DEFAULT_TIME: Duration = Duration::from_secs(1);
const DEFAULT_HASH_MIB: usize = 16;
const BAR: &str = "{wide_bar} {pos}/{len}  {msg}  {eta} left";

#[derive(Args)]
pub struct Arguments {
    /// The suite: a file with one EPD position a line, with bm, am or dm, or - for standard input
    file: PathBuf,
    #[command(flatten)]
    limits: LimitArguments,
    /// Positions searched at once, each by one thread [default: all cores]
    #[arg(short, long, value_parser = threads_range())]
    threads: Option<usize>,
    /// Hash table of each thread in MiB
    #[arg(long, default_value_t = DEFAULT_HASH_MIB, value_parser = hash_range())]
    hash: usize,
    /// End a search once its solution has held for this many iterations (0: never)
    #[arg(long, default_value_t = 0)]
    hold: u32,
    #[command(flatten)]
    engine: EngineArguments,
    /// One JSON object a line, for programs
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn request(&self, problem: &Problem) -> Request {
        if self.limits.any() {
            return self.limits.request();
        }
        problem
            .depth
            .map_or_else(|| Request::for_time(DEFAULT_TIME), Request::to_depth)
    }
}

pub fn run(arguments: &Arguments) -> CommandResult {
    let problems = read(arguments)?;
    let settings = SuiteSettings {
        at_once: arguments.threads.unwrap_or_else(cores),
        hold: arguments.hold,
    };
    let started = Instant::now();
    let maker = arguments.engine.prepare()?;
    let bar = terminal_bar(Some(problems.len() as u64), BAR);
    let stdout = Stdout::new()?;
    let mut out = io::stdout().lock();
    let mut report = SuiteReport::new(&problems);
    let mut written = Ok(());
    let interrupted = interruption()?;
    let mut show = |attempts: Vec<NumberedAttempt<'_>>| {
        if arguments.json && written.is_ok() {
            written = write_attempts(&mut out, &attempts);
        }
        if written.is_ok() && stdout.is_closed() {
            written = Err(io::ErrorKind::BrokenPipe.into());
        }
        // Nobody reads what further searches would find.
        if written.is_err() {
            interrupted.store(true, Ordering::Relaxed);
        }
    };
    let end = suite::run(
        &problems,
        &settings,
        &interrupted,
        |problem| arguments.request(problem),
        || maker.engine(1, arguments.hash),
        |index, attempt| {
            show(report.add(index, attempt));
            if let Some(bar) = &bar {
                bar.inc(1);
                bar.set_message(format!("{} solved", report.summary.solved));
            }
        },
    )?;
    if let Some(bar) = &bar {
        bar.finish_and_clear();
    }
    show(report.add_rest());
    written?;
    if arguments.json {
        write_json(&mut out, &SuiteRecord::of_summary(&report.summary, started))?;
    } else {
        report.write(&mut out, started.elapsed())?;
    }
    if end == SuiteEnd::Interrupted {
        let (searched, all) = (report.attempts.len(), problems.len());
        writeln!(
            io::stderr(),
            "Interrupted after {searched} of {all} positions."
        )?;
    }
    Ok(end == SuiteEnd::Complete)
}

/// The problems of the file; a line that is not one is an error, because a score over the
/// rest would look like a score over the whole suite.
fn read(arguments: &Arguments) -> anyhow::Result<Vec<Problem>> {
    let name = arguments.file.display();
    let text = open_input(&arguments.file)
        .and_then(read_text)
        .with_context(|| format!("cannot read {name}"))?;
    let mut problems = Vec::new();
    for (index, line) in text.lines().enumerate() {
        let line = line.trim();
        if line.is_empty() || line.starts_with('#') {
            continue;
        }
        let at = || format!("{name}, line {}", index + 1);
        let epd = Epd::parse(line, CastlingMode::Standard).with_context(at)?;
        problems.push(Problem::new(&epd).with_context(at)?);
    }
    anyhow::ensure!(!problems.is_empty(), "{name} has no positions");
    Ok(problems)
}

/// An attempt with its number from 1 and its problem.
type NumberedAttempt<'a> = (usize, &'a Problem, &'a Attempt);

/// The attempts, in the order of the file whatever the order in which they end.
struct SuiteReport<'a> {
    problems: &'a [Problem],
    /// Each with the index of its problem.
    attempts: Vec<(usize, Attempt)>,
    /// Those before which others have not ended yet.
    early: BTreeMap<usize, Attempt>,
    summary: SuiteSummary,
}

impl<'a> SuiteReport<'a> {
    fn new(problems: &'a [Problem]) -> SuiteReport<'a> {
        SuiteReport {
            problems,
            attempts: Vec::new(),
            early: BTreeMap::new(),
            summary: SuiteSummary::default(),
        }
    }

    /// Takes an attempt and returns those that can now be shown in order.
    fn add(&mut self, index: usize, attempt: Attempt) -> Vec<NumberedAttempt<'_>> {
        self.summary.add(&self.problems[index], &attempt);
        self.early.insert(index, attempt);
        let first = self.attempts.len();
        while let Some(attempt) = self.early.remove(&self.attempts.len()) {
            self.attempts.push((self.attempts.len(), attempt));
        }
        self.from(first).collect()
    }

    /// Takes those as well before which others are missing, after an interrupted run, and returns
    /// them.
    fn add_rest(&mut self) -> Vec<NumberedAttempt<'_>> {
        let first = self.attempts.len();
        self.attempts.extend(std::mem::take(&mut self.early));
        self.from(first).collect()
    }

    fn from(&self, first: usize) -> impl Iterator<Item = NumberedAttempt<'_>> {
        self.attempts[first..]
            .iter()
            .map(|(index, attempt)| (index + 1, &self.problems[*index], attempt))
    }

    fn write(&self, out: &mut impl Write, wall: Duration) -> io::Result<()> {
        let misses: Vec<_> = self
            .from(0)
            .filter(|(_, _, attempt)| !attempt.solved)
            .collect();
        if !misses.is_empty() {
            let id = misses
                .iter()
                .map(|(_, problem, _)| problem.id.chars().count());
            let wanted = |problem: &Problem| problem.goal.text(&problem.position);
            let goal = misses
                .iter()
                .map(|(_, problem, _)| wanted(problem).chars().count());
            let (id, goal) = (id.max().unwrap_or(0).max(2), goal.max().unwrap_or(0).max(6));
            writeln!(
                out,
                "Not solved:\n{:>5}  {:<id$}  {:<goal$}  {:<7}  {:>8}  {:>5}  {:>8}",
                "no.", "id", "wanted", "played", "score", "depth", "time"
            )?;
            for (number, problem, attempt) in misses {
                let turn = problem.position.turn();
                let score = attempt.score.map(|score| score.pawns(turn));
                let played = attempt
                    .played
                    .map_or_else(String::new, |m| problem.position.san(m));
                writeln!(
                    out,
                    "{number:>5}  {:<id$}  {:<goal$}  {played:<7}  {:>8}  {:>5}  {:>7.2}s",
                    problem.id,
                    wanted(problem),
                    score.unwrap_or_default(),
                    attempt.depth.plies(),
                    attempt.time.as_secs_f64(),
                )?;
            }
            writeln!(out)?;
        }
        self.write_summary(out, wall)
    }

    fn write_summary(&self, out: &mut impl Write, wall: Duration) -> io::Result<()> {
        let summary = &self.summary;
        writeln!(
            out,
            "Solved {} of {} ({:.1} %) in {:.1} s, {} nodes",
            summary.solved,
            summary.problems,
            summary.percent(),
            wall.as_secs_f64(),
            summary.nodes
        )?;
        if summary.points_possible > 0 {
            writeln!(
                out,
                "Points: {} of {}",
                summary.points, summary.points_possible
            )?;
        }
        if let Some(median) = summary.median_time() {
            writeln!(
                out,
                "Median time to solution of the solved: {:.3} s",
                median.as_secs_f64()
            )?;
        }
        Ok(())
    }
}

/// What `--json` prints, a line each.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum SuiteRecord {
    Position {
        number: usize,
        id: String,
        fen: String,
        goal: String,
        solved: bool,
        played: Option<String>,
        san: Option<String>,
        cp: Option<i32>,
        mate: Option<i32>,
        depth: i32,
        nodes: u64,
        time_ms: u128,
        /// When the solution was found and kept to the end, in milliseconds and nodes.
        found_ms: Option<u128>,
        found_nodes: Option<u64>,
        found_depth: Option<i32>,
        points: u32,
    },
    Summary {
        positions: usize,
        solved: usize,
        points: u64,
        points_possible: u64,
        nodes: u64,
        search_ms: u128,
        wall_ms: u128,
        median_found_ms: Option<u128>,
    },
}

impl SuiteRecord {
    fn of_attempt(number: usize, problem: &Problem, attempt: &Attempt) -> SuiteRecord {
        let position = &problem.position;
        let mate = attempt.score.and_then(Score::mate_moves);
        SuiteRecord::Position {
            number,
            id: problem.id.clone(),
            fen: position.fen(),
            goal: problem.goal.text(position),
            solved: attempt.solved,
            played: attempt.played.map(|m| position.uci(m)),
            san: attempt.played.map(|m| position.san(m)),
            cp: attempt
                .score
                .filter(|_| mate.is_none())
                .map(Score::shown_cp),
            mate,
            depth: attempt.depth.plies(),
            nodes: attempt.nodes,
            time_ms: attempt.time.as_millis(),
            found_ms: attempt.found.map(|found| found.time.as_millis()),
            found_nodes: attempt.found.map(|found| found.nodes),
            found_depth: attempt.found.map(|found| found.depth.plies()),
            points: attempt.points,
        }
    }

    fn of_summary(summary: &SuiteSummary, started: Instant) -> SuiteRecord {
        SuiteRecord::Summary {
            positions: summary.problems,
            solved: summary.solved,
            points: summary.points,
            points_possible: summary.points_possible,
            nodes: summary.nodes,
            search_ms: summary.search_time.as_millis(),
            wall_ms: started.elapsed().as_millis(),
            median_found_ms: summary.median_time().map(|time| time.as_millis()),
        }
    }
}

fn write_attempts(out: &mut impl Write, attempts: &[NumberedAttempt<'_>]) -> io::Result<()> {
    attempts.iter().try_for_each(|&(number, problem, attempt)| {
        write_json(out, &SuiteRecord::of_attempt(number, problem, attempt))
    })
}

fn write_json(out: &mut impl Write, record: &SuiteRecord) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    writeln!(out)?;
    out.flush()
}
