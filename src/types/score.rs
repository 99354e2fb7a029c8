//! What a position is worth, seen from the side to move, and what is known about that number.

use std::fmt;
use std::ops::{Add, AddAssign, Neg, Sub, SubAssign};

use super::{Color, FIFTY_MOVES, MAX_PLY, Ply};

const MATE: i32 = 32_000;
const INFINITE: i32 = 32_001;
const TABLEBASE: i32 = MATE - MAX_PLY as i32 - 1;
const TABLEBASE_FLOOR: i32 = TABLEBASE - MAX_PLY as i32;

/// The evaluation at which half of the games are won from the start of a game, by the model in
/// `chances`: it is shown as 100.
pub const EVEN_CHANCE: i32 = 88;

/// A score in centipawns from the side to move's point of view, with room above for tablebase
/// wins and, above those, mates. The unit is the network's; people and clients are shown another
/// one ([`Score::shown_cp`]).
///
/// From top to bottom: infinite, mate in n plies (`32000 - n`), tablebase win reached in n plies
/// (`31753 - n`), evaluations, and the same mirrored below zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Score(i32);

impl Score {
    pub const DRAW: Score = Score(0);
    /// Above every score that a position can have.
    pub const INFINITE: Score = Score(INFINITE);
    /// The largest value that an evaluation may take: just below the tablebase wins.
    pub const MAX_EVAL: Score = Score(TABLEBASE_FLOOR - 1);

    /// An evaluation of `cp` centipawns, clamped below the tablebase and mate scores.
    #[must_use]
    pub const fn cp(cp: i32) -> Score {
        let limit = Score::MAX_EVAL.0;
        Score(if cp > limit {
            limit
        } else if cp < -limit {
            -limit
        } else {
            cp
        })
    }

    /// The bare number, unclamped: for packing and for arithmetic between scores.
    #[must_use]
    pub const fn raw(self) -> i32 {
        self.0
    }

    /// The inverse of [`Score::raw`].
    #[must_use]
    pub const fn from_raw(raw: i32) -> Score {
        Score(raw)
    }

    /// The number that people and clients are shown. An evaluation is scaled so that 100 is an
    /// even chance of winning at the start of a game ([`EVEN_CHANCE`]) and is at most 19,000; a
    /// tablebase win entered in n plies is `20000 - n`. Both are conventions of Stockfish that
    /// clients know.
    #[must_use]
    pub const fn shown_cp(self) -> i32 {
        const TABLEBASE_SHOWN: i32 = 20_000;
        const EVAL_SHOWN_MOST: i32 = 19_000;
        const PAWN_SHOWN: i32 = 100;
        let scaled = (self.0.abs() * PAWN_SHOWN + EVEN_CHANCE / 2) / EVEN_CHANCE;
        let shown = if self.is_decisive() {
            self.0.abs() - TABLEBASE + TABLEBASE_SHOWN
        } else if scaled > EVAL_SHOWN_MOST {
            EVAL_SHOWN_MOST
        } else {
            scaled
        };
        if self.0 < 0 { -shown } else { shown }
    }

    /// The side to move mates, `ply` plies from the root.
    #[must_use]
    pub const fn mate_in(ply: Ply) -> Score {
        Score(MATE - ply.0 as i32)
    }

    /// The side to move is mated, `ply` plies from the root.
    #[must_use]
    pub const fn mated_in(ply: Ply) -> Score {
        Score(ply.0 as i32 - MATE)
    }

    /// A tablebase win entered `ply` plies from the root.
    #[must_use]
    pub const fn tablebase_win(ply: Ply) -> Score {
        Score(TABLEBASE - ply.0 as i32)
    }

    /// A tablebase loss entered `ply` plies from the root.
    #[must_use]
    pub const fn tablebase_loss(ply: Ply) -> Score {
        Score(ply.0 as i32 - TABLEBASE)
    }

    /// A mate for either side.
    #[must_use]
    pub const fn is_mate(self) -> bool {
        self.0.abs() > TABLEBASE && self.0.abs() <= MATE
    }

    /// A proven win: a mate or a tablebase win.
    #[must_use]
    pub const fn is_win(self) -> bool {
        self.0 >= TABLEBASE_FLOOR
    }

    /// A proven loss: mated or a tablebase loss.
    #[must_use]
    pub const fn is_loss(self) -> bool {
        self.0 <= -TABLEBASE_FLOOR
    }

    /// Proven for either side, so no longer an evaluation: margins must not be added to it.
    #[must_use]
    pub const fn is_decisive(self) -> bool {
        self.is_win() || self.is_loss()
    }

