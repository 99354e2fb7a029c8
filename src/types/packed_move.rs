//! A move in sixteen bits, for tables and training records.

use shakmaty::{Move, Role, Square};

const SQUARE_BITS: u16 = 6;
const SQUARE_MASK: u16 = 63;
const ROLE_SHIFT: u16 = 12;
const KIND_SHIFT: u16 = 14;
const EN_PASSANT: u16 = 1;
const CASTLE: u16 = 2;
const PROMOTION: u16 = 3;

/// A move in sixteen bits, as viriformat lays it out: six bits from, six bits to, two bits for
/// the promoted role (knight, bishop, rook, queen) and two for the kind (normal, en passant,
/// castling, promotion). Castling is the king taking its own rook. Zero is no move at all.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub struct PackedMove(u16);

impl PackedMove {
    pub const NONE: PackedMove = PackedMove(0);

    /// Packs a move.
    #[must_use]
    pub const fn new(m: Move) -> PackedMove {
        match m {
            Move::Normal {
                from,
                to,
                promotion: None,
                ..
            } => PackedMove::build(from, to, 0, 0),
            Move::Normal {
                from,
                to,
                promotion: Some(role),
                ..
            } => {
                let role = match role {
                    Role::Knight => 0,
                    Role::Bishop => 1,
                    Role::Rook => 2,
                    _ => 3,
                };
                PackedMove::build(from, to, role, PROMOTION)
            }
            Move::EnPassant { from, to } => PackedMove::build(from, to, 0, EN_PASSANT),
            Move::Castle { king, rook } => PackedMove::build(king, rook, 0, CASTLE),
            // Crazyhouse drops are no chess moves; a move from a square to itself is illegal.
            Move::Put { to, .. } => PackedMove::build(to, to, 0, 0),
        }
    }

    const fn build(from: Square, to: Square, role: u16, kind: u16) -> PackedMove {
        PackedMove(
            from.to_u32() as u16
                | (to.to_u32() as u16) << SQUARE_BITS
                | role << ROLE_SHIFT
                | kind << KIND_SHIFT,
        )
    }

    /// The sixteen bits.
    #[must_use]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Any sixteen bits: whether they make a legal move is for the position to say.
    #[must_use]
    pub const fn from_bits(bits: u16) -> PackedMove {
        PackedMove(bits)
    }

    #[must_use]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    #[must_use]
    pub const fn is_some(self) -> bool {
        self.0 != 0
    }

    /// The square that the piece leaves.
    #[must_use]
    pub const fn from(self) -> Square {
        Square::new((self.0 & SQUARE_MASK) as u32)
    }

    /// The square that the piece reaches; the rook's square in castling.
    #[must_use]
    pub const fn to(self) -> Square {
        Square::new((self.0 >> SQUARE_BITS & SQUARE_MASK) as u32)
    }

    #[must_use]
    pub const fn is_en_passant(self) -> bool {
        self.0 >> KIND_SHIFT == EN_PASSANT
    }

    #[must_use]
    pub const fn is_castle(self) -> bool {
        self.0 >> KIND_SHIFT == CASTLE
    }

    /// The role that a promoting pawn becomes.
    #[must_use]
    pub const fn promotion(self) -> Option<Role> {
        if self.0 >> KIND_SHIFT != PROMOTION {
            return None;
        }
        Some(match self.0 >> ROLE_SHIFT & 3 {
            0 => Role::Knight,
            1 => Role::Bishop,
            2 => Role::Rook,
            _ => Role::Queen,
        })
    }
}

impl From<Move> for PackedMove {
    fn from(m: Move) -> PackedMove {
        PackedMove::new(m)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_survive_packing() {
        let castle = PackedMove::new(Move::Castle {
            king: Square::E1,
            rook: Square::H1,
        });
        assert!(castle.is_castle() && castle.from() == Square::E1 && castle.to() == Square::H1);
        for role in [Role::Knight, Role::Bishop, Role::Rook, Role::Queen] {
            let m = Move::Normal {
                role: Role::Pawn,
                from: Square::B7,
                to: Square::A8,
                capture: Some(Role::Rook),
                promotion: Some(role),
            };
            assert_eq!(PackedMove::new(m).promotion(), Some(role));
        }
        let ep = PackedMove::new(Move::EnPassant {
            from: Square::E5,
            to: Square::D6,
        });
        assert!(ep.is_en_passant() && ep.promotion().is_none() && ep.is_some());
        assert!(PackedMove::NONE.is_none() && PackedMove::from_bits(0) == PackedMove::NONE);
    }
}
