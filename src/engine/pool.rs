//! The search threads: all run the same search over one transposition table (Lazy SMP).
//!
//! Tasks and the helpers' results come through channels of the standard library, whose receivers
//! sleep at once. Those of crossbeam may first yield their time slice up to four times, and on a
//! busy machine get the next one only when others have used theirs.

use std::fmt;
use std::iter;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, mpsc};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crossbeam_channel::{Receiver, Sender, bounded};
use thiserror::Error;

use super::conclusion::Conclusion;
use super::pipeline::{Pipeline, Prepared};
use super::reporter::{EventReporter, Totals};
use super::vote;
use crate::eval::EvalKind;
use crate::faults::panic_at;
use crate::memory::can_allocate;
use crate::search::{
    Info, Limits, Report, RootEffort, SearchRequest, SearchResult, SearchWorker, Shared, Signals,
    Silent, Stats, score_without_moves,
};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::{Depth, Move, Ply};

/// MiB of hash table from which its memory is supplied ahead of the first search.
const POPULATE_FROM: usize = 64;
/// How long a new pool, and so `readyok`, waits for the table's memory; what is left then is
/// supplied during the first searches.
const POPULATE_TIMEOUT: Duration = Duration::from_secs(3);
/// The search recurses to `MAX_PLY` with a node's move list on the stack of each ply.
const STACK_BYTES: usize = 16 << 20;

/// What a worker may allocate, and room for what searches, the session and the system allocate
/// besides: more than this must be free when a thread is added.
const WORKER_BYTES: usize = 64 << 20;
/// Address space that the allocator of the C library reserves for a new thread before it gives
/// most of it back.
const ARENA_BYTES: usize = 128 << 20;
/// How long a result waits for helpers that have been told to stop. They need a fraction of this
/// if they run at all; with many more threads than cores it takes the system longer to let each
/// of them run.
const HELPER_TIMEOUT: Duration = Duration::from_millis(5);

/// Why there is no pool.
#[derive(Debug, Error)]
pub enum PoolError {
    #[error(transparent)]
    Hash(#[from] AllocError),
    #[error("cannot start search thread {number}: {error}")]
    Thread {
        number: usize,
        error: std::io::Error,
    },
    #[error("no memory for search thread {0}")]
    Worker(usize),
}

/// What a thread is asked to do.
enum PoolTask {
    /// Take part in a search and send the result through `done`.
    Helper {
        request: Arc<SearchRequest>,
        done: mpsc::Sender<Option<SearchResult>>,
        /// Held while at work.
        busy: Sender<()>,
    },
    /// Be the first thread of a search: search, gather the helpers' results and report the
    /// result.
    Main(Box<MainTask>),
    /// Forget everything learned.
    Clear { done: Sender<()> },
}

struct MainTask {
    request: Arc<SearchRequest>,
    reporter: EventReporter,
    helpers: mpsc::Receiver<Option<SearchResult>>,
    prepared: Prepared,
    /// Held while at work.
    busy: Sender<()>,
}

/// A running set of search threads and what they share.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<(mpsc::Sender<PoolTask>, JoinHandle<()>)>,
    /// Disconnected once every thread has ended its part of the last search.
    idle: Option<Receiver<()>>,
}

impl Pool {
    /// Starts `threads` threads (at least one) over a table of `hash_mib` MiB; `signals` are those
    /// of their searches.
    ///
    /// # Errors
    /// If memory or a thread cannot be allocated.
    pub fn new(
        threads: usize,
        hash_mib: usize,
        eval_kind: &EvalKind,
        signals: &Arc<Signals>,
    ) -> Result<Pool, PoolError> {
        let threads = threads.max(1);
        let mut table = TranspositionTable::new(hash_mib)?;
        if hash_mib >= POPULATE_FROM {
            table.populate(threads, POPULATE_TIMEOUT);
        }
        let mut shared = Shared::new(table, threads);
        shared.signals = Arc::clone(signals);
        let shared = Arc::new(shared);
        let mut pool = Pool {
            shared,
            threads: Vec::with_capacity(threads),
            idle: None,
        };
        for id in 0..threads {
            pool.add_thread(id, eval_kind)?;
        }
        Ok(pool)
    }

