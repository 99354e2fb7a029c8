//! Minimax in its first form: two functions that call each other.

use super::game::{Game, INFINITY, Side, Value, Window};
use super::walk::{Node, Stopped, Visit, Walk};

/// The value of a node from Max's point of view, whoever is to move there.
///
/// # Errors
/// [`Stopped`] when the time is up.
pub fn minimax<G: Game>(walk: &mut Walk<G>, node: &Node<G::Position>) -> Result<Value, Stopped> {
    match node.side {
        Side::Max => max_value(walk, node),
        Side::Min => min_value(walk, node),
    }
}

/// Max picks the largest of the successors' values.
fn max_value<G: Game>(walk: &mut Walk<G>, node: &Node<G::Position>) -> Result<Value, Stopped> {
    let choices = match walk.enter(node, Window::FULL)? {
        Visit::Leaf(value) => return Ok(Side::Max.view(value)),
        Visit::Interior(choices) => choices,
    };
    let mut best = -INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.max(minimax(walk, &child)?);
    }
    walk.leave(node, Side::Max.view(best));
    Ok(best)
}

/// Min picks the smallest of the successors' values.
fn min_value<G: Game>(walk: &mut Walk<G>, node: &Node<G::Position>) -> Result<Value, Stopped> {
    let choices = match walk.enter(node, Window::FULL)? {
        Visit::Leaf(value) => return Ok(Side::Min.view(value)),
        Visit::Interior(choices) => choices,
    };
    let mut best = INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.min(minimax(walk, &child)?);
    }
    walk.leave(node, Side::Min.view(best));
    Ok(best)
}

/// What a player needs: the move, not the value. The same maximum (or minimum) as above, taken
/// once at the root over the successors' values, keeping the move that reaches it first.
/// `None` when the game is over or the depth is zero.
///
/// # Errors
/// [`Stopped`] when the time is up.
pub fn choose_move<G: Game>(
    walk: &mut Walk<G>,
    root: &Node<G::Position>,
) -> Result<Option<(G::Move, Value)>, Stopped> {
    let mut best = None;
    for choice in walk.expand(root) {
        let child = walk.successor(root, choice);
        let value = minimax(walk, &child)?;
        let better = |(_, old): (G::Move, Value)| root.side.view(value) > root.side.view(old);
        if best.is_none_or(better) {
            best = Some((choice.mv, value));
        }
    }
    Ok(best)
}
