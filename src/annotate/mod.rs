//! Annotates games: searches every position, marks the faults, and writes the games back with
//! evaluations, better lines and, if asked for, a report to look at.

mod accuracy;
mod analysis;
mod expectation;
mod journal;
mod markup;
mod opening_names;
mod report;
mod run;
mod verdict;
mod wording;

pub use accuracy::{Quality, move_accuracy, quality};
pub use analysis::{Assessment, GameAnalysis, Method, analyse};
pub use expectation::{Curve, capped};
pub use opening_names::{OpeningName, add_opening_name, opening_name};
pub use report::{GameInfo, INDEX_FILE, IndexEntry, file_name, page, write_index};
pub use run::{AnnotateJob, AnnotateProgress, RunTotals, Shard, run};
pub use verdict::{Evidence, Fault, ONLY_MOVE_NAG, Thresholds, Verdict, judge};
pub use wording::{eval_command, eval_text, tablebase_text, verdict_text};
