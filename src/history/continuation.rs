//! Moves by an earlier move of the line: how well does this piece go there after that piece
//! went there, one, two, four or six plies before.

use super::{COLORS, Cell, PIECES, SQUARES, color_index, piece_index, table};
use crate::memory::{LargeTable, prefetch};
use crate::params as p;
use crate::types::{Color, Piece, Square};

pub(super) const PIECE_TO: usize = PIECES * SQUARES;
/// Cells of one side's pieces, which follow each other.
const SIDE: usize = PIECE_TO / COLORS;
/// Cells in a cache line.
const LINE: usize = 64 / size_of::<Cell>();

/// A piece and the square it went to, or the absence of a move (before the root, after a null
/// move), as an index.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PieceTo(u16);

impl PieceTo {
    /// No move.
    pub const NONE: PieceTo = PieceTo(PIECE_TO as u16);

    #[must_use]
    #[inline]
    pub fn new(piece: Piece, to: Square) -> PieceTo {
        PieceTo((piece_index(piece) * SQUARES + to.to_usize()) as u16)
    }

    #[must_use]
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == PieceTo::NONE.0
    }

    /// A well-mixed key of two moves, the later one first.
    #[must_use]
    #[inline]
    pub const fn pair_key(self, earlier: PieceTo) -> u64 {
        /// An odd number with well-spread bits (from the golden ratio).
        const SPREAD: u64 = 0x9E37_79B9_7F4A_7C15;
        let pair = self.0 as u64 * (PIECE_TO as u64 + 1) + earlier.0 as u64;
        pair.wrapping_mul(SPREAD) >> 32
    }

    pub(super) const fn index(self) -> usize {
        self.0 as usize
    }
}

impl Default for PieceTo {
    fn default() -> PieceTo {
        PieceTo::NONE
    }
}

/// The cells of one piece, by the square it goes to.
pub type PieceCells = [Cell; SQUARES];

/// A part of a table: one cell for each piece and square.
#[derive(Clone, Copy, Debug)]
pub struct PieceToRow<'a>(&'a [Cell]);

impl<'a> PieceToRow<'a> {
    /// The row with this number of a table that consists of such rows.
    #[inline]
    pub(super) fn at(table: &'a [Cell], row: usize) -> PieceToRow<'a> {
        PieceToRow(&table[row * PIECE_TO..][..PIECE_TO])
    }

    /// Prefetches the cells of all moves of one side.
    #[inline]
    pub fn prefetch(self, color: Color) {
        let cells = &self.0[color_index(color) * SIDE..][..SIDE];
        cells.iter().step_by(LINE).for_each(prefetch);
    }

    /// The cells of a piece's moves, by the square it goes to.
    #[must_use]
    #[inline]
    pub fn of_piece(self, piece: Piece) -> &'a PieceCells {
        let cells = &self.0[piece_index(piece) * SQUARES..];
        cells.first_chunk().expect("a row has all pieces' squares")
    }

    /// `now` must be a move.
    #[must_use]
    #[inline]
    pub fn get(self, now: PieceTo) -> i32 {
        self.0[now.index()].get()
    }
}

/// Indexed `[earlier piece and square][piece and square]`.
#[derive(Debug)]
pub struct ContinuationHistory(LargeTable<Cell>);

impl Default for ContinuationHistory {
    fn default() -> ContinuationHistory {
        // One row more, for no earlier move; it stays zero.
        ContinuationHistory(table((PIECE_TO + 1) * PIECE_TO))
    }
}

impl ContinuationHistory {
    /// Forgets everything, without allocating.
    pub fn clear(&mut self) {
        self.0.clear();
    }

    /// The histories of all moves after an earlier one.
    #[must_use]
    #[inline]
    pub fn after(&self, earlier: PieceTo) -> PieceToRow<'_> {
        let earlier = if p::use_continuation() {
            earlier
        } else {
            PieceTo::NONE
        };
        PieceToRow::at(&self.0, earlier.index())
    }

    /// Without an earlier move there is nothing to learn.
    #[inline]
    pub fn update(&mut self, earlier: PieceTo, now: PieceTo, bonus: i32) {
        if !earlier.is_none() {
            self.0[earlier.index() * PIECE_TO + now.index()].update(bonus);
        }
    }
}
