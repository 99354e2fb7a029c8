//! What the algorithms search: a two-player zero-sum game of perfect information, its players and values.

use std::fmt;
use std::hash::Hash;

/// What a position is worth. Games state it from [`TreePlayer::Max`]'s point of view; the negamax
/// family passes it around from the point of view of the side to move.
pub type NodeValue = i32;

/// Above every value that a game may give. Small enough that negation and `+ 1` never overflow.
pub const INFINITY: NodeValue = 1_000_000;

/// The deepest search, and the largest height of a tree, in plies: the algorithms are recursive.
pub const MAX_DEPTH: u32 = 64;

/// The two players. `Max` wants large values, `Min` small ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TreePlayer {
    Max,
    Min,
}

impl TreePlayer {
    /// The other player.
    #[must_use]
    pub const fn other(self) -> TreePlayer {
        match self {
            TreePlayer::Max => TreePlayer::Min,
            TreePlayer::Min => TreePlayer::Max,
        }
    }

    /// Translates between Max's point of view and this side's, in either direction.
    #[must_use]
    pub const fn view(self, value: NodeValue) -> NodeValue {
        match self {
            TreePlayer::Max => value,
            TreePlayer::Min => -value,
        }
    }
}

/// A two-player zero-sum game with perfect information.
///
/// Players usually alternate, but a game may let the same side move twice (Kalah does), so the
/// algorithms ask [`GameTree::side`] instead of assuming that every move turns the board around.
pub trait GameTree {
    /// A position, complete enough to go on playing from.
    type Position: Clone;
    /// A move; equal moves in different positions are "the same" for killers and countermoves.
    type Move: Copy + Eq + Hash + fmt::Debug;

    /// Where the search starts.
    fn start(&self) -> Self::Position;

    /// The side to move.
    fn side(&self, position: &Self::Position) -> TreePlayer;

    /// The legal moves in the game's natural order; empty exactly when the game is over.
    fn moves(&self, position: &Self::Position) -> Vec<Self::Move>;

    /// The position after `mv`, which must come from [`GameTree::moves`].
    fn play(&self, position: &Self::Position, mv: Self::Move) -> Self::Position;

    /// The worth of a position in which the search stops, from Max's point of view: the outcome
    /// if the game is over, an estimate otherwise. Strictly inside `±INFINITY`.
    fn value(&self, position: &Self::Position) -> NodeValue;

    /// A key under which equal positions, at equal distance from the root, share results.
    fn key(&self, position: &Self::Position) -> u64;

    /// The move as people write it.
    fn label(&self, position: &Self::Position, mv: Self::Move) -> String;

    /// What to call the start, where there is something better than "root".
    fn root_label(&self) -> String {
        "root".to_owned()
    }
}

/// Prints a value with its sign, and infinities as such.
#[derive(Clone, Copy, Debug)]
pub struct Signed(pub NodeValue);

impl fmt::Display for Signed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let text = match self.0 {
            INFINITY.. => "+∞".to_owned(),
            ..=-1 if self.0 <= -INFINITY => "−∞".to_owned(),
            0 => "0".to_owned(),
            value if value < 0 => format!("−{}", -value),
            value => format!("+{value}"),
        };
        f.pad(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_print_with_their_sign() {
        assert_eq!(Signed(-3).to_string(), "−3");
        assert_eq!(Signed(0).to_string(), "0");
        assert_eq!(format!("{:>4}", Signed(-INFINITY)), "  −∞");
    }
}
