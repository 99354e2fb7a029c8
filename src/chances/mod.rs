//! Chances of winning, drawing and losing that a score stands for in play between equals.
//!
//! The model is that of Stockfish's WDL project: with the score `x` and two curves `a` and `b`
//! of the material on the board, a win has the chance `1 / (1 + exp((a - x) / b))`, a loss that
//! of the negated score, and a draw has the rest. So `a` is the score at which half of the
//! games are won and `b` how quickly the chances change around it. `fit` finds the curves from
//! recorded games (`pleach chances`).

mod fit;

use crate::board::{GameEnd, Position};
use crate::types::{Role, Score};

pub use fit::Tally;

/// Certainty in permille.
pub const WHOLE: u32 = 1000;
/// Material counts below and above these are treated as these.
const LEAST_MATERIAL: u32 = 17;
const MOST_MATERIAL: u32 = 78;
/// The material at which the argument of the curves is 1.
const UNIT_MATERIAL: u32 = 58;
/// What the roles count in material, pawn to king.
const ROLE_VALUES: [u32; 6] = [1, 3, 3, 5, 9, 0];
/// Coefficients of a curve.
const TERMS: usize = 4;

/// Chances in permille; their sum is [`WHOLE`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Chances {
    pub win: u32,
    pub draw: u32,
    pub loss: u32,
}

/// The curves of a model: cubic polynomials in material, constant term first, in centipawns.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChancesModel {
    /// The score at which half of the games are won.
    pub even: [f64; TERMS],
    /// How quickly the chances change around that score.
    pub spread: [f64; TERMS],
}

/// Fitted on the engine's own games: see the book's page on chances for the data and the error.
/// [`EVEN_CHANCE`](crate::types::EVEN_CHANCE) goes with it.
pub const MODEL: ChancesModel = ChancesModel {
    even: [464.64, -1132.45, 1167.71, -396.96],
    spread: [99.85, -118.65, 211.97, -65.08],
};

/// Curves never fall below this, in centipawns, so that chances stay between 0 and 1.
const LEAST_CURVE: f64 = 1.0;

impl ChancesModel {
    /// The two curves at a material count.
    #[must_use]
    pub fn curves(&self, material: u32) -> (f64, f64) {
        let argument = argument(material);
        let value = |terms: &[f64; TERMS]| {
            let sum = terms.iter().rev().fold(0.0, |sum, c| sum * argument + c);
            sum.max(LEAST_CURVE)
        };
        (value(&self.even), value(&self.spread))
    }

    /// The chances of a win and of a loss, as fractions of one.
    #[must_use]
    pub fn win_and_loss(&self, cp: f64, material: u32) -> (f64, f64) {
        let (even, spread) = self.curves(material);
        (
            logistic((cp - even) / spread),
            logistic((-cp - even) / spread),
        )
    }
}

fn argument(material: u32) -> f64 {
    f64::from(material.clamp(LEAST_MATERIAL, MOST_MATERIAL)) / f64::from(UNIT_MATERIAL)
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// Material on the board, both sides together: pawns 1, knights and bishops 3, rooks 5, queens 9.
#[must_use]
pub fn material(position: &Position) -> u32 {
    let board = position.board();
    let count = |role| board.by_role(role).count() as u32;
    Role::ALL
        .into_iter()
        .zip(ROLE_VALUES)
        .map(|(role, value)| value * count(role))
        .sum()
}

/// The chances of the side to move in a position with this score. Proven results are certain, and
/// so are draws by stalemate and by insufficient material.
#[must_use]
pub fn chances(score: Score, position: &Position) -> Chances {
    let stalemate = || position.mate_or_stalemate() == Some(GameEnd::Stalemate);
    if position.is_insufficient_material() || stalemate() {
        return Chances {
            win: 0,
            draw: WHOLE,
            loss: 0,
        };
    }
    with_material(score, material(position))
}

/// The chances where only the score is known: those of a middlegame.
#[must_use]
pub fn typical(score: Score) -> Chances {
    with_material(score, UNIT_MATERIAL)
}

fn with_material(score: Score, material: u32) -> Chances {
    if score.is_win() {
        return Chances::certain_win();
    }
    if score.is_loss() {
        return Chances::certain_win().reversed();
    }
    let (win, loss) = MODEL.win_and_loss(f64::from(score.raw()), material);
    let permille = |chance: f64| (chance * f64::from(WHOLE)).round() as u32;
    let (win, loss) = (permille(win), permille(loss));
    Chances {
        win,
        draw: WHOLE.saturating_sub(win + loss),
        loss,
    }
}

impl Chances {
    const fn certain_win() -> Chances {
        Chances {
            win: WHOLE,
            draw: 0,
            loss: 0,
        }
    }

    /// Win, draw and loss, in this order.
    #[must_use]
    pub const fn wdl(self) -> [u32; 3] {
        [self.win, self.draw, self.loss]
    }

    /// The other side's chances.
    #[must_use]
    pub const fn reversed(self) -> Chances {
        Chances {
            win: self.loss,
            draw: self.draw,
            loss: self.win,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{CastlingMode, EVEN_CHANCE, Ply};

    fn positions() -> Vec<Position> {
        [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "8/5pk1/8/8/3R4/8/5PK1/8 w - - 0 1",
            "8/8/4k3/8/8/4K3/4P3/8 b - - 0 1",
        ]
        .into_iter()
        .map(|fen| Position::from_fen(fen, CastlingMode::Standard).expect("legal"))
        .collect()
    }

    #[test]
    fn chances_add_up_and_mirror() {
        for position in positions() {
            for cp in (-3000..3000).step_by(7) {
                let own = chances(Score::cp(cp), &position);
                assert_eq!(own.win + own.draw + own.loss, WHOLE, "{cp}");
                assert_eq!(chances(Score::cp(-cp), &position), own.reversed());
            }
        }
    }

    #[test]
    fn better_scores_win_more() {
        for position in positions() {
            let wins = |cp| chances(Score::cp(cp), &position).win;
            assert!((-600..600).all(|cp| wins(cp) <= wins(cp + 10)));
            assert!(wins(900) > 900, "{}", wins(900));
        }
    }

    #[test]
    fn material_is_counted_for_both_sides() {
        let counts: Vec<u32> = positions().iter().map(material).collect();
        assert_eq!(counts, [78, 7, 1]);
    }

    #[test]
    fn proven_results_are_certain() {
        let start = Position::startpos();
        assert_eq!(chances(Score::mate_in(Ply(5)), &start).win, WHOLE);
        assert_eq!(chances(Score::tablebase_loss(Ply(5)), &start).loss, WHOLE);
    }

    #[test]
    fn draws_by_the_rules_are_certain() {
        for fen in [
            "7k/5K2/6Q1/8/8/8/8/8 b - - 0 1",
            "8/8/4k3/8/8/4K3/4B3/8 w - - 0 1",
        ] {
            let drawn = Position::from_fen(fen, CastlingMode::Standard).expect("legal");
            assert_eq!(chances(Score::DRAW, &drawn).wdl(), [0, WHOLE, 0], "{fen}");
        }
    }

    #[test]
    fn a_pawn_is_shown_where_half_of_the_games_are_won() {
        let even = Score::cp(EVEN_CHANCE);
        assert_eq!(even.shown_cp(), 100);
        let wins = chances(even, &Position::startpos()).win;
        assert!((490..=510).contains(&wins), "{wins}");
    }
}
