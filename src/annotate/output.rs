//! The output of a run: which files may be one, how it begins, and how it is continued.

use std::fs::{self, File, OpenOptions};
use std::io::{Seek as _, SeekFrom};
use std::path::Path;

use anyhow::{Context as _, ensure};

use super::job::AnnotateJob;
use super::journal::Journal;
use crate::files::{STANDARD_OUTPUT, are_same};

/// Refuses an output that a run could not be continued from, and a folder as the input.
///
/// # Errors
/// If a path is of that kind.
pub fn check_paths(job: &AnnotateJob) -> anyhow::Result<()> {
    let (name, input) = (job.output.display(), job.input.as_deref());
    ensure!(
        job.output.as_os_str() != STANDARD_OUTPUT,
        "games are written to a file only, from which an interrupted run goes on: name one, \
         such as -o annotated.pgn"
    );
    ensure!(
        !input.is_some_and(|input| are_same(input, &job.output)),
        "{name} is the input: the output needs another name"
    );
    ensure!(
        job.output.is_file() || !job.output.exists(),
        "{name} is no regular file, from which an interrupted run could go on: name a file, \
         such as -o annotated.pgn"
    );
    let folder = job.output.parent().unwrap_or(Path::new(""));
    ensure!(
        folder.as_os_str().is_empty() || folder.is_dir(),
        "there is no folder {} for {name}",
        folder.display()
    );
    if let Some(input) = input {
        ensure!(
            !input.is_dir(),
            "{} is a folder: name a file",
            input.display()
        );
    }
    Ok(())
}

/// The output at the end of what an interrupted run has completed, and that run's journal; `None`
/// if there is nothing to continue.
///
/// # Errors
/// If the output exists without a journal, the journal is of another run, or the input may be
/// another one than it was.
pub fn open_output(job: &AnnotateJob, identity: &str) -> anyhow::Result<Option<(File, Journal)>> {
    if job.overwrite {
        return Ok(None);
    }
    let name = job.output.display();
    let Some(journal) = Journal::open(&job.output, identity)? else {
        ensure!(
            !job.output.exists(),
            "{name} exists already: remove it, or begin anew with --overwrite"
        );
        return Ok(None);
    };
    ensure!(
        job.is_read_again(),
        "an interrupted run goes on only with games of a file: begin anew with --overwrite"
    );
    let bytes = journal.last().map_or(0, |done| done.bytes);
    let mut output = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&job.output)
        .with_context(|| format!("cannot open {name}"))?;
    ensure!(
        output.metadata()?.len() >= bytes,
        "{name} is shorter than its progress says: begin anew with --overwrite"
    );
    output.set_len(bytes)?;
    output.seek(SeekFrom::End(0))?;
    Ok(Some((output, journal)))
}

/// An empty output and its journal.
///
/// # Errors
/// If one of them cannot be created.
pub fn create_output(job: &AnnotateJob, identity: &str) -> anyhow::Result<(File, Journal)> {
    // The output is opened first, so that one that cannot be written leaves no journal, nor spoils
    // one; it is emptied last, and left only with a journal.
    let is_new = !job.output.exists();
    let output = OpenOptions::new()
        .write(true)
        .create(true)
        .truncate(false)
        .open(&job.output)
        .with_context(|| format!("cannot create {}", job.output.display()))?;
    let journal = Journal::create(&job.output, identity).inspect_err(|_| {
        if is_new {
            let _ = fs::remove_file(&job.output);
        }
    })?;
    output.set_len(0)?;
    Ok((output, journal))
}
