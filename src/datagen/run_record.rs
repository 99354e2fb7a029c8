//! What a run's files follow from, kept beside them: whoever finds the files knows how they were
//! made, and a run that goes on with other settings is refused instead of mixing two kinds of games
//! under one name.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::{fs, io};

use anyhow::{Context, bail};
use serde::Serialize;
use serde_json::Value;

use crate::files;

/// Where the record has the numbers of the files that are of fewer games than the others, and of how
/// many. Runs may differ in it.
const SHORT_FILES: &str = "short_files";

/// The files of a run that are of fewer games than the others, and of how many, as far as its record
/// says so.
pub(super) fn short_files(path: &Path) -> BTreeMap<usize, usize> {
    let read = || {
        let mut record: Value = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        serde_json::from_value(record.get_mut(SHORT_FILES)?.take()).ok()
    };
    read().unwrap_or_default()
}

/// Changes which files are short; a record that is missing stays so.
///
/// # Errors
/// The record is damaged, or cannot be written.
pub(super) fn set_short_files(path: &Path, files: &BTreeMap<usize, usize>) -> anyhow::Result<()> {
    let Ok(bytes) = fs::read(path) else {
        return Ok(());
    };
    if short_files(path) == *files {
        return Ok(());
    }
    let mut record: Value =
        serde_json::from_slice(&bytes).with_context(|| format!("{} is damaged", path.display()))?;
    record[SHORT_FILES] = serde_json::to_value(files)?;
    write(path, &record)
}

fn write(path: &Path, record: &Value) -> anyhow::Result<()> {
    files::replace(path, format!("{record:#}\n").as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))
}

/// Writes the settings of a run to a file, or compares them with it if it is there. Without it,
/// nothing is known of files that are `kept`, and it is not written.
///
/// # Errors
/// The file says that a run of this name and seed had other settings; or it cannot be read or
/// written.
pub(super) fn keep(path: &Path, settings: &impl Serialize, kept: usize) -> anyhow::Result<()> {
    let record = serde_json::to_value(settings)?;
    match fs::read(path) {
        Ok(bytes) => {
            let mut found: Value = serde_json::from_slice(&bytes)
                .with_context(|| format!("{} is damaged", path.display()))?;
            if let Some(entries) = found.as_object_mut() {
                entries.remove(SHORT_FILES);
            }
            let mut differences = Vec::new();
            add_differences("", &found, &record, &mut differences);
            if !differences.is_empty() {
                bail!(
                    "{} says that these files were made otherwise: {}; give another --name, --seed \
                     or folder",
                    path.display(),
                    differences.join("; ")
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
            write(path, &record)?;
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot read {}", path.display()));
        }
    }
    Ok(())
}

/// Adds every setting that differs, with both its values; `name` is the object's.
fn add_differences(name: &str, found: &Value, wanted: &Value, differences: &mut Vec<String>) {
    let (Value::Object(old), Value::Object(new)) = (found, wanted) else {
        if found != wanted {
            differences.push(format!("{name} {found} there, {wanted} here"));
        }
        return;
    };
    let names: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    for name in names {
        let [found, wanted] = [old, new].map(|object| object.get(name).unwrap_or(&Value::Null));
        add_differences(name, found, wanted, differences);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn fractions_are_read_back_exactly() {
        for divisor in 1..=1000 {
            let share = 1.0 / f64::from(divisor);
            let text = json!(share).to_string();
            let read: Value = serde_json::from_str(&text).expect("a number");
            assert_eq!(read, json!(share), "1/{divisor}");
        }
    }

    #[test]
    fn the_settings_that_differ_are_named_with_both_values() {
        let differences = |old: &Value, new: &Value| {
            let mut differences = Vec::new();
            add_differences("", old, new, &mut differences);
            differences
        };
        let old = json!({ "seed": 1, "settings": { "kind": "search", "opening": { "plies": 8 } } });
        assert!(differences(&old, &old).is_empty());
        let new = json!({ "seed": 2, "settings": { "kind": "search", "opening": { "plies": 9 } } });
        let expected = ["seed 1 there, 2 here", "plies 8 there, 9 here"];
        assert_eq!(differences(&old, &new), expected);
        let quick = json!({ "seed": 1, "settings": { "kind": "quick", "noise": 15 } });
        let expected = [
            "kind \"search\" there, \"quick\" here",
            "noise null there, 15 here",
            "opening {\"plies\":8} there, null here",
        ];
        assert_eq!(differences(&old, &quick), expected);
    }
}
