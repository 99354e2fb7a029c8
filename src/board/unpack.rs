//! From sixteen bits back to a legal move: the transposition table may hand the search any bits,
//! and a move from it is tried before any list of moves exists.

use shakmaty::attacks::attacks;
use shakmaty::{Move, Piece, Position as _, Rank, Role, Square};

use super::legality::Legality;
use super::movegen::{MoveSet, en_passant_is_safe};
use super::position::Position;
use crate::types::{MoveList, PackedMove};

impl Position {
    /// The legal move that the bits stand for here, or `None` if they stand for none.
    #[must_use]
    pub fn unpack(&self, packed: PackedMove) -> Option<Move> {
        if packed.is_none() {
            None
        } else {
            self.unpack_with(packed, &self.legality())
        }
    }

    /// [`Position::unpack`] where the legality has been computed already.
    #[must_use]
    pub fn unpack_with(&self, packed: PackedMove, legality: &Legality) -> Option<Move> {
        // Two spare bits hold the promoted role; moves that are no promotion leave them empty.
        self.rebuild(packed, legality)
            .filter(|m| PackedMove::new(*m) == packed)
    }

    fn rebuild(&self, packed: PackedMove, legality: &Legality) -> Option<Move> {
        let (from, to) = (packed.from(), packed.to());
        let piece = self
            .board()
            .piece_at(from)
            .filter(|piece| piece.color == self.turn())?;
        if packed.is_castle() {
            let castle = Move::Castle {
                king: from,
                rook: to,
            };
            return self.is_generated(castle, legality).then_some(castle);
        }
        if packed.is_en_passant() {
            let legal = piece.role == Role::Pawn
                && self.chess().maybe_ep_square() == Some(to)
                && shakmaty::attacks::pawn_attacks(piece.color, from).contains(to)
                && en_passant_is_safe(self.chess(), legality, from, to);
            return legal.then_some(Move::EnPassant { from, to });
        }

        let capture = self.board().role_at(to);
        if self.chess().us().contains(to) || !self.reaches(piece, from, to) {
            return None;
        }
        let promotes =
            piece.role == Role::Pawn && to.rank() == piece.color.relative_rank(Rank::Eighth);
        if promotes != packed.promotion().is_some() {
            return None;
        }
        let m = Move::Normal {
            role: piece.role,
            from,
            capture,
            to,
            promotion: packed.promotion(),
        };
        is_safe(legality, piece, from, to).then_some(m)
    }

    /// Whether the piece's way of moving leads from one square to the other.
    fn reaches(&self, piece: Piece, from: Square, to: Square) -> bool {
        let occupied = self.board().occupied();
        if piece.role != Role::Pawn {
            return attacks(from, piece, occupied).contains(to);
        }
        if occupied.contains(to) {
            return shakmaty::attacks::pawn_attacks(piece.color, from).contains(to);
        }
        let step = piece.color.fold_wb(8, -8);
        let one = from.offset(step);
        let two = one
            .filter(|one| !occupied.contains(*one))
            .and_then(|one| one.offset(step));
        one == Some(to)
            || (two == Some(to) && from.rank() == piece.color.relative_rank(Rank::Second))
    }

    /// The slow and certain way, for castling.
    fn is_generated(&self, m: Move, legality: &Legality) -> bool {
        let mut moves = MoveList::new();
        self.generate(legality, MoveSet::Quiet, &mut moves);
        moves.contains(&m)
    }
}

/// Whether the king is safe after the move.
fn is_safe(legality: &Legality, piece: Piece, from: Square, to: Square) -> bool {
    if piece.role == Role::King {
        !legality.threats.contains(to)
    } else {
        legality.evasions.contains(to) && legality.respects_pin(from, to)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::{cases, random_games};
    use std::collections::HashSet;

    #[test]
    fn only_the_bits_of_legal_moves_unpack() {
        random_games(12, |position| {
            let legal: HashSet<u16> = position
                .legal_moves()
                .iter()
                .map(|m| PackedMove::new(*m).bits())
                .collect();
            for bits in (1..=u16::MAX).step_by(cases(1, 509) as usize) {
                let unpacked = position.unpack(PackedMove::from_bits(bits));
                assert_eq!(
                    unpacked.is_some(),
                    legal.contains(&bits),
                    "{}",
                    position.fen()
                );
                if let Some(m) = unpacked {
                    assert_eq!(PackedMove::new(m).bits(), bits);
                    assert!(position.legal_moves().contains(&m));
                }
            }
        });
    }
}
