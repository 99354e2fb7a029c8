//! A position in 32 bytes, laid out as Marlinflow and viriformat do.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | occupied squares, bit 0 is a1 |
//! | 8 | 16 | a nibble per occupied square, low nibble first: role, 8 added for Black |
//! | 24 | 1 | en passant square (64 for none), 128 added if Black is to move |
//! | 25 | 1 | halfmove clock |
//! | 26 | 2 | fullmove number |
//! | 28 | 2 | score, unused in games (see [`PositionRecord`](super::PositionRecord)) |
//! | 30 | 1 | result: 0 Black won, 1 draw, 2 White won |
//! | 31 | 1 | unused |
//!
//! Roles count from 0, the pawn, to 5, the king; 6 is a rook that may still castle.

use crate::types::GameResult;

/// Bytes of a packed position.
pub const PACKED_BYTES: usize = 32;

/// Code of a rook that may still castle.
pub(super) const CASTLING_ROOK: u8 = 6;
/// Added to the codes of Black's pieces.
pub const BLACK: u8 = 8;
/// There is room for the codes of so many pieces.
pub const MAX_PIECES: usize = 2 * PIECE_BYTES;
const PIECE_BYTES: usize = 16;

const PIECES: std::ops::Range<usize> = 8..8 + PIECE_BYTES;
const STM_EP: usize = 24;
const HALFMOVES: usize = 25;
const FULLMOVES: usize = 26;
/// Of the score, which only single positions have.
pub(super) const SCORE: usize = 28;
const RESULT: usize = 30;
const BLACK_TO_MOVE: u8 = 128;
/// In place of an en passant square where there is none.
const NO_SQUARE: u8 = 64;

/// A position as packed; it is validated when it is unpacked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PackedBoard {
    /// Occupied squares, bit 0 is a1.
    pub occupied: u64,
    /// A nibble per occupied square in ascending order, low nibble first.
    pub pieces: [u8; PIECE_BYTES],
    /// The square behind a pawn that may be taken en passant.
    pub en_passant: Option<u8>,
    /// Whether Black is to move.
    pub black_to_move: bool,
    /// Plies since the last capture or pawn move.
    pub halfmoves: u8,
    /// Counts from 1, up by one after each of Black's moves.
    pub fullmoves: u16,
}

impl PackedBoard {
    /// The position within `bytes` and the result, still as a number.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; PACKED_BYTES]) -> (PackedBoard, u8) {
        let mut occupied = [0; size_of::<u64>()];
        occupied.copy_from_slice(&bytes[..PIECES.start]);
        let mut pieces = [0; PIECE_BYTES];
        pieces.copy_from_slice(&bytes[PIECES]);
        let square = bytes[STM_EP] & !BLACK_TO_MOVE;
        let board = PackedBoard {
            occupied: u64::from_le_bytes(occupied),
            pieces,
            en_passant: (square < NO_SQUARE).then_some(square),
            black_to_move: bytes[STM_EP] & BLACK_TO_MOVE != 0,
            halfmoves: bytes[HALFMOVES],
            fullmoves: u16::from_le_bytes([bytes[FULLMOVES], bytes[FULLMOVES + 1]]),
        };
        (board, bytes[RESULT])
    }

    /// The position's 32 bytes with the game's result.
    #[must_use]
    pub fn to_bytes(&self, result: GameResult) -> [u8; PACKED_BYTES] {
        let mut bytes = [0; PACKED_BYTES];
        bytes[..PIECES.start].copy_from_slice(&self.occupied.to_le_bytes());
        bytes[PIECES].copy_from_slice(&self.pieces);
        let turn = if self.black_to_move { BLACK_TO_MOVE } else { 0 };
        bytes[STM_EP] = self.en_passant.unwrap_or(NO_SQUARE) | turn;
        bytes[HALFMOVES] = self.halfmoves;
        bytes[FULLMOVES..FULLMOVES + 2].copy_from_slice(&self.fullmoves.to_le_bytes());
        bytes[RESULT] = result as u8;
        bytes
    }

    /// The code of the `index`-th occupied square's piece, counted from a1.
    #[must_use]
    pub const fn code(&self, index: usize) -> u8 {
        self.pieces[index / 2] >> (4 * (index % 2)) & 15
    }
}
