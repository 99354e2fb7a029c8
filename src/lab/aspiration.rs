//! Aspiration: guess the value, search a narrow window around the guess, and search again with a
//! wider one if the guess was wrong.

use super::alphabeta::fail_soft;
use super::criterion::Criterion;
use super::game::{Game, INFINITY, Value, Window};
use super::walk::{Node, Stopped, Walk};

/// How much wider the window gets on the failing side, each time.
const WIDENING: Value = 4;

/// Searches `guess - margin ..= guess + margin` first. After a failure the answer is a bound, so
/// the true value lies beyond it: the window then starts at the answer and reaches further,
/// until the value lies strictly inside and is exact.
///
/// # Errors
/// [`Stopped`] when the time is up.
pub fn aspiration<G: Game>(
    walk: &mut Walk<G>,
    root: &Node<G::Position>,
    guess: Value,
    margin: Value,
) -> Result<Value, Stopped> {
    let mut margin = margin.max(1);
    let mut window = around(guess, margin);
    loop {
        walk.pass(|| format!("aspiration window {window}"));
        let value = fail_soft(walk, root, window, Criterion::AtLeast)?;
        if window.alpha < value && value < window.beta {
            return Ok(value);
        }
        margin = margin.saturating_mul(WIDENING).min(2 * INFINITY);
        window = if value <= window.alpha {
            Window {
                alpha: floor(value - margin),
                beta: value + 1,
            }
        } else {
            Window {
                alpha: value - 1,
                beta: ceiling(value + margin),
            }
        };
    }
}

/// A window with `guess` in its middle, within infinity.
fn around(guess: Value, margin: Value) -> Window {
    Window {
        alpha: floor(guess - margin),
        beta: ceiling(guess + margin),
    }
}

fn floor(value: Value) -> Value {
    value.max(-INFINITY)
}

fn ceiling(value: Value) -> Value {
    value.min(INFINITY)
}
