//! What happens when the program panics: one remark to the client that says where, a move if one
//! is due, and then the end of the process.
//!
//! A panic runs the hook of this file on the thread that panicked, before anything is unwound or
//! the process is aborted, so that it works in both kinds of builds. Other threads may still run,
//! wait, or hold any lock. The hook therefore takes one lock only, for a limited time, and a
//! thread of its own ends the process if the hook itself is held up.

use std::backtrace::Backtrace;
use std::io::Write as _;
use std::panic::{self, PanicHookInfo};
use std::process;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, TryLockError};
use std::thread;
use std::time::{Duration, Instant};

use super::output;
use crate::board::{Game, Position};
use crate::engine::BestSoFar;
use crate::stdio::Stdout;

/// The exit code after a panic: Rust's own.
const EXIT_CODE: i32 = 101;
/// The process ends after this time even if the client does not read what the hook writes.
const LONGEST_REMARK: Duration = Duration::from_secs(3);
/// After that, the longest time for the report: finding the names of a backtrace is work, and a
/// busy machine that aborted it would lose the report and the exit code.
const LONGEST_REPORT: Duration = Duration::from_secs(20);
/// How long the hook waits for a line that is being written, and for those queued.
const LINE_TIMEOUT: Duration = Duration::from_millis(500);
const POLL: Duration = Duration::from_millis(1);
/// Most characters of a text in the remark; the log file has all.
const MOST_SHOWN: usize = 300;

/// What the hook would report if the program panicked now.
#[derive(Default)]
pub struct Situation {
    /// The line received last.
    pub command: String,
    /// The current game.
    pub game: Game,
    /// The search whose best move has not been written yet.
    pub search: Option<OpenSearch>,
}

/// A search whose best move the client waits for.
pub struct OpenSearch {
    pub root: Position,
    pub best: BestSoFar,
}

/// A session's [`Situation`]. Code that writes to the client holds its lock, so that nothing
/// is written any more once the hook has it.
#[derive(Clone, Default)]
pub struct CrashRecord(Arc<Mutex<Situation>>);

impl CrashRecord {
    /// The situation, while nobody else reads or writes.
    pub fn lock(&self) -> MutexGuard<'_, Situation> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// As `lock`, but gives up after a while: the thread that panicked may hold the lock itself.
    fn try_lock(&self) -> Option<MutexGuard<'_, Situation>> {
        let deadline = Instant::now() + LINE_TIMEOUT;
        loop {
            match self.0.try_lock() {
                Ok(situation) => return Some(situation),
                Err(TryLockError::Poisoned(poisoned)) => return Some(poisoned.into_inner()),
                Err(TryLockError::WouldBlock) if Instant::now() > deadline => return None,
                Err(TryLockError::WouldBlock) => thread::sleep(POLL),
            }
        }
    }
}

/// From now on a panic in any thread is reported to the client of this session and ends the
/// process. `unwritten` counts lines that another thread has yet to write.
pub fn install(record: &CrashRecord, unwritten: Arc<AtomicUsize>) {
    let record = record.clone();
    panic::set_hook(Box::new(move |info| {
        static ENTERED: AtomicBool = AtomicBool::new(false);
        if ENTERED.swap(true, Ordering::AcqRel) {
            // Another thread has panicked before and is about to end the process.
            loop {
                thread::park();
            }
        }
        // Without this thread, nothing but the hook itself ends the process.
        let told = Arc::new(AtomicBool::new(false));
        let is_told = Arc::clone(&told);
        let _ = thread::Builder::new().spawn(move || {
            thread::sleep(LONGEST_REMARK);
            if is_told.load(Ordering::Acquire) {
                thread::sleep(LONGEST_REPORT);
            }
            process::abort();
        });
        tell(info, &record, &unwritten, &told);
        process::exit(EXIT_CODE);
    }));
}

/// Writes the remark and the move if one is due, which `told` then says, and the report to the
/// log.
fn tell(
    info: &PanicHookInfo<'_>,
    record: &CrashRecord,
    unwritten: &AtomicUsize,
    told: &AtomicBool,
) {
    let situation = record.try_lock();
    let what = describe(info);
    let mut remark = format!("{} {what}", version());
    if let Some(situation) = &situation {
        remark.push_str(&format!(
            "; position {}; last command {}",
            situation.game.position().fen(),
            shorten(&situation.command)
        ));
    }
    let deadline = Instant::now() + LINE_TIMEOUT;
    while unwritten.load(Ordering::Acquire) > 0 && Instant::now() < deadline {
        thread::sleep(POLL);
    }
    if let Ok(mut out) = Stdout::new() {
        // A failure cannot be reported any more.
        let _ = out.write_all((output::note(&remark) + "\n").as_bytes());
        let search = situation.as_ref().and_then(|it| it.search.as_ref());
        if let Some(search) = search {
            let _ = out.write_all((best_move(search) + "\n").as_bytes());
        }
    }
    told.store(true, Ordering::Release);
    let (game, command) = situation.as_ref().map_or_else(Default::default, |it| {
        (describe_game(&it.game), it.command.as_str())
    });
    log::error!(
        "{remark}\ngame: {game}\nlast command: {command}\n{}",
        Backtrace::force_capture()
    );
    // The lock is kept to the end of the process: nobody writes after the hook.
    std::mem::forget(situation);
}

fn version() -> String {
    format!("{} {}", env!("CARGO_PKG_NAME"), env!("CARGO_PKG_VERSION"))
}

/// What happened, in which thread and where.
fn describe(info: &PanicHookInfo<'_>) -> String {
    let thread = thread::current();
    let place = info
        .location()
        .map_or_else(String::new, |place| format!(" at {place}"));
    format!(
        "panicked in thread {}{place}: {}",
        thread.name().unwrap_or("without a name"),
        shorten(info.payload_as_str().unwrap_or("no message"))
    )
}

/// The game as a client would set it up.
fn describe_game(game: &Game) -> String {
    let mut text = format!("position fen {} moves", game.start().fen());
    let mut position = game.start().clone();
    for &m in game.moves() {
        text.push(' ');
        text.push_str(&position.uci(m));
        position = position.play(m);
    }
    text
}

fn shorten(text: &str) -> String {
    text.chars().take(MOST_SHOWN).collect()
}

/// The best move known, or else any legal one.
fn best_move(search: &OpenSearch) -> String {
    let legal = search.root.legal_moves();
    let known = search.best.get().filter(|m| legal.contains(m));
    match known.or(legal.first().copied()) {
        Some(m) => format!("bestmove {}", search.root.uci(m)),
        None => output::NO_MOVE.to_owned(),
    }
}
