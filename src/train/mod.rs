//! The trainer: from recorded games to a network file, on the CPU.
//!
//! [`config`] has the settings of a run. [`shards`] deals the files where memory does not hold them
//! all, [`load`] replays games into [`sample`]s of 48 bytes, [`shuffle`] puts them in a new order
//! every epoch, `fit` finds the scale of scores, [`loss`] defines the target, [`kernel`] computes gradients, in orders that `views`
//! lists, with [`layers`] where the network has dense layers. [`model`] holds the parameters, in
//! the units of [`quantisation`] and at first with numbers of `normal`, [`optimiser`] updates them,
//! [`checkpoint`] saves them, [`export`] makes the integers that the engine reads, `start` finds
//! what a run begins with, and [`run`] is the main loop.

mod batch;
pub mod checkpoint;
pub mod config;
pub mod export;
mod extra_bits;
mod fit;
pub mod kernel;
mod lanes;
pub mod layers;
pub mod load;
pub mod loss;
pub mod model;
mod normal;
pub mod optimiser;
mod pace;
pub mod quantisation;
pub mod run;
pub mod sample;
pub mod schedule;
pub mod shards;
pub mod shuffle;
mod start;
#[cfg(test)]
mod tests;
mod views;
