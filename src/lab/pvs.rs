//! Principal variation search (Marsland and Campbell 1982): assume that the first move is best,
//! and test every other one only for being better.

use super::game::{GameTree, NodeValue};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::ValueWindow;

/// Fail-soft principal variation search. The first successor is searched with the whole window,
/// the others with the question "more than alpha?"; a yes that does not cut off is searched again
/// with the whole window for its value.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn pvs<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { mut alpha, beta }: ValueWindow,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok(value),
        Visit::Interior(choices) => choices,
    };
    let mut best = None;
    for choice in choices {
        let child = walk.child(node, choice);
        let whole = child.down(ValueWindow { alpha, beta });
        let value = match best {
            None => child.up(pvs(walk, &child, whole)?),
            Some(_) => {
                let question = child.down(ValueWindow::question(alpha + 1));
                let answer = child.up(pvs(walk, &child, question)?);
                if answer > alpha && answer < beta {
                    child.up(pvs(walk, &child, whole)?)
                } else {
                    answer
                }
            }
        };
        best = best.max(Some(value));
        if value >= beta {
            walk.cutoff(node);
            break;
        }
        alpha = alpha.max(value);
    }
    Ok(walk.leave(node, best.unwrap_or(alpha)))
}
