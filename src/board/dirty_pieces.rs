//! Which pieces a move takes off the board and which it puts on: what keys and the network's
//! accumulators need to follow a move without looking at the whole board.

use arrayvec::ArrayVec;
use shakmaty::{CastlingSide, Color, Move, Piece, Role, Square};

/// The pieces that a move removes and adds: one or two of each. A capturing pawn that promotes
/// removes the pawn and the captured piece and adds the new piece; castling removes and adds
/// both king and rook.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DirtyPieces {
    pub removed: ArrayVec<(Piece, Square), 2>,
    pub added: ArrayVec<(Piece, Square), 2>,
}

impl DirtyPieces {
    /// The pieces that a legal move of `color` removes and adds.
    #[must_use]
    #[inline(always)]
    pub fn new(m: Move, color: Color) -> DirtyPieces {
        let own = |role: Role| Piece { color, role };
        let mut dirty = DirtyPieces::default();
        match m {
            Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            } => {
                dirty.removed.push((own(role), from));
                if let Some(captured) = capture {
                    dirty.removed.push((
                        Piece {
                            color: !color,
                            role: captured,
                        },
                        to,
                    ));
                }
                dirty.added.push((own(promotion.unwrap_or(role)), to));
            }
            Move::EnPassant { from, to } => {
                dirty.removed.push((own(Role::Pawn), from));
                let captured = Square::from_coords(to.file(), from.rank());
                dirty.removed.push((
                    Piece {
                        color: !color,
                        role: Role::Pawn,
                    },
                    captured,
                ));
                dirty.added.push((own(Role::Pawn), to));
            }
            Move::Castle { king, rook } => {
                let side = CastlingSide::from_queen_side(rook < king);
                dirty.removed.push((own(Role::King), king));
                dirty.removed.push((own(Role::Rook), rook));
                dirty.added.push((own(Role::King), side.king_to(color)));
                dirty.added.push((own(Role::Rook), side.rook_to(color)));
            }
            // Drops belong to crazyhouse.
            Move::Put { role, to } => dirty.added.push((own(role), to)),
        }
        dirty
    }
}