    /// Starts a thread and waits until it has built its worker, so that a failure is known now
    /// and not in the next search.
    fn add_thread(&mut self, id: usize, eval_kind: &EvalKind) -> Result<(), PoolError> {
        let number = id + 1;
        // A small allocation that fails ends the program: see first whether all of them fit.
        if !can_allocate(WORKER_BYTES + STACK_BYTES + ARENA_BYTES) {
            return Err(PoolError::Worker(number));
        }
        let (tasks, inbox) = mpsc::channel();
        let (built, is_built) = bounded(1);
        let shared = Arc::clone(&self.shared);
        let eval_kind = eval_kind.clone();
        let handle = thread::Builder::new()
            .name(format!("search-{id}"))
            .stack_size(STACK_BYTES)
            .spawn(move || {
                // Made here so that a thread's tables lie near the core that uses them.
                let mut worker = SearchWorker::new(id, Arc::clone(&shared), eval_kind);
                let _ = built.send(());
                serve(&mut worker, &inbox, &shared);
            })
            .map_err(|error| PoolError::Thread { number, error })?;
        self.threads.push((tasks, handle));
        is_built.recv().map_err(|_| PoolError::Worker(number))
    }

    /// Begins a search, which reports through the reporter. Its clock runs from the call on: it
    /// includes the wait for late helpers of the last search and the stages of the pipeline that
    /// come before the search, which are run at once, on the caller's thread. Any `stop` or
    /// `ponderhit` after this call concerns this search, even if no thread has started yet. The
    /// caller makes sure that no search is running.
    pub fn start(
        &mut self,
        mut request: SearchRequest,
        reporter: EventReporter,
        pipeline: &Pipeline,
    ) {
        let asked = Instant::now();
        self.wait_until_idle();
        self.shared.begin(request.ponder, asked);
        let prepared = pipeline.prepare(&mut request, |text| reporter.note(text));
        let request = Arc::new(request);
        let (done, helpers) = mpsc::channel();
        let (busy, idle) = bounded(0);
        self.idle = Some(idle);
        if prepared.answer.is_none() && !request.first_thread_only {
            for (tasks, _) in self.threads.iter().skip(1) {
                let _ = tasks.send(PoolTask::Helper {
                    request: Arc::clone(&request),
                    done: done.clone(),
                    busy: busy.clone(),
                });
            }
        }
        drop(done);
        let main = MainTask {
            request,
            reporter,
            helpers,
            prepared,
            busy,
        };
        if let Some((tasks, _)) = self.threads.first() {
            let _ = tasks.send(PoolTask::Main(Box::new(main)));
        }
    }

    /// Waits for helpers of the last search that were still running when its result was reported.
    fn wait_until_idle(&mut self) {
        if let Some(idle) = self.idle.take() {
            // Nothing is ever sent; the error comes when the last thread is done.
            let _ = idle.recv();
        }
    }

    /// Whether the first thread, which reports, has panicked.
    pub fn has_failed(&self) -> bool {
        let first = self.threads.first();
        first.is_none_or(|(_, handle)| handle.is_finished())
    }

    /// Empties the hash table and lets every thread forget what it learned; done on return.
    /// The caller makes sure that no search is running.
    pub fn clear(&mut self) {
        self.wait_until_idle();
        let (done, cleared) = bounded(self.threads.len());
        for (tasks, _) in &self.threads {
            let _ = tasks.send(PoolTask::Clear { done: done.clone() });
        }
        drop(done);
        self.clear_hash();
        for () in cleared {}
    }

    /// Empties the hash table only.
    pub fn clear_hash(&mut self) {
        self.wait_until_idle();
        self.shared.tt.clear(self.threads.len());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.shared.signals.stop();
        for (tasks, handle) in self.threads.drain(..) {
            drop(tasks);
            // A thread that has panicked has nothing left to end.
            let _ = handle.join();
        }
    }
}

/// Does a thread's tasks until the pool drops the channel.
fn serve(worker: &mut SearchWorker, tasks: &mpsc::Receiver<PoolTask>, shared: &Shared) {
    for task in tasks {
        match task {
            PoolTask::Helper {
                request,
                done,
                busy,
            } => {
                let root = fmt::from_fn(|f| f.write_str(&request.root.fen()));
                panic_at("helper", root);
                if !shared.signals.is_stopped() {
                    let _ = done.send(worker.search(&request, Box::new(Silent)));
                }
                drop(busy);
            }
            PoolTask::Main(main) => run(worker, *main, shared),
            PoolTask::Clear { done } => {
                worker.clear();
                let _ = done.send(());
            }
        }
    }
}

