//! A minimal, fast board that replays recorded games. It detects moves that move no piece, but not
//! moves that break the rules; `board::Position` does that where it matters.

use crate::types::{Color, PackedMove, Role};

use super::PackedBoard;
use super::packed_board::{BLACK, CASTLING_ROOK, MAX_PIECES};

/// Code of an empty square.
pub const EMPTY: u8 = 15;

const PAWN: u8 = 0;
const KNIGHT: u8 = 1;
const BISHOP: u8 = 2;
const ROOK: u8 = 3;
const QUEEN: u8 = 4;
const KING: u8 = 5;

const SQUARES: usize = 64;
/// Stands for the square of a king that was not found.
const NO_SQUARE: u8 = SQUARES as u8;

/// Files on which king and rook stand after castling with a rook to the king's right or left.
const RIGHT_CASTLING: (usize, usize) = (6, 5);
const LEFT_CASTLING: (usize, usize) = (2, 3);

const ORTHOGONAL: [(i8, i8); 4] = [(1, 0), (-1, 0), (0, 1), (0, -1)];
const DIAGONAL: [(i8, i8); 4] = [(1, 1), (-1, 1), (1, -1), (-1, -1)];
const LEAPS: [(i8, i8); 8] = [
    (1, 2),
    (2, 1),
    (2, -1),
    (1, -2),
    (-1, -2),
    (-2, -1),
    (-2, 1),
    (-1, 2),
];

/// Pieces by square. A piece's code is its role, pawn 0 to king 5, with 8 added for Black.
#[derive(Clone, Debug)]
pub struct Mailbox {
    /// A code per square from a1 to h8, `EMPTY` for none.
    pub squares: [u8; SQUARES],
    /// Occupied squares.
    pub occupied: u64,
    /// Where White's and Black's kings stand.
    pub kings: [u8; 2],
    /// Who is to move.
    pub turn: Color,
    /// Plies played, including those that the start position's fullmove number counts.
    pub ply: u32,
}

impl Mailbox {
    /// Knights, bishops, rooks and queens of both sides.
    #[must_use]
    pub fn counts(&self) -> [i32; 4] {
        let mut counts = [0; 4];
        for &code in &self.squares {
            let role = code & !BLACK;
            if code != EMPTY && (KNIGHT..=QUEEN).contains(&role) {
                counts[usize::from(role - KNIGHT)] += 1;
            }
        }
        counts
    }

