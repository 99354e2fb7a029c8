//! The network that evaluates positions.
//!
//! 768 inputs for each side, with other weights for each of its king buckets ([`features`]),
//! feed a hidden layer, shared by both sides, of [`HIDDEN`] units with the squared clipped ReLU;
//! the hidden layers of the side to move and of the other side feed one of eight output layers,
//! picked by the number of pieces. All of it is integer arithmetic, equal to the last bit on
//! every processor:
//!
//! ```text
//! hidden = bias + sum of the feature weights of the pieces on the board      16 bits, QA = 1.0
//! sum    = sum over both sides of clip(hidden, 0, QA)^2 / 4 * output weight  32 bits
//! eval   = (4 * sum / QA + output bias) * scale / (QA * QB)                  centipawns
//! ```
//!
//! Divisions round towards zero. [`format`] describes the file, [`Network`] is the file in
//! memory, [`Accumulators`] follow a search, and [`simd`] holds the vector code.

mod accumulator;
pub mod features;
pub mod format;
pub mod material;
mod network;
pub mod simd;
pub mod synthetic;

pub use accumulator::Accumulators;
pub use format::{NetError, QuantisedNet};
pub use network::{HIDDEN, Network, Row};
pub use simd::Isa;
