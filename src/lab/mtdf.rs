//! MTD(f) (Plaat 1994): a memory-enhanced test driver. Ask one yes-no question after another,
//! "is the value at least this?", until the bounds meet; the table makes each question cheap.

use super::game::{GameTree, INFINITY, NodeValue};
use super::memory::{Memory, with_memory};
use super::walk::{TimeUp, TreeNode, Walk};
use super::window::ValueWindow;

/// Searches from the first guess `guess`; the better it is, the fewer the questions.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn mtdf<G: GameTree>(
    walk: &mut Walk<G>,
    root: &TreeNode<G::Position>,
    guess: NodeValue,
    memory: &mut Memory,
) -> Result<NodeValue, TimeUp> {
    let (mut lower, mut upper) = (-INFINITY, INFINITY);
    let mut value = guess.clamp(1 - INFINITY, INFINITY - 1);
    let mut best = None;
    while lower < upper {
        // The question must split what is left: "at least the value?" after a yes would be
        // answered already.
        let beta = if value == lower { value + 1 } else { value };
        let question = ValueWindow::question(beta);
        walk.pass(|| format!("is the value at least {beta}?"));
        value = with_memory(walk, root, question, memory)?;
        if value < beta {
            upper = value;
        } else {
            lower = value;
            // A yes gives the move that proved it; a no shows only that every move is below.
            best = walk.best();
        }
    }
    walk.set_best(best);
    Ok(value)
}