    /// Unpacks a position.
    ///
    /// # Errors
    /// What makes it invalid: piece codes, the number of pieces or of kings.
    pub fn unpack(packed: &PackedBoard) -> Result<Mailbox, &'static str> {
        if packed.occupied.count_ones() as usize > MAX_PIECES {
            return Err("more than 32 pieces");
        }
        let turn = if packed.black_to_move {
            Color::Black
        } else {
            Color::White
        };
        let ply =
            2 * u32::from(packed.fullmoves.saturating_sub(1)) + u32::from(packed.black_to_move);
        let mut board = Mailbox {
            squares: [EMPTY; SQUARES],
            occupied: packed.occupied,
            kings: [NO_SQUARE; 2],
            turn,
            ply,
        };
        let mut rest = packed.occupied;
        let mut index = 0;
        while rest != 0 {
            let square = rest.trailing_zeros() as usize;
            rest &= rest - 1;
            let code = packed.code(index);
            index += 1;
            let (color, role) = (code & BLACK, code & !BLACK);
            let role = if role == CASTLING_ROOK { ROOK } else { role };
            if role > KING {
                return Err("unknown piece code");
            }
            if role == KING {
                let king = &mut board.kings[usize::from(color / BLACK)];
                if *king != NO_SQUARE {
                    return Err("two kings of one colour");
                }
                *king = square as u8;
            }
            board.squares[square] = color | role;
        }
        if board.kings.contains(&NO_SQUARE) {
            return Err("a king is missing");
        }
        Ok(board)
    }

    /// Whether the move takes a piece (en passant included) or promotes.
    #[must_use]
    pub fn is_tactical(&self, m: PackedMove) -> bool {
        let takes = !m.is_castle() && self.squares[usize::from(m.to())] != EMPTY;
        takes || m.is_en_passant() || m.promotion().is_some()
    }

    /// Plays a move.
    ///
    /// # Errors
    /// The move takes no piece of the side to move anywhere, takes a king, or castles with
    /// something other than its rook.
    pub fn play(&mut self, m: PackedMove) -> Result<(), &'static str> {
        let (from, to) = (usize::from(m.from()), usize::from(m.to()));
        let own = if self.turn.is_black() { BLACK } else { 0 };
        let piece = self.squares[from];
        if piece == EMPTY || piece & BLACK != own {
            return Err("the move starts from no piece of the side to move");
        }
        if m.is_castle() {
            self.castle(from, to, own)?;
        } else {
            let taken = self.squares[to];
            if taken != EMPTY && (taken & BLACK == own || taken & !BLACK == KING) {
                return Err("the move takes a king or its own piece");
            }
            // The captured pawn is on the rank of the origin and the file of the target.
            let passed = from & !7 | to & 7;
            if m.is_en_passant() && self.squares[passed] != own ^ BLACK | PAWN {
                return Err("en passant takes no pawn");
            }
            self.clear(from);
            let placed = match m.promotion() {
                Some(_) if piece & !BLACK != PAWN => return Err("a piece promotes"),
                Some(role) => own | (role as u8 - Role::Pawn as u8),
                None => piece,
            };
            self.put(to, placed);
            if m.is_en_passant() {
                self.clear(passed);
            }
            if piece & !BLACK == KING {
                self.kings[usize::from(own / BLACK)] = to as u8;
            }
        }
        self.turn = !self.turn;
        self.ply += 1;
        Ok(())
    }

    fn castle(&mut self, king: usize, rook: usize, own: u8) -> Result<(), &'static str> {
        if self.squares[king] != own | KING || self.squares[rook] != own | ROOK {
            return Err("castling without king and rook");
        }
        let rank = king & !7;
        let (king_file, rook_file) = if rook > king {
            RIGHT_CASTLING
        } else {
            LEFT_CASTLING
        };
        let (king_to, rook_to) = (rank + king_file, rank + rook_file);
        self.clear(king);
        self.clear(rook);
        if self.squares[king_to] != EMPTY || self.squares[rook_to] != EMPTY {
            return Err("castling onto another piece");
        }
        self.put(king_to, own | KING);
        self.put(rook_to, own | ROOK);
        self.kings[usize::from(own / BLACK)] = king_to as u8;
        Ok(())
    }

    fn clear(&mut self, square: usize) {
        self.squares[square] = EMPTY;
        self.occupied &= !(1 << square);
    }

    fn put(&mut self, square: usize, code: u8) {
        self.squares[square] = code;
        self.occupied |= 1 << square;
    }

    /// Whether the side to move is in check.
    #[must_use]
    pub fn in_check(&self) -> bool {
        let own = if self.turn.is_black() { BLACK } else { 0 };
        let other = own ^ BLACK;
        let king = self.kings[usize::from(own / BLACK)] as i8;
        // Pawns attack towards their far side, so the attacker stands further up for White.
        let up = if own == 0 { 1 } else { -1 };
        let stands = |step: (i8, i8), code: u8| self.at(king, step) == Some(code);
        stands((1, up), other | PAWN)
            || stands((-1, up), other | PAWN)
            || LEAPS.iter().any(|&step| stands(step, other | KNIGHT))
            || ORTHOGONAL
                .iter()
                .any(|&step| self.slider(king, step, other, ROOK))
            || DIAGONAL
                .iter()
                .any(|&step| self.slider(king, step, other, BISHOP))
    }

    /// The code on the square `step` files and ranks away.
    fn at(&self, square: i8, step: (i8, i8)) -> Option<u8> {
        let (file, rank) = (square % 8 + step.0, square / 8 + step.1);
        ((0..8).contains(&file) && (0..8).contains(&rank))
            .then(|| self.squares[(rank * 8 + file) as usize])
    }

    /// Whether the first piece from the king along `step` is a queen of the colour `other` or its
    /// slider with this role.
    fn slider(&self, king: i8, step: (i8, i8), other: u8, role: u8) -> bool {
        for distance in 1..8 {
            match self.at(king, (step.0 * distance, step.1 * distance)) {
                None => return false,
                Some(EMPTY) => {}
                Some(code) => return code == other | role || code == other | QUEEN,
            }
        }
        false
    }
}
