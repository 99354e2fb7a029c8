//! Legal move generation in stages, over shakmaty's bitboards.
//!
//! Shakmaty itself lists all legal moves at once. The search wants captures first and often
//! nothing else, and perft's last ply wants a count and no list at all: one generator that
//! hands sets of destinations to a [`Sink`] serves both.

use shakmaty::attacks::{between, king_attacks, knight_attacks, ray};
use shakmaty::{Bitboard, Board, CastlingSide, Chess, Move, Position as _, Rank, Role, Square};

use super::legality::{Legality, pawns_step, pawns_step_east, pawns_step_west};
use super::slider_attacks::{bishop_attacks, queen_attacks, rook_attacks};
use crate::types::MoveList;

/// Which moves to generate.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MoveSet {
    /// Captures, en passant and promotions.
    Noisy,
    /// All others.
    Quiet,
    /// Every legal move.
    All,
}

impl MoveSet {
    const fn noisy(self) -> bool {
        !matches!(self, MoveSet::Quiet)
    }

    const fn quiet(self) -> bool {
        !matches!(self, MoveSet::Noisy)
    }
}

/// Whether a move captures or promotes: what [`MoveSet::Noisy`] generates.
#[must_use]
#[inline]
pub fn is_noisy(m: Move) -> bool {
    m.is_capture() || m.is_promotion()
}

/// The roles that a pawn may become, strongest first.
pub const PROMOTIONS: [Role; 4] = [Role::Queen, Role::Knight, Role::Rook, Role::Bishop];

/// Where generated moves go. Every destination handed over is a legal move.
pub trait Sink {
    /// A knight, bishop, rook, queen or king on `from` may move to any square of `to`.
    fn piece(&mut self, role: Role, from: Square, to: Bitboard);
    /// Pawns may move to any square of `to`, each from its [`origin`].
    fn pawns(&mut self, to: Bitboard, offset: i32);
    /// Pawns may promote on any square of `to`, each from its [`origin`]. Never called for quiet
    /// moves.
    fn promotions(&mut self, to: Bitboard, offset: i32);
    /// Never called for quiet moves.
    fn en_passant(&mut self, from: Square, to: Square);
    /// Never called for noisy moves.
    fn castle(&mut self, king: Square, rook: Square);
}

/// Hands every legal move of the wanted stage to the sink.
#[inline(always)]
pub fn generate<S: Sink>(chess: &Chess, legality: &Legality, stage: MoveSet, sink: &mut S) {
    let board = chess.board();
    let (us, occupied) = (chess.us(), board.occupied());
    let mut targets = Bitboard::EMPTY;
    if stage.noisy() {
        targets |= chess.them();
    }
    if stage.quiet() {
        targets |= !occupied;
    }

    let king_targets = king_attacks(legality.king) & targets & !legality.threats;
    sink.piece(Role::King, legality.king, king_targets);
    if legality.evasions.is_empty() {
        return;
    }

    pawns(chess, legality, stage, sink);
    if stage.noisy() {
        en_passant(chess, legality, sink);
    }
    let targets = targets & legality.evasions;
    let line = |from: Square, to: Bitboard| {
        if legality.pinned.contains(from) {
            to & ray(legality.king, from)
        } else {
            to
        }
    };
    for from in board.knights() & us & !legality.pinned {
        sink.piece(Role::Knight, from, knight_attacks(from) & targets);
    }
    for from in board.bishops() & us {
        sink.piece(
            Role::Bishop,
            from,
            line(from, bishop_attacks(from, occupied) & targets),
        );
    }
    for from in board.rooks() & us {
        sink.piece(
            Role::Rook,
            from,
            line(from, rook_attacks(from, occupied) & targets),
        );
    }
    for from in board.queens() & us {
        sink.piece(
            Role::Queen,
            from,
            line(from, queen_attacks(from, occupied) & targets),
        );
    }
    if stage.quiet() && legality.checkers.is_empty() {
        castling(chess, legality, sink);
    }
}

#[inline(always)]
fn pawns<S: Sink>(chess: &Chess, legality: &Legality, stage: MoveSet, sink: &mut S) {
    let pawns = chess.us() & chess.board().pawns();
    let free = pawns & !legality.pinned;
    pawn_set(chess, free, legality.evasions, stage, sink);
    for from in pawns & legality.pinned {
        let allowed = legality.evasions & ray(legality.king, from);
        pawn_set(chess, Bitboard::from_square(from), allowed, stage, sink);
    }
}

/// Pushes and captures of a set of pawns that may all land on the same `allowed` squares.
#[inline(always)]
fn pawn_set<S: Sink>(
    chess: &Chess,
    pawns: Bitboard,
    allowed: Bitboard,
    stage: MoveSet,
    sink: &mut S,
) {
    let color = chess.turn();
    let forward = color.fold_wb(8, -8);
    let empty = !chess.board().occupied();
    let last = Bitboard::from_rank(color.relative_rank(Rank::Eighth));
    let third = Bitboard::from_rank(color.relative_rank(Rank::Third));

    let one = pawns_step(pawns, color) & empty;
    if stage.quiet() {
        let two = pawns_step(one & third, color) & empty & allowed;
        sink.pawns(one & allowed & !last, forward);
        sink.pawns(two, 2 * forward);
    }
    if stage.noisy() {
        let targets = chess.them() & allowed;
        let west = pawns_step_west(pawns, color) & targets;
        let east = pawns_step_east(pawns, color) & targets;
        sink.pawns(west & !last, forward - 1);
        sink.pawns(east & !last, forward + 1);
        let promotions = one & allowed & last;
        if (promotions | (west | east) & last).any() {
            sink.promotions(promotions, forward);
            sink.promotions(west & last, forward - 1);
            sink.promotions(east & last, forward + 1);
        }
    }
}

