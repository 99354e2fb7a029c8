//! The laboratory: the textbook algorithms in their plainest correct form, runnable side by side
//! on the same tree, counted, compared and drawn. It is where the engine's search comes from, and
//! the oracle that it is tested against.
//!
//! [`Game`] is what gets searched: explicit trees, random trees, tic-tac-toe, Kalah, chess
//! ([`games`]). A [`Walk`] explores it for an algorithm; one file holds one algorithm:
//! [`minimax`], [`negamax`], [`alphabeta`], [`criterion`], [`pvs`], [`negascout`],
//! [`aspiration`], [`memory`], [`mtdf`], [`sss`]. [`deepening`] runs any of them depth by depth.
//! [`compare`] and [`draw`] show what they do.

pub mod algorithm;
pub mod alphabeta;
pub mod aspiration;
pub mod compare;
pub mod criterion;
pub mod deepening;
pub mod draw;
pub mod game;
pub mod games;
pub mod kinds;
pub mod memory;
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

pub use algorithm::{Algorithm, Solved, Task, solve};
pub use criterion::Criterion;
pub use deepening::{Deepening, Ended, Limits, deepen};
pub use game::{Game, INFINITY, Side, Value, Window};
pub use kinds::{Kind, Kinds};
pub use order::{Choice, Hints, Order};
pub use trace::{Event, Trace};
pub use walk::{Counts, Node, Stopped, Visit, Walk};

#[cfg(test)]
mod tests;
