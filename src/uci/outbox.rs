//! The output of a session, queued when its reader does not read: the session goes on, so that
//! `quit` and the end of input work even while the output pipe is full.

use std::io::{self, Write};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crossbeam_channel::{Receiver, RecvTimeoutError, Sender, bounded, unbounded};

use crate::stdio::Stdout;

/// With this many lines waiting, `info` lines are dropped; all others are kept.
const MANY: usize = 4096;
/// How long the end of the session waits for a reader that does not read.
const TIMEOUT: Duration = Duration::from_secs(1);

/// Writes lines to standard output, from a thread of its own where they cannot be written at
/// once. Each flush ends a line.
pub struct Outbox {
    line: Vec<u8>,
    direct: Stdout,
    lines: Sender<Vec<u8>>,
    /// Lines handed to the thread and not yet written.
    waiting: Arc<AtomicUsize>,
    /// Brings the thread's error, or is disconnected when all is written.
    ended: Receiver<io::Error>,
}

impl Outbox {
    /// # Errors
    /// If there is no standard output, or no thread can be started.
    pub fn new() -> io::Result<Outbox> {
        let (lines, queue) = unbounded::<Vec<u8>>();
        let (failure, ended) = bounded(1);
        let waiting = Arc::new(AtomicUsize::new(0));
        let left = Arc::clone(&waiting);
        let mut out = Stdout::new()?;
        thread::Builder::new()
            .name("output".to_owned())
            .spawn(move || {
                for line in queue {
                    if let Err(error) = out.write_all(&line) {
                        let _ = failure.send(error);
                        return;
                    }
                    left.fetch_sub(1, Ordering::Release);
                }
            })?;
        Ok(Outbox {
            line: Vec::new(),
            direct: Stdout::new()?,
            lines,
            waiting,
            ended,
        })
    }

    /// Counts the lines that the thread has yet to write.
    #[must_use]
    pub fn unwritten(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.waiting)
    }

    /// Waits until all is written, as long as the reader reads.
    ///
    /// # Errors
    /// If writing failed.
    pub fn finish(self) -> io::Result<()> {
        drop(self.lines);
        let mut left = self.waiting.load(Ordering::Acquire);
        loop {
            match self.ended.recv_timeout(TIMEOUT) {
                Ok(error) => return Err(error),
                Err(RecvTimeoutError::Disconnected) => return Ok(()),
                Err(RecvTimeoutError::Timeout) => {
                    let now = self.waiting.load(Ordering::Acquire);
                    if now == left {
                        return Ok(());
                    }
                    left = now;
                }
            }
        }
    }
}

impl Write for Outbox {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.line.extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        let line = std::mem::take(&mut self.line);
        let waiting = self.waiting.load(Ordering::Acquire);
        if waiting == 0 && self.direct.has_room(line.len()) {
            return self.direct.write_all(&line);
        }
        if waiting >= MANY && line.starts_with(b"info ") {
            return Ok(());
        }
        self.waiting.fetch_add(1, Ordering::Release);
        self.lines.send(line).map_err(|_| {
            let failure = self.ended.try_recv();
            failure.unwrap_or_else(|_| io::ErrorKind::BrokenPipe.into())
        })
    }
}
