//! Self-play games for training, by the ordinary search with small budgets.
//!
//! [`opening`] makes starts that are varied and about even, [`play`] plays a game from one,
//! [`run`] lets several threads do so and keeps the records, and [`genfens`] hands openings to
//! OpenBench, which plays its data generation games itself.

pub mod genfens;
pub mod opening;
pub mod play;
pub mod run;
