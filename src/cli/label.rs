//! `pleach label`: scores for recorded games and positions.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::Args;

use super::limits::{cores, threads_range};
use crate::files::are_same;
use crate::label::engine::{EngineLabeller, LabelMode};
use crate::label::{self, LabelJob, LabelProgress, Labeller, Nearby};
use crate::progress::ProgressReporter;
use crate::record::PositionFormat;
use crate::teacher::{TeacherLabeller, TeacherNet};

/// Rewrites the scores of recorded games or positions with another engine's.
///
/// With --teacher, Pleach evaluates a network file of Stockfish 15.1 or 17.1 itself. The label is the
/// network's output as that engine uses it in search, less Stockfish 15.1's material factor, in
/// Stockfish 15.1's printed centipawns or close to them. Positions in check get no score.
///
/// With --random-moves it is positions near the recorded ones that are labelled: at least half of the random
/// moves are captures where there are any. Those in check are left out. The output then holds single
/// positions, with the results of the games that they come from.
///
/// With --engine any UCI engine gives the scores. By default these are its answers to `eval`: the
/// line "Final evaluation" as Stockfish prints it, in pawns for White, with the 50-move counter set
/// to 0; positions in check get no score. With --nodes they are the last exact scores of searches,
/// and a mate counts as 32,000 less the plies to it.
#[derive(Args, Clone, Debug)]
pub struct LabelArgs {
    /// File of games (viriformat) or of positions, plain or zstd
    pub input: PathBuf,
    /// File to write (zstd); written when everything is labelled
    #[arg(short, long)]
    pub output: PathBuf,
    /// Network file of Stockfish 15.1 (nn-ad9b42354671.nnue) or 17.1 (nn-1c0000000000.nnue);
    /// their command export_net writes it
    #[arg(long, conflicts_with_all = ["engine", "nodes", "timeout"])]
    pub teacher: Option<PathBuf>,
    /// Multiply by the material factor of Stockfish 15.1, 1.04 to 1.37
    #[arg(long, requires = "teacher")]
    pub material_factor: bool,
    /// Label a position after 1 to this many random moves instead of each recorded one
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=100))]
    pub random_moves: Option<u32>,
    /// With --random-moves: pass over recorded positions whose scores are further from 0 than this,
    /// in centipawns, and those without a score
    #[arg(long, requires = "random_moves", value_parser = clap::value_parser!(u16).range(..=32_000))]
    pub max_score: Option<u16>,
    /// Write the sums of the teacher's first dense layer with each position, to be learnt from too;
    /// not for games, whose format has no place for them
    #[arg(long, requires = "teacher")]
    pub hints: bool,
    /// Seed of the random moves
    #[arg(long, default_value_t = 1, requires = "random_moves")]
    pub seed: u64,
    /// UCI engine; searched for in PATH
    #[arg(long, default_value = "stockfish")]
    pub engine: PathBuf,
    /// Search this many nodes instead of using the static evaluation (`eval`)
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Threads, or engine processes, at once [default: all cores]
    #[arg(short, long, visible_alias = "processes", value_parser = threads_range())]
    pub threads: Option<usize>,
    /// Give up if the engine takes longer than this for one position, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

/// Runs the subcommand.
///
/// # Errors
/// See [`label::run`]; or the teacher's file or the engine is refused.
pub fn run(args: LabelArgs) -> anyhow::Result<()> {
    let mut labellers: Vec<Box<dyn Labeller>> = Vec::new();
    let threads = args.threads.unwrap_or_else(cores);
    for path in args.teacher.iter().chain(Some(&args.engine)) {
        let name = path.display();
        ensure!(
            !are_same(path, &args.output),
            "{name} would be written over"
        );
    }
    if let Some(path) = &args.teacher {
        let net = TeacherNet::load(path).with_context(|| path.display().to_string())?;
        let net = Arc::new(net);
        labellers.extend((0..threads).map(|_| -> Box<dyn Labeller> {
            Box::new(TeacherLabeller::new(Arc::clone(&net), args.material_factor))
        }));
    } else {
        let mode = args.nodes.map_or(LabelMode::Static, LabelMode::Nodes);
        let timeout = Duration::from_secs(args.timeout);
        for _ in 0..threads {
            let engine = EngineLabeller::start(&args.engine, mode, timeout)?;
            labellers.push(Box::new(engine));
        }
    }
    let length = fs::metadata(&args.input).map_or(0, |data| data.len());
    let job = LabelJob {
        input: args.input,
        output: args.output,
        nearby: args.random_moves.map(|moves| Nearby {
            moves,
            seed: args.seed,
            max_score: args.max_score,
        }),
        format: if args.hints {
            PositionFormat::Hinted
        } else {
            PositionFormat::Plain
        },
    };
    let mut progress = ProgressReporter::new(length);
    let done = label::run(&job, &mut labellers, |done| {
        let message = message(&progress, done);
        progress.update(done.bytes, &message);
    })?;
    progress.finish(&format!("{}: done", message(&progress, done)));
    Ok(())
}

fn message(progress: &ProgressReporter, done: LabelProgress) -> String {
    let speed = progress.per_second(done.positions);
    format!("{} positions, {speed:.0} a second", done.positions)
}
