//! The bytes of a file, plain or compressed with zstd.

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::RecordError;
use crate::board::{ZSTD_WINDOW_LOG, is_zstd};

/// Of each buffer between a file and its reader or writer.
pub(super) const BUFFER_BYTES: usize = 1 << 20;

/// Counts the bytes that pass.
struct Counted<R> {
    inner: R,
    read: Arc<AtomicU64>,
}

impl<R: Read> Read for Counted<R> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(bytes)?;
        self.read.fetch_add(count as u64, Ordering::Relaxed);
        Ok(count)
    }
}

/// The bytes of a file, plain or decompressed according to its first bytes.
pub(super) fn decoded(path: &Path, read: Arc<AtomicU64>) -> Result<Box<dyn BufRead>, RecordError> {
    let open = || -> io::Result<Box<dyn BufRead>> {
        let file = Counted {
            inner: File::open(path)?,
            read,
        };
        let mut file = BufReader::with_capacity(BUFFER_BYTES, file);
        let compressed = is_zstd(file.fill_buf()?);
        Ok(if compressed {
            let mut decoder = zstd::Decoder::with_buffer(file)?;
            decoder.window_log_max(ZSTD_WINDOW_LOG)?;
            Box::new(BufReader::with_capacity(BUFFER_BYTES, decoder))
        } else {
            Box::new(file)
        })
    };
    open().map_err(|source| RecordError::Open {
        path: path.to_path_buf(),
        source,
    })
}
