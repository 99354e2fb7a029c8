//! Files from which training goes on exactly where it stopped.
//!
//! Eight bytes of magic, the length of a JSON header as `u32`, the header, then the arrays of
//! the model as floats in the machine's byte order: for each tile, the output weights and the output bias in
//! turn the values, first moments and second moments.

use std::fs::{self, File};
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::model::{Model, Trained};

/// First bytes of a checkpoint.
pub const MAGIC: [u8; 8] = *b"PLEACHCP";
const MAX_HEADER_BYTES: u32 = 1 << 24;
const MAX_HIDDEN: usize = 8192;

/// Where a run stands besides its parameters.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    pub hidden: usize,
    /// Optimiser steps taken.
    pub steps: u64,
    /// Seconds of training so far, pauses left out.
    pub seconds: f64,
    /// Mixed hash of files, filter and seed: a run resumes only on what it began with.
    pub fingerprint: u64,
    /// The scale K that the targets were made with.
    pub scale: f64,
}

/// Why a checkpoint could not be used.
#[derive(Debug, Error)]
pub enum CheckpointError {
    #[error("cannot access the checkpoint {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is no checkpoint of this trainer", .0.display())]
    Foreign(PathBuf),
}

fn arrays(model: &Model) -> impl Iterator<Item = &Trained> {
    let tiles = model.tiles.iter().map(|tile| &tile.weights);
    tiles.chain([&model.outputs.weights, &model.outputs.bias])
}

/// Writes a checkpoint, whole or not at all.
///
/// # Errors
/// The file cannot be written.
pub fn save(path: &Path, model: &Model, progress: &Progress) -> Result<(), CheckpointError> {
    let failed = |source| CheckpointError::Io {
        path: path.to_path_buf(),
        source,
    };
    let temporary = path.with_extension("tmp");
    let write = || -> io::Result<()> {
        let mut file = BufWriter::new(File::create(&temporary)?);
        let header = serde_json::to_vec(progress)?;
        file.write_all(&MAGIC)?;
        file.write_all(&(header.len() as u32).to_le_bytes())?;
        file.write_all(&header)?;
        for array in arrays(model) {
            for part in [&array.value, &array.mean, &array.square] {
                file.write_all(bytemuck::cast_slice(part))?;
            }
        }
        file.into_inner()?.sync_all()?;
        fs::rename(&temporary, path)
    };
    write().map_err(failed)
}

/// Reads a checkpoint.
///
/// # Errors
/// The file cannot be read, is cut off, or is something else.
pub fn load(path: &Path) -> Result<(Model, Progress), CheckpointError> {
    let failed = |source| CheckpointError::Io {
        path: path.to_path_buf(),
        source,
    };
    let foreign = || CheckpointError::Foreign(path.to_path_buf());
    let mut file = BufReader::new(File::open(path).map_err(failed)?);
    let mut magic = [0; MAGIC.len()];
    let mut length = [0; 4];
    file.read_exact(&mut magic).map_err(failed)?;
    file.read_exact(&mut length).map_err(failed)?;
    let length = u32::from_le_bytes(length);
    if magic != MAGIC || length > MAX_HEADER_BYTES {
        return Err(foreign());
    }
    let mut header = vec![0; length as usize];
    file.read_exact(&mut header).map_err(failed)?;
    let progress: Progress = serde_json::from_slice(&header).map_err(|_| foreign())?;
    let hidden = progress.hidden;
    if hidden == 0
        || hidden > MAX_HIDDEN
        || !hidden.is_multiple_of(crate::nnue::format::HIDDEN_STEP)
    {
        return Err(foreign());
    }
    let mut model = Model::zeroed(hidden);
    let outputs = &mut model.outputs;
    let tiles = model.tiles.iter_mut().map(|tile| &mut tile.weights);
    for array in tiles.chain([&mut outputs.weights, &mut outputs.bias]) {
        for part in [&mut array.value, &mut array.mean, &mut array.square] {
            file.read_exact(bytemuck::cast_slice_mut(part))
                .map_err(failed)?;
        }
    }
    model.steps = progress.steps;
    model.refresh();
    Ok((model, progress))
}
