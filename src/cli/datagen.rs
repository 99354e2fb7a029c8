//! `pleach datagen`: self-play games for training.

use std::num::NonZero;
use std::path::PathBuf;

use clap::Args;

use crate::datagen::opening::OpeningSettings;
use crate::datagen::play::{Adjudication, PlaySettings};
use crate::datagen::run::{self, Config};
use crate::eval::Judge;
use crate::nnue::Network;

/// Nodes of the hard limit for each of the soft one (as Viridithas has it).
const HARD_TO_SOFT: u64 = 8;

/// Openings of more random plies than this are hardly positions of chess any more.
const MAX_RANDOM_PLIES: u64 = 100;

/// Plays games against itself and records them in viriformat.
#[derive(Args, Clone, Debug)]
pub struct DatagenArgs {
    /// Directory for the files
    #[arg(default_value = "data")]
    pub directory: PathBuf,
    /// Games to play; those in complete files of an earlier run with this seed count
    #[arg(short, long, default_value_t = 100_000)]
    pub games: usize,
    /// First part of the files' names
    #[arg(long, default_value = "pleach")]
    pub name: String,
    /// Games in a file
    #[arg(long, default_value_t = 1000)]
    pub chunk: usize,
    /// Seed of the openings; different runs need different ones
    #[arg(long, default_value_t = 1)]
    pub seed: u64,
    /// Threads [default: the machine's]
    #[arg(short, long)]
    pub threads: Option<usize>,
    /// Begin no new iteration after this many nodes
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: u64,
    /// Megabytes of each side's transposition table
    #[arg(long, default_value_t = 4)]
    pub hash: usize,
    /// Random plies at the start, or one more
    #[arg(long, default_value_t = 8, value_parser = clap::value_parser!(u64).range(..=MAX_RANDOM_PLIES))]
    pub random_plies: u64,
    /// Share of games from double Fischer random starts
    #[arg(long, default_value_t = 0.1, value_parser = share)]
    pub fischer_share: f64,
    /// Drop openings that are further from even, in centipawns
    #[arg(long, default_value_t = 300)]
    pub max_imbalance: i32,
    /// Nodes for finding that out
    #[arg(long, default_value_t = 20_000)]
    pub check_nodes: u64,
    /// Network to play with [default: the embedded one]
    #[arg(long)]
    pub network: Option<PathBuf>,
}

/// A number from 0 to 1.
fn share(text: &str) -> Result<f64, String> {
    match text.parse() {
        Ok(share) if (0.0..=1.0).contains(&share) => Ok(share),
        _ => Err("not a number from 0 to 1".to_owned()),
    }
}

/// Runs the subcommand.
///
/// # Errors
/// See [`run::run`]; or the network is refused.
pub fn run(args: DatagenArgs) -> anyhow::Result<()> {
    super::log_to_stderr();
    let network = match &args.network {
        Some(path) => Network::load(path)?,
        None => Network::embedded(),
    };
    let machine = std::thread::available_parallelism().map_or(1, NonZero::get);
    let config = Config {
        directory: args.directory,
        name: args.name,
        games: args.games,
        chunk: args.chunk,
        seed: args.seed,
        threads: args.threads.unwrap_or(machine),
        play: PlaySettings {
            soft_nodes: args.nodes,
            hard_nodes: args.nodes.saturating_mul(HARD_TO_SOFT),
            hash: args.hash.max(1),
            opening: OpeningSettings {
                plies: args.random_plies as usize,
                fischer_share: args.fischer_share,
                max_imbalance: args.max_imbalance,
                check_nodes: args.check_nodes,
            },
            adjudication: Adjudication::default(),
        },
    };
    let summary = run::run(&config, &Judge::Network(network))?;
    log::info!("{}", summary.text());
    Ok(())
}

#[cfg(test)]
mod tests {
    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: DatagenArgs,
    }

    #[test]
    fn settings_that_leave_nothing_to_play_are_refused() {
        let read = |argument: &str| Line::try_parse_from(["datagen", argument]);
        assert!(read("--random-plies=2000").is_err());
        assert!(read("--fischer-share=1.1").is_err());
        assert!(read("--fischer-share=NaN").is_err());
        assert!(read("--nodes=0").is_err());
        let line = read("--random-plies=100").expect("allowed");
        assert_eq!(line.args.random_plies, 100);
    }
}
