//! Pleach, a UCI chess engine: iterative-deepening alpha-beta search over an efficiently
//! updatable neural network, with a laboratory of the textbook algorithms it grew from.
//!
//! Where to begin: [`board::Position`] is what is searched, [`search`] searches it,
//! [`nnue::Accumulators`] evaluate it, and [`engine::Engine`] is what all callers talk to.
//! [`uci`] turns text into calls of the engine and its events into text; [`cli`] has a file for
//! each subcommand.
//!
//! A `go` runs through `uci::session`, [`engine::Engine::go`] and the threads of `engine::pool` to
//! [`search::SearchWorker`]'s `search` (`search/iterate.rs`: iterative deepening and aspiration
//! windows), which searches nodes (`search/node.rs`), and these their moves (`search/moves.rs`). What
//! was asked for is `uci::Command::Go` first, then [`engine::Request`], then
//! [`search::SearchRequest`] with its [`search::Limits`].
//!
//! The book explains the terms (`book/src/how/glossary.md`) and the techniques (`book/src/how`), and
//! has every result that is called measured (`book/src/testing.md`).
//!
//! Public is what the binary, the tests, the benchmarks and the fuzzing targets use.
//! `cargo doc --document-private-items` shows the rest, and follows the links below.
//!
//! The modules form layers, lowest first; each imports only from layers below its own, and those of
//! layer 0 only from one another (`tests/layers.rs` checks it):
//!
//! | layer | modules |
//! |---|---|
//! | 0 | [`types`], [`params`], [`memory`], [`stdio`], [`files`], [`faults`], [`hash`], [`progress`] |
//! | 1 | [`board`] |
//! | 2 | [`nnue`], [`tt`], [`record`] |
//! | 3 | [`chances`], [`eval`], [`history`], [`opening_book`], [`tablebase`], [`time`], [`teacher`] |
//! | 4 | [`levels`], [`search`] |
//! | 5 | [`engine`] |
//! | 6 | [`mod@bench`], [`lab`], [`train`], [`datagen`], [`label`], [`suite`], [`annotate`] |
//! | 7 | [`uci`] |
//! | 8 | [`cli`] |

// The documentation is for those who read the source: its links lead to private items too.
#![allow(rustdoc::private_intra_doc_links)]
#![deny(clippy::print_stdout, clippy::print_stderr, clippy::too_many_lines)]

mod annotate;
pub mod bench;
pub mod board;
mod chances;
pub mod cli;
mod datagen;
pub mod engine;
pub mod eval;
mod faults;
mod files;
pub mod hash;
mod history;
mod lab;
mod label;
mod levels;
mod memory;
pub mod nnue;
pub mod opening_book;
mod params;
mod progress;
pub mod record;
pub mod search;
mod stdio;
mod suite;
pub mod tablebase;
mod teacher;
mod time;
mod train;
pub mod tt;
pub mod types;
pub mod uci;
