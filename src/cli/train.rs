//! `pleach train`: recorded games to a network file.

use std::path::PathBuf;

use clap::Args;
use clap::builder::RangedI64ValueParser;

use super::limits::{cores, threads_range};
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
    /// Files of games in viriformat or of single positions, plain or zstd
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
    /// Leave out positions of games in which a capture or promotion was played
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
    /// Threads [default: all cores]
    #[arg(short, long, value_parser = threads_range())]
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
pub fn run(args: &TrainArgs) -> anyhow::Result<()> {
    run::run(&args.config())
}

impl TrainArgs {
    fn config(&self) -> Config {
        Config {
            checkpoint: self.checkpoint(),
            data: self.data_files(),
            output: self.output.clone(),
            init: self.init.clone(),
            teacher: self.teacher.clone(),
            name: self.name(),
            hidden: self.hidden,
            king_buckets: self.king_buckets,
            layers: self.layers,
            batch: self.batch,
            lambda: self.lambda,
            scale: self.scale,
            loss_scale: self.loss_scale,
            hint_weight: self.hint_weight,
            final_hint_weight: self.final_hint_weight.unwrap_or(self.hint_weight),
            schedule: self.schedule(),
            round_from: self.round_from,
            filter: self.filter(),
            hold_out: self.hold_out(),
            shards: self.shards,
            seed: self.seed,
            threads: self.threads.unwrap_or_else(cores),
            checkpoint_minutes: self.checkpoint_minutes,
            pause_file: self.pause_file.clone(),
        }
    }

    fn checkpoint(&self) -> PathBuf {
        let beside = || self.output.with_extension("checkpoint");
        self.checkpoint.clone().unwrap_or_else(beside)
    }

    /// The files with what each is for.
    fn data_files(&self) -> Vec<DataFile> {
        let kinds = [
            (&self.data, false, false),
            (&self.scaled, true, false),
            (&self.held_out, false, true),
        ];
        let files = |(paths, scaled, held_out): (&Vec<PathBuf>, bool, bool)| {
            let file = |path: &PathBuf| DataFile {
                path: path.clone(),
                scaled,
                held_out,
            };
            paths.iter().map(file).collect::<Vec<_>>()
        };
        kinds.into_iter().flat_map(files).collect()
    }

    /// The name in the network file.
    fn name(&self) -> String {
        let stem = || {
            self.output
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
        };
        self.name.clone().unwrap_or_else(|| stem().into_owned())
    }

    fn schedule(&self) -> Schedule {
        let epochs = Length::Epochs(self.epochs);
        Schedule {
            length: self.minutes.map_or(epochs, Length::Minutes),
            start: self.rate,
            end: self.final_rate.unwrap_or(FINAL_RATE.min(self.rate)),
            warm_up: self.warm_up,
        }
    }

    fn filter(&self) -> Filter {
        Filter {
            keep_checks: self.keep_checks,
            skip_tactical: self.skip_tactical,
            max_score: self.max_score,
            min_ply: self.min_ply,
            min_pieces: self.min_pieces,
            contradiction: self.contradiction,
            thin_beyond: self.thin_beyond,
        }
    }

    fn hold_out(&self) -> HoldOut {
        let usual = if self.held_out.is_empty() {
            SHARE_HELD_OUT
        } else {
            0
        };
        HoldOut {
            per_mille: self.hold_out.unwrap_or(usual),
            seed: self.seed,
        }
    }
}
