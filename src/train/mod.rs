//! The trainer: from recorded games to a network file, on the CPU.
//!
//! [`config`] is what a run is told. [`load`] replays games into [`sample`]s of 32 bytes,
//! [`shuffle`] puts them in a new order every epoch, [`loss`] says what is to be learnt, [`kernel`]
//! computes gradients, with [`layers`] where the network has dense layers. [`model`] holds the
//! parameters and [`optimiser`] moves them, [`checkpoint`] keeps them, [`export`] makes the integers
//! that the engine reads, and [`run`] is the loop around it all.

mod batch;
pub mod checkpoint;
pub mod config;
pub mod export;
pub mod kernel;
mod lanes;
pub mod layers;
pub mod load;
pub mod loss;
pub mod model;
pub mod optimiser;
mod report;
pub mod run;
pub mod sample;
pub mod schedule;
pub mod shuffle;
#[cfg(test)]
mod tests;
