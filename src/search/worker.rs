//! One search thread: everything that it owns, and the small steps that every node takes.

use std::num::NonZero;
use std::sync::Arc;

use super::node_type::NodeType;
use super::pv::PvTable;
use super::reductions::Reductions;
use super::root_moves::RootMoves;
use super::stack::Stack;
use super::stats::{PLIES, PlyStats, Stats};
use super::{Limits, Report, Searched, Selectivity, Shared, Silent, Stopped};
use crate::board::{KeyHistory, Position, is_noisy};
use crate::eval::{EvalKind, EvaluationSample, Evaluator};
use crate::history::{Histories, PieceTo};
use crate::tablebase::Probing;
use crate::types::{Depth, Move, PackedMove, Ply};

/// Nodes between stop checks. In a fresh hash table almost every node is the first to use a page
/// of memory, and waits until the system has zeroed it: up to 0.3 ms for a huge page.
const POLL_INTERVAL: u64 = 64;
/// The first thread's nodes before any limit or signal counts: nearly always enough to complete
/// the first iteration, so that the move played was searched. Some constructed positions need
/// thousands of times as many; there the best of the moves searched so far is played.
const FIRST_NODES: u64 = 4096;

/// A search thread's own state. Workers share the table and the signals and nothing else.
///
/// A search that is stopped returns at once, through every node, without taking its moves back:
/// it leaves the stack of frames, the accumulators, the keys of the line and the excluded moves
/// as they were in the middle of the tree. Nothing reads them afterwards, and the next search
/// resets them all (`prepare`). So `?` may be used between a move played and taken back.
pub struct SearchWorker {
    /// 0 is the main thread: it decides when the search has done enough, and reports.
    pub(super) id: usize,
    pub(super) shared: Arc<Shared>,
    pub(super) evaluator: Evaluator,
    pub(super) histories: Histories,
    pub(super) reductions: Reductions,
    pub(super) stack: Stack,
    pub(super) pv: PvTable,
    pub(super) keys: KeyHistory,
    pub(super) root: RootMoves,
    pub(super) report: Box<dyn Report + Send>,
    pub(super) stats: Stats,
    /// The kinds of nodes by their distance from the root; the last place counts all that are
    /// further away.
    pub(super) ply_stats: [PlyStats; PLIES],
    pub(super) limits: Limits,
    pub(super) selectivity: Selectivity,
    /// The tablebases of the current search, if it may probe any.
    pub(super) probing: Option<Probing>,
    pub(super) nodes: u64,
    next_poll: u64,
    /// The deepest ply of a PV node in the iteration, from 1.
    pub(super) seldepth: usize,
    /// The iteration's depth.
    pub(super) root_depth: Depth,
    pub(super) completed: Depth,
    /// No null moves and no hindsight before this ply while a null move is being verified.
    pub(super) null_from: Ply,
    /// The soft bound passed while pondering: end as soon as the pondered move is played.
    pub(super) stop_on_ponderhit: bool,
}

impl SearchWorker {
    /// A thread numbered `id` (0 is the main thread) that evaluates with `eval_kind`.
    #[must_use]
    pub fn new(id: usize, shared: Arc<Shared>, eval_kind: EvalKind) -> SearchWorker {
        SearchWorker {
            id,
            shared,
            evaluator: Evaluator::new(eval_kind),
            histories: Histories::default(),
            reductions: Reductions::new(),
            stack: Stack::default(),
            pv: PvTable::default(),
            keys: KeyHistory::default(),
            root: RootMoves::default(),
            report: Box::new(Silent),
            stats: Stats::default(),
            ply_stats: Default::default(),
            limits: Limits::default(),
            selectivity: Selectivity::Full,
            probing: None,
            nodes: 0,
            next_poll: 0,
            seldepth: 0,
            root_depth: Depth::ZERO,
            completed: Depth::ZERO,
            null_from: Ply::ROOT,
            stop_on_ponderhit: false,
        }
    }

    /// Forgets everything learnt, as for a new game.
    pub fn clear(&mut self) {
        self.histories.clear();
    }

    /// Keeps one of `every` positions that are evaluated from now on, or none.
    pub fn sample_evaluations(&mut self, every: Option<NonZero<u32>>) {
        self.evaluator.set_sample(every.map(EvaluationSample::new));
    }

    /// The sample of evaluated positions kept so far, which begins anew.
    pub fn take_sample(&mut self) -> Vec<Position> {
        self.evaluator.take_sample()
    }

    /// Counts of the last search.
    #[must_use]
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The kinds of nodes of the last search by their distance from the root.
    #[must_use]
    pub fn ply_stats(&self) -> &[PlyStats] {
        &self.ply_stats
    }

