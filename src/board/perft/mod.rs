//! Perft: counting the leaves of the tree of legal moves, the standard test of a move generator.
//!
//! The moves are those of the search's own generator; only the positions are leaner.

mod node;
mod table;
mod walk;

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;

use shakmaty::{Color, Move};

use super::position::Position;
use node::{Black, Node, White};
use table::Table;

/// Work is dealt out in subtrees below so many plies: enough of them to keep all threads busy to
/// the end.
const DEALT_PLIES: u32 = 2;

/// How many lines of `depth` legal moves the position has.
#[must_use]
pub fn perft(position: &Position, depth: u32) -> u64 {
    count(position, depth, None)
}

fn count(position: &Position, depth: u32, table: Option<&Table>) -> u64 {
    match (depth, position.turn()) {
        (0, _) => 1,
        (_, Color::White) => walk::count(&Node::<White>::new(position), depth, table),
        (_, Color::Black) => walk::count(&Node::<Black>::new(position), depth, table),
    }
}

/// How to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perft {
    /// Threads that count, at most; 0 counts as one.
    pub threads: usize,
    /// MiB of hash table; 0, or more than can be had, counts every line.
    pub hash_mib: usize,
}

impl Default for Perft {
    fn default() -> Perft {
        Perft {
            threads: 1,
            hash_mib: 0,
        }
    }
}

/// The leaves below each root move, and all of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    pub moves: Vec<(Move, u64)>,
    pub total: u64,
}

impl Perft {
    /// Counts the lines of `depth` legal moves.
    #[must_use]
    pub fn run(&self, root: &Position, depth: u32) -> u64 {
        self.divide(root, depth).total
    }

    /// Counts the lines of `depth` legal moves, divided by their first move.
    #[must_use]
    pub fn divide(&self, root: &Position, depth: u32) -> Counts {
        if depth == 0 {
            return Counts {
                moves: Vec::new(),
                total: 1,
            };
        }
        let subtrees = deal(root, depth);
        let table = Table::new(self.hash_mib);
        let next = AtomicUsize::new(0);
        let moves = root.legal_moves();
        let counts: Vec<AtomicU64> = moves.iter().map(|_| AtomicU64::new(0)).collect();
        let work = || {
            while let Some(subtree) = subtrees.get(next.fetch_add(1, Relaxed)) {
                let leaves = count(&subtree.position, subtree.depth, table.as_ref());
                counts[subtree.root_move].fetch_add(leaves, Relaxed);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(subtrees.len()) {
                // A thread that cannot be had is done without.
                if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                    log::warn!("perft with fewer threads: {error}");
                    break;
                }
            }
            work();
        });
        let counts = counts.into_iter().map(AtomicU64::into_inner);
        let moves: Vec<(Move, u64)> = moves.into_iter().zip(counts).collect();
        let total = moves.iter().map(|&(_, count)| count).sum();
        Counts { moves, total }
    }
}

/// A piece of work.
struct Subtree {
    /// Which of the root's moves it is below.
    root_move: usize,
    position: Position,
    depth: u32,
}

fn deal(root: &Position, depth: u32) -> Vec<Subtree> {
    let mut subtrees = Vec::new();
    for (root_move, m) in root.legal_moves().into_iter().enumerate() {
        let mut deal = |position, depth| {
            subtrees.push(Subtree {
                root_move,
                position,
                depth,
            });
        };
        let position = root.play(m);
        if depth <= DEALT_PLIES {
            deal(position, depth - 1);
        } else {
            for reply in position.legal_moves() {
                deal(position.play(reply), depth - DEALT_PLIES);
            }
        }
    }
    subtrees
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;
    use crate::types::CastlingMode;

    #[test]
    fn counts_what_shakmaty_counts() {
        random_games(30, |position| {
            assert_eq!(
                perft(position, 2),
                shakmaty::perft(position.chess(), 2),
                "{}",
                position.fen()
            );
        });
    }

    #[test]
    fn every_way_to_count_agrees() {
        let root = Position::startpos();
        for threads in [0, 1, 3] {
            for hash_mib in [0, 1] {
                let perft = Perft { threads, hash_mib };
                for (depth, leaves) in [(0, 1), (1, 20), (2, 400), (3, 8902), (4, 197_281)] {
                    assert_eq!(perft.run(&root, depth), leaves);
                }
            }
        }
    }

    #[test]
    fn more_than_the_machine_has_is_done_without() {
        let perft = Perft {
            threads: usize::MAX,
            hash_mib: usize::MAX,
        };
        assert_eq!(perft.run(&Position::startpos(), 3), 8902);
    }

    #[test]
    fn divided_counts_are_those_of_the_children() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let root = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let counts = Perft::default().divide(&root, 3);
        assert_eq!(counts.total, 97_862);
        for (m, leaves) in counts.moves {
            assert_eq!(leaves, perft(&root.play(m), 2), "{}", root.uci(m));
        }
    }

    #[test]
    fn a_hash_table_full_to_the_brim_changes_nothing() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let root = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let perft = Perft {
            threads: 2,
            hash_mib: 1,
        };
        assert_eq!(perft.run(&root, 5), 193_690_690);
    }
}
