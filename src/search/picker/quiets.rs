//! The order of quiet moves: their histories, killers, checks, and what attacks them.

use super::scored_moves::ScoredMoves;
use crate::board::{Legality, MoveSet, Position, Sink, attacked_by_lesser, origin};
use crate::history::{ButterflyHistory, CONTINUATIONS, Histories, PieceCells, PieceToRow};
use crate::params::{self as p, see_value};
use crate::search::stack::Stack;
use crate::types::{Bitboard, Move, PackedMove, Piece, Ply, Role, Square};

/// The weight of a history that counts once in the order of quiet moves.
const ONCE: i32 = p::SHARE_UNIT;

/// Roles start at 1.
const ROLES: usize = Role::King as usize + 1;

/// Lists a position's quiet moves but the table's, with their scores.
// Not inlined, here and below: the picker as one function is slower (see the book's record of
// tests, "Speed").
#[inline(never)]
pub fn list_quiets(
    histories: &Histories,
    stack: &Stack,
    position: &Position,
    legality: &Legality,
    ply: Ply,
    tt_move: Option<Move>,
    moves: &mut ScoredMoves,
) {
    let order = QuietOrder::new(histories, stack, position, legality, ply);
    let mut list = QuietList {
        order: &order,
        tt_move: tt_move.map_or(PackedMove::NONE, PackedMove::new),
        moves,
    };
    position.generate_into(legality, MoveSet::Quiet, &mut list);
}

/// What the scores of a node's quiet moves have in common.
struct QuietOrder<'a> {
    position: &'a Position,
    threats: Bitboard,
    killers: [PackedMove; 2],
    butterfly: &'a ButterflyHistory,
    continuations: [PieceToRow<'a>; CONTINUATIONS.len()],
    pawn: PieceToRow<'a>,
    /// By role: squares where the piece is attacked by a lesser one, and what leaving them is
    /// worth.
    escapes: [(Bitboard, i32); ROLES],
    /// By role: squares from which the piece checks the enemy king.
    checks: [Bitboard; ROLES],
}

impl<'a> QuietOrder<'a> {
    fn new(
        histories: &'a Histories,
        stack: &Stack,
        position: &'a Position,
        legality: &Legality,
        ply: Ply,
    ) -> QuietOrder<'a> {
        let h = histories;
        let continuations =
            CONTINUATIONS.map(|back| h.continuation.after(stack.before(ply, back).played));
        let pawn = h.pawn.with(position.keys().pawns);
        // Every score reads these three rows, and would wait for them. Those of earlier moves fetched
        // as well gained nothing more (see the book's record of tests).
        let [one, two, ..] = continuations;
        for row in [one, two, pawn] {
            row.prefetch(position.turn());
        }
        QuietOrder {
            position,
            threats: legality.threats,
            killers: stack.at(ply).killers,
            butterfly: &h.butterfly,
            continuations,
            pawn,
            escapes: escapes(position),
            checks: checks(position),
        }
    }

    /// What the moves of a role have in common.
    #[inline(always)]
    fn of_role(&self, role: Role) -> RoleOrder<'_> {
        let color = self.position.turn();
        let piece = Piece { color, role };
        RoleOrder {
            order: self,
            piece,
            continuations: self.continuations.map(|row| row.of_piece(piece)),
            pawn: self.pawn.of_piece(piece),
            escape: self.escapes[role as usize],
            checks: self.checks[role as usize],
        }
    }
}

/// What the scores of the quiet moves of one role have in common.
struct RoleOrder<'a> {
    order: &'a QuietOrder<'a>,
    piece: Piece,
    continuations: [&'a PieceCells; CONTINUATIONS.len()],
    pawn: &'a PieceCells,
    escape: (Bitboard, i32),
    checks: Bitboard,
}

