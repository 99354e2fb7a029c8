//! Annotates games: searches every position, marks the faults, and writes the games back with
//! evaluations, better lines and, if asked for, a report to look at.

mod accuracy;
mod analysis;
mod expectation;
mod report;
mod verdict;
mod wording;

pub use accuracy::{Quality, move_accuracy, quality};
pub use analysis::{Analysis, Assessment, Method, analyse};
pub use expectation::{Curve, capped};
pub use report::{Entry, GameInfo, INDEX_FILE, file_name, page, write_index};
pub use verdict::{Evidence, Fault, ONLY_MOVE_NAG, Thresholds, Verdict, judge};
pub use wording::{eval_command, eval_text, tablebase, verdict_text};