/// Runs a search from its beginning to its result.
fn run(worker: &mut SearchWorker, main: MainTask, shared: &Shared) {
    let request = &main.request;
    let reporter = Arc::new(Mutex::new(main.reporter));
    let mut stats = Stats::default();
    let mut results = Vec::new();
    if main.prepared.answer.is_none() {
        results.extend(worker.search(request, Box::new(SharedReporter(Arc::clone(&reporter)))));
        stats = *worker.stats();
    }
    shared.signals.hold(request.infinite, request.least_time);
    shared.signals.stop();
    results.extend(results_of_helpers(&main.helpers));
    let best_thread = if may_vote(&request.limits) {
        vote::best_thread(&results)
    } else {
        (!results.is_empty()).then_some(0)
    };
    let result = best_thread.map(|index| results.swap_remove(index));
    let conclusion = main
        .prepared
        .answer
        .unwrap_or_else(|| conclude(result, request));
    let totals = Totals {
        nodes: shared.nodes(),
        time: shared.signals.elapsed(),
        hashfull: shared.tt.hashfull(),
        stats,
    };
    drop(main.busy);
    lock(&reporter).finish(&conclusion, totals, main.prepared.revisions);
}

/// What the helpers found, without those that have not stopped in time.
fn results_of_helpers(helpers: &mpsc::Receiver<Option<SearchResult>>) -> Vec<SearchResult> {
    let deadline = Instant::now() + HELPER_TIMEOUT;
    let next = || {
        let timeout = deadline.saturating_duration_since(Instant::now());
        helpers.recv_timeout(timeout).ok()
    };
    iter::from_fn(next).flatten().collect()
}

/// The worker's end of the reporter, which the pool needs again after the search.
struct SharedReporter(Arc<Mutex<EventReporter>>);

impl Report for SharedReporter {
    fn info(&mut self, info: Info, pv: &[Move], efforts: &[RootEffort]) {
        let mut reporter = lock(&self.0);
        reporter.info(info, pv, efforts);
        panic_at("report", info.depth);
        drop(reporter);
        panic_at("search", info.depth);
    }

    fn current_move(&mut self, depth: Depth, m: Move, number: usize) {
        lock(&self.0).current_move(depth, m, number);
    }
}

fn lock(reporter: &Mutex<EventReporter>) -> MutexGuard<'_, EventReporter> {
    reporter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads reach different depths; a result that was asked for at a depth, with a mate, or with
/// several lines, is the first thread's alone.
fn may_vote(limits: &Limits) -> bool {
    limits.depth.is_none() && limits.mate.is_none() && limits.multi_pv == 1
}

/// What to report of a search that found `result`. Always a legal move if there is one: a search
/// that was stopped before it had searched any, or that is wrong, plays the first allowed, and
/// then there is no score.
fn conclude(result: Option<SearchResult>, request: &SearchRequest) -> Conclusion {
    let legal = request.root.legal_moves();
    if let Some(result) = result {
        if legal.contains(&result.best) {
            return Conclusion::from(result);
        }
        log::error!("the search chose an illegal move in {}", request.root.fen());
    }
    let allowed = request
        .limits
        .root_moves
        .as_ref()
        .and_then(|moves| moves.first());
    let best = allowed.or(legal.first()).copied();
    let score = match best {
        Some(_) => None,
        None => Some(score_without_moves(&request.root, Ply::ROOT)),
    };
    Conclusion {
        score,
        depth: Depth::ZERO,
        pv: best.into_iter().collect(),
    }
}

#[cfg(test)]
mod tests {
    use crossbeam_channel::unbounded;

    use super::*;
    use crate::board::{Game, Position};
    use crate::engine::best_so_far::BestSoFar;

    /// The client's clock runs since it sent `go`.
    #[test]
    fn the_wait_for_late_helpers_is_on_the_clock() {
        const LATE: Duration = Duration::from_millis(50);
        let signals = Arc::new(Signals::new());
        let mut pool = Pool::new(1, 1, &EvalKind::Tapered, &signals).expect("memory");
        let (helper, idle) = bounded(0);
        pool.idle = Some(idle);
        thread::spawn(move || {
            thread::sleep(LATE);
            drop(helper);
        });
        let (events, _listener) = unbounded();
        let reporter = EventReporter::new(events, Game::default(), 1, BestSoFar::default());
        let request = SearchRequest::new(Position::startpos(), Limits::default());
        pool.start(request, reporter, &Pipeline::default());
        assert!(signals.elapsed() >= LATE);
    }
}
