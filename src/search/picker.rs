//! Move ordering, in stages: each move is generated and ordered only when those before it have
//! not sufficed.

use arrayvec::ArrayVec;

use super::stack::Stack;
use crate::board::{Legality, Position, Stage as Generated, attacked_by_lesser};
use crate::history::{CONTINUATIONS, Histories, PieceTo, PieceToRow};
use crate::params::{self as p, see_value};
use crate::types::{Bitboard, MAX_MOVES, Move, MoveList, PackedMove, Ply, Role};

#[derive(Clone, Copy, PartialEq, Eq)]
enum Stage {
    /// The transposition table's move, before anything is generated.
    TtMove,
    GenerateNoisy,
    /// Captures and promotions that do not lose the exchange.
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    /// Captures that lose the exchange, at last.
    BadNoisy,
    Done,
}

/// Bits of a key below the score, enough for the place of any move in its list.
const PLACE_BITS: u32 = 8;
const PLACES: i32 = 1 << PLACE_BITS;
const _: () = assert!(MAX_MOVES <= PLACES as usize);

/// Hands out a node's moves, most promising first.
pub(super) struct Picker {
    stage: Stage,
    tt_move: Option<Move>,
    /// The moves of the stage that are still to come.
    moves: MoveList,
    /// Of each its score and, below that, its place in the list: the best move is then the
    /// largest key, which takes no branches to find.
    keys: ArrayVec<i32, MAX_MOVES>,
    bad: ArrayVec<Move, MAX_MOVES>,
    next_bad: usize,
    /// Whether quiet moves are handed out.
    quiets: bool,
    split: Split,
}

/// How captures are judged before they are handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    /// Good ones first, bad ones last.
    ByHistory,
    /// All in order: the quiescence search judges exchanges itself.
    None,
    /// Only those whose exchange wins at least so much.
    Wins(i32),
}

impl Picker {
    /// Every move.
    pub fn all(tt_move: Option<Move>) -> Picker {
        let split = if p::use_see_split() {
            Split::ByHistory
        } else {
            Split::None
        };
        Picker::new(tt_move, true, split)
    }

    /// Captures and promotions, for the quiescence search.
    pub fn noisy(tt_move: Option<Move>) -> Picker {
        Picker::new(tt_move, false, Split::None)
    }

    /// Captures and promotions that win at least `threshold` in exchange.
    pub fn captures(tt_move: Option<Move>, threshold: i32) -> Picker {
        Picker::new(tt_move, false, Split::Wins(threshold))
    }

    fn new(tt_move: Option<Move>, quiets: bool, split: Split) -> Picker {
        let stage = if tt_move.is_some() {
            Stage::TtMove
        } else {
            Stage::GenerateNoisy
        };
        Picker {
            stage,
            tt_move,
            moves: MoveList::new(),
            keys: ArrayVec::new(),
            bad: ArrayVec::new(),
            next_bad: 0,
            quiets,
            split,
        }
    }

    /// Hands out no more quiet moves, except for the table's move.
    pub fn skip_quiets(&mut self) {
        self.quiets = false;
    }

    /// The next move, or `None` after the last.
    pub fn next(
        &mut self,
        histories: &Histories,
        stack: &Stack,
        position: &Position,
        legality: &Legality,
        ply: Ply,
    ) -> Option<Move> {
        loop {
            match self.stage {
                Stage::TtMove => {
                    self.stage = Stage::GenerateNoisy;
                    return self.tt_move;
                }
                Stage::GenerateNoisy => {
                    self.generate(position, legality, Generated::Noisy, |m| {
                        noisy_score(histories, position, m)
                    });
                    self.stage = Stage::GoodNoisy;
                }
                Stage::GoodNoisy => match self.best() {
                    Some(m) if self.is_good(histories, position, m) => return Some(m),
                    Some(m) => self.bad.push(m),
                    None => self.stage = Stage::GenerateQuiet,
                },
                Stage::GenerateQuiet => {
                    if self.quiets {
                        let order = QuietOrder::new(histories, stack, position, legality, ply);
                        self.generate(position, legality, Generated::Quiet, |m| order.score(m));
                    }
                    self.stage = Stage::Quiet;
                }
                Stage::Quiet => match self.best().filter(|_| self.quiets) {
                    Some(m) => return Some(m),
                    None => self.stage = Stage::BadNoisy,
                },
                Stage::BadNoisy => {
                    if matches!(self.split, Split::Wins(_)) {
                        self.stage = Stage::Done;
                        continue;
                    }
                    let m = self.bad.get(self.next_bad).copied();
                    self.next_bad += 1;
                    return m;
                }
                Stage::Done => return None,
            }
        }
    }

