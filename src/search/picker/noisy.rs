//! The order of captures and promotions: most valuable victim first, adjusted by history.

use super::scored_moves::ScoredMoves;
use crate::board::{Legality, MoveSet, PROMOTIONS, Position, Sink, origin};
use crate::history::Histories;
use crate::params::{self as p, see_value};
use crate::types::{Bitboard, Move, Role, Square};

/// Lists a position's captures and promotions but the table's, with their scores.
// Not inlined, here and below: the picker as one function is slower (see the book's record of
// tests, "Speed").
#[inline(never)]
pub fn list_noisy(
    histories: &Histories,
    position: &Position,
    legality: &Legality,
    tt_move: Option<Move>,
    moves: &mut ScoredMoves,
) {
    let mut list = NoisyList {
        histories,
        position,
        tt_move,
        moves,
    };
    position.generate_into(legality, MoveSet::Noisy, &mut list);
}

struct NoisyList<'a> {
    histories: &'a Histories,
    position: &'a Position,
    tt_move: Option<Move>,
    moves: &'a mut ScoredMoves,
}

impl NoisyList<'_> {
    #[inline(always)]
    fn push(&mut self, m: Move) {
        if Some(m) != self.tt_move {
            self.moves.push(m, score(self.histories, self.position, m));
        }
    }

    #[inline(never)]
    fn captures(&mut self, role: Role, from: Square, to: Bitboard) {
        for to in to {
            self.push_normal(role, from, to, None);
        }
    }

    #[inline(always)]
    fn push_normal(&mut self, role: Role, from: Square, to: Square, promotion: Option<Role>) {
        self.push(Move::Normal {
            role,
            from,
            capture: self.position.board().role_at(to),
            to,
            promotion,
        });
    }
}

/// In centipawns of material times a factor, and what history adds.
#[inline(always)]
fn score(histories: &Histories, position: &Position, m: Move) -> i32 {
    let victim = m.capture().map_or(0, see_value);
    let promotion = m.promotion().map_or(0, see_value);
    let history = histories.capture.get(position.moved_piece(m), m);
    (victim + promotion) * p::order_victim() + history
}

impl Sink for NoisyList<'_> {
    #[inline(always)]
    fn piece(&mut self, role: Role, from: Square, to: Bitboard) {
        if to.any() {
            self.captures(role, from, to);
        }
    }

    #[inline(always)]
    fn pawns(&mut self, to: Bitboard, offset: i32) {
        for to in to {
            let only = Bitboard::from_square(to);
            self.captures(Role::Pawn, origin(to, offset), only);
        }
    }

    fn promotions(&mut self, to: Bitboard, offset: i32) {
        for to in to {
            for role in PROMOTIONS {
                self.push_normal(Role::Pawn, origin(to, offset), to, Some(role));
            }
        }
    }

    fn en_passant(&mut self, from: Square, to: Square) {
        self.push(Move::EnPassant { from, to });
    }

    fn castle(&mut self, _: Square, _: Square) {}
}
