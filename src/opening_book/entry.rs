//! One entry: a position's key, a move in it, and its weight.

use shakmaty::zobrist::Zobrist64;
use shakmaty::{CastlingSide, EnPassantMode, Position as _};

use crate::board::Position;
use crate::types::{Move, Role, Square};

pub(super) const ENTRY_BYTES: usize = 16;
const SQUARE_BITS: u16 = 6;
const SQUARE_MASK: u16 = 63;
const ROLE_SHIFT: u16 = 12;

/// A move in a position.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct BookEntry {
    pub key: u64,
    /// Six bits to, six bits from, three bits promoted role.
    pub bits: u16,
    pub weight: u16,
    /// Kept when books are merged; nothing reads it.
    pub learn: u32,
}

impl BookEntry {
    pub fn from_bytes(bytes: &[u8; ENTRY_BYTES]) -> BookEntry {
        let number = u128::from_be_bytes(*bytes);
        BookEntry {
            key: (number >> 64) as u64,
            bits: (number >> 48) as u16,
            weight: (number >> 32) as u16,
            learn: number as u32,
        }
    }

    pub fn to_bytes(self) -> [u8; ENTRY_BYTES] {
        let number = u128::from(self.key) << 64
            | u128::from(self.bits) << 48
            | u128::from(self.weight) << 32
            | u128::from(self.learn);
        number.to_be_bytes()
    }

    /// Whether the entry holds no move, as the format allows: it is to be passed over.
    pub const fn is_null(self) -> bool {
        self.bits == 0
    }

    /// Whether the bits lead from one square to another, with a known promotion.
    pub const fn has_squares(self) -> bool {
        /// Queen, the highest of the promoted roles.
        const HIGHEST_ROLE: u16 = 4;
        self.bits & SQUARE_MASK != self.bits >> SQUARE_BITS & SQUARE_MASK
            && self.bits >> ROLE_SHIFT <= HIGHEST_ROLE
    }

    /// Whether the bits stand for this legal move. Castling is the king taking its own rook; some
    /// programs write the king's two steps instead, which no other move of a king can be.
    pub fn stands_for(self, m: Move) -> bool {
        if encode(m) == self.bits {
            return true;
        }
        match m {
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_queen_side(rook < king);
                let to = Square::from_coords(side.king_to_file(), king.rank());
                squares(king, to) == self.bits
            }
            _ => false,
        }
    }
}

const fn squares(from: Square, to: Square) -> u16 {
    to.to_u32() as u16 | (from.to_u32() as u16) << SQUARE_BITS
}

/// A legal move in sixteen bits.
pub(super) fn encode(m: Move) -> u16 {
    let (from, to, promotion) = match m {
        Move::Castle { king, rook } => (king, rook, None),
        Move::EnPassant { from, to } => (from, to, None),
        Move::Normal {
            from,
            to,
            promotion,
            ..
        } => (from, to, promotion),
        // Crazyhouse drops are not chess moves.
        Move::Put { to, .. } => (to, to, None),
    };
    let role = match promotion {
        None => 0,
        Some(Role::Knight) => 1,
        Some(Role::Bishop) => 2,
        Some(Role::Rook) => 3,
        Some(_) => 4,
    };
    squares(from, to) | role << ROLE_SHIFT
}

/// Polyglot's key of a position: en passant counts if an enemy pawn stands next to the pawn
/// that moved, whether or not it may capture.
pub(super) fn key_of(position: &Position) -> u64 {
    position
        .chess()
        .zobrist_hash::<Zobrist64>(EnPassantMode::PseudoLegal)
        .0
}
