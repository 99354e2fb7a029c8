//! From scores to expected scores: what share of the points a position is worth in play.

use clap::ValueEnum;

use crate::chances::typical;
use crate::types::Score;

/// Percent.
const WHOLE: f64 = 100.0;
/// Scores are capped here, in centipawns, and a mate counts as this much: with more, a person
/// wins in any case.
pub const CAP: i32 = 1000;

/// Which curve turns a score into an expected score.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum Curve {
    /// lichess' win percentage, for games between people
    #[default]
    Lichess,
    /// The engine's own win and draw chances, for games between engines
    Engine,
}

impl Curve {
    /// The expected score in percent (0 to 100) of the side whose score this is: wins, and half
    /// of the draws.
    #[must_use]
    pub fn expected(self, score: Score) -> f64 {
        match self {
            Curve::Lichess => lichess(f64::from(capped(score))),
            Curve::Engine => {
                let [win, draw, _] = typical(score).wdl();
                const PERMILLE_IN_PERCENT: f64 = 10.0;
                (f64::from(win) + f64::from(draw) / 2.0) / PERMILLE_IN_PERCENT
            }
        }
    }
}

/// A score in centipawns as they are shown, within ±1000; mates and tablebase wins are ±1000.
#[must_use]
pub fn capped(score: Score) -> i32 {
    if score.is_win() {
        CAP
    } else if score.is_loss() {
        -CAP
    } else {
        score.shown_cp().clamp(-CAP, CAP)
    }
}

/// lichess' curve, fitted to games of people rated about 2300 in rapid chess.
fn lichess(cp: f64) -> f64 {
    const STEEPNESS: f64 = 0.003_682_08;
    WHOLE / (1.0 + (-STEEPNESS * cp).exp())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EVEN_CHANCE, Ply};

    #[test]
    fn the_curve_is_lichess_s() {
        // 50 + 50 (2 / (1 + e^(-0.00368208 cp)) - 1), computed separately.
        for (cp, percent) in [(0, 50.0), (15, 51.3804), (100, 59.1026), (-300, 24.8874)] {
            let own = lichess(f64::from(cp));
            assert!((own - percent).abs() < 1e-3, "{cp}: {own}");
        }
        // What is shown as +1.00 counts as that.
        let pawn = Curve::Lichess.expected(Score::cp(EVEN_CHANCE));
        assert!((pawn - lichess(100.0)).abs() < 1e-9, "{pawn}");
        let mate = Curve::Lichess.expected(Score::mate_in(Ply(1)));
        assert_eq!(mate, Curve::Lichess.expected(Score::cp(2000)));
    }

    #[test]
    fn both_sides_share_the_point() {
        for curve in [Curve::Lichess, Curve::Engine] {
            for cp in (-1500..1500).step_by(13) {
                let sum = curve.expected(Score::cp(cp)) + curve.expected(Score::cp(-cp));
                assert!((sum - WHOLE).abs() < 1e-9, "{cp}: {sum}");
            }
            assert!(curve.expected(Score::cp(50)) > curve.expected(Score::cp(40)));
        }
    }
}
