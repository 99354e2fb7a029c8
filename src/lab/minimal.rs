//! The minimal tree: the fewest leaves that prove a root's value, counted on the tree at hand.
//!
//! To prove that Max gets at least *v* takes one move at each of Max's nodes and all replies of
//! Min's, with no leaf below *v*: a solution tree for Max. To prove that Max gets no more takes
//! one for Min. The smallest of each have exactly one line in common, since at every node one of
//! them follows a single move, so the minimal tree has the leaves of both, less one. Any
//! algorithm without a table evaluates at least as many. In a uniform tree of branching *b* and
//! depth *d* this is b^ceil(d/2) + b^floor(d/2) - 1 (Knuth and Moore 1975); in an irregular tree
//! it depends on which of several good moves has the fewest replies.

use super::game::{GameTree, NodeValue, TreePlayer};

/// The size of the minimal tree, counted on the whole tree down to a horizon.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MinimalTree {
    /// Leaves of the smallest tree that proves the value.
    pub leaves: u64,
    /// Plies from the root to the deepest leaf of the whole tree.
    pub height: u32,
}

/// The least numbers of leaves that prove two claims about a node; `None` if the claim is false.
#[derive(Clone, Copy)]
struct Proofs {
    at_least: Option<u64>,
    at_most: Option<u64>,
    height: u32,
}

/// Counts the minimal tree of `game`, seen `depth` plies deep, whose value for Max is `value`.
/// Visits the whole tree. `None` if that is not the value.
#[must_use]
pub fn minimal_tree<G: GameTree>(game: &G, depth: u32, value: NodeValue) -> Option<MinimalTree> {
    let proofs = proofs(game, &game.start(), depth, value);
    Some(MinimalTree {
        leaves: proofs.at_least? + proofs.at_most? - 1,
        height: proofs.height,
    })
}

fn proofs<G: GameTree>(game: &G, position: &G::Position, depth: u32, value: NodeValue) -> Proofs {
    let moves = if depth == 0 {
        Vec::new()
    } else {
        game.moves(position)
    };
    if moves.is_empty() {
        let leaf = game.value(position);
        return Proofs {
            at_least: (leaf >= value).then_some(1),
            at_most: (leaf <= value).then_some(1),
            height: 0,
        };
    }
    // One good move proves a player's claim; the opponent's needs an answer to every move.
    let (mut one, mut all, mut height) = (None, Some(0), 0);
    let side = game.side(position);
    for mv in moves {
        let below = proofs(game, &game.play(position, mv), depth - 1, value);
        let (mine, theirs) = match side {
            TreePlayer::Max => (below.at_least, below.at_most),
            TreePlayer::Min => (below.at_most, below.at_least),
        };
        one = fewer(one, mine);
        all = all.zip(theirs).map(|(sum, leaves)| sum + leaves);
        height = height.max(below.height + 1);
    }
    let (at_least, at_most) = match side {
        TreePlayer::Max => (one, all),
        TreePlayer::Min => (all, one),
    };
    Proofs {
        at_least,
        at_most,
        height,
    }
}

/// The smaller of two counts, either of which may be missing.
fn fewer(a: Option<u64>, b: Option<u64>) -> Option<u64> {
    match (a, b) {
        (Some(a), Some(b)) => Some(a.min(b)),
        _ => a.or(b),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::games::Explicit;

    fn leaves(text: &str, value: NodeValue) -> Option<u64> {
        let tree = Explicit::parse(text).unwrap();
        minimal_tree(&tree, tree.height(), value).map(|minimal| minimal.leaves)
    }

    #[test]
    fn two_strategies_share_one_leaf() {
        // c proves 5 with two leaves; one reply below a and below b proves no more.
        assert_eq!(leaves("((4 6) (2 9) (7 5))", 5), Some(4));
        assert_eq!(leaves("((4 6) (2 9) (7 5))", 6), None);
        assert_eq!(leaves("7", 7), Some(1));
    }

    #[test]
    fn the_cheapest_of_equal_moves_counts() {
        // Both moves are worth 3; the second needs one leaf for "at least", the first three.
        assert_eq!(leaves("((3 3 3) 3)", 3), Some(2));
    }

    #[test]
    fn height_is_the_trees_own() {
        let tree = Explicit::parse("((4 6) 5)").unwrap();
        let minimal = minimal_tree(&tree, 9, 5);
        assert_eq!(minimal.map(|minimal| minimal.height), Some(2));
    }
}
