//! An analysis of a game: what a search reports while it runs, and its result.

use std::sync::Arc;
use std::time::Duration;

use crate::board::Position;
use crate::search::{Info, RootEffort, Stats};
use crate::types::{Depth, Move, Score};

/// One line of an analysis.
#[derive(Clone, Debug)]
pub struct AnalysisLine {
    pub root: Arc<Position>,
    pub info: Info,
    /// The effort of every root move.
    pub efforts: Arc<[RootEffort]>,
    /// Legal from `root`, and ending where the game ends.
    pub pv: Vec<Move>,
}

impl AnalysisLine {
    /// The share of all nodes that went into the line's first move, from 0 to 1; `None` if that
    /// is not known.
    #[must_use]
    pub fn effort(&self) -> Option<f64> {
        let first = self.pv.first()?;
        let own = self.efforts.iter().find(|effort| effort.m == *first)?;
        let total: u64 = self.efforts.iter().map(|effort| effort.nodes).sum();
        (total > 0).then(|| own.nodes as f64 / total as f64)
    }

    /// Nodes per second so far.
    #[must_use]
    pub fn nps(&self) -> u64 {
        nodes_per_second(self.info.nodes, self.info.time)
    }
}

/// Nodes per second; a time too short to measure counts as a microsecond.
#[must_use]
pub fn nodes_per_second(nodes: u64, time: Duration) -> u64 {
    let micros = time.as_micros().max(1);
    u64::try_from(u128::from(nodes) * 1_000_000 / micros).unwrap_or(u64::MAX)
}

/// The result of the analysis of a game's position under limits.
#[derive(Clone, Debug)]
pub struct Analysis {
    pub root: Arc<Position>,
    /// The last exact line of every multi-PV index, best first; empty if nothing was searched.
    pub lines: Vec<AnalysisLine>,
    /// The move to play; `None` only if there is no legal one.
    pub best: Option<Move>,
    /// The reply that the engine expects.
    pub ponder: Option<Move>,
    /// `None` for a move from the opening book, and if the search was stopped before it had
    /// searched any move.
    pub score: Option<Score>,
    /// The last iteration that was completed; 1 if the first was only begun, 0 if nothing was
    /// searched. Lines may be of the next one, which was stopped.
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    pub time: Duration,
    /// The first thread's counts of what the search did.
    pub stats: Stats,
}

/// Everything that an engine reports, in order. Each search ends with exactly one `Finished`.
#[derive(Clone, Debug)]
pub enum Event {
    Line(AnalysisLine),
    /// The root move now searched, `number` counting from 1.
    CurrentMove {
        root: Arc<Position>,
        depth: Depth,
        m: Move,
        number: usize,
    },
    /// Nothing has happened for a while. Only [`Engine::analyse`](super::Engine::analyse) passes
    /// this on, so that its listener can stop the search at any time.
    Idle,
    /// A remark for a person to read.
    Note(String),
    Finished(Analysis),
}