impl RoleOrder<'_> {
    #[inline(always)]
    fn score(&self, m: Move, packed: PackedMove) -> i32 {
        let order = self.order;
        let to = packed.to();
        let at = to.to_usize();
        let [one, two, four, six] = self.continuations.map(|cells| cells[at].get());
        let butterfly = order.butterfly;
        let mut sum = ONCE * 2 * butterfly.get(self.piece.color, order.threats, packed);
        sum += ONCE * (one + two) + ONCE / 2 * (four + six);
        sum += p::order_pawn() * self.pawn[at].get();
        let mut score = sum / ONCE;
        if packed == order.killers[0] {
            score += p::order_killer();
        } else if packed == order.killers[1] {
            score += p::order_second_killer();
        }
        score + self.escape_score(packed.from(), to) + self.check_score(m, to)
    }

    /// A check that loses a pawn at most.
    #[inline(always)]
    fn check_score(&self, m: Move, to: Square) -> i32 {
        let safe = || self.order.position.see_ge(m, -see_value(Role::Pawn));
        if self.checks.contains(to) && safe() {
            p::order_check()
        } else {
            0
        }
    }

    /// Leaving the attack of a lesser piece is good, entering one is bad.
    #[inline(always)]
    fn escape_score(&self, from: Square, to: Square) -> i32 {
        let (attacked, worth) = self.escape;
        let leaves = i32::from(attacked.contains(from));
        let enters = i32::from(attacked.contains(to));
        worth * (leaves - enters)
    }
}

/// See [`QuietOrder::escapes`].
fn escapes(position: &Position) -> [(Bitboard, i32); ROLES] {
    let mut escapes = [(Bitboard::EMPTY, 0); ROLES];
    if p::use_threat_ordering() {
        let [pawns, minors, rooks] = attacked_by_lesser(position.board(), !position.turn());
        escapes[Role::Knight as usize] = (pawns, p::order_escape_minor());
        escapes[Role::Bishop as usize] = (pawns, p::order_escape_minor());
        escapes[Role::Rook as usize] = (minors, p::order_escape_rook());
        escapes[Role::Queen as usize] = (rooks, p::order_escape_queen());
    }
    escapes
}

/// See [`QuietOrder::checks`].
fn checks(position: &Position) -> [Bitboard; ROLES] {
    let mut checks = [Bitboard::EMPTY; ROLES];
    if p::use_check_ordering() {
        let [pawn, knight, bishop, rook] = position.check_squares();
        checks[Role::Pawn as usize] = pawn;
        checks[Role::Knight as usize] = knight;
        checks[Role::Bishop as usize] = bishop;
        checks[Role::Rook as usize] = rook;
        checks[Role::Queen as usize] = bishop | rook;
    }
    checks
}

/// Takes the generator's moves and scores them piece by piece, so that what a piece's moves have in
/// common is looked up once.
struct QuietList<'a> {
    order: &'a QuietOrder<'a>,
    tt_move: PackedMove,
    moves: &'a mut ScoredMoves,
}

impl QuietList<'_> {
    #[inline(always)]
    fn push(&mut self, of_role: &RoleOrder<'_>, m: Move) {
        let packed = PackedMove::new(m);
        if packed != self.tt_move {
            self.moves.push(m, of_role.score(m, packed));
        }
    }

    #[inline(always)]
    fn push_normal(&mut self, of_role: &RoleOrder<'_>, from: Square, to: Square) {
        let m = Move::Normal {
            role: of_role.piece.role,
            from,
            capture: None,
            to,
            promotion: None,
        };
        self.push(of_role, m);
    }
}

impl Sink for QuietList<'_> {
    #[inline(never)]
    fn piece(&mut self, role: Role, from: Square, to: Bitboard) {
        let of_role = self.order.of_role(role);
        for to in to {
            self.push_normal(&of_role, from, to);
        }
    }

    #[inline(never)]
    fn pawns(&mut self, to: Bitboard, offset: i32) {
        let of_role = self.order.of_role(Role::Pawn);
        for to in to {
            self.push_normal(&of_role, origin(to, offset), to);
        }
    }

    fn promotions(&mut self, _: Bitboard, _: i32) {}

    fn en_passant(&mut self, _: Square, _: Square) {}

    fn castle(&mut self, king: Square, rook: Square) {
        let of_role = self.order.of_role(Role::King);
        self.push(&of_role, Move::Castle { king, rook });
    }
}
