//! `pleach perft`: counting the sequences of legal moves, the test of a move generator.

use std::io::{self, Write as _};
use std::time::Instant;

use clap::Args;

use super::CommandResult;
use super::limits::{in_range, threads_range};
use super::position::position;
use crate::board::Perft;
use crate::engine::{HASH_MAX, nodes_per_second};

#[derive(Args)]
pub struct Arguments {
    /// Length of the sequences, in plies
    depth: u32,
    /// The position, in quotes: a FEN, an EPD line, startpos or moves
    #[arg(long, default_value = "startpos")]
    fen: String,
    /// Read the FEN as Chess960
    #[arg(long)]
    chess960: bool,
    /// Show the count below each first move
    #[arg(long)]
    divide: bool,
    /// Threads that count
    #[arg(short, long, default_value_t = 1, value_parser = threads_range())]
    threads: usize,
    /// Hash table in MiB; 0 counts every sequence one by one
    #[arg(long, default_value_t = 0, value_parser = in_range(0, HASH_MAX))]
    hash: usize,
}

pub fn run(arguments: &Arguments) -> CommandResult {
    let root = position(&arguments.fen, arguments.chess960)?;
    let perft = Perft {
        threads: arguments.threads,
        hash_mib: arguments.hash,
    };
    let started = Instant::now();
    let counts = perft.divide(&root, arguments.depth)?;
    let time = started.elapsed();
    let mut out = io::stdout().lock();
    if arguments.divide {
        for &(m, count) in &counts.moves {
            writeln!(out, "{}: {count}", root.uci(m))?;
        }
        writeln!(out)?;
    }
    writeln!(
        out,
        "perft {}: {} in {:.3} s, {} per second",
        arguments.depth,
        counts.total,
        time.as_secs_f64(),
        nodes_per_second(counts.total, time)
    )?;
    Ok(true)
}
