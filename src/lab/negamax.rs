//! Negamax: minimax in one function. Each side sees values its own way, larger being better, and
//! a value changes sign on its way from one side to the other: max(a, b) = -min(-a, -b).

use super::game::{GameTree, INFINITY, NodeValue};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::ValueWindow;

/// The value of a node for its side to move.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn negamax<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow::FULL)? {
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
