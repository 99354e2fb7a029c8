//! What an engine tells its listener.

use std::sync::Arc;
use std::time::Duration;

use crate::board::Position;
use crate::search::{Info, Stats};
use crate::types::{Bound, Depth, Move, Score};

/// One line of analysis, owned: see [`Info`] for the fields. Its moves are legal from `root`
/// and end where the game ends.
#[derive(Clone, Debug)]
pub struct Line {
    pub root: Arc<Position>,
    pub depth: Depth,
    pub seldepth: usize,
    pub multi_pv: usize,
    pub score: Score,
    pub bound: Option<Bound>,
    pub nodes: u64,
    pub time: Duration,
    pub hashfull: u32,
    pub tb_hits: u64,
    pub pv: Vec<Move>,
}

impl Line {
    /// Takes over what a search said; `pv` is the line as far as it is worth telling.
    #[must_use]
    pub fn new(root: &Arc<Position>, info: &Info<'_>, pv: Vec<Move>) -> Line {
        Line {
            root: Arc::clone(root),
            depth: info.depth,
            seldepth: info.seldepth,
            multi_pv: info.multi_pv,
            score: info.score,
            bound: info.bound,
            nodes: info.nodes,
            time: info.time,
            hashfull: info.hashfull,
            tb_hits: info.tb_hits,
            pv,
        }
    }

    /// Nodes per second so far.
    #[must_use]
    pub fn nps(&self) -> u64 {
        nodes_per_second(self.nodes, self.time)
    }
}

/// Nodes per second; a time too short to measure counts as a millisecond.
#[must_use]
pub fn nodes_per_second(nodes: u64, time: Duration) -> u64 {
    let micros = time.as_micros().max(1000);
    u64::try_from(u128::from(nodes) * 1_000_000 / micros).unwrap_or(u64::MAX)
}

/// The end of a search.
#[derive(Clone, Debug)]
pub struct Finished {
    pub root: Arc<Position>,
    /// The move to play; `None` only if there is no legal one.
    pub best: Option<Move>,
    /// The reply that the engine expects.
    pub ponder: Option<Move>,
    /// `None` if the search was stopped before it had searched any move.
    pub score: Option<Score>,
    pub depth: Depth,
    /// Nodes of all threads.
    pub nodes: u64,
    pub time: Duration,
    /// The first thread's counts of what the search did.
    pub stats: Stats,
}

/// Everything that an engine tells, in order. Each search ends with exactly one `Finished`.
#[derive(Clone, Debug)]
pub enum Event {
    Line(Line),
    /// The root move now searched, `number` counting from 1.
    CurrentMove {
        root: Arc<Position>,
        depth: Depth,
        m: Move,
        number: usize,
    },
    /// A remark for a person to read.
    Note(String),
    Finished(Finished),
}