    /// Full moves to mate, negative when the side to move is mated; `None` if this is no mate.
    /// A score turned to the other side's view gives the same number with the other sign.
    #[must_use]
    pub fn mate_moves(self) -> Option<i32> {
        if !self.is_mate() {
            return None;
        }
        // Of the mating side's moves: it is on the move where the plies are odd.
        let moves = (MATE - self.0.abs() + 1) / 2;
        Some(if self.0 > 0 { moves } else { -moves })
    }

    /// For people: pawns from White's side (`+0.35`), mates as `#3` and, against White, `#-3`.
    /// `turn` is the side whose score this is.
    #[must_use]
    pub fn pawns(self, turn: Color) -> String {
        const CENTIPAWNS: f64 = 100.0;
        let white = turn.is_white();
        match self.mate_moves() {
            // The sign of "mated in 0" lies in who is to move.
            Some(0) => if white { "#-0" } else { "#0" }.to_owned(),
            Some(moves) => format!("#{}", if white { moves } else { -moves }),
            None => {
                let cp = self.shown_cp();
                let cp = if white { cp } else { -cp };
                format!("{:+.2}", f64::from(cp) / CENTIPAWNS)
            }
        }
    }

    /// A score relative to the root becomes relative to the node `ply` plies below it, so that
    /// the transposition table can serve the same position at another distance.
    #[must_use]
    pub const fn to_table(self, ply: Ply) -> i16 {
        let plies = ply.0 as i32;
        (if self.is_win() {
            self.0 + plies
        } else if self.is_loss() {
            self.0 - plies
        } else {
            self.0
        }) as i16
    }

    /// The inverse of [`Score::to_table`] at the node `ply` plies below the root. A mate that
    /// lies beyond the 50-move rule (`halfmoves` plies have passed without progress) is not yet
    /// proven and becomes the best evaluation instead.
    #[must_use]
    pub const fn from_table(stored: i16, ply: Ply, halfmoves: u32) -> Score {
        let stored = stored as i32;
        let plies = ply.0 as i32;
        let left = FIFTY_MOVES as i32 - halfmoves as i32;
        if stored > TABLEBASE_FLOOR - 1 {
            let end = if stored > TABLEBASE { MATE } else { TABLEBASE };
            if end - stored > left {
                return Score::MAX_EVAL;
            }
            Score(stored - plies)
        } else if stored < 1 - TABLEBASE_FLOOR {
            let end = if stored < -TABLEBASE { MATE } else { TABLEBASE };
            if end + stored > left {
                return Score(-Score::MAX_EVAL.0);
            }
            Score(stored + plies)
        } else {
            Score(stored)
        }
    }
}

impl Neg for Score {
    type Output = Score;
    fn neg(self) -> Score {
        Score(-self.0)
    }
}

impl Add<i32> for Score {
    type Output = Score;
    fn add(self, cp: i32) -> Score {
        Score(self.0 + cp)
    }
}

impl Sub<i32> for Score {
    type Output = Score;
    fn sub(self, cp: i32) -> Score {
        Score(self.0 - cp)
    }
}

impl Sub for Score {
    type Output = i32;
    fn sub(self, other: Score) -> i32 {
        self.0 - other.0
    }
}

impl AddAssign<i32> for Score {
    fn add_assign(&mut self, cp: i32) {
        self.0 += cp;
    }
}

impl SubAssign<i32> for Score {
    fn sub_assign(&mut self, cp: i32) {
        self.0 -= cp;
    }
}

/// As UCI prints it: `cp 34`, `mate 3`, `mate -2`; see [`Score::shown_cp`].
impl fmt::Display for Score {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.mate_moves() {
            Some(moves) => write!(f, "mate {moves}"),
            None => write!(f, "cp {}", self.shown_cp()),
        }
    }
}

/// What a returned score says about the true one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum Bound {
    /// The true score is at most this: every move failed low (an all node).
    Upper = 1,
    /// The true score is at least this: a move failed high (a cut node).
    Lower = 2,
    /// The true score itself (a PV node).
    Exact = 3,
}

