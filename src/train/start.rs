//! What a run begins with: its own checkpoint, other networks or random weights.

use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};

use crate::nnue::single_layer::QuantisedNet;

use super::checkpoint::{self, Progress};
use super::config::Config;
use super::export;
use super::model::Model;

/// The parameters to begin with and how far the run has come.
///
/// # Errors
/// A file cannot be read, the checkpoint belongs to another run (by its `fingerprint`), or the
/// networks to start from do not fit each other or the settings.
pub fn begin(config: &Config, fingerprint: u64) -> anyhow::Result<(Model, Progress)> {
    if config.checkpoint.exists() {
        let (model, progress) = checkpoint::load(&config.checkpoint)?;
        if progress.fingerprint != fingerprint {
            bail!(
                "{} belongs to a run with other data or settings: remove it or name another",
                config.checkpoint.display()
            );
        }
        return Ok((model, progress));
    }
    let Some(model) = mean(&config.init)? else {
        let model = Model::random(config.shape(), config.seed);
        return Ok((model, Progress::default()));
    };
    let shape = config.shape();
    if model.shape == shape {
        return Ok((model, Progress::default()));
    }
    ensure!(
        model.shape.hidden <= shape.hidden,
        "the network to start from has {} hidden neurons, more than {}",
        model.shape.hidden,
        shape.hidden
    );
    ensure!(
        model.shape.king_buckets.count() <= shape.king_buckets.count(),
        "the network to start from has {} king buckets, more than {}",
        model.shape.king_buckets.count(),
        shape.king_buckets.count()
    );
    ensure!(
        shape.layered || !model.shape.layered,
        "the network to start from has dense layers: give --layers"
    );
    Ok((model.widened(shape, config.seed), Progress::default()))
}

/// The mean of the networks to start from, if there are any.
pub(super) fn mean(paths: &[PathBuf]) -> anyhow::Result<Option<Model>> {
    let Some((first, others)) = paths.split_first() else {
        return Ok(None);
    };
    let mut model = read(first)?;
    for (path, before) in others.iter().zip(1..) {
        let other = read(path)?;
        ensure!(
            other.shape == model.shape,
            "{} and {} differ in shape: they have no mean",
            first.display(),
            path.display()
        );
        model.interpolate(&other, 1.0 / (before + 1) as f32);
    }
    Ok(Some(model))
}

/// Parameters from a checkpoint or a network file, the optimiser fresh.
pub(super) fn read(path: &Path) -> anyhow::Result<Model> {
    if !checkpoint::is_checkpoint(path) {
        let net = QuantisedNet::load(path).map_err(|error| error.in_file(path))?;
        ensure!(
            net.bare,
            "{} learnt the factor for material too, and training goes on without it: it is no start",
            path.display()
        );
        return Ok(export::restore(&net));
    }
    let (mut model, _) = checkpoint::load(path)?;
    model.reset_optimiser();
    Ok(model)
}