    /// Whether results may be approximate.
    pub(super) fn selective(&self) -> bool {
        self.selectivity == Selectivity::Full
    }

    /// Whether a technique is switched on and results may be approximate.
    pub(super) fn uses(&self, switch: bool) -> bool {
        switch && self.selective()
    }

    /// Whether a game without progress ends in a draw: always, unless the tablebases' user has
    /// switched the rule off.
    pub(super) fn fifty_move_rule(&self) -> bool {
        self.probing
            .as_ref()
            .is_none_or(|probing| probing.fifty_move_rule)
    }

    /// Prepares the counters for a new search.
    pub(super) fn reset_counters(&mut self) {
        self.stats = Stats::default();
        self.ply_stats = Default::default();
        self.nodes = 0;
        self.next_poll = 0;
        self.seldepth = 0;
        self.root_depth = Depth::ZERO;
        self.completed = Depth::ZERO;
        self.null_from = Ply::ROOT;
        self.stop_on_ponderhit = false;
        if cfg!(feature = "tune") {
            // A parameter may have changed since the last search.
            self.reductions = Reductions::new();
        }
    }

    /// What every node does first: count the node, clear the line of the last node at this ply,
    /// and check whether to stop.
    #[inline]
    pub(super) fn enter<T: NodeType>(&mut self, ply: Ply) -> Searched<()> {
        if T::PV {
            self.pv.clear(ply);
            self.seldepth = self.seldepth.max(ply.index() + 1);
        }
        if self.nodes >= self.next_poll {
            self.poll()?;
        }
        self.nodes += 1;
        Ok(())
    }

    /// Checks everything that can end a search within an iteration.
    #[cold]
    fn poll(&mut self) -> Searched<()> {
        self.shared.set_nodes(self.id, self.nodes);
        self.next_poll = self.nodes + POLL_INTERVAL;
        if self.completed == Depth::ZERO && self.id == 0 && self.nodes < FIRST_NODES {
            return Ok(());
        }
        if self.shared.signals.is_stopped() {
            return Err(Stopped);
        }
        if self.is_out_of_time() {
            // Any thread may see it first: the system may let the others wait.
            self.shared.signals.stop();
            return Err(Stopped);
        }
        if let Some(limit) = self.limits.nodes {
            let total = self.shared.nodes();
            if total >= limit {
                return Err(Stopped);
            }
            if self.id != 0 {
                return Ok(());
            }
            // With one thread the limit is met to the node, but for limits so small that the first
            // iteration, or the first poll after it, passes them. The levels, some of which have
            // such limits, are calibrated with that.
            self.next_poll = self.next_poll.min(self.nodes + (limit - total));
        }
        Ok(())
    }

    /// Whether the hard bound has passed, or the soft one while pondering.
    fn is_out_of_time(&self) -> bool {
        let signals = &self.shared.signals;
        self.limits.time.as_ref().is_some_and(|time| {
            !signals.is_pondering()
                && (self.stop_on_ponderhit || signals.clock_elapsed() >= time.hard)
        })
    }

    /// Publishes the exact node count between iterations.
    pub(super) fn publish_nodes(&self) {
        self.shared.set_nodes(self.id, self.nodes);
    }

    /// Prefetches the table's cluster of the position after a move, well before the move is played.
    /// The key leaves out changes of castling and en passant rights. To compute it once more when the
    /// move is played costs less than waiting for the cluster: 3.9 % more nodes a second.
    #[inline]
    pub(super) fn prefetch_child(&self, position: &Position, m: Move) {
        let key = position.key_after(m);
        self.shared.tt.prefetch(key);
    }

    /// Plays a legal move at `ply` and returns the position after it.
    #[inline]
    pub(super) fn play(&mut self, position: &Position, ply: Ply, m: Move) -> Position {
        let dirty = position.dirty_pieces(m);
        let keys = position.keys_after(&dirty);
        let played = PieceTo::new(position.moved_piece(m), m.to());
        let line = played.pair_key(self.stack.before(ply, 1).played);
        self.prefetch_corrections(&keys, !position.turn(), line);
        let child = position.play_with_keys(m, keys);
        self.evaluator.push(&dirty);
        self.keys.push(position.key());
        let frame = self.stack.at_mut(ply);
        frame.current = PackedMove::new(m);
        frame.played = played;
        frame.noisy = is_noisy(m);
        frame.number = 0;
        child
    }

    /// Takes the last move back.
    #[inline]
    pub(super) fn unplay(&mut self) {
        self.evaluator.pop();
        self.keys.pop();
    }
}