impl Bound {
    /// Whether a score with this bound proves that the true score is at least `beta`
    /// (for `score >= beta`) or below it (for `score < beta`).
    #[must_use]
    pub const fn decides(self, score: Score, beta: Score) -> bool {
        let needed = if score.0 >= beta.0 {
            Bound::Lower
        } else {
            Bound::Upper
        };
        self as u8 & needed as u8 != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn mates_count_full_moves() {
        assert_eq!(Score::mate_in(Ply(1)).mate_moves(), Some(1));
        assert_eq!(Score::mate_in(Ply(3)).mate_moves(), Some(2));
        assert_eq!(Score::mated_in(Ply(2)).mate_moves(), Some(-1));
        assert_eq!(Score::mated_in(Ply(0)).mate_moves(), Some(0));
        // The same mates from the other side.
        assert_eq!((-Score::mate_in(Ply(1))).mate_moves(), Some(-1));
        assert_eq!((-Score::mate_in(Ply(3))).mate_moves(), Some(-2));
        assert_eq!((-Score::mated_in(Ply(2))).mate_moves(), Some(1));
        assert_eq!(Score::cp(40).mate_moves(), None);
        assert_eq!(Score::tablebase_win(Ply(9)).mate_moves(), None);
    }

    #[test]
    fn people_read_white_s_side() {
        let score = Score::cp(EVEN_CHANCE * 5 / 4);
        assert_eq!(score.pawns(Color::White), "+1.25");
        assert_eq!(score.pawns(Color::Black), "-1.25");
        assert_eq!(Score::mate_in(Ply(5)).pawns(Color::Black), "#-3");
        assert_eq!(Score::mated_in(Ply(0)).pawns(Color::White), "#-0");
    }

    #[test]
    fn tablebase_wins_are_told_from_mates_and_evaluations() {
        assert_eq!(Score::tablebase_win(Ply(0)).to_string(), "cp 20000");
        assert_eq!(Score::tablebase_loss(Ply(7)).to_string(), "cp -19993");
        let least = Score::tablebase_win(Ply(MAX_PLY)).shown_cp();
        assert!(least > Score::MAX_EVAL.shown_cp());
        assert_eq!((-Score::MAX_EVAL).to_string(), "cp -19000");
        assert_eq!(Score::cp(-EVEN_CHANCE / 2).to_string(), "cp -50");
    }

    #[test]
    fn scores_are_shown_in_pawns_that_are_even_chances() {
        assert_eq!(Score::cp(EVEN_CHANCE).shown_cp(), 100);
        assert_eq!(Score::DRAW.shown_cp(), 0);
        for cp in 0..20_000 {
            let shown = Score::cp(cp).shown_cp();
            assert!(shown <= Score::cp(cp + 1).shown_cp(), "{cp}");
            assert_eq!(Score::cp(-cp).shown_cp(), -shown);
        }
    }

    #[test]
    fn table_scores_are_relative_to_the_node() {
        let stored = Score::mate_in(Ply(9)).to_table(Ply(4));
        assert_eq!(Score::from_table(stored, Ply(2), 0), Score::mate_in(Ply(7)));
        let stored = Score::tablebase_loss(Ply(6)).to_table(Ply(6));
        assert_eq!(
            Score::from_table(stored, Ply(3), 0),
            Score::tablebase_loss(Ply(3))
        );
        assert_eq!(
            Score::from_table(Score::cp(77).to_table(Ply(8)), Ply(1), 0),
            Score::cp(77)
        );
    }

    #[test]
    fn mates_beyond_the_fifty_move_rule_are_not_trusted() {
        let stored = Score::mate_in(Ply(20)).to_table(Ply(0));
        assert_eq!(Score::from_table(stored, Ply(0), 90), Score::MAX_EVAL);
        assert_eq!(
            Score::from_table(stored, Ply(0), 80),
            Score::mate_in(Ply(20))
        );
    }

    #[test]
    fn every_kind_of_score_keeps_to_its_band() {
        let deepest = Ply(MAX_PLY);
        assert!(Score::mate_in(deepest) > Score::tablebase_win(Ply::ROOT));
        assert!(Score::tablebase_win(deepest) > Score::MAX_EVAL);
        assert!(!Score::MAX_EVAL.is_decisive() && !(-Score::MAX_EVAL).is_decisive());
        assert_eq!(Score::cp(i32::MAX / 2), Score::MAX_EVAL);
    }

    #[test]
    fn bounds_decide_on_their_own_side_only() {
        let (low, beta, high) = (Score::cp(-5), Score::cp(0), Score::cp(5));
        assert!(Bound::Lower.decides(high, beta) && !Bound::Lower.decides(low, beta));
        assert!(Bound::Upper.decides(low, beta) && !Bound::Upper.decides(high, beta));
        assert!(Bound::Exact.decides(low, beta) && Bound::Exact.decides(high, beta));
    }
}
