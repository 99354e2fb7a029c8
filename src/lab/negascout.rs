//! NegaScout (Reinefeld 1983): principal variation search with two savings of its own.

use super::game::{GameTree, INFINITY, NodeValue};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::ValueWindow;

/// A re-search would change nothing this close to the horizon; see [`answer_is_exact`].
const FRONTIER: u32 = 2;

/// Fail-soft NegaScout. A second search starts from the first one's answer instead of alpha, and
/// there is none in the last two plies, where the answer is exact already.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn negascout<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { mut alpha, beta }: ValueWindow,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok(value),
        Visit::Interior(choices) => choices,
    };
    let mut best = -INFINITY;
    // The upper end of the window for the next successor: beta first, then just above alpha.
    let mut upper = beta;
    for (order, choice) in choices.into_iter().enumerate() {
        let child = walk.child(node, choice);
        let window = child.down(ValueWindow { alpha, beta: upper });
        let mut value = child.up(negascout(walk, &child, window)?);
        let surprise = order > 0 && value > alpha && value < beta;
        if surprise && !answer_is_exact(node, &child) {
            let window = child.down(ValueWindow { alpha: value, beta });
            value = child.up(negascout(walk, &child, window)?);
        }
        best = best.max(value);
        if value >= beta {
            walk.cutoff(node);
            break;
        }
        alpha = alpha.max(value);
        upper = alpha + 1;
    }
    Ok(walk.leave(node, best))
}

/// Whether a successor that beat alpha did so with its true value. A leaf's value is always true.
/// One ply above, beating alpha means that every reply was searched (an all node), and since
/// the replies are leaves, failing soft returns their true maximum. If the same side moves
/// again, the successor may have cut off instead, and only a lower bound is known.
fn answer_is_exact<P>(node: &TreeNode<P>, child: &TreeNode<P>) -> bool {
    node.depth < FRONTIER || (node.depth == FRONTIER && child.is_turned())
}
