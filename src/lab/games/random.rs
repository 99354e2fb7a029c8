//! Random trees whose branching, depth, values and move ordering are set at will.
//!
//! The tree is never stored. A position carries its own true value, and its successors' values
//! are drawn so that the best of them gives it: the tree is made from the root down, and every
//! node's minimax value is known in advance. So the share of nodes whose best move comes first can
//! be chosen.

use crate::hash::mix;
use crate::lab::game::{GameTree, NodeValue, TreePlayer};

/// The parameters of a random tree. Equal parameters give equal trees.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RandomTree {
    /// Successors of every interior node, at least 1.
    pub branching: u32,
    /// Plies from the root to the leaves.
    pub depth: u32,
    /// True values lie in `-range..=range`.
    pub range: NodeValue,
    /// The share of nodes, from 0 to 1, in which the best move is placed first. In the others
    /// it is placed by chance, which may be first as well.
    pub quality: f64,
    /// How far an interior node's leaf value (if the search stops there) is off the true one.
    pub noise: NodeValue,
    pub seed: u64,
}

impl Default for RandomTree {
    fn default() -> RandomTree {
        RandomTree {
            branching: 6,
            depth: 6,
            range: 100,
            quality: 0.8,
            noise: 20,
            seed: 1,
        }
    }
}

/// A position of a random tree.
#[derive(Clone, Copy, Debug)]
pub struct Spot {
    hash: u64,
    /// The true value for the side to move.
    value: NodeValue,
    /// Plies to the leaves.
    left: u32,
    side: TreePlayer,
}

/// Independent streams of random numbers drawn from one position.
#[derive(Clone, Copy)]
enum Stream {
    Successor,
    NodeValue,
    Quality,
    Place,
    Noise,
}

impl RandomTree {
    /// The place of the best successor.
    fn best_place(&self, hash: u64) -> u32 {
        let sure = (draw(hash, Stream::Quality, 0) >> 11) as f64 / (1u64 << 53) as f64;
        if sure < self.quality {
            0
        } else {
            (draw(hash, Stream::Place, 0) % u64::from(self.branching)) as u32
        }
    }
}

fn draw(hash: u64, stream: Stream, index: u32) -> u64 {
    mix(hash ^ mix(u64::from(index) * 8 + stream as u64))
}

/// A number between `low` and `high`, both included.
fn between(low: NodeValue, high: NodeValue, random: u64) -> NodeValue {
    let span = u64::from(high.abs_diff(low)) + 1;
    low + (random % span) as NodeValue
}

impl GameTree for RandomTree {
    type Position = Spot;
    type Move = u32;

    fn start(&self) -> Spot {
        let hash = mix(self.seed);
        let value = between(-self.range, self.range, draw(hash, Stream::NodeValue, 0));
        Spot {
            hash,
            value,
            left: self.depth,
            side: TreePlayer::Max,
        }
    }

    fn side(&self, spot: &Spot) -> TreePlayer {
        spot.side
    }

    fn moves(&self, spot: &Spot) -> Vec<u32> {
        if spot.left == 0 {
            Vec::new()
        } else {
            (0..self.branching).collect()
        }
    }

    fn play(&self, spot: &Spot, mv: u32) -> Spot {
        let value = if mv == self.best_place(spot.hash) {
            spot.value
        } else {
            between(
                -self.range,
                spot.value,
                draw(spot.hash, Stream::NodeValue, mv),
            )
        };
        Spot {
            hash: draw(spot.hash, Stream::Successor, mv),
            value: -value,
            left: spot.left - 1,
            side: spot.side.other(),
        }
    }

    fn value(&self, spot: &Spot) -> NodeValue {
        let error = if spot.left == 0 {
            0
        } else {
            between(-self.noise, self.noise, draw(spot.hash, Stream::Noise, 0))
        };
        spot.side.view(spot.value + error)
    }

    fn key(&self, spot: &Spot) -> u64 {
        spot.hash
    }

    fn label(&self, _: &Spot, mv: u32) -> String {
        (mv + 1).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::{Algorithm, SolveOptions, solve};

    #[test]
    fn the_value_promised_is_the_value_found() {
        for seed in 0..50 {
            let tree = RandomTree {
                branching: 3,
                depth: 4,
                seed,
                ..RandomTree::default()
            };
            let solved = solve(
                &tree,
                Algorithm::Minimax,
                SolveOptions {
                    depth: 4,
                    ..SolveOptions::default()
                },
            );
            assert_eq!(solved.value, tree.start().value, "seed {seed}");
        }
    }

    #[test]
    fn full_quality_puts_the_best_first() {
        let tree = RandomTree {
            quality: 1.0,
            ..RandomTree::default()
        };
        let solved = solve(
            &tree,
            Algorithm::Minimax,
            SolveOptions {
                depth: 6,
                ..SolveOptions::default()
            },
        );
        assert_eq!(solved.best.map(|best| best.index), Some(0));
    }
}
