//! Principal variation search (Marsland and Campbell 1982): believe that the first move is best,
//! and ask of every other one only whether it is better.

use super::game::{Game, Value, Window};
use super::walk::{Node, Stopped, Visit, Walk};

/// Fail-soft principal variation search. The first successor is searched with the whole window,
/// the others with the question "more than alpha?"; a yes that does not cut off is searched again
/// with the whole window for its value.
///
/// # Errors
/// [`Stopped`] when the time is up.
pub fn pvs<G: Game>(
    walk: &mut Walk<G>,
    node: &Node<G::Position>,
    Window { mut alpha, beta }: Window,
) -> Result<Value, Stopped> {
    let choices = match walk.enter(node, Window { alpha, beta })? {
        Visit::Leaf(value) => return Ok(value),
        Visit::Interior(choices) => choices,
    };
    let mut best = None;
    for choice in choices {
        let child = walk.child(node, choice);
        let whole = child.down(Window { alpha, beta });
        let value = match best {
            None => child.up(pvs(walk, &child, whole)?),
            Some(_) => {
                let question = child.down(Window::question(alpha + 1));
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
