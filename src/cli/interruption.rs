//! Ctrl-C, for subcommands that then show what they have.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use anyhow::Context as _;

/// Turns true at the first Ctrl-C; the second one ends the program as usual.
pub fn interruption() -> anyhow::Result<Arc<AtomicBool>> {
    interruption_with(|| ())
}

/// As [`interruption`]; before the second Ctrl-C ends the program, `tidy` is called. It must not
/// wait for a lock that the interrupted work may hold, such as that of stdout.
pub fn interruption_with(
    mut tidy: impl FnMut() + Send + 'static,
) -> anyhow::Result<Arc<AtomicBool>> {
    /// What a shell reports of a program that Ctrl-C ended.
    const INTERRUPTED: i32 = 130;
    let interrupted = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&interrupted);
    ctrlc::set_handler(move || {
        if flag.swap(true, Ordering::Relaxed) {
            tidy();
            std::process::exit(INTERRUPTED);
        }
    })
    .context("cannot catch Ctrl-C")?;
    Ok(interrupted)
}
