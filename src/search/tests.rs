//! What the unit tests of the search's files share: a worker and a node to call their steps with.

use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crossbeam_channel::{RecvTimeoutError, bounded};

use super::node_state::Node;
use super::window::Window;
use super::{
    Info, Limits, Report, RootEffort, SearchRequest, SearchResult, SearchWorker, Shared, Silent,
};
use crate::board::Position;
use crate::eval::EvalKind;
use crate::time::TimeBounds;
use crate::tt::TranspositionTable;
use crate::types::{CastlingMode, Depth, Move, PackedMove, Ply, Score};

/// A position in standard chess.
pub(super) fn position(fen: &str) -> Position {
    Position::from_fen(fen, CastlingMode::Standard).expect("a legal position")
}

/// A worker with the tapered evaluation and an empty table.
pub(super) fn worker() -> SearchWorker {
    let tt = TranspositionTable::new(1).expect("memory");
    let shared = Arc::new(Shared::new(tt, 1));
    shared.begin(false, Instant::now());
    SearchWorker::new(0, shared, EvalKind::Tapered)
}

/// The same, about to search a position.
pub(super) fn worker_at(position: &Position) -> SearchWorker {
    let mut worker = worker();
    worker.evaluator.reset(position);
    worker
}

/// A node below the root of which nothing is known but its position, depth and window.
pub(super) fn node(position: &Position, depth: Depth, window: Window) -> Node<'_> {
    Node {
        position,
        legality: position.legality(),
        ply: Ply(1),
        depth,
        window,
        known: Window::OPEN,
        cut_node: false,
        excluded: PackedMove::NONE,
        tt_entry: None,
        tt_move: None,
        tt_pv: false,
        raw_eval: None,
        correction: 0,
        static_eval: Score::DRAW,
        eval: Score::DRAW,
        improvement: 0,
    }
}

/// Keeps every report.
#[derive(Clone, Default)]
struct Reports(Arc<Mutex<Vec<Info>>>);

impl Report for Reports {
    fn info(&mut self, info: Info, _pv: &[Move], _efforts: &[RootEffort]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.push(info);
    }
}

/// The last report and the result of a search by a fresh worker.
fn search(root: Position, limits: Limits) -> (Info, SearchResult) {
    let reports = Reports::default();
    let request = SearchRequest::new(root, limits);
    let found = worker().search(&request, Box::new(reports.clone()));
    let kept = reports.0.lock().unwrap_or_else(PoisonError::into_inner);
    let last = *kept.last().expect("a report");
    (last, found.expect("a result"))
}

#[test]
fn an_iteration_that_finds_nothing_is_not_reported_as_searched() {
    let depth = Depth(6);
    let (last, _) = search(Position::startpos(), Limits::to_depth(depth));
    let (stopped, found) = search(Position::startpos(), Limits::to_nodes(last.nodes + 1));
    assert!(stopped.nodes > last.nodes, "the next iteration has begun");
    assert_eq!((stopped.depth, found.depth), (depth, depth));
    assert_eq!(stopped.score, last.score);
}

#[test]
fn any_mate_ends_the_search_for_a_very_long_one() {
    let last = Depth(9);
    let limits = Limits {
        mate: Some(u32::MAX),
        ..Limits::to_depth(last)
    };
    let (_, found) = search(position("6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1"), limits);
    assert!(found.score.is_mate() && found.depth < last, "{found:?}");
}

/// A search that leaves out the only good move says nothing of the position.
#[test]
fn a_search_of_some_moves_leaves_table_and_corrections_alone() {
    let root = position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
    let take = root.parse_uci("d2d5").expect("legal");
    let others = root.legal_moves().into_iter().filter(|m| *m != take);
    let known = |root_moves: Option<Vec<Move>>, multi_pv: usize| {
        let mut worker = worker();
        let limits = Limits {
            root_moves,
            multi_pv,
            ..Limits::to_depth(Depth(5))
        };
        let request = SearchRequest::new(root.clone(), limits);
        worker.search(&request, Box::new(Silent)).expect("a result");
        let entry = worker.shared.tt.probe(root.key(), Ply::ROOT, 0);
        entry.map(|entry| (entry.best, entry.bound.is_some()))
    };
    let whole = Some((PackedMove::new(take), true));
    assert_eq!(known(None, 1), whole);
    assert_eq!(known(None, 3), whole);
    let of_others = known(Some(others.collect()), 1);
    assert!(
        of_others.is_none_or(|(_, bounded)| !bounded),
        "{of_others:?}"
    );
}

/// The system may let the first thread wait: another one has to see that time is up.
#[test]
fn any_thread_ends_the_search_at_the_hard_bound() {
    const BOUND: Duration = Duration::from_millis(10);
    const MUCH_LATER: Duration = Duration::from_secs(60);
    let tt = TranspositionTable::new(1).expect("memory");
    let shared = Arc::new(Shared::new(tt, 2));
    shared.begin(false, Instant::now());
    let time = TimeBounds {
        soft: BOUND,
        hard: BOUND,
        fixed: true,
    };
    let limits = Limits {
        time: Some(time),
        ..Limits::default()
    };
    let request = SearchRequest::new(Position::startpos(), limits);
    let mut helper = SearchWorker::new(1, Arc::clone(&shared), EvalKind::Tapered);
    let (done, is_done) = bounded::<()>(0);
    thread::scope(|scope| {
        scope.spawn(|| {
            if is_done.recv_timeout(MUCH_LATER) == Err(RecvTimeoutError::Timeout) {
                shared.signals.stop();
            }
        });
        helper.search(&request, Box::new(Silent));
        drop(done);
    });
    assert!(shared.signals.is_stopped() && shared.signals.elapsed() < MUCH_LATER);
}
