//! How well a player played: accuracy as lichess computes it, and average centipawn loss.

use super::expectation::{Curve, capped};
use crate::types::{Color, Score};

/// Percent.
const WHOLE: f64 = 100.0;

/// One player's figures over a game.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Quality {
    /// 0 to 100.
    pub accuracy: f64,
    /// The mean loss a move, in centipawns as they are shown, with scores cut at ±1000.
    pub centipawn_loss: f64,
}

/// The accuracy of one move that lost this many points of expected score (percent): lichess'
/// fitted curve, 100 for nothing lost, 81 for 5 points, 65 for 10, 41 for 20.
#[must_use]
pub fn move_accuracy(loss: f64) -> f64 {
    const HEIGHT: f64 = 103.166_810_071_164_9;
    const DECAY: f64 = 0.043_544_153_869_537_51;
    const FLOOR: f64 = 3.166_924_740_191_411;
    /// Added because a search of limited depth may find a loss where there is none.
    const UNCERTAINTY: f64 = 1.0;
    if loss <= 0.0 {
        return WHOLE;
    }
    (HEIGHT * (-DECAY * loss).exp() - FLOOR + UNCERTAINTY).clamp(0.0, WHOLE)
}

/// A player's figures from the scores of a game's positions, all from White's side, the first one
/// before the first move; `None` if the player made no move that was scored.
///
/// Accuracy is the mean of two means over the player's moves: one weighted by how much the
/// expected score varied around each move, so that quiet stretches count less, and the harmonic
/// one, so that a single blunder counts more.
#[must_use]
pub fn quality(scores: &[Score], first: Color, player: Color, curve: Curve) -> Option<Quality> {
    let expected: Vec<f64> = scores.iter().map(|&score| curve.expected(score)).collect();
    let weights = weights(&expected);
    let own = |ply: &usize| ply.is_multiple_of(2) == (first == player);
    let side = |white: f64| match player {
        Color::White => white,
        Color::Black => WHOLE - white,
    };
    let (mut weighted, mut weight_sum, mut inverse, mut lost, mut moves) = (0.0, 0.0, 0.0, 0, 0);
    for ply in (0..weights.len()).filter(own) {
        let accuracy = move_accuracy(side(expected[ply]) - side(expected[ply + 1]));
        weighted += accuracy * weights[ply];
        weight_sum += weights[ply];
        // A single 0 must not make the harmonic mean 0.
        inverse += 1.0 / accuracy.max(1.0);
        let gain = capped(scores[ply + 1]) - capped(scores[ply]);
        lost += if player.is_white() { -gain } else { gain }.max(0);
        moves += 1;
    }
    if moves == 0 {
        return None;
    }
    let moves = f64::from(moves);
    Some(Quality {
        accuracy: (weighted / weight_sum + moves / inverse) / 2.0,
        centipawn_loss: f64::from(lost) / moves,
    })
}

/// How much each move counts: the standard deviation of the expected score in a window around
/// it, one weight a move.
fn weights(expected: &[f64]) -> Vec<f64> {
    const MOVES_A_WINDOW: usize = 10;
    const SMALLEST_WINDOW: usize = 2;
    const LARGEST_WINDOW: usize = 8;
    const LEAST: f64 = 0.5;
    const MOST: f64 = 12.0;
    let moves = expected.len().saturating_sub(1);
    let window = (moves / MOVES_A_WINDOW).clamp(SMALLEST_WINDOW, LARGEST_WINDOW);
    let beginning = &expected[..window.min(expected.len())];
    std::iter::repeat_n(beginning, beginning.len().saturating_sub(SMALLEST_WINDOW))
        .chain(expected.windows(window))
        .map(|part| deviation(part).clamp(LEAST, MOST))
        .take(moves)
        .collect()
}

/// The standard deviation of a whole population.
fn deviation(values: &[f64]) -> f64 {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (squares / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::EVEN_CHANCE;

    /// Scores that are shown as so many half pawns.
    fn half_pawns(list: impl IntoIterator<Item = i32>) -> Vec<Score> {
        list.into_iter()
            .map(|n| Score::cp(n * EVEN_CHANCE / 2))
            .collect()
    }

    fn near(value: f64, expected: f64) {
        assert!((value - expected).abs() < 1e-3, "{value} is not {expected}");
    }

    #[test]
    fn accuracy_of_a_move() {
        near(move_accuracy(-3.0), 100.0);
        near(move_accuracy(0.5), 98.778);
        near(move_accuracy(5.0), 80.8153);
        near(move_accuracy(10.0), 64.5798);
        near(move_accuracy(20.0), 41.0168);
        near(move_accuracy(100.0), 0.0);
    }

    /// The figures were computed separately, by a script with the published formula.
    #[test]
    fn accuracy_of_a_game() {
        let scores = half_pawns((0..41).map(|ply| ply * 3 % 7 - 3));
        let of = |player| quality(&scores, Color::White, player, Curve::Lichess).expect("moves");
        near(of(Color::White).accuracy, 68.6235);
        near(of(Color::Black).accuracy, 71.0689);
    }

    #[test]
    fn losses_are_the_mover_s() {
        // Shown as 0, -50, -50, -150 and the cap of 1000.
        let scores = half_pawns([0, -1, -1, -3, 50]);
        let of = |first, player| quality(&scores, first, player, Curve::Lichess);
        let loss = |first, player| of(first, player).map(|quality| quality.centipawn_loss);
        // White loses 50, then 100; Black nothing, then from -150 to the cap of 1000.
        assert_eq!(loss(Color::White, Color::White), Some(75.0));
        assert_eq!(loss(Color::White, Color::Black), Some(575.0));
        // Black to move first: what were losses are gains.
        assert_eq!(loss(Color::Black, Color::Black), Some(0.0));
        assert_eq!(
            quality(&[], Color::White, Color::White, Curve::Lichess),
            None
        );
        assert_eq!(
            quality(
                &half_pawns([0, 0]),
                Color::White,
                Color::Black,
                Curve::Lichess
            ),
            None
        );
    }
}
