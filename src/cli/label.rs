//! `pleach label`: scores for recorded games from a UCI engine.

use std::num::NonZero;
use std::path::PathBuf;
use std::time::{Duration, Instant};

use clap::Args;

use crate::label::{self, LabelJob, Question};

const LINE_EVERY: Duration = Duration::from_secs(10);

/// Rewrites the scores of recorded games with a UCI engine's.
///
/// Without --nodes the engine is asked `eval` and the line "Final evaluation" is read, as
/// Stockfish and its kin print it: pawns for White, the engine's whole static evaluation with its
/// material scaling, in a fresh position (no 50-move counter). Positions in check get no score.
/// With --nodes the last exact score of a search is taken, mates as 32,000 less the plies to them.
#[derive(Args, Clone, Debug)]
pub struct LabelArgs {
    /// File of games in viriformat, plain or zstd
    pub games: PathBuf,
    /// File to write (zstd); it appears when all games are labelled
    #[arg(short, long)]
    pub output: PathBuf,
    /// UCI engine; found as the shell finds programs
    #[arg(long, default_value = "stockfish")]
    pub engine: PathBuf,
    /// Search so many nodes instead of asking for the static evaluation (`eval`)
    #[arg(long)]
    pub nodes: Option<u64>,
    /// Engine processes at once [default: the machine's threads]
    #[arg(short, long)]
    pub processes: Option<usize>,
    /// Give up if the engine takes longer than this for one position, in seconds
    #[arg(long, default_value_t = 60, value_parser = clap::value_parser!(u64).range(1..=86_400))]
    pub timeout: u64,
}

/// Runs the subcommand.
///
/// # Errors
/// See [`label::run`].
pub fn run(args: LabelArgs) -> anyhow::Result<()> {
    super::log_to_stderr();
    let machine = std::thread::available_parallelism().map_or(1, NonZero::get);
    let job = LabelJob {
        games: args.games,
        output: args.output,
        engine: args.engine,
        question: args.nodes.map_or(Question::Static, Question::Nodes),
        processes: args.processes.unwrap_or(machine),
        patience: Duration::from_secs(args.timeout),
    };
    let started = Instant::now();
    let mut last_line = Instant::now();
    let speed = |plies: u64| plies as f64 / started.elapsed().as_secs_f64().max(f64::MIN_POSITIVE);
    let mut all = 0;
    let games = label::run(&job, |games, plies| {
        all = plies;
        if last_line.elapsed() >= LINE_EVERY {
            last_line = Instant::now();
            log::info!("{games} games, {plies} plies, {:.0} plies/s", speed(plies));
        }
    })?;
    log::info!(
        "{games} games, {all} plies, {:.0} plies/s: done",
        speed(all)
    );
    Ok(())
}