#[inline]
fn en_passant<S: Sink>(chess: &Chess, legality: &Legality, sink: &mut S) {
    let Some(to) = chess.maybe_ep_square() else {
        return;
    };
    let pawns = chess.us() & chess.board().pawns();
    for from in shakmaty::attacks::pawn_attacks(!chess.turn(), to) & pawns {
        if en_passant_is_safe(chess, legality, from, to) {
            sink.en_passant(from, to);
        }
    }
}

/// Two pawns leave the board's lines at once, so pins alone do not tell; look from the king.
pub(super) fn en_passant_is_safe(
    chess: &Chess,
    legality: &Legality,
    from: Square,
    to: Square,
) -> bool {
    let board = chess.board();
    let captured = Square::from_coords(to.file(), from.rank());
    let occupied = board.occupied().without(from).without(captured).with(to);
    let them = chess.them();
    let leapers = legality.checkers & (board.pawns() | board.knights());
    let sliders = rook_attacks(legality.king, occupied) & (board.rooks() | board.queens())
        | bishop_attacks(legality.king, occupied) & (board.bishops() | board.queens());
    leapers.without(captured).is_empty() && (sliders & them).is_empty()
}

#[inline(always)]
fn castling<S: Sink>(chess: &Chess, legality: &Legality, sink: &mut S) {
    for side in CastlingSide::ALL {
        if let Some(rook) = chess.castles().rook(chess.turn(), side)
            && castling_is_safe(chess, legality, side, rook)
        {
            sink.castle(legality.king, rook);
        }
    }
}

#[inline]
fn castling_is_safe(chess: &Chess, legality: &Legality, side: CastlingSide, rook: Square) -> bool {
    let (board, us) = (chess.board(), chess.turn());
    let king = legality.king;
    let king_to = side.king_to(us);
    if (chess.castles().path(us, side) & board.occupied()).any()
        || (between(king, king_to).with(king_to) & legality.threats).any()
    {
        return false;
    }
    // In Chess960 the rook may have shielded the king's new square.
    let occupied = board.occupied().without(king).without(rook);
    let lines = rook_attacks(king_to, occupied.with(side.rook_to(us)));
    (lines & (board.rooks() | board.queens()) & chess.them()).is_empty()
}

/// Collects moves in a list.
struct Lister<'a> {
    board: &'a Board,
    moves: &'a mut MoveList,
}

impl Lister<'_> {
    #[inline]
    fn push(&mut self, role: Role, from: Square, to: Square, promotion: Option<Role>) {
        self.moves.push(Move::Normal {
            role,
            from,
            capture: self.board.role_at(to),
            to,
            promotion,
        });
    }
}

/// The square that a pawn came from, `offset` before the one it reaches; that is never off the board.
#[must_use]
#[inline]
pub fn origin(to: Square, offset: i32) -> Square {
    Square::new((to.to_u32() as i32 - offset) as u32)
}

impl Sink for Lister<'_> {
    #[inline]
    fn piece(&mut self, role: Role, from: Square, to: Bitboard) {
        for to in to {
            self.push(role, from, to, None);
        }
    }

    #[inline]
    fn pawns(&mut self, to: Bitboard, offset: i32) {
        for to in to {
            self.push(Role::Pawn, origin(to, offset), to, None);
        }
    }

    fn promotions(&mut self, to: Bitboard, offset: i32) {
        for to in to {
            for role in PROMOTIONS {
                self.push(Role::Pawn, origin(to, offset), to, Some(role));
            }
        }
    }

    fn en_passant(&mut self, from: Square, to: Square) {
        self.moves.push(Move::EnPassant { from, to });
    }

    fn castle(&mut self, king: Square, rook: Square) {
        self.moves.push(Move::Castle { king, rook });
    }
}

/// Appends the legal moves of a stage to `moves`.
pub fn list(chess: &Chess, legality: &Legality, stage: MoveSet, moves: &mut MoveList) {
    let board = chess.board();
    generate(chess, legality, stage, &mut Lister { board, moves });
}

/// Counts moves without making them.
#[derive(Default)]
struct Counter(u64);

impl Sink for Counter {
    #[inline]
    fn piece(&mut self, _: Role, _: Square, to: Bitboard) {
        self.0 += to.count() as u64;
    }

    #[inline]
    fn pawns(&mut self, to: Bitboard, _: i32) {
        self.0 += to.count() as u64;
    }

    fn promotions(&mut self, to: Bitboard, _: i32) {
        self.0 += (to.count() * PROMOTIONS.len()) as u64;
    }

    fn en_passant(&mut self, _: Square, _: Square) {
        self.0 += 1;
    }

    fn castle(&mut self, _: Square, _: Square) {
        self.0 += 1;
    }
}

/// How many legal moves there are.
#[must_use]
#[inline(always)]
pub fn count(chess: &Chess, legality: &Legality) -> u64 {
    let mut counter = Counter::default();
    generate(chess, legality, MoveSet::All, &mut counter);
    counter.0
}
