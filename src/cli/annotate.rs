//! `pleach annotate`: annotates the games of a PGN file.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Instant;

use clap::Args;
use indicatif::ProgressBar;

use super::CommandResult;
use super::limits::{EngineArguments, LimitArguments, cores, hash_range, threads_range};
use crate::annotate::{self, AnnotateJob, AnnotateProgress, Curve, Method, Shard, Thresholds};
use crate::engine::Request;
use crate::progress::terminal_bar;

/// Nodes for each position if no limit is given.
const DEFAULT_NODES: u64 = 200_000;
const DEFAULT_HASH_MIB: usize = 32;
const DEFAULT_LINE_PLIES: usize = 8;
/// The progress bar counts in these parts of a game: so many that what is left over when they are
/// divided among its positions is not seen.
const PARTS: u64 = 1 << 32;
const BAR: &str = "{wide_bar} {msg}  {percent} %  {eta} left";
const SECONDS_AN_HOUR: f64 = 3600.0;

#[derive(Args)]
pub struct Arguments {
    /// The games: a PGN file, plain or packed by gzip, bzip2 or zstd; - for standard input
    input: PathBuf,
    /// Where the annotated games go
    #[arg(short, long)]
    output: PathBuf,
    /// Write an HTML page for each game, and an index, into this directory
    #[arg(long)]
    report: Option<PathBuf>,
    #[command(flatten)]
    limits: LimitArguments,
    /// Games analysed at once, each by one thread [default: all cores]
    #[arg(short, long, value_parser = threads_range())]
    threads: Option<usize>,
    /// Hash table of each thread in MiB
    #[arg(long, default_value_t = DEFAULT_HASH_MIB, value_parser = hash_range())]
    hash: usize,
    /// Loss of expected score that makes an inaccuracy, in percentage points
    #[arg(long, default_value_t = Thresholds::default().inaccuracy, value_parser = points)]
    inaccuracy: f64,
    /// The same for a mistake
    #[arg(long, default_value_t = Thresholds::default().mistake, value_parser = points)]
    mistake: f64,
    /// The same for a blunder
    #[arg(long, default_value_t = Thresholds::default().blunder, value_parser = points)]
    blunder: f64,
    /// The curve that turns an evaluation into an expected score
    #[arg(long, value_enum, default_value_t)]
    curve: Curve,
    /// Longest better line, in plies
    #[arg(long, default_value_t = DEFAULT_LINE_PLIES)]
    line: usize,
    /// Do not search the second-best moves, which saves a fifth of the nodes or the time, and mark no only moves
    #[arg(long)]
    no_only_moves: bool,
    /// Analyse from the first position to the last instead of backward
    #[arg(long)]
    forward: bool,
    /// Annotate part I of N only; the outputs of all parts, joined in order, are that of one run
    #[arg(long, value_name = "I/N", value_parser = shard)]
    shard: Option<Shard>,
    /// Start over even if the output exists
    #[arg(long)]
    overwrite: bool,
    #[command(flatten)]
    engine: EngineArguments,
}

fn points(text: &str) -> Result<f64, String> {
    match text.parse::<f64>() {
        Ok(points) if points > 0.0 && points <= 100.0 => Ok(points),
        _ => Err("a number above 0 and up to 100".to_owned()),
    }
}

fn shard(text: &str) -> Result<Shard, String> {
    let parse = || -> Option<Shard> {
        let (index, count) = text.split_once('/')?;
        let (index, count) = (index.parse().ok()?, count.parse().ok()?);
        (index >= 1 && index <= count).then_some(Shard { index, count })
    };
    parse().ok_or_else(|| "I/N with I from 1 to N, such as 2/8".to_owned())
}

impl Arguments {
    fn request(&self) -> Request {
        if self.limits.any() {
            return self.limits.request();
        }
        Request {
            nodes: Some(DEFAULT_NODES),
            ..Request::default()
        }
    }

