//! Pleach, a UCI chess engine: iterative-deepening alpha-beta search over an efficiently
//! updatable neural network, with a laboratory of the textbook algorithms it grew from.
//!
//! The modules form layers, lowest first; each imports only from layers below its own
//! (`tests/layers.rs` holds them to it):
//!
//! | layer | modules |
//! |---|---|
//! | 0 | [`types`], [`params`], [`memory`], [`stdio`], [`files`], [`faults`], [`progress`] |
//! | 1 | [`board`] |
//! | 2 | [`nnue`], [`tt`], [`record`] |
//! | 3 | [`chances`], [`eval`], [`history`], [`opening_book`], [`tablebase`], [`time`], [`teacher`] |
//! | 4 | [`levels`], [`search`] |
//! | 5 | [`engine`] |
//! | 6 | [`bench`], [`lab`], [`train`], [`datagen`], [`label`], [`suite`], [`annotate`] |
//! | 7 | [`uci`] |
//! | 8 | [`cli`] |

#![deny(
    unsafe_code,
    unsafe_op_in_unsafe_fn,
    clippy::undocumented_unsafe_blocks
)]
#![deny(clippy::print_stdout, clippy::print_stderr, clippy::too_many_lines)]

pub mod annotate;
pub mod bench;
pub mod board;
pub mod chances;
pub mod cli;
pub mod datagen;
pub mod engine;
pub mod eval;
pub mod faults;
pub mod files;
pub mod history;
pub mod lab;
pub mod label;
pub mod levels;
pub mod memory;
pub mod nnue;
pub mod opening_book;
pub mod params;
pub mod progress;
pub mod record;
pub mod search;
pub mod stdio;
pub mod suite;
pub mod tablebase;
pub mod teacher;
pub mod time;
pub mod train;
pub mod tt;
pub mod types;
pub mod uci;