    fn generate(
        &mut self,
        position: &Position,
        legality: &Legality,
        stage: Generated,
        score: impl Fn(Move) -> i32,
    ) {
        self.moves.clear();
        position.generate(legality, stage, &mut self.moves);
        if let Some(tt_move) = self.tt_move
            && let Some(place) = self.moves.iter().position(|m| *m == tt_move)
        {
            self.moves.remove(place);
        }
        self.keys.clear();
        for (place, m) in self.moves.iter().enumerate() {
            self.keys.push(score(*m) * PLACES + place as i32);
        }
    }

    /// Takes the highest-scored move out (selection sort: most nodes want only a few).
    fn best(&mut self) -> Option<Move> {
        let largest = self.keys.iter().copied().max()?;
        let place = (largest & (PLACES - 1)) as usize;
        self.keys.swap_remove(place);
        if let Some(moved) = self.keys.get_mut(place) {
            *moved = *moved & !(PLACES - 1) | place as i32;
        }
        Some(self.moves.swap_remove(place))
    }

    fn is_good(&self, histories: &Histories, position: &Position, m: Move) -> bool {
        match self.split {
            Split::None => true,
            Split::Wins(threshold) => position.see_ge(m, threshold),
            Split::ByHistory => {
                let history = histories.capture.get(position.moved(m), m);
                let under = m.promotion().is_some_and(|role| role != Role::Queen);
                !under && position.see_ge(m, -history * p::order_see_history() / 1024)
            }
        }
    }
}

/// Most valuable victim first, adjusted by history.
fn noisy_score(histories: &Histories, position: &Position, m: Move) -> i32 {
    let victim = m.capture().map_or(0, see_value);
    let promotion = m.promotion().map_or(0, see_value);
    let history = histories.capture.get(position.moved(m), m);
    (victim + promotion) * p::order_victim() + history
}

/// What the scores of a node's quiet moves have in common.
struct QuietOrder<'a> {
    histories: &'a Histories,
    position: &'a Position,
    threats: Bitboard,
    killers: [PackedMove; 2],
    continuations: [PieceToRow<'a>; CONTINUATIONS.len()],
    pawn: PieceToRow<'a>,
    /// Squares where a piece of the role is attacked by a lesser one: minor, rook, queen.
    lesser: [Bitboard; 3],
    /// Squares from which a role checks the enemy king, by role.
    checks: [Bitboard; 4],
}

impl<'a> QuietOrder<'a> {
    fn new(
        histories: &'a Histories,
        stack: &Stack,
        position: &'a Position,
        legality: &Legality,
        ply: Ply,
    ) -> QuietOrder<'a> {
        let (board, them) = (position.board(), !position.turn());
        let h = histories;
        QuietOrder {
            histories,
            position,
            threats: legality.danger,
            killers: stack.at(ply).killers,
            continuations: CONTINUATIONS
                .map(|back| h.continuation.after(stack.before(ply, back).played)),
            pawn: h.pawn.with(position.keys().pawns),
            lesser: attacked_by_lesser(board, them),
            checks: position.check_squares(),
        }
    }

    fn score(&self, m: Move) -> i32 {
        let piece = self.position.moved(m);
        let (packed, to) = (PackedMove::new(m), m.to());
        let h = self.histories;
        let now = PieceTo::new(piece, to);
        let [one, two, four, six] = self.continuations;
        let mut score = 2 * h.butterfly.get(piece.color, self.threats, packed);
        score += one.get(now) + two.get(now) + (four.get(now) + six.get(now)) / 2;
        score += self.pawn.get(now);
        if packed == self.killers[0] {
            score += p::order_killer();
        } else if packed == self.killers[1] {
            score += p::order_second_killer();
        }
        score + self.threat_score(piece.role, packed) + self.check_score(piece.role, m)
    }

    /// A check that doesn't lose a pawn or more.
    fn check_score(&self, role: Role, m: Move) -> i32 {
        let squares = match role {
            Role::King => return 0,
            Role::Queen => self.checks[2] | self.checks[3],
            role => self.checks[role as usize - 1],
        };
        let good = p::use_check_ordering()
            && squares.contains(m.to())
            && self.position.see_ge(m, -see_value(Role::Pawn));
        if good { p::order_check() } else { 0 }
    }

    /// Leaving the attack of a lesser piece is good, entering one is bad.
    fn threat_score(&self, role: Role, m: PackedMove) -> i32 {
        if !p::use_threat_ordering() {
            return 0;
        }
        let (attacked, worth) = match role {
            Role::Knight | Role::Bishop => (self.lesser[0], p::order_escape_minor()),
            Role::Rook => (self.lesser[1], p::order_escape_rook()),
            Role::Queen => (self.lesser[2], p::order_escape_queen()),
            Role::Pawn | Role::King => return 0,
        };
        let leaves = i32::from(attacked.contains(m.from()));
        let enters = i32::from(attacked.contains(m.to()));
        worth * (leaves - enters)
    }
}
