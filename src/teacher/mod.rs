//! Another engine's network as a teacher: the files that Stockfish 15.1 and 17.1 publish, read and
//! computed here, to label positions at some microseconds each.
//!
//! The files (`nn-*.nnue`, published as CC0; the engine's command `export_net` writes its own)
//! have the architecture "HalfKAv2_hm, 1024x2" or 3072x2 "and eight stacks of 16-32-1":
//! [`features`] numbers the inputs, [`mod@format`] reads the file, [`Teacher`] follows moves and
//! evaluates, and [`engine`] knows what each engine makes of the network's output. It is the
//! engines' integer arithmetic, learnt from their source
//! (<https://github.com/official-stockfish/Stockfish>, tags `sf_15.1` and `sf_17.1`, folder
//! `src/nnue`); the book's page on training data tells how far the results were compared.
//!
//! Labels are in centipawns as Stockfish 15.1 prints them (100 are an even chance of winning at
//! long time controls), without the factor by material with which that engine multiplies them
//! before it searches: that is also the scale of Pleach's scores.

mod accumulator;
pub mod engine;
pub mod features;
pub mod format;
mod forward;
mod label;
#[cfg(test)]
pub(crate) mod tests;

pub use accumulator::Teacher;
pub use format::TeacherNet;
pub use label::{IllegalRecord, MAX_SCORE, TeacherLabeller};
