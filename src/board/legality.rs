//! Who may move where: checkers, pins and attacked squares, computed once a node and shared by
//! move generation, the legality test of table moves and the threat buckets of the histories.

use shakmaty::attacks::{
    between, king_attacks, knight_attacks, pawn_attacks as single_pawn_attacks,
};
use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Position as _, Square};

use super::slider_attacks::{bishop_attacks, rook_attacks};

/// What decides the legality of the side to move's moves.
#[derive(Clone, Copy, Debug)]
pub struct Legality {
    /// The own king.
    pub king: Square,
    /// Enemy pieces that give check.
    pub checkers: Bitboard,
    /// Own pieces that shield the king from a slider: they may move along the line only.
    pub pinned: Bitboard,
    /// Where a piece other than the king may land: anywhere, or, in check, between the king and
    /// the checker or onto the checker; nowhere in double check.
    pub evasions: Bitboard,
    /// Squares that the enemy attacks, seen through the own king.
    pub threats: Bitboard,
}

impl Legality {
    /// Computes everything but the checkers, which the position already has.
    #[must_use]
    pub fn new(chess: &Chess, king: Square, checkers: Bitboard) -> Legality {
        let board = chess.board();
        let us = chess.turn();
        Legality {
            king,
            checkers,
            pinned: pinned(board, us, king),
            evasions: evasions(king, checkers),
            threats: attacked(board, !us, board.occupied().without(king)),
        }
    }

    /// What generating captures out of check needs and no more: of the squares beside the king only
    /// those with enemy pieces matter. All others count as `threats`.
    pub(super) fn for_captures(chess: &Chess, king: Square) -> Legality {
        let (board, us, them) = (chess.board(), chess.turn(), chess.them());
        let occupied = board.occupied().without(king);
        let mut threats = Bitboard::FULL;
        for to in king_attacks(king) & them {
            if (attackers(board, to, occupied) & them).is_empty() {
                threats.discard(to);
            }
        }
        Legality {
            king,
            checkers: Bitboard::EMPTY,
            pinned: pinned(board, us, king),
            evasions: Bitboard::FULL,
            threats,
        }
    }

    /// What counting all legal moves needs and no more: `threats` stays empty where the king could
    /// not move anyway. Checkers and pins come from one look along the lines of the king.
    #[inline(always)]
    pub(super) fn for_counting(chess: &Chess, king: Square) -> Legality {
        let (board, us) = (chess.board(), chess.turn());
        let (own, them, occupied) = (chess.us(), chess.them(), board.occupied());
        let mut checkers = them
            & (knight_attacks(king) & board.knights()
                | single_pawn_attacks(us, king) & board.pawns());
        let mut pinned = Bitboard::EMPTY;
        for sniper in snipers(board, us, king) {
            let blockers = between(king, sniper) & occupied;
            if blockers.is_empty() {
                checkers.add(sniper);
            } else if !blockers.more_than_one() {
                pinned |= blockers;
            }
        }
        let castles = chess.castles();
        let may_castle =
            |side| castles.has(us, side) && (castles.path(us, side) & occupied).is_empty();
        let king_moves =
            (king_attacks(king) & !own).any() || CastlingSide::ALL.into_iter().any(may_castle);
        let threats = if king_moves {
            attacked(board, !us, occupied.without(king))
        } else {
            Bitboard::EMPTY
        };
        Legality {
            king,
            checkers,
            pinned,
            evasions: evasions(king, checkers),
            threats,
        }
    }

    /// Whether `from` may reach `to` without leaving its king to a slider.
    #[must_use]
    pub fn respects_pin(&self, from: Square, to: Square) -> bool {
        !self.pinned.contains(from) || shakmaty::attacks::ray(self.king, from).contains(to)
    }
}

/// Pieces of both sides that attack a square, with the given occupancy.
#[must_use]
#[inline(always)]
pub(super) fn attackers(board: &Board, to: Square, occupied: Bitboard) -> Bitboard {
    single_pawn_attacks(Color::White, to) & board.pawns() & board.black()
        | single_pawn_attacks(Color::Black, to) & board.pawns() & board.white()
        | knight_attacks(to) & board.knights()
        | king_attacks(to) & board.kings()
        | bishop_attacks(to, occupied) & board.bishops_and_queens()
        | rook_attacks(to, occupied) & board.rooks_and_queens()
}

