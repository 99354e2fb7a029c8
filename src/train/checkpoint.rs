//! Files from which training resumes where it stopped: with one thread exactly as if it had not,
//! with several but for rounding, as the order of their sums differs from run to run.
//!
//! Eight bytes of magic, the length of a JSON header as `u32`, the header, then the arrays of
//! the model as floats in the machine's byte order: each tile (its weights, then those that the
//! king buckets share), the output weights, the output bias and the layers' arrays. Of each array
//! come the values, the first moments and the second moments. The last eight bytes are the hash
//! (FNV-1a with 64 bits) of all bytes before them.

use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::files;
use crate::hash::{FNV_OFFSET_BASIS, fnv1a_from};
use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::{HIDDEN_STEP, MAX_HIDDEN, Shape};

use super::load::FileSummary;
use super::model::Model;
use super::shards::ShardPass;

/// First bytes of a checkpoint.
pub const MAGIC: [u8; 8] = *b"PLEACHC3";
const MAX_HEADER_BYTES: u32 = 1 << 24;

/// Whether a file begins as a checkpoint does.
pub fn is_checkpoint(path: &Path) -> bool {
    let mut magic = [0; MAGIC.len()];
    let read = File::open(path).and_then(|mut file| file.read_exact(&mut magic));
    read.is_ok() && magic == MAGIC
}

/// The state of a run besides its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub hidden: usize,
    pub king_buckets: usize,
    /// Whether the network has dense layers.
    #[serde(default)]
    pub layered: bool,
    /// Optimiser steps taken.
    pub steps: u64,
    /// Where in its data the run is.
    #[serde(default, rename = "turn")]
    pub pass: ShardPass,
    /// What the files held that have been read so far.
    #[serde(default)]
    pub files: Vec<FileSummary>,
    /// Seconds of training so far, pauses left out.
    pub seconds: f64,
    /// FNV-1a of all settings that change the result and of the names, uses and contents of the
    /// files: a run resumes only with those it began with.
    pub fingerprint: u64,
    /// The scale K that the targets were made with.
    pub scale: f64,
    /// Losses recorded during the run.
    pub losses: Vec<LossPoint>,
}

/// Mean squared errors at a point of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct LossPoint {
    /// Optimiser steps taken.
    pub steps: u64,
    /// Over the last steps.
    pub training: f64,
    /// Over all held-out positions.
    pub held_out: f64,
}

/// Why a checkpoint could not be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    #[error("cannot access the checkpoint {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is no checkpoint of this trainer", .0.display())]
    Foreign(PathBuf),
    #[error("the checkpoint {} is damaged: {what}", path.display())]
    Damaged { path: PathBuf, what: &'static str },
}

/// Passes bytes on and hashes them.
struct Hashed<T> {
    inner: T,
    hash: u64,
}

impl<T> Hashed<T> {
    const fn new(inner: T) -> Hashed<T> {
        Hashed {
            inner,
            hash: FNV_OFFSET_BASIS,
        }
    }
}

impl<T: Write> Hashed<T> {
    fn put(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.hash = fnv1a_from(self.hash, bytes);
        self.inner.write_all(bytes)
    }
}

impl<T: Read> Hashed<T> {
    fn take(&mut self, bytes: &mut [u8]) -> io::Result<()> {
        self.inner.read_exact(bytes)?;
        self.hash = fnv1a_from(self.hash, bytes);
        Ok(())
    }
}

/// The length of a header as it is stored, if [`load`] accepts it.
fn header_length(length: usize) -> Result<u32, &'static str> {
    u32::try_from(length)
        .ok()
        .filter(|length| *length <= MAX_HEADER_BYTES)
        .ok_or("its header is too long")
}

/// Writes a checkpoint, completely or not at all.
///
/// # Errors
/// The file cannot be written, or its header would be too long to be read again.
pub fn save(path: &Path, model: &Model, progress: &Progress) -> Result<(), CheckpointError> {
    files::write_whole(path, |file| {
        let mut file = Hashed::new(file);
        let header = serde_json::to_vec(progress)?;
        let length = header_length(header.len()).map_err(io::Error::other)?;
        file.put(&MAGIC)?;
        file.put(&length.to_le_bytes())?;
        file.put(&header)?;
        for array in model.arrays() {
            for part in [&array.value, &array.first_moment, &array.second_moment] {
                file.put(bytemuck::cast_slice(part))?;
            }
        }
        let hash = file.hash;
        file.inner.write_all(&hash.to_le_bytes())
    })
    .map_err(|source| CheckpointError::Io {
        path: path.to_path_buf(),
        source,
    })
}

