//! Games and positions for training.
//!
//! [`opening`] makes starts that are varied and about even. From one, [`play`] plays a game by the
//! ordinary search with a small budget, and can keep a sample of the positions that the search
//! evaluated; [`quick`] plays by evaluation alone. [`adjudicator`] ends games that are decided.
//! [`run`] lets several threads do so and keeps the records, labelled by a teacher if there is
//! one, and [`genfens`] hands openings to OpenBench, which plays its data generation games itself.

pub mod adjudicator;
pub mod genfens;
pub mod opening;
pub mod play;
pub mod quick;
pub mod run;
