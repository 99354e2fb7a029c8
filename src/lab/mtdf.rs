//! MTD(f) (Plaat 1994): a memory-enhanced test driver. Ask one yes-no question after another,
//! "is the value at least this?", until the answers meet; the table makes each question cheap.

use super::game::{Game, INFINITY, Value, Window};
use super::memory::{Memory, with_memory};
use super::walk::{Node, Stopped, Walk};

/// Searches from the first guess `guess`; the better it is, the fewer the questions.
///
/// # Errors
/// [`Stopped`] when the time is up.
pub fn mtdf<G: Game>(
    walk: &mut Walk<G>,
    root: &Node<G::Position>,
    guess: Value,
    memory: &mut Memory,
) -> Result<Value, Stopped> {
    let (mut lower, mut upper) = (-INFINITY, INFINITY);
    let mut value = guess.clamp(1 - INFINITY, INFINITY - 1);
    let mut best = None;
    while lower < upper {
        // The question must split what is left: "at least the value?" after a yes would be
        // answered already.
        let beta = if value == lower { value + 1 } else { value };
        let question = Window::question(beta);
        walk.pass(|| format!("is the value at least {beta}?"));
        value = with_memory(walk, root, question, memory)?;
        if value < beta {
            upper = value;
        } else {
            lower = value;
            // A yes names the move that proved it; a no says only that every move falls short.
            best = walk.best();
        }
    }
    walk.set_best(best);
    Ok(value)
}
