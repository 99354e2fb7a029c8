//! What earlier nodes teach about moves and evaluations: one table a file, all made of one kind
//! of cell. Tables belong to one thread.

mod butterfly;
mod capture;
mod cell;
mod continuation;
mod correction;
mod pawn;

pub use butterfly::{ButterflyHistory, Threats};
pub use capture::CaptureHistory;
pub use cell::HistoryCell;
pub use continuation::{ContinuationHistory, PieceTo};
pub use correction::{CORRECTION_LIMIT, CorrectionHistory};
pub use pawn::PawnHistory;

use bytemuck::Zeroable;

use crate::memory::LargeTable;
use crate::types::{Color, Piece};

/// Bound of the move histories' cells.
pub const HISTORY_MAX: i32 = 16_384;
type Cell = HistoryCell<HISTORY_MAX>;

const COLORS: usize = 2;
const SQUARES: usize = 64;
/// Roles of both colours.
const PIECES: usize = 12;

/// 0 to 11: the roles of Black, then those of White.
fn piece_index(piece: Piece) -> usize {
    const ROLES: usize = 6;
    piece.color as usize * ROLES + piece.role as usize - 1
}

fn color_index(color: Color) -> usize {
    color as usize
}

/// A table of `len` zeroed cells. Like any small allocation, it ends the program if there is no
/// memory at all.
fn table<T: Zeroable>(len: usize) -> LargeTable<T> {
    LargeTable::new(len).expect("memory for a history")
}
