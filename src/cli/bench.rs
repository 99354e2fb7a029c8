//! `pleach bench`: nodes and speed over fixed positions.

use std::io::{self, Write as _};
use std::ops::ControlFlow;

use clap::Args;

use super::CommandResult;
use super::limits::{hash_range, threads_range};
use crate::bench::{self, Limit, Options};
use crate::memory::resident_memory;
use crate::stdio;

#[derive(Args)]
pub struct Arguments {
    /// Depth of each search, in plies
    #[arg(default_value_t = bench::DEPTH, value_parser = clap::value_parser!(i32).range(1..))]
    depth: i32,
    /// Further words, as for the UCI command bench (hash threads limit ...)
    #[arg(hide = true, conflicts_with_all = ["threads", "hash"])]
    customary: Vec<String>,
    /// Search threads; more than one make the node count vary
    #[arg(short, long, default_value_t = 1, value_parser = threads_range())]
    threads: usize,
    /// Hash table in MiB
    #[arg(long, default_value_t = bench::HASH_MIB, value_parser = hash_range())]
    hash: usize,
    /// Also show the spread over the positions and how often each step of the search applied
    #[arg(long)]
    stats: bool,
    /// Also show how much memory the program uses at the end
    #[arg(long)]
    memory: bool,
}

pub fn run(arguments: &Arguments) -> CommandResult {
    let options = options(arguments)?;
    let mut out = stdio::stdout()?;
    let mut measured = Vec::new();
    let mut resident = None;
    let mut written = Ok(());
    let summary = bench::run(&options, |position| {
        if let Some(position) = position {
            written = writeln!(out, "{}", bench::position_line(position));
            measured.push(position.clone());
            if arguments.memory {
                resident = resident_memory();
            }
        }
        if written.is_ok() && out.get_ref().is_closed() {
            written = Err(io::ErrorKind::BrokenPipe.into());
        }
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written?;
    let Some(summary) = summary else {
        return Ok(false);
    };
    writeln!(out)?;
    if arguments.stats {
        for line in bench::statistics(&measured) {
            writeln!(out, "{line}")?;
        }
    }
    if arguments.memory {
        writeln!(out, "{}", bench::memory_line(resident, options.hash_mib))?;
    }
    for line in summary.lines() {
        writeln!(out, "{line}")?;
    }
    Ok(true)
}

fn options(arguments: &Arguments) -> anyhow::Result<Options> {
    if !arguments.customary.is_empty() {
        let mut words = vec![arguments.depth.to_string()];
        words.extend(arguments.customary.iter().cloned());
        return Ok(Options::parse(&words)?);
    }
    Ok(Options {
        threads: arguments.threads,
        hash_mib: arguments.hash,
        limit: Limit::Depth(arguments.depth),
    })
}
