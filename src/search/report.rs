//! How a search reports to its caller. A search never prints.

use std::time::Duration;

use crate::types::{Bound, Depth, Move, Score};

/// Scores that are only bounds, and the move now searched, are reported once a search has taken
/// this long: at first they change too fast for a person.
pub(crate) const QUIET_TIME: Duration = Duration::from_secs(3);

/// How much of a search went into one root move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RootEffort {
    pub m: Move,
    /// Nodes of the reporting thread below the move since the search began.
    pub nodes: u64,
}

/// What a search has found so far, for one of its lines.
#[derive(Clone, Copy, Debug)]
pub struct Info {
    /// The iteration that found the score.
    pub depth: Depth,
    /// The deepest ply of a PV node when the move was last searched.
    pub seldepth: usize,
    /// Which of the best lines this is, from 1.
    pub multi_pv: usize,
    /// The line's score, from the side to move at the root.
    pub score: Score,
    /// `None` when the score is exact, else whether it is a lower or an upper bound.
    pub bound: Option<Bound>,
    /// Nodes of all threads since the search began.
    pub nodes: u64,
    /// Time since the search began.
    pub time: Duration,
    /// How full the transposition table is, in permille.
    pub hashfull: u32,
    /// Successful tablebase probes.
    pub tb_hits: u64,
}

/// Receives the reports of a running search. Only the first thread reports.
pub trait Report {
    /// A line was completed, or failed high or low on its aspiration window: `pv`, its first move
    /// the root move. `efforts` are those of all root moves.
    fn info(&mut self, info: Info, pv: &[Move], efforts: &[RootEffort]);

    /// The root move now searched, `number` counting from 1.
    fn current_move(&mut self, depth: Depth, m: Move, number: usize) {
        let _ = (depth, m, number);
    }
}

/// Ignores all reports.
#[derive(Clone, Copy, Debug, Default)]
pub struct Silent;

impl Report for Silent {
    fn info(&mut self, _info: Info, _pv: &[Move], _efforts: &[RootEffort]) {}
}