/// Reads a checkpoint.
///
/// # Errors
/// The file cannot be read, is cut off, changed, or not a checkpoint.
pub fn load(path: &Path) -> Result<(Model, Progress), CheckpointError> {
    let foreign = || CheckpointError::Foreign(path.to_path_buf());
    let damaged = |what| CheckpointError::Damaged {
        path: path.to_path_buf(),
        what,
    };
    let failed = |source: io::Error| match source.kind() {
        io::ErrorKind::UnexpectedEof => damaged("it is cut off"),
        _ => CheckpointError::Io {
            path: path.to_path_buf(),
            source,
        },
    };
    let mut file = Hashed::new(BufReader::new(File::open(path).map_err(failed)?));
    let mut magic = [0; MAGIC.len()];
    let mut length = [0; 4];
    file.take(&mut magic).map_err(failed)?;
    if magic != MAGIC {
        return Err(foreign());
    }
    file.take(&mut length).map_err(failed)?;
    let length = u32::from_le_bytes(length);
    header_length(length as usize).map_err(damaged)?;
    let mut header = vec![0; length as usize];
    file.take(&mut header).map_err(failed)?;
    let progress: Progress =
        serde_json::from_slice(&header).map_err(|_| damaged("its header cannot be read"))?;
    let hidden = progress.hidden;
    if hidden == 0 || hidden > MAX_HIDDEN || !hidden.is_multiple_of(HIDDEN_STEP) {
        return Err(damaged("its header names no possible width"));
    }
    let Some(king_buckets) = KingBuckets::with_count(progress.king_buckets) else {
        return Err(damaged("its header names no possible king buckets"));
    };
    let mut model = Model::zeroed(Shape {
        hidden,
        king_buckets,
        layered: progress.layered,
    });
    for array in model.arrays_mut() {
        for part in [
            &mut array.value,
            &mut array.first_moment,
            &mut array.second_moment,
        ] {
            file.take(bytemuck::cast_slice_mut(part)).map_err(failed)?;
        }
    }
    let mut hash = [0; 8];
    file.inner.read_exact(&mut hash).map_err(failed)?;
    if u64::from_le_bytes(hash) != file.hash {
        return Err(damaged("its hash does not match its contents"));
    }
    if file.inner.read(&mut [0]).map_err(failed)? != 0 {
        return Err(damaged("bytes follow its end"));
    }
    model.steps = progress.steps;
    model.refresh();
    Ok((model, progress))
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    #[test]
    fn changed_and_truncated_checkpoints_are_refused() {
        let name = format!("pleach-checkpoint-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        let progress = Progress {
            hidden: HIDDEN_STEP,
            king_buckets: 5,
            steps: 3,
            ..Progress::default()
        };
        let shape = Shape {
            hidden: HIDDEN_STEP,
            king_buckets: KingBuckets::Five,
            layered: false,
        };
        save(&path, &Model::random(shape, 1), &progress).expect("written");
        let whole = fs::read(&path).expect("read");
        assert_eq!(load(&path).expect("sound").1, progress);
        let refused = |bytes: &[u8]| {
            fs::write(&path, bytes).expect("written");
            load(&path).expect_err("refused").to_string()
        };
        // A weight that is not a number, and single bits from the header to the hash.
        let mut poisoned = whole.clone();
        let middle = whole.len() / 2 / 4 * 4;
        poisoned[middle..middle + 4].copy_from_slice(&f32::NAN.to_ne_bytes());
        assert!(refused(&poisoned).contains("hash"));
        for at in [20, middle, whole.len() - 9, whole.len() - 1] {
            let mut flipped = whole.clone();
            flipped[at] ^= 1;
            assert!(refused(&flipped).contains("damaged"), "byte {at}");
        }
        for length in [9, 50, middle, whole.len() - 1] {
            assert!(refused(&whole[..length]).contains("cut off"), "{length}");
        }
        let mut longer = whole;
        longer.push(0);
        assert!(refused(&longer).contains("follow its end"));
        // What could not be read again is not written.
        let endless = Progress {
            losses: vec![LossPoint::default(); MAX_HEADER_BYTES as usize / 40],
            ..progress
        };
        let error = save(&path, &Model::zeroed(shape), &endless).expect_err("refused");
        assert!(error.to_string().contains("too long"), "{error}");
        assert_eq!(fs::read(&path).expect("as it was"), longer);
        assert!(refused(b"PLEACHNN and the rest").contains("no checkpoint"));
        fs::remove_file(&path).expect("removed");
    }
}
