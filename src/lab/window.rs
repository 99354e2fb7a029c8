//! Windows, and which values close them: those above beta, or beta as well.
//!
//! Cutting off only *above* beta visits more nodes, but a value inside the window, ends included,
//! is then exact: the window is closed, `[alpha, beta]`. Cutting off *at* beta is what engines do;
//! a value equal to alpha or beta may then be exact or a bound, and only values strictly inside
//! are exact: the window is open, `(alpha, beta)`.

use std::ops::Neg;

use super::game::{INFINITY, NodeValue, Signed};

/// Which values cause a cutoff.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Criterion {
    /// Only a value above beta. A value equal to either end of the window is exact.
    Above,
    /// A value of beta or more.
    #[default]
    AtLeast,
}

impl Criterion {
    /// Whether `value` closes a window that ends at `beta`.
    #[must_use]
    pub const fn cuts(self, value: NodeValue, beta: NodeValue) -> bool {
        match self {
            Criterion::Above => value > beta,
            Criterion::AtLeast => value >= beta,
        }
    }

    /// Whether a search can be asked about `window`: alpha must not exceed beta, and if they are
    /// equal, only a search that cuts off above beta has an answer (whether the value is that
    /// number); one that cuts off at beta would stop at once.
    #[must_use]
    pub const fn allows(self, window: ValueWindow) -> bool {
        match self {
            Criterion::Above => window.alpha <= window.beta,
            Criterion::AtLeast => window.alpha < window.beta,
        }
    }
}

/// The window of a search: the values that still matter at a node, from the point of view of
/// its side to move. Alpha is what that side is already sure of elsewhere in the tree; beta is
/// what the opponent is already sure of (so anything above it will be avoided).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ValueWindow {
    pub alpha: NodeValue,
    pub beta: NodeValue,
}

impl ValueWindow {
    /// Nothing is known: every value matters.
    pub const FULL: ValueWindow = ValueWindow {
        alpha: -INFINITY,
        beta: INFINITY,
    };

    /// A window from `alpha` to `beta`.
    #[must_use]
    pub const fn new(alpha: NodeValue, beta: NodeValue) -> ValueWindow {
        ValueWindow { alpha, beta }
    }

    /// The window of a yes-no question, "is the value at least `beta`?": no integer lies
    /// strictly inside it. Also called a null, zero or minimal window.
    #[must_use]
    pub const fn question(beta: NodeValue) -> ValueWindow {
        ValueWindow {
            alpha: beta - 1,
            beta,
        }
    }

    /// The window as mathematicians write it: a square bracket at an end that a returned value
    /// may equal and still be exact, a round one at an end that it may not.
    #[must_use]
    pub fn written(self, criterion: Criterion) -> String {
        let closed = |end: NodeValue| criterion == Criterion::Above && end.abs() < INFINITY;
        let left = if closed(self.alpha) { '[' } else { '(' };
        let right = if closed(self.beta) { ']' } else { ')' };
        format!("{left}{}, {}{right}", Signed(self.alpha), Signed(self.beta))
    }
}

/// The same window seen by the opponent: both ends change sign and places.
impl Neg for ValueWindow {
    type Output = ValueWindow;
    fn neg(self) -> ValueWindow {
        ValueWindow {
            alpha: -self.beta,
            beta: -self.alpha,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_window_turned_twice_is_itself() {
        let window = ValueWindow::new(-3, 7);
        assert_eq!(-window, ValueWindow::new(-7, 3));
        assert_eq!(-(-window), window);
    }

    #[test]
    fn brackets_show_which_ends_are_exact() {
        let window = ValueWindow::new(-3, 7);
        assert_eq!(window.written(Criterion::AtLeast), "(−3, +7)");
        assert_eq!(window.written(Criterion::Above), "[−3, +7]");
        assert_eq!(ValueWindow::FULL.written(Criterion::Above), "(−∞, +∞)");
    }

    #[test]
    fn a_single_value_is_a_window_only_for_cutoffs_above_beta() {
        let single = ValueWindow::new(3, 3);
        assert!(Criterion::Above.allows(single) && !Criterion::AtLeast.allows(single));
        assert!(!Criterion::Above.allows(ValueWindow::new(4, 3)));
    }
}
