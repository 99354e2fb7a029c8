//! Negamax: minimax in one function. Each side sees values its own way, larger being better, and
//! a value changes sign on its way from one side to the other: max(a, b) = -min(-a, -b).

use super::game::{Game, INFINITY, Value, Window};
use super::walk::{Node, Stopped, Visit, Walk};

/// The value of a node for its side to move.
///
/// # Errors
/// [`Stopped`] when the time is up.
pub fn negamax<G: Game>(walk: &mut Walk<G>, node: &Node<G::Position>) -> Result<Value, Stopped> {
    let choices = match walk.enter(node, Window::FULL)? {
        Visit::Leaf(value) => return Ok(value),
        Visit::Interior(choices) => choices,
    };
    let mut best = -INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.max(child.up(negamax(walk, &child)?));
    }
    Ok(walk.leave(node, best))
}
