//! The network that evaluates positions.
//!
//! 768 inputs for each side, with other weights for each of its king buckets ([`features`]),
//! feed a hidden layer, shared by both sides, of [`HIDDEN`] units with the squared clipped ReLU;
//! the hidden layers of the side to move and of the other side feed one of eight output layers,
//! picked by the number of pieces. All of it is integer arithmetic, equal to the last bit on
//! every processor. The hidden layer is
//!
//! ```text
//! hidden = bias + sum of the feature weights of the pieces on the board      16 bits, QA = 1.0
//! ```
//!
//! and what follows it is the architecture's: [`single_layer`] has shape, file and forward pass in
//! one place, [`layers`] defines what a layered network adds. [`mod@format`] is the container of the
//! files, `packing` their compression, [`Network`] a file in memory, [`Accumulators`] follow a
//! search, and [`simd`] holds the vector code.

mod accumulator;
pub(crate) mod features;
pub mod format;
pub mod grouping;
pub(crate) mod layers;
pub(crate) mod material;
mod network;
mod packing;
mod row;
pub(crate) mod simd;
pub mod single_layer;
pub mod synthetic;

pub use accumulator::Accumulators;
pub use features::KingBuckets;
pub use format::NetError;
pub use network::Network;
pub use row::HIDDEN;
pub use simd::Isa;
pub use single_layer::QuantisedNet;
