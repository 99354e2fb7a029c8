//! Games and positions for training.
//!
//! [`opening`] makes starts that are varied and about even. From one, [`play`] plays a game by the
//! ordinary search with a small budget, and can keep a sample of the positions that the search
//! evaluated; [`quick`] plays by evaluation alone. Both record games by `recorded_game`;
//! [`adjudicator`] ends those that are decided.
//! [`run`] does this on several threads and writes the records, labelled by a teacher if there is
//! one, with the settings that they follow from beside them (`run_record.rs`), and counts them
//! ([`summary`]). [`genfens`] makes openings for OpenBench, which plays its data generation games
//! itself.

pub mod adjudicator;
pub mod genfens;
pub mod opening;
pub mod play;
pub mod quick;
mod recorded_game;
pub mod run;
mod run_record;
pub mod summary;
