//! Move ordering, in stages: each stage is generated and ordered only when the moves before it
//! caused no cutoff.

use arrayvec::ArrayVec;

use super::stack::Stack;
use crate::board::{Legality, MoveSet, Position, attacked_by_lesser};
use crate::history::{CONTINUATIONS, Histories, PieceTo, PieceToRow};
use crate::params::{self as p, see_value};
use crate::types::{Bitboard, MAX_MOVES, Move, MoveList, PackedMove, Ply, Role};

#[derive(Clone, Copy, PartialEq, Eq)]
enum PickerStage {
    /// The transposition table's move, before anything is generated.
    TtMove,
    GenerateNoisy,
    /// Captures and promotions that do not lose the exchange.
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    /// Captures that lose the exchange, last.
    BadNoisy,
    Done,
}

/// Bits of a key below the score, enough for the place of any move in its list.
const PLACE_BITS: u32 = 9;
const PLACES: i32 = 1 << PLACE_BITS;
const _: () = assert!(MAX_MOVES <= PLACES as usize);

/// Returns a node's moves one by one, most promising first.
pub(super) struct Picker {
    stage: PickerStage,
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
    /// The move handed out last is known to win at least so much in exchange.
    proven_see: i32,
}

/// Nothing is known of a move's exchange.
const UNPROVEN: i32 = i32::MIN;

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
            PickerStage::TtMove
        } else {
            PickerStage::GenerateNoisy
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
            proven_see: UNPROVEN,
        }
    }

    /// Hands out no more quiet moves, except for the table's move.
    pub fn skip_quiets(&mut self) {
        self.quiets = false;
    }

    /// What the move handed out last is known to win at least in exchange, as for
    /// [`Position::see_ge`].
    pub fn proven_see(&self) -> i32 {
        self.proven_see
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
                PickerStage::TtMove => {
                    self.stage = PickerStage::GenerateNoisy;
                    return self.tt_move;
                }
                PickerStage::GenerateNoisy => {
                    self.generate(position, legality, MoveSet::Noisy, |m| {
                        noisy_score(histories, position, m)
                    });
                    self.stage = PickerStage::GoodNoisy;
                }
                PickerStage::GoodNoisy => match self.best() {
                    Some(m) if self.is_good(histories, position, m) => return Some(m),
                    Some(m) => self.bad.push(m),
                    None => {
                        self.proven_see = UNPROVEN;
                        self.stage = PickerStage::GenerateQuiet;
                    }
                },
                PickerStage::GenerateQuiet => {
                    if self.quiets {
                        let order = QuietOrder::new(histories, stack, position, legality, ply);
                        self.generate(position, legality, MoveSet::Quiet, |m| order.score(m));
                    }
                    self.stage = PickerStage::Quiet;
                }
                PickerStage::Quiet => match self.best().filter(|_| self.quiets) {
                    Some(m) => return Some(m),
                    None => self.stage = PickerStage::BadNoisy,
                },
                PickerStage::BadNoisy => {
                    if matches!(self.split, Split::Wins(_)) {
                        self.stage = PickerStage::Done;
                        continue;
                    }
                    let m = self.bad.get(self.next_bad).copied();
                    self.next_bad += 1;
                    return m;
                }
                PickerStage::Done => return None,
            }
        }
    }

    fn generate(
        &mut self,
        position: &Position,
        legality: &Legality,
        stage: MoveSet,
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
    #[inline(always)]
    fn best(&mut self) -> Option<Move> {
        let largest = self.keys.iter().copied().max()?;
        let place = (largest & (PLACES - 1)) as usize;
        self.keys.swap_remove(place);
        if let Some(moved) = self.keys.get_mut(place) {
            *moved = *moved & !(PLACES - 1) | place as i32;
        }
        Some(self.moves.swap_remove(place))
    }

    fn is_good(&mut self, histories: &Histories, position: &Position, m: Move) -> bool {
        let threshold = match self.split {
            Split::None => return true,
            Split::Wins(threshold) => threshold,
            Split::ByHistory if m.promotion().is_some_and(|role| role != Role::Queen) => {
                return false;
            }
            Split::ByHistory => {
                let history = histories.capture.get(position.moved_piece(m), m);
                -history * p::order_see_history() / p::HISTORY_UNIT
            }
        };
        let good = position.see_ge(m, threshold);
        if good {
            self.proven_see = threshold;
        }
        good
    }
}

