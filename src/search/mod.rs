//! The alpha-beta search. Start reading at `node`: its numbered steps name everything else.

mod aspiration;
mod draws;
mod iterate;
mod limits;
mod moves;
mod node;
mod node_state;
mod node_type;
mod picker;
mod prune;
mod pv;
mod qsearch;
mod reduce;
mod reductions;
mod report;
mod root_moves;
mod searched_moves;
mod signals;
mod singular;
mod stack;
mod static_eval;
mod stats;
mod tablebase_cutoff;
#[cfg(test)]
mod tests;
mod tt_cutoff;
mod update;
mod window;
mod worker;

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::time::{Duration, Instant};

use crate::board::Position;
use crate::eval::Misjudgement;
use crate::tablebase::{Probing, RootRanking};
use crate::tt::TranspositionTable;
use crate::types::{Depth, Move, Score};

pub(crate) use draws::score_without_moves;
pub use limits::Limits;
pub(crate) use report::QUIET_TIME;
pub use report::{Info, Report, RootEffort, Silent};
pub use signals::Signals;
pub use stats::{PlyStats, Stats};
pub use worker::SearchWorker;

/// What all threads of a search share.
pub struct Shared {
    pub tt: TranspositionTable,
    pub signals: Arc<Signals>,
    counters: Box<[ThreadCounters]>,
}

/// What one thread has done in the current search. Only that thread writes here, and the
/// alignment gives it a cache line of its own, so that threads do not wait for each other.
#[derive(Default)]
#[repr(align(64))]
struct ThreadCounters {
    /// Nodes searched, brought up to date every 64 nodes or so.
    nodes: AtomicU64,
    /// Successful tablebase probes.
    tablebase_hits: AtomicU64,
}

impl Shared {
    /// For up to `threads` workers, numbered from 0.
    #[must_use]
    pub fn new(tt: TranspositionTable, threads: usize) -> Shared {
        let counters = (0..threads.max(1))
            .map(|_| ThreadCounters::default())
            .collect();
        Shared {
            tt,
            signals: Arc::default(),
            counters,
        }
    }

    /// Nodes of all threads in the current search.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.sum(|thread| &thread.nodes)
    }

    /// Successful tablebase probes of all threads in the current search.
    #[must_use]
    pub fn tablebase_hits(&self) -> u64 {
        self.sum(|thread| &thread.tablebase_hits)
    }

    fn sum(&self, counter: impl Fn(&ThreadCounters) -> &AtomicU64) -> u64 {
        self.counters
            .iter()
            .map(|thread| counter(thread).load(Relaxed))
            .sum()
    }

    /// Counts successful tablebase probes of a thread.
    fn count_tablebase_hits(&self, thread: usize, hits: usize) {
        if let Some(counters) = self.counters.get(thread) {
            counters.tablebase_hits.fetch_add(hits as u64, Relaxed);
        }
    }

    /// Begins a search that was asked for at `asked`: ages the table and resets the counters and
    /// signals. Called once, before the workers start.
    pub fn begin(&self, pondering: bool, asked: Instant) {
        self.tt.new_search();
        for thread in &self.counters {
            thread.nodes.store(0, Relaxed);
            thread.tablebase_hits.store(0, Relaxed);
        }
        self.signals.start(pondering, asked);
    }

    fn set_nodes(&self, thread: usize, nodes: u64) {
        if let Some(counters) = self.counters.get(thread) {
            counters.nodes.store(nodes, Relaxed);
        }
    }
}

/// One search to be done.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    pub root: Position,
    /// Keys of the game's earlier positions, oldest first, the root excluded.
    pub history: Vec<u64>,
    pub limits: Limits,
    /// What the search may leave out.
    pub selectivity: Selectivity,
    /// The result is held back until `ponderhit`. The hard time bound and a fixed time count from
    /// then on, the soft bound from the beginning of the search.
    pub ponder: bool,
    /// The result is held back until `stop`.
    pub infinite: bool,
    /// The game's moves, oldest first, as far as they are known; the search does not need them.
    pub past: Vec<Move>,
    /// The tablebases to probe below the root.
    pub probing: Option<Probing>,
    /// The root's moves ranked by tablebases: moves of the best rank are searched first, and those
    /// of other ranks only for further lines.
    pub(crate) ranking: Option<RootRanking>,
    /// Evaluate like a weaker player.
    pub(crate) misjudgement: Option<Misjudgement>,
    /// The result is held back until the clock has run so long.
    pub least_time: Option<Duration>,
    /// Only the first thread searches, so that the result does not depend on their number.
    pub first_thread_only: bool,
}

impl SearchRequest {
    /// A search of a position without a past.
    #[must_use]
    pub fn new(root: Position, limits: Limits) -> SearchRequest {
        SearchRequest {
            root,
            history: Vec::new(),
            limits,
            selectivity: Selectivity::Full,
            ponder: false,
            infinite: false,
            past: Vec::new(),
            probing: None,
            ranking: None,
            misjudgement: None,
            least_time: None,
            first_thread_only: false,
        }
    }

    /// The moves that may be played: those that the limits name, or all legal ones.
    #[must_use]
    pub fn root_moves(&self) -> Vec<Move> {
        let named = self.limits.root_moves.clone();
        named.unwrap_or_else(|| self.root.legal_moves().to_vec())
    }
}

/// Whether the search may prune, reduce and extend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Selectivity {
    /// Everything that makes the engine strong.
    #[default]
    Full,
    /// Plain alpha-beta to a fixed depth over the bare static evaluation: move ordering and
    /// windows only, so that the result is minimax's. For tests and for teaching.
    Plain,
}

/// What a search found. Nothing is returned by a search that found nothing, so no score either.
#[derive(Clone, Debug)]
pub struct SearchResult {
    pub best: Move,
    pub score: Score,
    /// The last completed iteration; zero if the first was stopped after some of its moves.
    pub depth: Depth,
    /// This thread's nodes.
    pub nodes: u64,
    pub pv: Vec<Move>,
}

/// The search was told to stop; nothing that it would return is of use.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Stopped;

/// A result, unless the search was stopped on the way.
type Searched<T> = Result<T, Stopped>;
