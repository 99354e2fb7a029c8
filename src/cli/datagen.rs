//! `pleach datagen`: self-play games for training.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::Context as _;
use clap::{Args, ValueEnum};

use super::limits::{cores, hash_range, in_range, threads_range};
use crate::datagen::adjudicator::Adjudication;
use crate::datagen::opening::{OpeningSettings, OpeningsError, read_openings};
use crate::datagen::play::{Budget, PlaySettings};
use crate::datagen::quick::QuickSettings;
use crate::datagen::run::{self, DatagenConfig, DatagenKind, SEED_LIMIT};
use crate::eval::EvalKind;
use crate::nnue::Network;
use crate::teacher::TeacherNet;
use crate::types::Depth;

/// Nodes to check an opening with, as a multiple of the nodes of a move.
const CHECK_TO_SOFT: u64 = 4;
/// With more random plies than this, openings are no longer realistic.
const MAX_RANDOM_PLIES: u64 = 100;

/// What is generated.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum KindName {
    /// Games by the search, --nodes a move
    #[default]
    Search,
    /// Games by the search, --depth plies deep
    Shallow,
    /// Games by a one-ply search with captures and noise; their results mean little
    Quick,
    /// Positions that the search evaluated in games of the first kind, in the format of positions
    Evals,
}

