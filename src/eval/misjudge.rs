//! A weaker player's evaluation: less knowledge, and errors that stay the same.
//!
//! The error of a position does not change from one visit to the next, and three of its four parts
//! depend on the pawns, on White's pieces and on Black's pieces alone. An ordinary move changes two
//! parts, so that half of the error stays: the engine misjudges a position in a similar way for
//! several moves, instead of playing well and now and then losing a piece.

use super::tapered;
use crate::board::Position;
use crate::hash::mix_bits;
use crate::types::{Color, Score};

/// The whole of a share.
const WHOLE: i32 = 256;
/// Shares of the spread, in 256ths, of the errors that depend on the pawns, on the pieces of each
/// side, and on the whole position. Their squares add up to the square of the whole.
const PAWNS_SHARE: i64 = 128;
const PIECES_SHARE: i64 = 128;
const POSITION_SHARE: i64 = 128;

/// How positions are misjudged.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Misjudgement {
    /// Which errors: games with different seeds have different ones.
    pub seed: u64,
    /// Standard deviation of the error, in centipawns.
    pub spread: i32,
    /// Share of plain material and piece squares in the evaluation, in 256ths; the rest is the
    /// network's.
    pub plainness: i32,
}

impl Misjudgement {
    /// The evaluation with less knowledge and with this position's error, for the side to move.
    #[must_use]
    pub(super) fn apply(&self, evaluation: i32, position: &Position) -> i32 {
        let plain = tapered::evaluate(position);
        // Whatever a network file says, the product fits 32 bits.
        let evaluation = Score::cp(evaluation).raw();
        let known = (evaluation * (WHOLE - self.plainness) + plain * self.plainness) / WHOLE;
        Score::cp(known + self.error(position)).raw()
    }

    /// The error in centipawns, for the side to move.
    fn error(&self, position: &Position) -> i32 {
        let keys = position.keys();
        let white = PAWNS_SHARE * self.normal(keys.pawns)
            + PIECES_SHARE * self.normal(keys.non_pawns[Color::Black as usize])
            - PIECES_SHARE * self.normal(!keys.non_pawns[Color::White as usize])
            + POSITION_SHARE * self.normal(keys.full);
        let white = (white * i64::from(self.spread) / i64::from(WHOLE) / UNIT) as i32;
        match position.turn() {
            Color::White => white,
            Color::Black => -white,
        }
    }

    /// A number that depends on a key and the seed alone, distributed nearly normally around zero
    /// with a standard deviation of [`UNIT`].
    fn normal(&self, key: u64) -> i64 {
        let mixed = mix_bits(key ^ self.seed);
        let sum: u64 = mixed.to_be_bytes().iter().copied().map(u64::from).sum();
        (sum as i64 - MEAN_OF_SUM) * UNIT / DEVIATION_OF_SUM
    }
}

/// The standard deviation of [`Misjudgement::normal`].
const UNIT: i64 = 1 << 10;
/// Mean and standard deviation of the sum of eight independent bytes.
const MEAN_OF_SUM: i64 = 1020;
const DEVIATION_OF_SUM: i64 = 209;

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;

    fn errors(seed: u64, spread: i32) -> Vec<i32> {
        let misjudgement = Misjudgement {
            seed,
            spread,
            plainness: 0,
        };
        let mut errors = Vec::new();
        random_games(30, |position| errors.push(misjudgement.error(position)));
        errors
    }

    #[test]
    fn a_senseless_evaluation_is_held_within_range() {
        let position = Position::startpos();
        for evaluation in [i32::MIN, i32::MAX] {
            let misjudged = Misjudgement::default().apply(evaluation, &position);
            assert_eq!(misjudged, Score::cp(evaluation).raw());
        }
    }

    #[test]
    fn errors_depend_on_position_and_seed_alone() {
        assert_eq!(errors(1, 200), errors(1, 200));
        assert_ne!(errors(1, 200), errors(2, 200));
        assert!(errors(1, 0).iter().all(|&error| error == 0));
    }

    #[test]
    fn errors_spread_as_asked() {
        let errors = errors(7, 200);
        let squares: f64 = errors.iter().map(|&e| f64::from(e) * f64::from(e)).sum();
        let spread = (squares / errors.len() as f64).sqrt();
        assert!((170.0..230.0).contains(&spread), "{spread}");
    }

    #[test]
    fn errors_change_less_from_move_to_move_than_from_game_to_game() {
        let misjudgement = Misjudgement {
            seed: 3,
            spread: 200,
            plainness: 0,
        };
        let white = |position: &Position| match position.turn() {
            Color::White => misjudgement.error(position),
            Color::Black => -misjudgement.error(position),
        };
        let (mut near, mut far, mut count) = (0, 0, 0);
        let mut before: Option<Position> = None;
        let start = white(&Position::startpos());
        random_games(30, |position| {
            if let Some(before) = &before
                && position.game_ply() == before.game_ply() + 1
            {
                near += (white(position) - white(before)).pow(2);
                far += (white(position) - start).pow(2);
                count += 1;
            }
            before = Some(position.clone());
        });
        assert!(count > 1000 && near < far, "{near} {far} {count}");
    }

    #[test]
    fn all_knowledge_may_be_plain() {
        let plain = Misjudgement {
            seed: 0,
            spread: 0,
            plainness: WHOLE,
        };
        random_games(5, |position| {
            assert_eq!(plain.apply(500, position), tapered::evaluate(position));
        });
    }
}