/// See [`Legality::evasions`].
#[inline]
fn evasions(king: Square, checkers: Bitboard) -> Bitboard {
    match checkers.first() {
        None => Bitboard::FULL,
        Some(_) if checkers.more_than_one() => Bitboard::EMPTY,
        Some(checker) => between(king, checker).with(checker),
    }
}

/// Enemy sliders that would attack the king of `us` if its own pieces were gone.
#[inline]
fn snipers(board: &Board, us: Color, king: Square) -> Bitboard {
    let them = board.by_color(!us);
    them & (rook_attacks(king, them) & (board.rooks() | board.queens())
        | bishop_attacks(king, them) & (board.bishops() | board.queens()))
}

/// Pieces of `us` that stand alone between the king and an enemy slider.
fn pinned(board: &Board, us: Color, king: Square) -> Bitboard {
    let mut pinned = Bitboard::EMPTY;
    for sniper in snipers(board, us, king) {
        let blockers = between(king, sniper) & board.occupied();
        if !blockers.more_than_one() {
            pinned |= blockers;
        }
    }
    pinned
}

/// Every square that `color` attacks, with the given occupancy.
#[must_use]
#[inline(always)]
pub fn attacked(board: &Board, color: Color, occupied: Bitboard) -> Bitboard {
    let pieces = board.by_color(color);
    let mut squares = pawn_attacks(board.pawns() & pieces, color);
    for from in board.knights() & pieces {
        squares |= knight_attacks(from);
    }
    for from in (board.bishops() | board.queens()) & pieces {
        squares |= bishop_attacks(from, occupied);
    }
    for from in (board.rooks() | board.queens()) & pieces {
        squares |= rook_attacks(from, occupied);
    }
    for from in board.kings() & pieces {
        squares |= king_attacks(from);
    }
    squares
}

/// Every square that a set of pawns attacks.
#[must_use]
#[inline]
pub fn pawn_attacks(pawns: Bitboard, color: Color) -> Bitboard {
    pawns_step_west(pawns, color) | pawns_step_east(pawns, color)
}

/// Pawns moved one rank ahead.
#[inline]
pub(super) fn pawns_step(pawns: Bitboard, color: Color) -> Bitboard {
    Bitboard(color.fold_wb(pawns.0 << 8, pawns.0 >> 8))
}

/// Pawns moved one rank ahead and one file towards a.
#[inline]
pub(super) fn pawns_step_west(pawns: Bitboard, color: Color) -> Bitboard {
    let inner = pawns.0 & !Bitboard::from_file(shakmaty::File::A).0;
    Bitboard(color.fold_wb(inner << 7, inner >> 9))
}

/// Pawns moved one rank ahead and one file towards h.
#[inline]
pub(super) fn pawns_step_east(pawns: Bitboard, color: Color) -> Bitboard {
    let inner = pawns.0 & !Bitboard::from_file(shakmaty::File::H).0;
    Bitboard(color.fold_wb(inner << 9, inner >> 7))
}

/// Squares that `color` attacks with pieces worth less than a minor piece, a rook and a queen, in
/// this order: with pawns; with pawns and minor pieces; with these and rooks.
#[must_use]
pub fn attacked_by_lesser(board: &Board, color: Color) -> [Bitboard; 3] {
    let pieces = board.by_color(color);
    let pawns = pawn_attacks(board.pawns() & pieces, color);
    let mut minors = pawns;
    for from in board.knights() & pieces {
        minors |= knight_attacks(from);
    }
    for from in board.bishops() & pieces {
        minors |= bishop_attacks(from, board.occupied());
    }
    let mut rooks = minors;
    for from in board.rooks() & pieces {
        rooks |= rook_attacks(from, board.occupied());
    }
    [pawns, minors, rooks]
}
