//! Statistics of earlier nodes about moves and evaluations: one table a file, all made of one
//! kind of cell. Each thread has its own.

mod bonus;
mod butterfly;
mod capture;
mod cell;
mod continuation;
mod correction;
mod pawn;

pub use bonus::{bonus, malus};
pub use butterfly::{ButterflyHistory, Threats};
pub use capture::CaptureHistory;
pub use cell::HistoryCell;
pub use continuation::{ContinuationHistory, PieceCells, PieceTo, PieceToRow};
pub use correction::{CORRECTION_LIMIT, CorrectionHistory};
pub use pawn::PawnHistory;

use bytemuck::Zeroable;

use crate::memory::LargeTable;
use crate::types::{Color, Piece};

/// Bound of the move histories' cells.
pub const HISTORY_MAX: i32 = 16_384;
type Cell = HistoryCell<HISTORY_MAX>;

/// How far back continuation histories look, in plies.
pub const CONTINUATIONS: [usize; 4] = [1, 2, 4, 6];

/// The histories of one thread.
#[derive(Debug, Default)]
pub struct Histories {
    pub butterfly: ButterflyHistory,
    pub capture: CaptureHistory,
    pub continuation: ContinuationHistory,
    pub pawn: PawnHistory,
    pub pawn_correction: CorrectionHistory,
    pub minor_correction: CorrectionHistory,
    /// By the colour of the pieces.
    pub non_pawn_correction: [CorrectionHistory; 2],
    pub continuation_correction: CorrectionHistory,
}

impl Histories {
    /// Forgets everything, without allocating.
    pub fn clear(&mut self) {
        self.butterfly.clear();
        self.capture.clear();
        self.continuation.clear();
        self.pawn.clear();
        self.pawn_correction.clear();
        self.minor_correction.clear();
        self.non_pawn_correction
            .iter_mut()
            .for_each(CorrectionHistory::clear);
        self.continuation_correction.clear();
    }
}

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
