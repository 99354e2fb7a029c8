//! The list of all games of a report, some hundreds a page.

use std::fs;
use std::io;
use std::path::Path;

use askama::Template;
use serde::{Deserialize, Serialize};

use super::STYLE;
use super::file_names::{game_file, index_file};

/// Games on one page of the index.
const ROWS: usize = 500;

/// One game in the index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IndexEntry {
    /// The game's number in the input, from 1.
    pub number: u64,
    pub white: String,
    pub black: String,
    pub result: String,
    /// Event, date and the like.
    pub facts: String,
    /// Both players' figures as the page shows them: `96.1 % / 88.0 %`.
    pub accuracy: String,
    pub centipawn_loss: String,
    /// `1, 0, 2 / 3, 1, 0`.
    pub faults: String,
}

#[derive(Template)]
#[template(path = "index.html")]
struct IndexPage<'a> {
    title: &'a str,
    method: &'a str,
    style: &'a str,
    rows: Vec<IndexRow<'a>>,
    previous: Option<String>,
    next: Option<String>,
}

struct IndexRow<'a> {
    number: u64,
    file: String,
    white: &'a str,
    black: &'a str,
    facts: &'a str,
    result: &'a str,
    accuracy: &'a str,
    centipawn_loss: &'a str,
    faults: &'a str,
}

/// Writes the index of the entries into a directory, holding one page of them at a time.
///
/// # Errors
/// If an entry cannot be read or a file cannot be written.
pub fn write_index(
    directory: &Path,
    title: &str,
    method: &str,
    entries: impl Iterator<Item = io::Result<IndexEntry>>,
) -> io::Result<()> {
    let mut entries = entries.peekable();
    let mut page = 0_usize;
    loop {
        let listed: Vec<IndexEntry> = entries.by_ref().take(ROWS).collect::<io::Result<_>>()?;
        let more = entries.peek().is_some();
        let html = IndexPage {
            title,
            method,
            style: STYLE,
            rows: listed.iter().map(row).collect(),
            previous: page.checked_sub(1).map(index_file),
            next: more.then(|| index_file(page + 1)),
        }
        .render()
        .map_err(io::Error::other)?;
        fs::write(directory.join(index_file(page)), html)?;
        if !more {
            return Ok(());
        }
        page += 1;
    }
}

fn row(entry: &IndexEntry) -> IndexRow<'_> {
    IndexRow {
        number: entry.number,
        file: game_file(entry.number),
        white: &entry.white,
        black: &entry.black,
        facts: &entry.facts,
        result: &entry.result,
        accuracy: &entry.accuracy,
        centipawn_loss: &entry.centipawn_loss,
        faults: &entry.faults,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(number: u64) -> IndexEntry {
        IndexEntry {
            number,
            white: "<script>alert(1)</script>".to_owned(),
            black: "B & C \"D\"".to_owned(),
            result: "1-0".to_owned(),
            facts: String::new(),
            accuracy: String::new(),
            centipawn_loss: String::new(),
            faults: String::new(),
        }
    }

    #[test]
    fn long_indexes_have_pages_and_names_are_escaped() {
        let directory = tempfile::tempdir().expect("a directory");
        let entries = (1..=ROWS as u64 + 1).map(|number| Ok(entry(number)));
        write_index(directory.path(), "Games", "", entries).expect("written");
        let read = |name: &str| fs::read_to_string(directory.path().join(name)).expect("a page");
        let (first, second) = (read(&index_file(0)), read(&index_file(1)));
        assert_eq!(first.matches("<td><a href").count(), ROWS);
        assert_eq!(second.matches("<td><a href").count(), 1);
        assert!(first.contains("index-2.html") && second.contains("href=\"index.html\""));
        assert!(!first.contains("<script>alert"));
    }
}
