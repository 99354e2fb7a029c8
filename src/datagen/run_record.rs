//! What a run's files follow from, kept beside them: whoever finds the files knows how they were
//! made, and a run that goes on with other settings is refused instead of mixing two kinds of games
//! under one name.

use std::path::PathBuf;
use std::{fs, io};

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::Value;

use crate::eval::EvalKind;
use crate::files;

use super::run::{DatagenConfig, DatagenKind};

/// The settings that a run's files follow from. How many games and threads there are is none of
/// them: a run may go on with more of both.
#[derive(Serialize)]
struct RunRecord<'a> {
    seed: u64,
    chunk: usize,
    /// The name of the network that plays.
    network: &'a str,
    /// The name of the teacher's file.
    teacher: Option<String>,
    settings: &'a DatagenKind,
}

/// Writes `NAME-SEED.json`, or compares it with the run's settings if it is there. Without it,
/// nothing is known of files that are `kept`, and it is not written.
///
/// # Errors
/// The file says that a run of this name and seed had other settings; or it cannot be read or
/// written.
pub(super) fn keep(
    config: &DatagenConfig,
    eval_kind: &EvalKind,
    kept: usize,
) -> anyhow::Result<()> {
    let path = path_of(config);
    let record = serde_json::to_value(RunRecord {
        seed: config.seed,
        chunk: config.chunk,
        network: match eval_kind {
            EvalKind::Network(network) => network.name(),
            EvalKind::Tapered => "tapered",
        },
        teacher: config.teacher.as_deref().map(|net| net.file_name()),
        settings: &config.kind,
    })?;
    match fs::read(&path) {
        Ok(bytes) => {
            let found = serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is damaged", path.display()))?;
            if let Some(difference) = difference(&found, &record) {
                bail!(
                    "{} says that these files were made otherwise: {difference}; give another \
                     --name, --seed or folder",
                    path.display()
                );
            }
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound && kept > 0 => {
            log::warn!(
                "{} is missing, so how the {kept} complete files were made is not known",
                path.display()
            );
        }
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let text = format!("{record:#}\n");
            files::replace(&path, text.as_bytes())
                .with_context(|| format!("cannot write {}", path.display()))?;
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    }
    Ok(())
}

/// The file of a run's settings.
fn path_of(config: &DatagenConfig) -> PathBuf {
    let file = format!("{}-{}.json", config.name, config.seed);
    config.directory.join(file)
}

/// The first setting that differs, with both its values.
fn difference(found: &Value, wanted: &Value) -> Option<String> {
    if found == wanted {
        return None;
    }
    let (Value::Object(old), Value::Object(new)) = (found, wanted) else {
        return Some(format!("{found} there, {wanted} here"));
    };
    let names = old.keys().chain(new.keys());
    names
        .filter_map(|name| {
            let of = |object: &serde_json::Map<String, Value>| {
                object.get(name).cloned().unwrap_or_default()
            };
            let difference = difference(&of(old), &of(new))?;
            Some(format!("{name} {difference}"))
        })
        .next()
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn the_setting_that_differs_is_named_with_both_values() {
        let old = json!({ "seed": 1, "settings": { "Search": { "hash": 4, "plies": 8 } } });
        assert_eq!(difference(&old, &old), None);
        let new = json!({ "seed": 1, "settings": { "Search": { "hash": 4, "plies": 9 } } });
        let named = difference(&old, &new).expect("a difference");
        assert_eq!(named, "settings Search plies 8 there, 9 here");
        let other = json!({ "seed": 1, "settings": { "Quick": { "noise": 15 } } });
        assert!(difference(&old, &other).is_some() && difference(&other, &old).is_some());
    }
}
