//! Data in shards: of more files than memory holds, some at a time.
//!
//! The files are put in an order that follows from the seed and dealt to the shards, the next file
//! to the one with the fewest bytes so far, so that each shard is a mixture of all kinds. The
//! shards are passed over in turn, each time in another random order; an epoch is one pass over each.
//! With one shard, passes are epochs.

use std::fs;

use anyhow::Context;
use serde::{Deserialize, Serialize};

use crate::record::FileHash;

use super::config::Config;
use super::load::DataFile;
use crate::hash::mix;

/// How far a run has come in its data.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ShardPass {
    /// Passes finished.
    pub number: u64,
    /// Batches of the present pass that were learnt from.
    pub batch: u64,
}

impl ShardPass {
    /// After one more batch, when a pass has `batches` of them.
    #[must_use]
    pub const fn next(self, batches: u64) -> ShardPass {
        let batch = self.batch + 1;
        if batch < batches {
            ShardPass { batch, ..self }
        } else {
            ShardPass {
                number: self.number + 1,
                batch: 0,
            }
        }
    }

    /// Passes over all data so far, when a pass has `batches` batches and there are `shards` shards.
    #[must_use]
    pub fn epochs(self, batches: u64, shards: usize) -> f64 {
        (self.number as f64 + self.batch as f64 / batches as f64) / shards as f64
    }
}

/// The files of a run, dealt to shards.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shards {
    shards: Vec<Vec<DataFile>>,
    held_out: Vec<DataFile>,
}

impl Shards {
    /// Deals the files of a run.
    ///
    /// # Errors
    /// A file cannot be read.
    pub fn new(config: &Config) -> anyhow::Result<Shards> {
        let (held_out, learnt): (Vec<_>, Vec<_>) =
            config.data.iter().cloned().partition(|file| file.held_out);
        let mut shards = vec![(0, Vec::new()); config.shards];
        for (file, bytes) in in_random_order(learnt, config)? {
            if let Some((sum, shard)) = shards.iter_mut().min_by_key(|(sum, _)| *sum) {
                *sum += bytes;
                shard.push(file);
            }
        }
        Ok(Shards {
            shards: shards.into_iter().map(|(_, shard)| shard).collect(),
            held_out,
        })
    }

    /// How many there are.
    #[must_use]
    pub fn count(&self) -> usize {
        self.shards.len()
    }

    /// The files of a pass.
    #[must_use]
    pub fn of_pass(&self, number: u64) -> &[DataFile] {
        &self.shards[(number % self.shards.len() as u64) as usize]
    }

    /// The same, and the files that are only measured on.
    #[must_use]
    pub fn with_held_out(&self, number: u64) -> Vec<DataFile> {
        [self.of_pass(number), &self.held_out].concat()
    }
}

/// One shard's files stay in the order given, as they need no dealing; more are shuffled.
fn in_random_order(files: Vec<DataFile>, config: &Config) -> anyhow::Result<Vec<(DataFile, u64)>> {
    let mut sized = Vec::with_capacity(files.len());
    for (number, file) in (0..).zip(files) {
        let data = fs::metadata(&file.path)
            .with_context(|| format!("cannot read {}", file.path.display()))?;
        sized.push((mix(config.seed ^ mix(number)), file, data.len()));
    }
    if config.shards > 1 {
        sized.sort_by_key(|(place, ..)| *place);
    }
    Ok(sized
        .into_iter()
        .map(|(_, file, bytes)| (file, bytes))
        .collect())
}

/// What a file is known by: name, use and content.
#[derive(Serialize)]
struct Identity {
    name: Option<String>,
    scaled: bool,
    held_out: bool,
    hash: u64,
}

/// A description of all files of a run, for a checkpoint's fingerprint.
///
/// # Errors
/// A file cannot be read.
pub fn identities(files: &[DataFile]) -> anyhow::Result<impl Serialize + use<>> {
    let identity = |file: &DataFile| -> anyhow::Result<Identity> {
        let name = file.path.file_name();
        Ok(Identity {
            name: name.map(|name| name.to_string_lossy().into_owned()),
            scaled: file.scaled,
            held_out: file.held_out,
            hash: FileHash::of(&file.path)?.0,
        })
    };
    files.iter().map(identity).collect::<Result<Vec<_>, _>>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_epoch_passes_over_every_shard() {
        let pass = ShardPass {
            number: 5,
            batch: 50,
        };
        assert!((pass.epochs(100, 1) - 5.5).abs() < 1e-9);
        assert!((pass.epochs(100, 2) - 2.75).abs() < 1e-9);
        assert_eq!(pass.next(52).batch, 51);
        let next = ShardPass {
            number: 6,
            batch: 0,
        };
        assert_eq!(pass.next(51), next);
    }
}
