//! Minimax in its first form: two functions that call each other.

use super::game::{GameTree, INFINITY, NodeValue, TreePlayer};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::ValueWindow;

/// The value of a node from Max's point of view, whoever is to move there.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn minimax<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
) -> Result<NodeValue, TimeUp> {
    match node.side {
        TreePlayer::Max => max_value(walk, node),
        TreePlayer::Min => min_value(walk, node),
    }
}

/// Max picks the largest of the successors' values.
fn max_value<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow::FULL)? {
        Visit::Leaf(value) => return Ok(TreePlayer::Max.view(value)),
        Visit::Interior(choices) => choices,
    };
    let mut best = -INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.max(minimax(walk, &child)?);
    }
    walk.leave(node, TreePlayer::Max.view(best));
    Ok(best)
}

/// Min picks the smallest of the successors' values.
fn min_value<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow::FULL)? {
        Visit::Leaf(value) => return Ok(TreePlayer::Min.view(value)),
        Visit::Interior(choices) => choices,
    };
    let mut best = INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.min(minimax(walk, &child)?);
    }
    walk.leave(node, TreePlayer::Min.view(best));
    Ok(best)
}
