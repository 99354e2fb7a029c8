//! Packed positions to and from the board's, by way of FEN: once a game, so that speed does not
//! matter, and the board's own checks decide which are valid.

use crate::board::{FenError, Position};
use crate::types::{CastlingMode, Color, Piece, Role, Square};

use super::PackedBoard;
use super::mailbox::EMPTY;
use super::packed_board::{BLACK, CASTLING_ROOK};

const ROLES: [Role; 6] = [
    Role::Pawn,
    Role::Knight,
    Role::Bishop,
    Role::Rook,
    Role::Queen,
    Role::King,
];
const FILES: &[u8; 8] = b"abcdefgh";

impl PackedBoard {
    /// Packs a position.
    #[must_use]
    pub fn pack(position: &Position) -> PackedBoard {
        let board = position.board();
        let mut packed = PackedBoard {
            occupied: board.occupied().into(),
            pieces: [0; 16],
            en_passant: None,
            black_to_move: position.turn().is_black(),
            halfmoves: u8::try_from(position.halfmoves()).unwrap_or(u8::MAX),
            fullmoves: u16::try_from(position.game_ply() / 2 + 1).unwrap_or(u16::MAX),
        };
        let fen = position.fen();
        let mut fields = fen.split(' ').skip(2);
        let castling = fields.next().unwrap_or("-");
        packed.en_passant = fields.next().and_then(square_of);
        for (index, square) in board.occupied().into_iter().enumerate() {
            let Some(piece) = board.piece_at(square) else {
                continue;
            };
            let mut code = piece.role as u8 - Role::Pawn as u8;
            if piece.role == Role::Rook && may_castle(position, castling, piece, square) {
                code = CASTLING_ROOK;
            }
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
        Position::from_fen(&self.fen(), CastlingMode::Chess960)
    }

    /// The position as Shredder-FEN, unchecked.
    #[must_use]
    pub fn fen(&self) -> String {
        let mut squares = [EMPTY; 64];
        let mut castling = String::new();
        let mut index = 0;
        for (square, slot) in squares.iter_mut().enumerate() {
            if self.occupied >> square & 1 == 0 || index == 2 * self.pieces.len() {
                continue;
            }
            let code = self.code(index);
            index += 1;
            *slot = code;
            if code & !BLACK == CASTLING_ROOK {
                *slot = code & BLACK | (Role::Rook as u8 - Role::Pawn as u8);
                let file = char::from(FILES[square % 8]);
                castling.push(if code & BLACK == 0 {
                    file.to_ascii_uppercase()
                } else {
                    file
                });
            }
        }
        let ranks: Vec<String> = (0..8)
            .rev()
            .map(|rank| rank_text(&squares[8 * rank..]))
            .collect();
        let turn = if self.black_to_move { "b" } else { "w" };
        let castling = if castling.is_empty() { "-" } else { &castling };
        let en_passant = self.en_passant.map_or_else(
            || "-".to_owned(),
            |square| Square::new(u32::from(square & 63)).to_string(),
        );
        let (half, full) = (self.halfmoves, self.fullmoves.max(1));
        format!(
            "{} {turn} {castling} {en_passant} {half} {full}",
            ranks.join("/")
        )
    }
}

fn square_of(text: &str) -> Option<u8> {
    text.parse::<Square>()
        .ok()
        .map(|square| square.to_u32() as u8)
}

/// Whether the castling field of a FEN, standard or Shredder, names this rook.
fn may_castle(position: &Position, castling: &str, rook: Piece, square: Square) -> bool {
    let back = if rook.color.is_white() { 0 } else { 7 };
    if square.rank() as usize != back {
        return false;
    }
    let letter = |c: u8| {
        let c = char::from(c);
        if rook.color.is_white() {
            c.to_ascii_uppercase()
        } else {
            c
        }
    };
    if castling.contains(letter(FILES[square.file() as usize])) {
        return true;
    }
    let board = position.board();
    let Some(king) = board.king_of(rook.color) else {
        return false;
    };
    let king_side = square > king;
    let rooks = board.by_piece(Color::rook(rook.color)) & board.occupied();
    let outermost = rooks
        .into_iter()
        .filter(|other| other.rank() == square.rank() && (*other > king) == king_side)
        .all(|other| {
            if king_side {
                other <= square
            } else {
                other >= square
            }
        });
    outermost && castling.contains(letter(if king_side { b'k' } else { b'q' }))
}

fn rank_text(squares: &[u8]) -> String {
    let mut text = String::new();
    let mut empty = 0;
    for &code in &squares[..8] {
        let Some(&role) = ROLES.get(usize::from(code & !BLACK)) else {
            empty += 1;
            continue;
        };
        if empty > 0 {
            text.push_str(&empty.to_string());
            empty = 0;
        }
        let color = if code & BLACK == 0 {
            Color::White
        } else {
            Color::Black
        };
        text.push(Piece { color, role }.char());
    }
    if empty > 0 {
        text.push_str(&empty.to_string());
    }
    text
}