    /// All that decides the output beside the games, in words.
    fn settings(&self) -> String {
        let request = self.request();
        let mut parts = vec![concat!("Pleach ", env!("CARGO_PKG_VERSION")).to_owned()];
        let limit =
            |value: Option<String>, unit: &str| value.map(|value| format!("{value} {unit}"));
        let limits = [
            limit(request.nodes.map(|nodes| nodes.to_string()), "nodes"),
            limit(request.depth.map(|depth| depth.to_string()), "plies"),
            limit(request.movetime.map(|ms| ms.to_string()), "ms"),
        ];
        let limits: Vec<String> = limits.into_iter().flatten().collect();
        parts.push(format!("{} a position", limits.join(", ")));
        parts.push(format!("hash {} MiB", self.hash));
        parts.push(format!(
            "loss of expected score ({} curve) from {} points an inaccuracy, {} a mistake, {} a blunder",
            match self.curve {
                Curve::Lichess => "lichess",
                Curve::Engine => "engine",
            },
            self.inaccuracy,
            self.mistake,
            self.blunder
        ));
        parts.push(format!("better lines of {} plies", self.line));
        if self.no_only_moves {
            parts.push("only moves not searched".to_owned());
        }
        if self.forward {
            parts.push("forward".to_owned());
        }
        if let Some(path) = &self.engine.network {
            parts.push(format!("network {}", path.display()));
        }
        if let Some(path) = &self.engine.syzygy {
            parts.push(format!("tablebases {path}"));
        }
        if let Some(shard) = self.shard {
            parts.push(format!("part {} of {}", shard.index, shard.count));
        }
        parts.join("; ")
    }
}

pub fn run(arguments: &Arguments) -> CommandResult {
    anyhow::ensure!(
        arguments.inaccuracy <= arguments.mistake && arguments.mistake <= arguments.blunder,
        "--inaccuracy ({}) may not be above --mistake ({}), nor that above --blunder ({})",
        arguments.inaccuracy,
        arguments.mistake,
        arguments.blunder
    );
    let job = AnnotateJob {
        input: (arguments.input.as_os_str() != "-").then(|| arguments.input.clone()),
        output: arguments.output.clone(),
        report: arguments.report.clone(),
        shard: arguments.shard,
        workers: arguments.threads.unwrap_or_else(cores),
        overwrite: arguments.overwrite,
        method: Method {
            request: arguments.request(),
            only_moves: !arguments.no_only_moves,
            backward: !arguments.forward,
            curve: arguments.curve,
            thresholds: Thresholds {
                inaccuracy: arguments.inaccuracy,
                mistake: arguments.mistake,
                blunder: arguments.blunder,
            },
        },
        line_plies: arguments.line,
        settings: arguments.settings(),
    };
    let maker = arguments.engine.prepare()?;
    let bar = Bar::new();
    let started = Instant::now();
    let new_engine = || maker.engine(1, arguments.hash);
    let totals = annotate::run(&job, new_engine, &bar)?;
    bar.clear();
    let mut out = io::stderr().lock();
    let seconds = started.elapsed().as_secs_f64();
    writeln!(
        out,
        "{} games annotated in {seconds:.1} s ({:.0} games an hour){}{}: {}",
        totals.annotated,
        totals.annotated as f64 / seconds.max(f64::MIN_POSITIVE) * SECONDS_AN_HOUR,
        count(totals.done_before, "done before"),
        count(totals.broken, "broken and skipped"),
        arguments.output.display()
    )?;
    // A shard may by chance hold broken games only, and nothing is left to do then.
    let is_shard = arguments.shard.is_some();
    Ok(is_shard || totals.broken == 0 || totals.annotated + totals.done_before > 0)
}

/// `, 3 broken and skipped`, or nothing.
fn count(number: u64, what: &str) -> String {
    if number == 0 {
        String::new()
    } else {
        format!(", {number} {what}")
    }
}

/// Progress on stderr: a bar if that is a terminal; what was left out in any case.
struct Bar {
    bar: Option<ProgressBar>,
    done: AtomicU64,
}

impl Bar {
    fn new() -> Bar {
        Bar {
            bar: terminal_bar(None, BAR),
            done: AtomicU64::new(0),
        }
    }

    fn clear(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}

impl AnnotateProgress for Bar {
    fn begin(&self, total: Option<u64>, done: u64) {
        self.done.store(done, Ordering::Relaxed);
        let Some(bar) = &self.bar else { return };
        if let Some(total) = total {
            bar.set_length(total * PARTS);
        }
        bar.set_position(done * PARTS);
        // What was done before tells nothing of this run's speed.
        bar.reset_eta();
    }

    fn position(&self, positions: usize) {
        if let Some(bar) = &self.bar {
            bar.inc(PARTS / (positions as u64).max(1));
        }
    }

    fn done(&self, _number: u64) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        if let Some(bar) = &self.bar {
            bar.set_message(format!("{done} games done"));
        }
    }

    fn skipped(&self, number: u64, reason: &str) {
        if let Some(bar) = &self.bar {
            bar.inc(PARTS);
        }
        self.left_out(number, reason);
    }

    fn left_out(&self, number: u64, reason: &str) {
        let text = format!("game {number}: {reason}");
        match &self.bar {
            Some(bar) => bar.println(text),
            // Nobody can be told if stderr is closed.
            None => drop(writeln!(io::stderr(), "{text}")),
        }
    }
}
