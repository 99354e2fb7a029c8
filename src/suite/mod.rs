//! Test suites: positions with known solutions, searched one by one and scored.
//!
//! A position is solved by the first of these operations that its EPD line has: `bm` (one of
//! these moves must be played), `am` (none of these), `dm` (a mate in this many moves must be
//! found). With `c0 "Qf4=10, Re2=3"`, as the Strategic Test Suite has it, moves earn points.

mod problem;
mod run;
mod score;

pub use problem::Problem;
pub use run::{SuiteEnd, SuiteSettings, run};
pub use score::{Attempt, SuiteSummary};
