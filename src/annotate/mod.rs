//! Annotates games: searches every position, marks the faults, and writes the games back with
//! evaluations, better lines and, if asked for, an HTML report.

mod accuracy;
mod analysis;
mod expectation;
mod job;
mod journal;
mod marks;
mod markup;
mod opening_names;
mod output;
mod report;
mod run;
mod verdict;
mod wording;

pub use analysis::Method;
pub use expectation::Curve;
pub use job::{AnnotateJob, Shard};
pub use run::{AnnotateProgress, run};
pub use verdict::Thresholds;
