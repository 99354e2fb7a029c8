//! Arguments shared by the commands that search.

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use anyhow::ensure;
use clap::Args;

use crate::engine::{Engine, EngineError, HASH_MAX, Request, THREADS_MAX, load_tablebases};
use crate::tablebase::Tablebases;

/// When a search ends.
#[derive(Args, Clone, Debug)]
pub struct LimitArguments {
    /// Stop after this many plies
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    pub depth: Option<i32>,
    /// Stop after this many nodes
    #[arg(long, value_parser = clap::value_parser!(u64).range(1..))]
    pub nodes: Option<u64>,
    /// Stop after this many milliseconds
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..))]
    pub movetime: Option<u32>,
}

impl LimitArguments {
    /// Whether any limit was given.
    #[must_use]
    pub const fn any(&self) -> bool {
        self.depth.is_some() || self.nodes.is_some() || self.movetime.is_some()
    }

    /// The request with exactly the limits given.
    #[must_use]
    pub fn request(&self) -> Request {
        let mut request = match self.movetime {
            None => Request::default(),
            Some(ms) => Request::for_time(Duration::from_millis(u64::from(ms))),
        };
        request.depth = self.depth;
        request.nodes = self.nodes;
        request
    }
}

/// What an engine is made of.
#[derive(Args, Clone, Debug)]
pub struct EngineArguments {
    /// Evaluate with this network file
    #[arg(long)]
    pub network: Option<PathBuf>,
    /// Folders of Syzygy tablebases, separated as in PATH
    #[arg(long)]
    pub syzygy: Option<String>,
}

impl EngineArguments {
    /// Loads the tablebases, and says on stderr how many were found and which folders and files could
    /// not be read.
    ///
    /// # Errors
    /// If tablebases were asked for and none were found, or stderr cannot be written to.
    pub fn prepare(&self) -> anyhow::Result<EngineMaker> {
        let path = self.syzygy.as_deref();
        let (tablebases, remarks) = path.map_or_else(Default::default, load_tablebases);
        for remark in remarks {
            writeln!(io::stderr(), "{remark}")?;
        }
        if let Some(path) = path {
            ensure!(tablebases.is_some(), "no tablebases in --syzygy {path}");
        }
        Ok(EngineMaker {
            network: self.network.clone(),
            tablebases,
        })
    }
}

/// Makes engines that share what was loaded once.
pub struct EngineMaker {
    network: Option<PathBuf>,
    tablebases: Option<Arc<Tablebases>>,
}

impl EngineMaker {
    /// An engine with this many search threads and MiB of hash table.
    ///
    /// # Errors
    /// If memory or a thread is missing, or the network file cannot be read.
    pub fn engine(&self, threads: usize, hash_mib: usize) -> Result<Engine, EngineError> {
        let mut engine = Engine::new();
        engine.settings.move_overhead = 0;
        engine.share_tablebases(self.tablebases.clone());
        if let Some(path) = &self.network {
            engine.set_network(Some(path))?;
        }
        engine.set_threads(threads)?;
        // Last, since each of these makes the table anew, and a large one takes seconds.
        engine.set_hash(hash_mib)?;
        Ok(engine)
    }
}

/// The range of `--threads`, as over UCI.
pub fn threads_range() -> impl clap::builder::TypedValueParser<Value = usize> {
    in_range(1, THREADS_MAX)
}

/// The range of `--hash`, as over UCI.
pub fn hash_range() -> impl clap::builder::TypedValueParser<Value = usize> {
    in_range(1, HASH_MAX)
}

/// Whole numbers from `least` to `most`.
pub fn in_range(least: usize, most: usize) -> impl clap::builder::TypedValueParser<Value = usize> {
    use clap::builder::TypedValueParser as _;
    clap::value_parser!(u64)
        .range(least as u64..=most as u64)
        .map(|value| value as usize)
}

/// The cores that this process may use.
#[must_use]
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get)
}
