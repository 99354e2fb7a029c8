//! Alpha-beta with a function for each side, and in negamax form failing hard and failing soft.
//!
//! All of them leave a node as soon as its window closes: Max is sure of alpha somewhere on the
//! way to this node, Min is sure of beta, and once the node is worth beta or more to Max (alpha
//! or less to Min), one of them would have avoided it earlier. They differ in what they return
//! for a node whose value lies outside the window.

use super::game::{GameTree, INFINITY, NodeValue, TreePlayer};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::{Criterion, ValueWindow};

/// Alpha-beta as two functions. The window and the value are Max's at every node.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn alpha_beta<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    window: ValueWindow,
) -> Result<NodeValue, TimeUp> {
    match node.side {
        TreePlayer::Max => max_value(walk, node, window),
        TreePlayer::Min => min_value(walk, node, window),
    }
}

/// Max raises alpha, and leaves once the value reaches beta.
fn max_value<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { mut alpha, beta }: ValueWindow,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok(TreePlayer::Max.view(value)),
        Visit::Interior(choices) => choices,
    };
    let mut best = -INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.max(alpha_beta(walk, &child, ValueWindow { alpha, beta })?);
        if best >= beta {
            walk.cutoff(node);
            break;
        }
        alpha = alpha.max(best);
    }
    walk.leave(node, TreePlayer::Max.view(best));
    Ok(best)
}

/// Min lowers beta, and leaves once the value reaches alpha.
fn min_value<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { alpha, mut beta }: ValueWindow,
) -> Result<NodeValue, TimeUp> {
    // The walk stores windows, like values, from the point of view of the side to move.
    let choices = match walk.enter(node, -ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok(TreePlayer::Min.view(value)),
        Visit::Interior(choices) => choices,
    };
    let mut best = INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        best = best.min(alpha_beta(walk, &child, ValueWindow { alpha, beta })?);
        if best <= alpha {
            walk.cutoff(node);
            break;
        }
        beta = beta.min(best);
    }
    walk.leave(node, TreePlayer::Min.view(best));
    Ok(best)
}

/// Negamax alpha-beta that fails hard: the answer never leaves the window. Alpha itself means
/// "alpha or less", beta "beta or more".
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn fail_hard<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { mut alpha, beta }: ValueWindow,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok(value.clamp(alpha, beta)),
        Visit::Interior(choices) => choices,
    };
    for choice in choices {
        let child = walk.child(node, choice);
        let window = child.down(ValueWindow { alpha, beta });
        let value = child.up(fail_hard(walk, &child, window)?);
        if value >= beta {
            walk.cutoff(node);
            return Ok(walk.leave(node, beta));
        }
        alpha = alpha.max(value);
    }
    Ok(walk.leave(node, alpha))
}

/// Negamax alpha-beta that fails soft (Fishburn 1983): the answer is the best value seen, even
/// outside the window, where it is a bound: at most alpha, the true value is at most the answer;
/// at least beta, it is at least the answer. The same nodes are visited, and the bound is tighter.
///
/// The criterion decides whether a value equal to beta cuts off; see `criterion`.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn fail_soft<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { mut alpha, beta }: ValueWindow,
    criterion: Criterion,
) -> Result<NodeValue, TimeUp> {
    let choices = match walk.enter(node, ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok(value),
        Visit::Interior(choices) => choices,
    };
    let mut best = -INFINITY;
    for choice in choices {
        let child = walk.child(node, choice);
        let window = child.down(ValueWindow { alpha, beta });
        best = best.max(child.up(fail_soft(walk, &child, window, criterion)?));
        if criterion.cuts(best, beta) {
            walk.cutoff(node);
            break;
        }
        alpha = alpha.max(best);
    }
    Ok(walk.leave(node, best))
}
