//! What the table holds of a position, and its 64 bits.

use crate::types::{Bound, Depth, PackedMove, Score};

/// Ages wrap around within five bits.
pub const AGES: u8 = 32;
/// An entry from one search earlier is worth that many plies of depth less.
const AGE_WORTH: i32 = 4;
/// Added to a depth before it is stored: depths begin at -1 (see [`TtEntry::evaluation`]), and a word
/// of zero is empty.
const DEPTH_OFFSET: i32 = 7;
/// Where the fields of a packed entry begin, in bits; the move comes first.
const SCORE_SHIFT: u32 = 16;
const EVAL_SHIFT: u32 = 32;
const DEPTH_SHIFT: u32 = 48;
const INFO_SHIFT: u32 = 56;
/// The last of these fields holds bound, principal variation and age.
const BOUND_MASK: u8 = 3;
const PV_SHIFT: u32 = 2;
const AGE_SHIFT: u32 = 3;
/// Stands for "no evaluation stored".
const NO_EVAL: i16 = i16::MIN;

/// A search result as it is stored and found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TtEntry {
    /// The best or refuting move; may be [`PackedMove::NONE`]. A move that was found is legal
    /// only if the tags did not collide.
    pub best: PackedMove,
    /// The score, relative to the root of the search; means nothing without a bound.
    pub score: Score,
    /// `None` where the position was evaluated and not searched.
    pub bound: Option<Bound>,
    pub depth: Depth,
    /// The position was once part of a principal variation.
    pub pv: bool,
    /// The uncorrected static evaluation, if it was computed.
    pub eval: Option<Score>,
}

impl TtEntry {
    /// Only the static evaluation of a position, stored so that the next visit need not compute
    /// it again.
    #[must_use]
    pub const fn evaluation(eval: Score, pv: bool) -> TtEntry {
        /// Less than any search's, so that any result replaces it.
        const UNSEARCHED: Depth = Depth(-1);
        TtEntry {
            best: PackedMove::NONE,
            score: Score::DRAW,
            bound: None,
            depth: UNSEARCHED,
            pv,
            eval: Some(eval),
        }
    }

    /// Whether the score decides a search with a zero window below `beta`.
    #[must_use]
    pub fn decides(&self, beta: Score) -> bool {
        self.bound
            .is_some_and(|bound| bound.decides(self.score, beta))
    }
}

/// An entry packed into 64 bits; the methods unpack its fields.
#[derive(Clone, Copy)]
pub struct Word(pub u64);

impl Word {
    /// Packs an entry with the move to keep, the score as it is stored, and the age of the search.
    pub fn pack(best: PackedMove, score: i16, entry: &TtEntry, age: u8) -> Word {
        let depth = (entry.depth.plies() + DEPTH_OFFSET).clamp(0, i32::from(u8::MAX)) as u8;
        let info = age << AGE_SHIFT
            | u8::from(entry.pv) << PV_SHIFT
            | entry.bound.map_or(0, |bound| bound as u8);
        let eval = entry.eval.map_or(NO_EVAL, |eval| eval.raw() as i16);
        Word(
            u64::from(best.bits())
                | u64::from(score as u16) << SCORE_SHIFT
                | u64::from(eval as u16) << EVAL_SHIFT
                | u64::from(depth) << DEPTH_SHIFT
                | u64::from(info) << INFO_SHIFT,
        )
    }

    pub fn best(self) -> PackedMove {
        PackedMove::from_bits(self.0 as u16)
    }

    pub fn score(self) -> i16 {
        (self.0 >> SCORE_SHIFT) as i16
    }

    /// The static evaluation, if one was stored.
    pub fn eval(self) -> Option<Score> {
        let eval = (self.0 >> EVAL_SHIFT) as i16;
        (eval != NO_EVAL).then(|| Score::cp(i32::from(eval)))
    }

    /// Plies; meaningful only where `is_empty` is false.
    pub fn depth(self) -> i32 {
        i32::from((self.0 >> DEPTH_SHIFT) as u8) - DEPTH_OFFSET
    }

    fn info(self) -> u8 {
        (self.0 >> INFO_SHIFT) as u8
    }

    pub fn age(self) -> u8 {
        self.info() >> AGE_SHIFT
    }

    pub fn pv(self) -> bool {
        self.info() & 1 << PV_SHIFT != 0
    }

    pub fn bound(self) -> Option<Bound> {
        match self.info() & BOUND_MASK {
            1 => Some(Bound::Upper),
            2 => Some(Bound::Lower),
            3 => Some(Bound::Exact),
            _ => None,
        }
    }

    pub fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Sixteen bits that depend on all others.
    pub fn fold(self) -> u16 {
        (self.0 ^ self.0 >> 16 ^ self.0 >> 32 ^ self.0 >> 48) as u16
    }

    /// How much the entry is worth keeping at the given age; the least is replaced.
    pub fn worth(self, age: u8) -> i32 {
        let older = i32::from((AGES + age - self.age()) % AGES);
        if self.is_empty() {
            i32::MIN
        } else {
            self.depth() - AGE_WORTH * older
        }
    }
}
