//! The laboratory: the textbook algorithms in their plainest correct form, runnable side by side
//! on the same tree, counted, compared and drawn. The engine's search comes from these
//! algorithms and is tested against them.
//!
//! [`GameTree`] is what gets searched: explicit trees, random trees, tic-tac-toe, Kalah, chess
//! ([`games`]). A [`Walk`](walk::Walk) explores it for an algorithm; one file holds one algorithm:
//! [`minimax`], [`negamax`], [`alphabeta`], [`with_bound`], [`pvs`], [`negascout`],
//! [`aspiration`], [`memory`], [`mtdf`], [`sss`]. [`deepening`] runs any of them depth by depth.
//! [`compare`] and [`draw`] show what they do.

pub mod algorithm;
pub mod alphabeta;
pub mod aspiration;
pub mod compare;
pub mod deepening;
pub mod draw;
pub mod game;
pub mod games;
pub mod kinds;
pub mod memory;
pub mod minimal;
pub mod minimax;
pub mod mtdf;
pub mod negamax;
pub mod negascout;
pub mod order;
pub mod pvs;
pub mod shape;
pub mod sss;
pub mod trace;
pub mod walk;
pub mod window;
pub mod with_bound;

pub use algorithm::{Algorithm, SolveOptions, solve};
pub use deepening::{DeepeningLimits, deepen};
pub use game::{GameTree, INFINITY, MAX_DEPTH};
pub use kinds::{KindCounts, NodeKind};
pub use order::Hints;
pub use window::ValueWindow;

#[cfg(test)]
mod tests;
