//! What several experiments use: the range of their depths, and files for what they draw.

use std::path::Path;

use anyhow::Context as _;

use crate::files;
use crate::lab::MAX_DEPTH;

/// The range of `--depth`, from `least` on.
pub fn depths(least: u32) -> clap::builder::RangedI64ValueParser<u32> {
    clap::value_parser!(u32).range(i64::from(least)..=i64::from(MAX_DEPTH))
}

/// Writes a file, or says which cannot be written.
pub fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    files::replace(path, text.as_bytes()).with_context(|| format!("can't write {}", path.display()))
}
