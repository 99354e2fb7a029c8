//! The search threads: all run the same search over one transposition table (Lazy SMP).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};

use crossbeam_channel::{Receiver, Sender, bounded, unbounded};
use thiserror::Error;

use super::reporter::{Conclusion, Reporter, Totals};
use super::vote;
use crate::eval::Judge;
use crate::search::{Info, Job, Limits, Outcome, Report, Shared, Silent, Worker};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::{Depth, Move, Ply, Score};

/// The search recurses to `MAX_PLY` with a node's move list on the stack of each ply.
const STACK_BYTES: usize = 16 << 20;

/// Why there is no pool.
#[derive(Debug, Error)]
pub enum PoolError {
    #[error("no memory for a hash table of {mib} MiB: {error}")]
    Hash { mib: usize, error: AllocError },
    #[error("cannot start search thread {number}: {error}")]
    Thread {
        number: usize,
        error: std::io::Error,
    },
}

/// What a thread is asked to do.
enum Order {
    /// Take part in a search; `done` hears the outcome.
    Help {
        job: Arc<Job>,
        done: Sender<Option<Outcome>>,
    },
    /// Lead a search: speak, gather the helpers' outcomes, and tell the result.
    Lead(Box<Lead>),
    /// Forget everything learned.
    Clear { done: Sender<()> },
}

/// What the first thread needs to lead a search.
struct Lead {
    job: Arc<Job>,
    reporter: Reporter,
    helpers: Receiver<Option<Outcome>>,
    infinite: bool,
}

/// One search to run.
pub struct Search {
    pub job: Job,
    pub reporter: Reporter,
    pub ponder: bool,
    /// Hold the result back until `stop`.
    pub infinite: bool,
}

/// A running set of search threads and what they share.
pub struct Pool {
    shared: Arc<Shared>,
    threads: Vec<(Sender<Order>, JoinHandle<()>)>,
    searching: Arc<AtomicBool>,
}

impl Pool {
    /// Starts `threads` threads (at least one) over a table of `hash_mib` MiB.
    ///
    /// # Errors
    /// If memory or threads lack.
    pub fn new(threads: usize, hash_mib: usize, judge: &Judge) -> Result<Pool, PoolError> {
        let threads = threads.max(1);
        let table = TranspositionTable::new(hash_mib).map_err(|error| PoolError::Hash {
            mib: hash_mib,
            error,
        })?;
        let shared = Arc::new(Shared::new(table, threads));
        let searching = Arc::new(AtomicBool::new(false));
        let mut pool = Pool {
            shared,
            threads: Vec::with_capacity(threads),
            searching,
        };
        for id in 0..threads {
            let (orders, inbox) = unbounded();
            let shared = Arc::clone(&pool.shared);
            let searching = Arc::clone(&pool.searching);
            let judge = judge.clone();
            let handle = thread::Builder::new()
                .name(format!("search-{id}"))
                .stack_size(STACK_BYTES)
                .spawn(move || {
                    // Made here so that a thread's tables lie near the core that uses them.
                    let mut worker = Worker::new(id, Arc::clone(&shared), judge);
                    serve(&mut worker, &inbox, &shared, &searching);
                })
                .map_err(|error| PoolError::Thread {
                    number: id + 1,
                    error,
                })?;
            pool.threads.push((orders, handle));
        }
        Ok(pool)
    }

    /// Begins a search; the reporter hears of its course and its end. Any `stop` or `ponderhit`
    /// after this call concerns it, even if no thread has woken yet. The caller makes sure that
    /// no search is running.
    pub fn start(&self, search: Search) {
        self.searching.store(true, Ordering::Release);
        self.shared.begin(search.ponder);
        let job = Arc::new(search.job);
        let (done, helpers) = unbounded();
        for (orders, _) in self.threads.iter().skip(1) {
            let _ = orders.send(Order::Help {
                job: Arc::clone(&job),
                done: done.clone(),
            });
        }
        drop(done);
        let lead = Lead {
            job,
            reporter: search.reporter,
            helpers,
            infinite: search.infinite,
        };
        if let Some((orders, _)) = self.threads.first() {
            let _ = orders.send(Order::Lead(Box::new(lead)));
        }
    }

    /// Whether a search has begun whose end has not been told yet.
    #[must_use]
    pub fn is_searching(&self) -> bool {
        self.searching.load(Ordering::Acquire)
    }

