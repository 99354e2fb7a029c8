//! The network that judges positions: features, accumulators, kernels and the network's file.

pub mod format;
pub mod synthetic;

pub use format::{NetError, QuantisedNet};

include!(concat!(env!("OUT_DIR"), "/network.rs"));