/// Most valuable victim first, adjusted by history.
fn noisy_score(histories: &Histories, position: &Position, m: Move) -> i32 {
    let victim = m.capture().map_or(0, see_value);
    let promotion = m.promotion().map_or(0, see_value);
    let history = histories.capture.get(position.moved_piece(m), m);
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
    /// By role: squares where the piece is attacked by a lesser one, and what leaving them is
    /// worth.
    escapes: [(Bitboard, i32); ROLES],
    /// By role: squares from which the piece checks the enemy king.
    checks: [Bitboard; ROLES],
}

/// The weight of a history that counts once in the order of quiet moves.
const ONCE: i32 = p::SHARE_UNIT;

/// Roles start at 1.
const ROLES: usize = Role::King as usize + 1;

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
            histories,
            position,
            threats: legality.threats,
            killers: stack.at(ply).killers,
            continuations,
            pawn,
            escapes: escapes(position),
            checks: checks(position),
        }
    }

    fn score(&self, m: Move) -> i32 {
        let piece = self.position.moved_piece(m);
        let (packed, to) = (PackedMove::new(m), m.to());
        let h = self.histories;
        let now = PieceTo::new(piece, to);
        let [one, two, four, six] = self.continuations;
        let mut sum = ONCE * 2 * h.butterfly.get(piece.color, self.threats, packed);
        sum += ONCE * (one.get(now) + two.get(now)) + ONCE / 2 * (four.get(now) + six.get(now));
        sum += p::order_pawn() * self.pawn.get(now);
        let mut score = sum / ONCE;
        if packed == self.killers[0] {
            score += p::order_killer();
        } else if packed == self.killers[1] {
            score += p::order_second_killer();
        }
        score + self.threat_score(piece.role, packed) + self.check_score(piece.role, m)
    }

    /// A check that doesn't lose a pawn or more.
    fn check_score(&self, role: Role, m: Move) -> i32 {
        if self.checks[role as usize].contains(m.to())
            && self.position.see_ge(m, -see_value(Role::Pawn))
        {
            p::order_check()
        } else {
            0
        }
    }

    /// Leaving the attack of a lesser piece is good, entering one is bad.
    fn threat_score(&self, role: Role, m: PackedMove) -> i32 {
        let (attacked, worth) = self.escapes[role as usize];
        let leaves = i32::from(attacked.contains(m.from()));
        let enters = i32::from(attacked.contains(m.to()));
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::is_noisy;
    use crate::board::tests::{Random, random_games};

    /// Histories with something in them, so that orders differ.
    fn experience() -> Histories {
        let mut histories = Histories::default();
        let mut random = Random(7);
        random_games(3, |position| {
            for m in position.legal_moves() {
                let bonus = random.below(4000) as i32 - 2000;
                let piece = position.moved_piece(m);
                if is_noisy(m) {
                    histories.capture.update(piece, m, bonus);
                } else {
                    let packed = PackedMove::new(m);
                    let color = piece.color;
                    histories
                        .butterfly
                        .update(color, Bitboard::EMPTY, packed, bonus);
                }
            }
        });
        histories
    }

    struct Bench {
        histories: Histories,
        stack: Stack,
    }

    impl Bench {
        fn new() -> Bench {
            Bench {
                histories: experience(),
                stack: Stack::default(),
            }
        }

        fn drain(
            &self,
            picker: &mut Picker,
            position: &Position,
            legality: &Legality,
        ) -> Vec<Move> {
            std::iter::from_fn(|| {
                picker.next(&self.histories, &self.stack, position, legality, Ply::ROOT)
            })
            .collect()
        }
    }

    fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
        moves.sort_by_key(|m| PackedMove::new(*m).bits());
        moves
    }

    fn legal(position: &Position, wanted: impl Fn(Move) -> bool) -> Vec<Move> {
        sorted(
            position
                .legal_moves()
                .into_iter()
                .filter(|m| wanted(*m))
                .collect(),
        )
    }

    #[test]
    fn every_legal_move_comes_once_and_the_table_move_first() {
        let mut bench = Bench::new();
        let (mut random, mut checks) = (Random(3), 0);
        random_games(12, |position| {
            let legality = position.legality();
            let all = legal(position, |_| true);
            checks += usize::from(position.in_check());
            let some_move =
                |random: &mut Random| (!all.is_empty()).then(|| all[random.below(all.len())]);
            if let Some(m) = some_move(&mut random) {
                bench.stack.at_mut(Ply::ROOT).killers[0] = PackedMove::new(m);
            }
            for tt_move in [None, some_move(&mut random)] {
                let mut picker = Picker::all(tt_move);
                let moves = bench.drain(&mut picker, position, &legality);
                assert!(tt_move.is_none() || moves.first() == tt_move.as_ref());
                assert_eq!(sorted(moves), all, "{}", position.fen());
            }
        });
        assert!(checks > 20, "{checks} positions in check");
    }

    #[test]
    fn quiescence_gets_captures_and_promotions_and_all_evasions() {
        let bench = Bench::new();
        random_games(12, |position| {
            let legality = position.legality_for_captures();
            let noisy = legal(position, |m| position.in_check() || is_noisy(m));
            for tt_move in [None, noisy.first().copied()] {
                let mut picker = if position.in_check() {
                    Picker::all(tt_move)
                } else {
                    Picker::noisy(tt_move)
                };
                let moves = bench.drain(&mut picker, position, &legality);
                assert_eq!(sorted(moves), noisy, "{}", position.fen());
            }
        });
    }

    #[test]
    fn probcut_gets_only_what_wins_the_exchange() {
        let bench = Bench::new();
        random_games(12, |position| {
            let legality = position.legality();
            for threshold in [-100, 1, 300] {
                let good = legal(position, |m| is_noisy(m) && position.see_ge(m, threshold));
                for tt_move in [None, good.last().copied()] {
                    let mut picker = Picker::captures(tt_move, threshold);
                    let moves = bench.drain(&mut picker, position, &legality);
                    assert_eq!(sorted(moves), good, "{}", position.fen());
                }
            }
        });
    }

    #[test]
    fn quiet_moves_can_be_left_out_at_any_time() {
        let bench = Bench::new();
        random_games(6, |position| {
            let legality = position.legality();
            let mut picker = Picker::all(None);
            let mut moves = Vec::new();
            while let Some(m) = picker.next(
                &bench.histories,
                &bench.stack,
                position,
                &legality,
                Ply::ROOT,
            ) {
                moves.push(m);
                if !is_noisy(m) {
                    picker.skip_quiets();
                }
            }
            let quiet = moves.iter().filter(|m| !is_noisy(**m)).count();
            assert!(quiet <= 1);
            moves.retain(|m| is_noisy(*m));
            assert_eq!(
                sorted(moves),
                legal(position, is_noisy),
                "{}",
                position.fen()
            );
        });
    }

    #[test]
    fn the_promised_exchange_value_holds() {
        let bench = Bench::new();
        let mut promises = 0;
        random_games(12, |position| {
            let legality = position.legality();
            let mut picker = Picker::all(None);
            while let Some(m) = picker.next(
                &bench.histories,
                &bench.stack,
                position,
                &legality,
                Ply::ROOT,
            ) {
                if picker.proven_see() != UNPROVEN {
                    promises += 1;
                    assert!(
                        position.see_ge(m, picker.proven_see()),
                        "{}",
                        position.fen()
                    );
                }
            }
        });
        assert!(promises > 100);
    }

    #[test]
    fn quiet_moves_come_in_the_order_of_their_histories() {
        let position = Position::startpos();
        let legality = position.legality();
        let mut bench = Bench::new();
        bench.histories = Histories::default();
        let m = |text: &str| position.parse_uci(text).expect("legal");
        let best = [("b1c3", 900), ("g1h3", 600), ("a2a3", 300)];
        for (text, bonus) in best {
            let packed = PackedMove::new(m(text));
            let color = position.turn();
            bench
                .histories
                .butterfly
                .update(color, legality.threats, packed, bonus);
        }
        bench.stack.at_mut(Ply::ROOT).killers[0] = PackedMove::new(m("h2h4"));
        let moves = bench.drain(&mut Picker::all(None), &position, &legality);
        let expected = ["h2h4", "b1c3", "g1h3", "a2a3"].map(m);
        assert_eq!(moves[..4], expected);
    }
}
