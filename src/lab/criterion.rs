//! When does a value cut off: above beta, or already at beta? And the variant that returns what
//! its value means together with the value.
//!
//! Cutting off only *above* beta visits more nodes, but a value inside the window, ends included,
//! is then exact. Cutting off *at* beta is what engines do; a value equal to alpha or beta may
//! then be exact or a bound, and nobody can tell, unless the search says so: [`with_bound`].

use super::game::{Game, INFINITY, Value, Window};
use super::walk::{Node, Stopped, Visit, Walk};
use crate::types::Bound;

/// Which values cause a cutoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Only a value above beta. A value on the window's edge is exact.
    Above,
    /// A value of beta or more.
    #[default]
    AtLeast,
}

impl Criterion {
    /// Whether `value` closes a window that ends at `beta`.
    #[must_use]
    pub const fn cuts(self, value: Value, beta: Value) -> bool {
        match self {
            Criterion::Above => value > beta,
            Criterion::AtLeast => value >= beta,
        }
    }
}

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
/// [`Stopped`] when the time is up.
pub fn with_bound<G: Game>(
    walk: &mut Walk<G>,
    node: &Node<G::Position>,
    Window { mut alpha, beta }: Window,
) -> Result<(Value, Bound), Stopped> {
    let choices = match walk.enter(node, Window { alpha, beta })? {
        Visit::Leaf(value) => return Ok((value, Bound::Exact)),
        Visit::Interior(choices) => choices,
    };
    let last = choices.len() - 1;
    let (mut best, mut bound) = (-INFINITY, Bound::Upper);
    for (order, choice) in choices.into_iter().enumerate() {
        let child = walk.child(node, choice);
        let window = child.down(Window { alpha, beta });
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
            // A successor that nobody looked at may be better still. After the last one, the
            // bound stands as it is: a cutoff there skips nothing.
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
