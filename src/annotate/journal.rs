//! What a run has done so far, kept next to its output, so that a run that is started again
//! continues where the last one ended.
//!
//! The first line holds the settings, each later one a finished game with the length of the
//! output after it. A line that was cut off while it was written does not count.

use std::fs::{File, OpenOptions};
use std::io::{self, BufRead, BufReader, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use serde::{Deserialize, Serialize};

use super::report::IndexEntry;

/// Appended to the output's name for the journal's file.
const SUFFIX: &str = ".progress";

#[derive(Serialize, Deserialize)]
struct JournalHeader {
    settings: String,
}

/// One game that needs no more work.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Done {
    /// The game's number in the input, from 1.
    pub number: u64,
    /// The length of the output after the game, in bytes.
    pub bytes: u64,
    /// The game's entry in the report's index; `None` if the game was broken.
    pub entry: Option<IndexEntry>,
}

/// The journal of a run.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
    /// The last game done.
    last: Option<Done>,
}

/// The path of an output's journal.
#[must_use]
pub fn path_of(output: &Path) -> PathBuf {
    let mut name = output.as_os_str().to_owned();
    name.push(SUFFIX);
    PathBuf::from(name)
}

impl Journal {
    /// Begins an empty journal.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn create(output: &Path, settings: &str) -> anyhow::Result<Journal> {
        let path = path_of(output);
        let name = path.display().to_string();
        let mut file = File::create(&path).with_context(|| format!("cannot create {name}"))?;
        write_line(
            &mut file,
            &JournalHeader {
                settings: settings.to_owned(),
            },
        )?;
        Ok(Journal {
            path,
            file,
            last: None,
        })
    }

    /// Opens the journal of an interrupted run, if there is one.
    ///
    /// # Errors
    /// If it cannot be read, or was begun with other settings.
    pub fn open(output: &Path, settings: &str) -> anyhow::Result<Option<Journal>> {
        let path = path_of(output);
        let name = path.display().to_string();
        let mut file = match OpenOptions::new().read(true).write(true).open(&path) {
            Ok(file) => file,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(error).with_context(|| format!("cannot open {name}")),
        };
        let mut reader = BufReader::new(&file);
        let mut line = String::new();
        let mut length = reader.read_line(&mut line)? as u64;
        let header: JournalHeader = serde_json::from_str(&line)
            .with_context(|| format!("{name} is not the progress of a run"))?;
        if header.settings != settings {
            bail!(
                "{name} was begun with other settings: repeat those, or begin anew with \
                 --overwrite\nthen: {}\nnow:  {settings}",
                header.settings
            );
        }
        let mut last = None;
        loop {
            line.clear();
            let read = reader.read_line(&mut line)? as u64;
            match serde_json::from_str::<Done>(&line) {
                Ok(done) if line.ends_with('\n') => {
                    length += read;
                    last = Some(done);
                }
                _ => break,
            }
        }
        file.set_len(length)?;
        file.seek(SeekFrom::End(0))?;
        Ok(Some(Journal { path, file, last }))
    }

    /// The last game done.
    #[must_use]
    pub const fn last(&self) -> Option<&Done> {
        self.last.as_ref()
    }

    /// Records a game; it has been passed to the operating system when this returns.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn add(&mut self, done: &Done) -> io::Result<()> {
        write_line(&mut self.file, done)
    }

    /// The index entries of all games so far, read one by one.
    ///
    /// # Errors
    /// If the journal cannot be read.
    pub fn entries(&self) -> io::Result<impl Iterator<Item = io::Result<IndexEntry>>> {
        let lines = BufReader::new(File::open(&self.path)?).lines().skip(1);
        let parse = |line: io::Result<String>| -> io::Result<Option<IndexEntry>> {
            let done: Done = serde_json::from_str(&line?)?;
            Ok(done.entry)
        };
        Ok(lines.map(parse).filter_map(Result::transpose))
    }

    /// Removes the journal: the run is complete.
    ///
    /// # Errors
    /// If it cannot be removed.
    pub fn remove(self) -> io::Result<()> {
        std::fs::remove_file(&self.path)
    }
}

/// One call writes the whole line, so that no other process sees a part of it.
fn write_line(file: &mut File, value: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_string(value)?;
    line.push('\n');
    file.write_all(line.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn done(number: u64) -> Done {
        Done {
            number,
            bytes: number * 100,
            entry: None,
        }
    }

    #[test]
    fn a_torn_line_does_not_count() {
        let directory = tempfile::tempdir().expect("a directory");
        let output = directory.path().join("out.pgn");
        assert!(Journal::open(&output, "a").expect("no journal").is_none());
        let mut journal = Journal::create(&output, "a").expect("a journal");
        journal.add(&done(1)).expect("written");
        journal.add(&done(2)).expect("written");
        drop(journal);
        let path = path_of(&output);
        let text = std::fs::read_to_string(&path).expect("readable");
        std::fs::write(&path, &text[..text.len() - 3]).expect("written");
        let mut journal = Journal::open(&output, "a")
            .expect("readable")
            .expect("there");
        assert_eq!(journal.last(), Some(&done(1)));
        journal.add(&done(2)).expect("written");
        assert_eq!(std::fs::read_to_string(&path).expect("readable"), text);
        let error = Journal::open(&output, "b")
            .expect_err("other settings")
            .to_string();
        assert!(error.contains("--overwrite"), "{error}");
    }
}