    /// Ends the running search; its result follows.
    pub fn stop(&self) {
        self.shared.signals.stop();
    }

    /// The pondered move was played.
    pub fn ponderhit(&self) {
        self.shared.signals.ponderhit();
    }

    /// Empties the hash table and lets every thread forget what it learned; done on return.
    /// The caller makes sure that no search is running.
    pub fn clear(&self) {
        let (done, cleared) = bounded(self.threads.len());
        for (orders, _) in &self.threads {
            let _ = orders.send(Order::Clear { done: done.clone() });
        }
        drop(done);
        self.clear_hash();
        for () in cleared {}
    }

    /// Empties the hash table only.
    pub fn clear_hash(&self) {
        self.shared.tt.clear(self.threads.len());
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.stop();
        for (orders, handle) in self.threads.drain(..) {
            drop(orders);
            // A thread that has panicked has nothing left to end.
            let _ = handle.join();
        }
    }
}

/// A thread's life: orders in, until the pool lets go of the channel.
fn serve(worker: &mut Worker, inbox: &Receiver<Order>, shared: &Shared, searching: &AtomicBool) {
    for order in inbox {
        match order {
            Order::Help { job, done } => {
                let _ = done.send(worker.search(&job, Box::new(Silent)));
            }
            Order::Lead(lead) => run(worker, *lead, shared, searching),
            Order::Clear { done } => {
                worker.clear();
                let _ = done.send(());
            }
        }
    }
}

/// Leads a search from its beginning to its last word.
fn run(worker: &mut Worker, lead: Lead, shared: &Shared, searching: &AtomicBool) {
    let job = &lead.job;
    let reporter = Arc::new(Mutex::new(lead.reporter));
    let own = worker.search(job, Box::new(Ear(Arc::clone(&reporter))));
    shared.signals.hold(lead.infinite);
    shared.signals.stop();
    let mut outcomes: Vec<Outcome> = own.into_iter().collect();
    outcomes.extend(lead.helpers.iter().flatten());
    let best_thread = if may_vote(&job.limits) {
        vote::best_thread(&outcomes)
    } else {
        (!outcomes.is_empty()).then_some(0)
    };
    let conclusion = conclude(best_thread.map(|index| outcomes.swap_remove(index)), job);
    let totals = Totals {
        nodes: shared.nodes(),
        hashfull: shared.tt.hashfull(),
        stats: *worker.stats(),
    };
    // Cleared before the result is told: who hears it may start the next search.
    searching.store(false, Ordering::Release);
    lock(&reporter).finish(&conclusion, totals);
}

/// The worker's end of the reporter, which the pool needs again after the search.
struct Ear(Arc<Mutex<Reporter>>);

impl Report for Ear {
    fn info(&mut self, info: &Info<'_>) {
        lock(&self.0).info(info);
    }

    fn current_move(&mut self, depth: Depth, m: Move, number: usize) {
        lock(&self.0).current_move(depth, m, number);
    }
}

fn lock(reporter: &Mutex<Reporter>) -> MutexGuard<'_, Reporter> {
    reporter.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Threads reach different depths; a result that was asked for at a depth, or with several
/// lines, is the first thread's alone.
fn may_vote(limits: &Limits) -> bool {
    limits.depth.is_none() && limits.mate.is_none() && limits.multi_pv == 1
}

/// What to tell of a search that found `outcome`. Always a legal move if there is one: a search
/// that was stopped before it had searched any, or that is wrong, plays the first allowed, and
/// then there is no score.
fn conclude(outcome: Option<Outcome>, job: &Job) -> Conclusion {
    let legal = job.root.legal_moves();
    if let Some(outcome) = outcome {
        if legal.contains(&outcome.best) {
            return Conclusion::from(outcome);
        }
        log::error!("the search chose an illegal move in {}", job.root.fen());
    }
    let allowed = job
        .limits
        .root_moves
        .as_ref()
        .and_then(|moves| moves.first());
    let best = allowed.or(legal.first()).copied();
    let score = match best {
        Some(_) => None,
        None if job.root.in_check() => Some(Score::mated_in(Ply::ROOT)),
        None => Some(Score::DRAW),
    };
    Conclusion {
        ponder: None,
        score,
        depth: Depth::ZERO,
        pv: best.into_iter().collect(),
    }
}
