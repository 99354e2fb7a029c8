//! Another engine's network as a teacher: the files that Stockfish 15.1 publishes, read and
//! computed here, to label positions at a microsecond each.
//!
//! The files (`nn-*.nnue`, published as CC0; the engine's command `export_net` writes its own)
//! have the architecture "HalfKAv2_hm, 1024x2, eight stacks of 16-32-1": [`features`] numbers the
//! inputs, [`mod@format`] reads the file, [`Teacher`] follows moves and evaluates. What is computed
//! equals that engine's integer arithmetic to the last bit; the facts were learnt from its source
//! (<https://github.com/official-stockfish/Stockfish>, tag `sf_15.1`, folder `src/nnue`).
//!
//! # Units
//! The network's own unit is such that [`UNITS_A_PAWN`] of it are printed as one pawn, an even
//! chance of winning at long time controls. [`centipawns`] are hundredths of that, and that is
//! also the scale of Pleach's scores.
//!
//! The engine multiplies this output by a factor that grows with the material on the board before
//! it is searched with ([`material_factor`]). Labels leave the factor out: it is not part of
//! the network.

mod accumulator;
pub mod features;
pub mod format;
mod forward;
mod label;
#[cfg(test)]
pub(crate) mod tests;

pub use accumulator::Teacher;
pub use format::TeacherNet;
pub use label::{IllegalRecord, MAX_SCORE, TeacherLabeller};

use crate::nnue::material;
use crate::types::Board;

/// How many of the network's units that engine prints as one pawn.
pub const UNITS_A_PAWN: i32 = 361;

/// The network's units as centipawns, rounded to the nearest.
#[must_use]
pub fn centipawns(units: i32) -> i32 {
    let doubled = 2 * 100 * units;
    (doubled + doubled.signum() * UNITS_A_PAWN) / (2 * UNITS_A_PAWN)
}

/// The midgame values of knights, bishops, rooks and queens on the board, both colours together,
/// in the network's units.
#[must_use]
pub fn piece_material(board: &Board) -> i32 {
    material::value(material::counts(board))
}

/// The evaluation that the teacher's engine makes of `units` without its 50-move damping: scaled
/// by the material on the board, from 1.04 with none but pawns to 1.38 at the start.
#[must_use]
pub fn material_factor(units: i32, board: &Board) -> i32 {
    material::scale(units, material::counts(board))
}
