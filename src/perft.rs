//! Perft for people: divided by root move, over several threads, with an optional hash table.
//! The counting itself is [`board::perft`].

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::thread;

use crate::board::{self, Position};
use crate::types::Move;

/// Below this many plies counting beats looking up.
const LEAST_HASHED_DEPTH: u32 = 3;
/// Work is dealt out in pieces of two plies: enough of them to keep all threads busy to the end.
const PIECE_PLIES: u32 = 2;
const BYTES_PER_MIB: usize = 1 << 20;
/// Spreads the depth over the key's bits, so that one position has a slot for each depth.
const DEPTH_MIX: u64 = 0x9E37_79B9_7F4A_7C15;

/// How to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    pub threads: usize,
    /// MiB of hash table; 0 counts every line.
    pub hash_mib: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options {
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

/// Counts the lines of `depth` legal moves, divided by their first move.
#[must_use]
pub fn divide(root: &Position, depth: u32, options: &Options) -> Counts {
    if depth == 0 {
        return Counts {
            moves: Vec::new(),
            total: 1,
        };
    }
    let moves = root.legal_moves();
    let pieces = deal(root, depth);
    let table = Table::new(options.hash_mib);
    let next = AtomicUsize::new(0);
    let counts: Vec<AtomicU64> = moves.iter().map(|_| AtomicU64::new(0)).collect();
    let work = || {
        while let Some(piece) = pieces.get(next.fetch_add(1, Ordering::Relaxed)) {
            let leaves = table.count(&piece.position, piece.depth);
            counts[piece.root_move].fetch_add(leaves, Ordering::Relaxed);
        }
    };
    thread::scope(|scope| {
        for _ in 1..options.threads.max(1) {
            scope.spawn(work);
        }
        work();
    });
    let moves: Vec<(Move, u64)> = moves
        .into_iter()
        .zip(counts.into_iter().map(AtomicU64::into_inner))
        .collect();
    let total = moves.iter().map(|&(_, count)| count).sum();
    Counts { moves, total }
}

/// A subtree to count.
struct Piece {
    root_move: usize,
    position: Position,
    depth: u32,
}

fn deal(root: &Position, depth: u32) -> Vec<Piece> {
    let mut pieces = Vec::new();
    for (root_move, m) in root.legal_moves().into_iter().enumerate() {
        let position = root.play(m);
        if depth <= PIECE_PLIES {
            pieces.push(Piece {
                root_move,
                position,
                depth: depth - 1,
            });
            continue;
        }
        for reply in position.legal_moves() {
            let position = position.play(reply);
            pieces.push(Piece {
                root_move,
                position,
                depth: depth - PIECE_PLIES,
            });
        }
    }
    pieces
}

/// Counts by position and depth, shared without locks: the key is stored mixed with the count,
/// so that halves of two writes do not match each other.
struct Table {
    slots: Vec<[AtomicU64; 2]>,
}

impl Table {
    fn new(mib: usize) -> Table {
        let slots = mib * BYTES_PER_MIB / size_of::<[AtomicU64; 2]>();
        Table {
            slots: (0..slots)
                .map(|_| [AtomicU64::new(0), AtomicU64::new(0)])
                .collect(),
        }
    }

    fn slot(&self, key: u64) -> Option<&[AtomicU64; 2]> {
        // The high half of the product of key and size: an even spread without a division.
        let index = (u128::from(key) * self.slots.len() as u128) >> u64::BITS;
        self.slots.get(index as usize)
    }

    fn count(&self, position: &Position, depth: u32) -> u64 {
        if depth < LEAST_HASHED_DEPTH || self.slots.is_empty() {
            return board::perft(position, depth);
        }
        let key = position
            .key()
            .wrapping_add(u64::from(depth))
            .wrapping_mul(DEPTH_MIX);
        let slot = self.slot(key);
        if let Some([check, count]) = slot {
            let count = count.load(Ordering::Relaxed);
            // A count of zero is a slot that was never written, or mate: not worth a special case.
            if count != 0 && check.load(Ordering::Relaxed) ^ count == key {
                return count;
            }
        }
        let moves = position.legal_moves();
        let total = moves
            .into_iter()
            .map(|m| self.count(&position.play(m), depth - 1))
            .sum();
        if let Some([check, count]) = slot {
            check.store(key ^ total, Ordering::Relaxed);
            count.store(total, Ordering::Relaxed);
        }
        total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_way_to_count_agrees() {
        let root = Position::startpos();
        for threads in [1, 3] {
            for hash_mib in [0, 1] {
                for (depth, expected) in [(0, 1), (1, 20), (2, 400), (3, 8902), (4, 197_281)] {
                    let counts = divide(&root, depth, &Options { threads, hash_mib });
                    assert_eq!(counts.total, expected);
                }
            }
        }
    }

    #[test]
    fn hashing_many_depths_agrees() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let root = Position::from_fen(fen, crate::types::CastlingMode::Standard).expect("legal");
        let counts = divide(
            &root,
            5,
            &Options {
                threads: 2,
                hash_mib: 4,
            },
        );
        assert_eq!(counts.total, 193_690_690);
    }
}
