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

    /// Narrows the bounds of a position by what a search with a window returned: below alpha the
    /// value is an upper bound, above beta a lower one, between them both.
    fn learn(&mut self, key: (u64, u32), window: ValueWindow, value: NodeValue) {
        let bounds = self.bounds.entry(key).or_insert(ValueWindow::FULL);
        if value > window.alpha {
            bounds.alpha = bounds.alpha.max(value);
        }
        if value < window.beta {
            bounds.beta = bounds.beta.min(value);
        }
    }
}

/// The value that known bounds return for a window, if they answer it.
fn answer(known: ValueWindow, window: ValueWindow) -> Option<NodeValue> {
    if known.alpha >= window.beta || known.alpha == known.beta {
        Some(known.alpha)
    } else if known.beta <= window.alpha {
        Some(known.beta)
    } else {
        None
    }
}

/// The part of a window that is still in question. At the root the bounds may touch already; a
/// search still needs a window.
fn in_question(known: ValueWindow, window: ValueWindow) -> ValueWindow {
    let narrowed = ValueWindow {
        alpha: window.alpha.max(known.alpha),
        beta: window.beta.min(known.beta),
    };
    if narrowed.alpha < narrowed.beta {
        narrowed
    } else {
        window
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
    if node.ply > 0
        && let Some(value) = answer(known, window)
    {
        return Ok(walk.known(node, value));
    }
    let searched = in_question(known, window);
    let choices = match walk.enter(node, searched)? {
        Visit::Leaf(value) => {
            memory.learn(key, ValueWindow::FULL, value);
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
    memory.learn(key, searched, best);
    Ok(walk.leave(node, best))
}
