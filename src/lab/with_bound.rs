//! Fail-soft alpha-beta that returns what its value means together with the value.
//!
//! When values equal to beta cut off, a returned value equal to alpha or beta may be exact or a
//! bound, and the number alone does not tell which. [`with_bound`] returns the answer as well.

use super::game::{GameTree, INFINITY, NodeValue};
use super::walk::{TimeUp, TreeNode, Visit, Walk};
use super::window::ValueWindow;
use crate::types::Bound;

/// A bound seen from the other side: at most becomes at least.
#[must_use]
pub const fn invert(bound: Bound) -> Bound {
    match bound {
        Bound::Upper => Bound::Lower,
        Bound::Exact => Bound::Exact,
        Bound::Lower => Bound::Upper,
    }
}

/// What is known about the larger of two equal values, each with its bound: if one may be
/// larger, so may the maximum; otherwise if one is exact, so is the maximum.
#[must_use]
pub const fn join(a: Bound, b: Bound) -> Bound {
    match (a, b) {
        (Bound::Lower, _) | (_, Bound::Lower) => Bound::Lower,
        (Bound::Exact, _) | (_, Bound::Exact) => Bound::Exact,
        (Bound::Upper, Bound::Upper) => Bound::Upper,
    }
}

/// Fail-soft alpha-beta that cuts off at beta and says whether its value is exact, an upper
/// bound or a lower bound of the true one, even on the window's edges and outside it.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn with_bound<G: GameTree>(
    walk: &mut Walk<G>,
    node: &TreeNode<G::Position>,
    ValueWindow { mut alpha, beta }: ValueWindow,
) -> Result<(NodeValue, Bound), TimeUp> {
    let choices = match walk.enter(node, ValueWindow { alpha, beta })? {
        Visit::Leaf(value) => return Ok((value, Bound::Exact)),
        Visit::Interior(choices) => choices,
    };
    let last = choices.len() - 1;
    let (mut best, mut bound) = (-INFINITY, Bound::Upper);
    for (order, choice) in choices.into_iter().enumerate() {
        let child = walk.child(node, choice);
        let window = child.down(ValueWindow { alpha, beta });
        let (value, says) = with_bound(walk, &child, window)?;
        let (value, says) = if child.is_turned() {
            (child.up(value), invert(says))
        } else {
            (value, says)
        };
        if value == best {
            bound = join(bound, says);
        } else if value > best {
            (best, bound) = (value, says);
        }
        if best >= beta {
            walk.cutoff(node);
            // A successor that was not searched may be better still. After the last one, the
            // bound stays as it is: a cutoff there skips nothing.
            if order < last {
                bound = Bound::Lower;
            }
            break;
        }
        alpha = alpha.max(best);
    }
    walk.leave_with_bound(node, best, Some(bound));
    Ok((best, bound))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn join_is_the_maximum_and_invert_the_sign() {
        let number = |bound| match bound {
            Bound::Upper => -1,
            Bound::Exact => 0,
            Bound::Lower => 1,
        };
        let every = [Bound::Upper, Bound::Exact, Bound::Lower];
        for a in every {
            assert_eq!(number(invert(a)), -number(a));
            for b in every {
                assert_eq!(number(join(a, b)), number(a).max(number(b)));
            }
        }
    }
}
