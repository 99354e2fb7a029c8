//! Packed positions to and from the board's, which checks that they are legal.

use std::num::NonZero;

use crate::board::{FenError, Position};
use crate::types::{Bitboard, Board, CastlingMode, Color, Piece, Role, Setup, Square};

use super::PackedBoard;
use super::packed_board::{BLACK, CASTLING_ROOK, MAX_PIECES};

/// In the order of their codes.
const ROLES: [Role; 6] = [
    Role::Pawn,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Queen,
    Role::King,
];
const SQUARES: u8 = 64;

impl PackedBoard {
    /// Packs a position.
    ///
    /// # Panics
    /// If it has more than 32 pieces, for which there is no room.
    #[must_use]
    pub fn pack(position: &Position) -> PackedBoard {
        let board = position.board();
        let mut packed = PackedBoard {
            occupied: board.occupied().into(),
            pieces: [0; MAX_PIECES / 2],
            en_passant: position.en_passant_square().map(u8::from),
            black_to_move: position.turn().is_black(),
            halfmoves: u8::try_from(position.halfmoves()).unwrap_or(u8::MAX),
            fullmoves: u16::try_from(position.game_ply() / 2 + 1).unwrap_or(u16::MAX),
        };
        let castling_rooks = position.castling_rooks();
        for (index, square) in board.occupied().into_iter().enumerate() {
            let Some(piece) = board.piece_at(square) else {
                continue;
            };
            let mut code = if castling_rooks.contains(square) {
                CASTLING_ROOK
            } else {
                piece.role as u8 - Role::Pawn as u8
            };
            code |= if piece.color.is_black() { BLACK } else { 0 };
            packed.pieces[index / 2] |= code << (4 * (index % 2));
        }
        packed
    }

    /// The position, in Chess960 mode: its castling moves are written as the king taking its
    /// rook whatever the start, as the format has them.
    ///
    /// # Errors
    /// The board's reason to refuse it.
    pub fn unpack(&self) -> Result<Position, FenError> {
        Position::from_setup(self.setup(), CastlingMode::Chess960)
    }

    /// The position, unchecked. Codes that stand for no piece leave their squares empty.
    fn setup(&self) -> Setup {
        let mut board = Board::empty();
        let mut castling_rooks = Bitboard::EMPTY;
        let squares = Bitboard(self.occupied).into_iter();
        for (index, square) in squares.take(MAX_PIECES).enumerate() {
            let code = self.code(index);
            let role = match code & !BLACK {
                CASTLING_ROOK => {
                    castling_rooks.add(square);
                    Role::Rook
                }
                code => match ROLES.get(usize::from(code)) {
                    Some(&role) => role,
                    None => continue,
                },
            };
            let color = Color::from_white(code & BLACK == 0);
            board.set_piece_at(square, Piece { color, role });
        }
        let fullmoves = NonZero::<u32>::new(self.fullmoves.into()).unwrap_or(NonZero::<u32>::MIN);
        Setup {
            board,
            promoted: Bitboard::EMPTY,
            pockets: None,
            turn: Color::from_white(!self.black_to_move),
            castling_rights: castling_rooks,
            ep_square: self
                .en_passant
                .map(|square| Square::new(u32::from(square % SQUARES))),
            remaining_checks: None,
            halfmoves: self.halfmoves.into(),
            fullmoves,
        }
    }
}