/// Plays games against itself and records them in viriformat, or positions out of them.
#[derive(Args, Clone, Debug)]
pub struct DatagenArgs {
    /// Directory for the files
    #[arg(default_value = "data")]
    pub directory: PathBuf,
    /// What to make
    #[arg(long, value_enum, default_value_t)]
    pub kind: KindName,
    /// Games to play, including those in complete files of an earlier run with this seed
    #[arg(short, long, default_value_t = 100_000, value_parser = in_range(1, usize::MAX))]
    pub games: usize,
    /// First part of the files' names
    #[arg(long, default_value = "pleach")]
    pub name: String,
    /// Games in a file
    #[arg(long, default_value_t = 1000, value_parser = in_range(1, usize::MAX))]
    pub chunk: usize,
    /// Seed of the openings; different runs need different ones
    #[arg(long, default_value_t = 1, value_parser = clap::value_parser!(u64).range(..SEED_LIMIT))]
    pub seed: u64,
    /// Threads [default: all cores]
    #[arg(short, long, value_parser = threads_range())]
    pub threads: Option<usize>,
    /// Begin no new iteration after this many nodes
    #[arg(long, default_value_t = 5000, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: u64,
    /// With the kind "shallow": depth of the searches, in plies
    #[arg(long, default_value_t = 3, value_parser = clap::value_parser!(u8).range(2..=5))]
    pub depth: u8,
    /// With the kind "evals": keep one of this many evaluated positions
    #[arg(long, default_value = "50")]
    pub every: NonZero<u32>,
    /// With the kind "quick": share of random moves
    #[arg(long, default_value_t = QuickSettings::default().random_share, value_parser = share)]
    pub random_share: f64,
    /// With the kind "quick": largest error of a move's score, in centipawns
    #[arg(long, default_value_t = QuickSettings::default().noise, value_parser = clap::value_parser!(i32).range(0..=1000))]
    pub noise: i32,
    /// With the kind "quick": how many quiet moves are tried at each turn, drawn at random [default:
    /// all]
    #[arg(long)]
    pub quiet_moves: Option<usize>,
    /// With the kind "quick": end a game in which a side is ahead by this many centipawns for 8
    /// plies in a row; fewer make more of the positions undecided
    #[arg(long, default_value_t = QuickSettings::default().adjudication.win_score, value_parser = clap::value_parser!(i32).range(1..))]
    pub win_score: i32,
    /// Network file of Stockfish 15.1 or 17.1 that scores the positions, and plays the kind "quick"
    #[arg(long)]
    pub teacher: Option<PathBuf>,
    /// Megabytes of each side's transposition table
    #[arg(long, default_value_t = 4, value_parser = hash_range())]
    pub hash: usize,
    /// File of positions to start from, one FEN or EPD a line [default: the initial position]
    #[arg(long)]
    pub openings: Option<PathBuf>,
    /// Random plies at the start, or one more; five fewer from double Fischer random starts [default: 8, or 0 with --openings]
    #[arg(long, value_parser = clap::value_parser!(u64).range(..=MAX_RANDOM_PLIES))]
    pub random_plies: Option<u64>,
    /// Share of games from double Fischer random starts, whatever --openings says
    #[arg(long, default_value_t = 0.1, value_parser = share)]
    pub dfrc_share: f64,
    /// Drop openings with a score further from 0 than this, in centipawns
    #[arg(long, default_value_t = 300, value_parser = clap::value_parser!(i32).range(0..))]
    pub max_imbalance: i32,
    /// Nodes to check openings with [default: four times --nodes]
    #[arg(long)]
    pub check_nodes: Option<u64>,
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

/// The kind with its settings.
///
/// # Errors
/// See [`read_openings`].
fn kind(args: &DatagenArgs) -> Result<DatagenKind, OpeningsError> {
    let plies = match (args.random_plies, &args.openings) {
        (Some(plies), _) => plies as usize,
        (None, Some(_)) => 0,
        (None, None) => OpeningSettings::default().plies,
    };
    let opening = OpeningSettings {
        starts: match &args.openings {
            Some(path) => read_openings(path)?,
            None => Arc::default(),
        },
        plies,
        dfrc_share: args.dfrc_share,
        max_imbalance: args.max_imbalance,
        check_nodes: (args.check_nodes).unwrap_or_else(|| args.nodes.saturating_mul(CHECK_TO_SOFT)),
    };
    let play = PlaySettings {
        budget: Budget::soft_nodes(args.nodes),
        hash: args.hash,
        opening: opening.clone(),
        ..PlaySettings::default()
    };
    Ok(match args.kind {
        KindName::Search => DatagenKind::Search(play),
        KindName::Shallow => DatagenKind::Search(PlaySettings {
            budget: Budget::Depth(Depth(i32::from(args.depth))),
            ..play
        }),
        KindName::Evals => DatagenKind::Evaluated(PlaySettings {
            sample: Some(args.every),
            ..play
        }),
        KindName::Quick => DatagenKind::Quick(QuickSettings {
            opening,
            random_share: args.random_share,
            noise: args.noise,
            quiet_moves: args.quiet_moves.unwrap_or(usize::MAX),
            adjudication: Adjudication {
                win_score: args.win_score,
                ..QuickSettings::default().adjudication
            },
        }),
    })
}

/// Runs the subcommand.
///
/// # Errors
/// See [`run::run`]; or the network or the file of openings is refused.
pub fn run(args: DatagenArgs) -> anyhow::Result<()> {
    let network = match &args.network {
        Some(path) => Network::load(path)?,
        None => Network::embedded(),
    };
    let teacher = match &args.teacher {
        Some(path) => {
            let net = TeacherNet::load(path).with_context(|| path.display().to_string())?;
            Some(Arc::new(net))
        }
        None => None,
    };
    let kind = kind(&args)?;
    let config = DatagenConfig {
        directory: args.directory,
        name: args.name,
        games: args.games,
        chunk: args.chunk,
        seed: args.seed,
        threads: args.threads.unwrap_or_else(cores),
        kind,
        teacher,
    };
    let summary = run::run(&config, &EvalKind::Network(network))?;
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
        assert!(read("--dfrc-share=1.1").is_err());
        assert!(read("--dfrc-share=NaN").is_err());
        assert!(read("--nodes=0").is_err());
        assert!(read("--threads=0").is_err());
        assert!(read("--max-imbalance=-1").is_err());
        // Chunks of two runs would have the same seeds.
        assert!(read("--seed=4294967296").is_err());
        assert!(read("--seed=4294967295").is_ok());
        let line = read("--random-plies=100").expect("allowed");
        assert_eq!(line.args.random_plies, Some(100));
        let line = read("--openings=no-such-file").expect("read later");
        assert!(kind(&line.args).is_err());
    }

    #[test]
    fn after_given_openings_no_more_moves_are_random_unless_asked_for() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), "4k3/8/8/8/8/8/4P3/4K3 w - -").expect("written");
        let openings = format!("--openings={}", file.path().display());
        let plies = |arguments: &[&str]| {
            let line = Line::try_parse_from([&["datagen"], arguments].concat()).expect("read");
            match kind(&line.args).expect("readable") {
                DatagenKind::Search(play) => (play.opening.plies, play.opening.starts.len()),
                other => panic!("{other:?}"),
            }
        };
        assert_eq!(plies(&[]), (8, 0));
        assert_eq!(plies(&[&openings]), (0, 1));
        assert_eq!(plies(&[&openings, "--random-plies=3"]), (3, 1));
    }
}
