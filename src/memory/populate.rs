//! Has the system supply a table's memory ahead of its use, in a thread of its own.
//!
//! A huge page costs up to a millisecond when it is first touched. A search that begins on a fresh
//! table of a gibibyte touches all of its 512 pages within its first few thousand nodes, and would
//! obey no `stop` meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread::{Builder, JoinHandle};

/// Bytes that are asked for at once; between two pieces the thread can be stopped.
const PIECE: usize = 4 << 20;

/// A thread that populates memory. Dropping it ends the thread before the memory goes.
#[derive(Debug)]
pub(super) struct Population {
    stop: Arc<AtomicBool>,
    pub(super) thread: Option<JoinHandle<()>>,
}

impl Population {
    /// Begins with the memory of `bytes` bytes at `address`, which must stay mapped until the
    /// result is dropped. Where the system starts no thread, or does not know the request, pages
    /// are supplied when they are first touched, as ever.
    pub(super) fn start(address: usize, bytes: usize) -> Population {
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = Builder::new().name("populate".to_owned()).spawn(move || {
            let mut done = 0;
            while done < bytes && !stopped.load(Relaxed) {
                let piece = PIECE.min(bytes - done);
                if !populate(address + done, piece) {
                    return;
                }
                done += piece;
            }
        });
        Population {
            stop,
            thread: thread.ok(),
        }
    }
}

impl Drop for Population {
    fn drop(&mut self) {
        self.stop.store(true, Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

/// Whether the system supplied the memory; what it holds stays as it is.
#[cfg(target_os = "linux")]
fn populate(address: usize, bytes: usize) -> bool {
    let first = std::ptr::with_exposed_provenance_mut(address);
    // SAFETY: the caller keeps the range mapped, and the request changes no content.
    unsafe { rustix::mm::madvise(first, bytes, rustix::mm::Advice::LinuxPopulateWrite) }.is_ok()
}

#[cfg(not(target_os = "linux"))]
fn populate(_address: usize, _bytes: usize) -> bool {
    false
}
