//! Pleach, a UCI chess engine: iterative-deepening alpha-beta search over an efficiently
//! updatable neural network, with a laboratory of the textbook algorithms it grew from.
//!
//! Where to begin: [`board::Position`] is what is searched, [`search`] searches it,
//! [`nnue::Accumulators`] evaluate it, and [`engine::Engine`] is what all callers talk to.
//! [`uci`] turns text into calls of the engine and its events into text; [`cli`] has a file for
//! each subcommand.
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
//! | 6 | [`mod@bench`], [`lab`], [`train`], [`datagen`], [`label`], [`suite`], [`annotate`] |
//! | 7 | [`uci`] |
//! | 8 | [`cli`] |

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
