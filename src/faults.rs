//! Faults on purpose, so that tests see what happens when the program breaks.

use std::fmt::Display;

/// The environment variable that names the place of a panic.
const PANIC: &str = "PLEACH_PANIC";

/// Panics if the environment variable `PLEACH_PANIC` holds this place and detail, with a space
/// between them. A build without debug assertions, as every released one, never does, and does
/// not read the variable.
#[inline]
#[track_caller]
pub fn panic_at(place: &str, detail: impl Display) {
    if cfg!(debug_assertions)
        && std::env::var(PANIC).is_ok_and(|wanted| wanted == format!("{place} {detail}"))
    {
        panic!("on purpose: {place} {detail}");
    }
}
