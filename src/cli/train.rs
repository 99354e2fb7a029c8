//! `pleach train`: recorded games to a network file.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedI64ValueParser;

use crate::nnue::features::KingBuckets;
use crate::train::config::Config;
use crate::train::load::{DataFile, Filter, HoldOut};
use crate::train::run;
use crate::train::schedule::{Length, Schedule};

/// Learning rate at the end: that at the start times 0.3 to the power of 5 (as in Hobbes).
const FINAL_RATE: f64 = 2.43e-6;

/// Games in a thousand that are held out where no file is named for it.
const SHARE_HELD_OUT: u64 = 10;

/// Trains a network on recorded games.
#[derive(Args, Clone, Debug)]
pub struct TrainArgs {
    /// Files of games in viriformat, plain or zstd
    #[arg(required_unless_present = "scaled")]
    pub data: Vec<PathBuf>,
    /// A file whose scores carry the teacher's factor by material, which is divided out (repeatable)
    #[arg(long, value_name = "FILE")]
    pub scaled: Vec<PathBuf>,
    /// A file that is only measured on, labelled without that factor (repeatable)
    #[arg(long, value_name = "FILE")]
    pub held_out: Vec<PathBuf>,
    /// Keep one of this many parts of the files in memory at a time
    #[arg(long, default_value_t = 1, requires = "held_out")]
    pub shards: usize,
    /// Network file to write; a .json record is written next to it
    #[arg(short, long, default_value = "net.pnn")]
    pub output: PathBuf,
    /// Checkpoint to resume and to keep [default: the output with extension .checkpoint]
    #[arg(long)]
    pub checkpoint: Option<PathBuf>,
    /// Checkpoint or network to start from with a fresh optimiser; neurons are added up to --hidden.
    /// Given several times, the run starts from the mean of them, which is of use if their hidden
    /// units are in the same order: one run's start and its last checkpoint, not its network file
    #[arg(long)]
    pub init: Vec<PathBuf>,
    /// Network file that labelled the data, whose hash goes into the record
    #[arg(long)]
    pub teacher: Option<PathBuf>,
    /// Name in the network file [default: the output's name]
    #[arg(long)]
    pub name: Option<String>,
    /// Hidden neurons, a multiple of 64
    #[arg(long, default_value_t = 512)]
    pub hidden: usize,
    /// King buckets, each with weights of its own: 1, 5, 10 or 32
    #[arg(long, default_value = "10", value_parser = king_buckets)]
    pub king_buckets: KingBuckets,
    /// Add small dense layers over products of neurons to the output
    #[arg(long)]
    pub layers: bool,
    /// Passes over the data
    #[arg(long, default_value_t = 10.0, conflicts_with = "minutes")]
    pub epochs: f64,
    /// Train for this many minutes instead; the learning rate follows the time
    #[arg(long)]
    pub minutes: Option<f64>,
    /// Positions per step
    #[arg(long, default_value_t = 16_384)]
    pub batch: usize,
    /// Learning rate at the start
    #[arg(long, default_value_t = 1e-3)]
    pub rate: f64,
    /// Learning rate at the end, at most that at the start [default: 2.43e-6]
    #[arg(long)]
    pub final_rate: Option<f64>,
    /// Steps over which the learning rate rises at the start
    #[arg(long, default_value_t = 200)]
    pub warm_up: u64,
    /// Share of the run after which weights are used as the network file rounds them
    #[arg(long, default_value_t = 0.6)]
    pub round_from: f64,
    /// Share of the game's result in the target; the rest is the score
    #[arg(long, default_value_t = 0.0)]
    pub lambda: f64,
    /// Centipawns for an output of 1.0 [default: fitted to the results]
    #[arg(long)]
    pub scale: Option<f64>,
    /// Centipawns at which the loss expects 73 %: less counts errors near equality for more
    /// [default: the scale]
    #[arg(long)]
    pub loss_scale: Option<f64>,
    /// Weight of the distances from the teacher's sums, where data hold them (label --hints)
    #[arg(long, default_value_t = 0.0, requires = "layers")]
    pub hint_weight: f64,
    /// The same at the end of the run, to which it falls as the rate does [default: the first]
    #[arg(long, requires = "hint_weight")]
    pub final_hint_weight: Option<f64>,
    /// Keep positions in check
    #[arg(long)]
    pub keep_checks: bool,
    /// Leave out positions in which a capture or promotion was played
    #[arg(long)]
    pub skip_tactical: bool,
    /// Leave out scores beyond this many centipawns
    #[arg(long, default_value_t = 10_000, value_parser = score_limit())]
    pub max_score: u16,
    /// Leave out positions before this ply of the game
    #[arg(long, default_value_t = 0)]
    pub min_ply: u32,
    /// Leave out positions with fewer pieces
    #[arg(long, default_value_t = 3)]
    pub min_pieces: usize,
    /// Leave out scores beyond this many centipawns for the side that lost
    #[arg(long, value_parser = score_limit())]
    pub contradiction: Option<u16>,
    /// Keep only one in eight of the positions with scores beyond this many centipawns
    #[arg(long, value_parser = score_limit())]
    pub thin_beyond: Option<u16>,
    /// Games held out for validation, per thousand [default: 10, or 0 with --held-out]
    #[arg(long)]
    pub hold_out: Option<u64>,
    /// Seed of everything random
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads [default: the machine's]
    #[arg(short, long)]
    pub threads: Option<usize>,
    /// Minutes between checkpoints within an epoch
    #[arg(long, default_value_t = 3.0)]
    pub checkpoint_minutes: f64,
    /// Wait while this file exists
    #[arg(long)]
    pub pause_file: Option<PathBuf>,
}

/// Limits of scores, which have 16 bits with their sign.
fn score_limit() -> RangedI64ValueParser<u16> {
    clap::value_parser!(u16).range(..=i64::from(i16::MAX))
}

/// Reads the number of king buckets.
fn king_buckets(text: &str) -> Result<KingBuckets, String> {
    let count = text.parse().ok();
    count
        .and_then(KingBuckets::with_count)
        .ok_or_else(|| "1, 5, 10 or 32 are possible".to_owned())
}

/// Runs the subcommand.
///
/// # Errors
/// See [`run::run`].
pub fn run(args: TrainArgs) -> anyhow::Result<()> {
    let machine = std::thread::available_parallelism().map_or(1, NonZero::get);
    let stem = args
        .output
        .file_stem()
        .map(|stem| stem.to_string_lossy().into_owned());
    let file = |scaled: bool, held_out: bool| {
        move |path| DataFile {
            path,
            scaled,
            held_out,
        }
    };
    let share_held_out = if args.held_out.is_empty() {
        SHARE_HELD_OUT
    } else {
        0
    };
    let config = Config {
        checkpoint: args
            .checkpoint
            .unwrap_or_else(|| args.output.with_extension("checkpoint")),
        data: (args.data.into_iter().map(file(false, false)))
            .chain(args.scaled.into_iter().map(file(true, false)))
            .chain(args.held_out.into_iter().map(file(false, true)))
            .collect(),
        output: args.output,
        init: args.init,
        teacher: args.teacher,
        name: args.name.or(stem).unwrap_or_default(),
        hidden: args.hidden,
        king_buckets: args.king_buckets,
        layers: args.layers,
        batch: args.batch,
        lambda: args.lambda,
        scale: args.scale,
        loss_scale: args.loss_scale,
        hint_weight: args.hint_weight,
        final_hint_weight: args.final_hint_weight.unwrap_or(args.hint_weight),
        schedule: Schedule {
            length: args
                .minutes
                .map_or(Length::Epochs(args.epochs), Length::Minutes),
            start: args.rate,
            end: args.final_rate.unwrap_or(FINAL_RATE.min(args.rate)),
            warm_up: args.warm_up,
        },
        round_from: args.round_from,
        filter: Filter {
            keep_checks: args.keep_checks,
            skip_tactical: args.skip_tactical,
            max_score: args.max_score,
            min_ply: args.min_ply,
            min_pieces: args.min_pieces,
            contradiction: args.contradiction,
            thin_beyond: args.thin_beyond,
        },
        hold_out: HoldOut {
            per_mille: args.hold_out.unwrap_or(share_held_out),
            seed: args.seed,
        },
        shards: args.shards,
        seed: args.seed,
        threads: args.threads.unwrap_or(machine),
        checkpoint_minutes: args.checkpoint_minutes,
        pause_file: args.pause_file,
    };
    run::run(&config)
}
