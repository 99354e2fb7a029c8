//! Aspiration: guess the value, search a narrow window around the guess, and search again with a
//! wider one if the guess was wrong.

use super::alphabeta::fail_soft;
use super::game::{GameTree, INFINITY, NodeValue};
use super::walk::{TimeUp, TreeNode, Walk};
use super::window::{Criterion, ValueWindow};

/// How much wider the window gets on the failing side, each time.
const WIDENING: NodeValue = 4;

/// Searches `guess - margin ..= guess + margin` first. After a failure the answer is a bound, so
/// the true value lies beyond it: the window then starts at the answer and reaches further,
/// until the value lies strictly inside and is exact.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn aspiration<G: GameTree>(
    walk: &mut Walk<G>,
    root: &TreeNode<G::Position>,
    guess: NodeValue,
    margin: NodeValue,
) -> Result<NodeValue, TimeUp> {
    let mut margin = margin.max(1);
    let mut window = around(guess, margin);
    loop {
        walk.pass(|| format!("aspiration window {}", window.written(Criterion::AtLeast)));
        let value = fail_soft(walk, root, window, Criterion::AtLeast)?;
        if window.alpha < value && value < window.beta {
            return Ok(value);
        }
        margin = margin.saturating_mul(WIDENING).min(2 * INFINITY);
        window = if value <= window.alpha {
            ValueWindow {
                alpha: floor(value - margin),
                beta: value + 1,
            }
        } else {
            ValueWindow {
                alpha: value - 1,
                beta: ceiling(value + margin),
            }
        };
    }
}

/// A window with `guess` in its middle, within infinity.
fn around(guess: NodeValue, margin: NodeValue) -> ValueWindow {
    ValueWindow {
        alpha: floor(guess - margin),
        beta: ceiling(guess + margin),
    }
}

fn floor(value: NodeValue) -> NodeValue {
    value.max(-INFINITY)
}

fn ceiling(value: NodeValue) -> NodeValue {
    value.min(INFINITY)
}
