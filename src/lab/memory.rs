//! Alpha-beta with memory: a table remembers bounds on every position searched, so that the next
//! pass over the tree, or another way to the same position, starts from them.

use std::collections::HashMap;

use super::game::{GameTree, INFINITY, NodeValue};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::ValueWindow;

/// What is known about positions: bounds on their values, from the side to move's point of view,
/// by key and remaining depth. No entry is ever replaced, unlike in a table of fixed size.
#[derive(Debug, Default)]
pub struct Memory {
    bounds: HashMap<(u64, u32), ValueWindow>,
}

impl Memory {
    /// The bounds known for a position; the full window if nothing is.
    fn get(&self, key: (u64, u32)) -> ValueWindow {
        self.bounds.get(&key).copied().unwrap_or(ValueWindow::FULL)
    }
}

/// Fail-soft alpha-beta with memory, after Plaat, Schaeffer, Pijls and de Bruin (1996).
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn with_memory<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    window: ValueWindow,
    memory: &mut Memory,
) -> Result<NodeValue, TimeUp> {
    let key = (walk.game().key(&node.position), node.depth);
    let known = memory.get(key);
    // The root is always searched: its best move is wanted, not only its value.
    if node.ply > 0 {
        if known.alpha >= window.beta || known.alpha == known.beta {
            return Ok(walk.known(node, known.alpha));
        }
        if known.beta <= window.alpha {
            return Ok(walk.known(node, known.beta));
        }
    }
    let searched = ValueWindow {
        alpha: window.alpha.max(known.alpha),
        beta: window.beta.min(known.beta),
    };
    // At the root the bounds may already touch; a search still needs a window.
    let searched = if searched.alpha < searched.beta {
        searched
    } else {
        window
    };

    let choices = match walk.enter(node, searched)? {
        Visit::Leaf(value) => {
            memory.bounds.insert(
                key,
                ValueWindow {
                    alpha: value,
                    beta: value,
                },
            );
            return Ok(value);
        }
        Visit::Interior(choices) => choices,
    };
    let ValueWindow { mut alpha, beta } = searched;
    let mut best = -INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        let below = child.down(ValueWindow { alpha, beta });
        best = best.max(child.up(with_memory(walk, &child, below, memory)?));
        if best >= beta {
            walk.cutoff(node);
            break;
        }
        alpha = alpha.max(best);
    }
    let bounds = memory.bounds.entry(key).or_insert(ValueWindow::FULL);
    if best > searched.alpha {
        bounds.alpha = bounds.alpha.max(best);
    }
    if best < searched.beta {
        bounds.beta = bounds.beta.min(best);
    }
    Ok(walk.leave(node, best))
}
