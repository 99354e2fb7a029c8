//! Has the system supply a table's memory ahead of its use, in threads of their own.
//!
//! A huge page costs up to a millisecond when it is first touched. A search that begins on a fresh
//! table of a gibibyte touches all of its 512 pages within its first few thousand nodes, and would
//! not react to `stop` meanwhile.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::thread::{Builder, JoinHandle};
use std::time::Duration;

use crossbeam_channel::{Receiver, bounded};

/// Bytes that are asked for at once; between two pieces a thread can be stopped.
const PIECE: usize = 4 << 20;

/// Threads that populate memory. Dropping it ends the threads before the memory goes.
#[derive(Debug)]
pub(super) struct Population {
    /// Where the next piece begins, in bytes; at the end when nothing is left to do.
    next: Arc<AtomicUsize>,
    bytes: usize,
    threads: Vec<JoinHandle<()>>,
    /// Disconnected once the last thread has ended.
    working: Receiver<()>,
}

impl Population {
    /// Begins with the memory of `bytes` bytes at `address`, which must stay mapped until the
    /// result is dropped. Where the system starts no thread, or does not know the request, pages
    /// are supplied when they are first touched, as usual.
    pub(super) fn start(address: usize, bytes: usize, threads: usize) -> Population {
        let next = Arc::new(AtomicUsize::new(0));
        let (work, working) = bounded::<()>(0);
        let thread = |_| {
            let (next, work) = (Arc::clone(&next), work.clone());
            let run = move || {
                loop {
                    let from = next.fetch_add(PIECE, Relaxed);
                    if from >= bytes || !populate(address + from, PIECE.min(bytes - from)) {
                        break;
                    }
                }
                drop(work);
            };
            Builder::new().name("populate".to_owned()).spawn(run).ok()
        };
        Population {
            threads: (0..threads.max(1)).filter_map(thread).collect(),
            next,
            bytes,
            working,
        }
    }

    /// Waits until all memory is supplied or no thread goes on supplying it, but no longer than
    /// `timeout`; says whether it came to that.
    pub(super) fn wait(&self, timeout: Duration) -> bool {
        // Nothing is ever sent.
        let error = self.working.recv_timeout(timeout).err();
        error.is_some_and(|error| error.is_disconnected())
    }
}

impl Drop for Population {
    fn drop(&mut self) {
        self.next.store(self.bytes, Relaxed);
        for thread in self.threads.drain(..) {
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
