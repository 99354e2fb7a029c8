//! Perft: counting the leaves of the tree of legal moves, the standard test of a move generator.
//!
//! It walks the positions that the search plays, so that it tests those.

mod replies;
mod table;

use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::Relaxed};
use std::thread;

use thiserror::Error;

use super::position::Position;
use crate::types::{MAX_PLY, Move};
use table::Table;

/// Work is dealt out in subtrees below so many plies: enough of them to keep all threads busy to
/// the end.
const DEALT_PLIES: u32 = 2;

/// The most plies to count: each takes a few kilobytes of stack.
pub const PERFT_MAX_DEPTH: u32 = MAX_PLY as u32;

/// Why there is no count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum PerftError {
    #[error("perft: {0} plies are too many; {PERFT_MAX_DEPTH} are the most")]
    TooDeep(u32),
    #[error("perft: more than {} sequences", u64::MAX - 1)]
    TooMany,
    #[error("perft: {0} MiB for the hash table could not be allocated")]
    Alloc(usize),
}

/// How many lines of `depth` legal moves the position has; for depths up to [`PERFT_MAX_DEPTH`].
/// `u64::MAX` stands for all larger numbers.
#[must_use]
pub fn perft(position: &Position, depth: u32) -> u64 {
    PerftWalk {
        table: None,
        stop: &AtomicBool::new(false),
    }
    .count(position, depth)
}

/// From this many plies on a count looks whether it is to stop: often enough for a person, and
/// too seldom to cost anything.
const STOP_CHECK_DEPTH: u32 = 4;

/// What all parts of a count share.
#[derive(Clone, Copy)]
struct PerftWalk<'a> {
    table: Option<&'a Table>,
    stop: &'a AtomicBool,
}

impl PerftWalk<'_> {
    /// Meaningless once `stop` is set. The last ply is counted without playing it, the one before
    /// is played without keys. Two plies are already dearer to count than to look up; one is not.
    fn count(self, position: &Position, depth: u32) -> u64 {
        if depth <= 1 {
            return if depth == 0 {
                1
            } else {
                position.count_moves()
            };
        }
        let key = Table::key(position.key(), depth);
        if let Some(leaves) = self.table.and_then(|table| table.get(key)) {
            return leaves;
        }
        if depth >= STOP_CHECK_DEPTH && self.stop.load(Relaxed) {
            return 0;
        }
        let leaves = if depth == 2 {
            replies::count(position)
        } else {
            let moves = position.legal_moves();
            let below = |m| self.count(&position.play(m), depth - 1);
            moves.into_iter().map(below).fold(0, u64::saturating_add)
        };
        if depth >= STOP_CHECK_DEPTH && self.stop.load(Relaxed) {
            return 0;
        }
        if let Some(table) = self.table {
            table.put(key, leaves);
        }
        leaves
    }
}

/// How to count.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Perft {
    /// Threads that count, at most; 0 counts as one.
    pub threads: usize,
    /// MiB of hash table; with 0 every line is counted one by one.
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
    /// Counts the lines of `depth` legal moves, divided by their first move.
    ///
    /// # Errors
    /// If `depth` is more than [`PERFT_MAX_DEPTH`], the lines are too many for 64 bits, or
    /// allocation fails.
    pub fn divide(&self, root: &Position, depth: u32) -> Result<Counts, PerftError> {
        self.divide_until(root, depth, &AtomicBool::new(false))
    }

    /// As [`Perft::divide`], until another thread sets `stop`; the counts are of no use then.
    ///
    /// # Errors
    /// As [`Perft::divide`].
    pub fn divide_until(
        &self,
        root: &Position,
        depth: u32,
        stop: &AtomicBool,
    ) -> Result<Counts, PerftError> {
        if depth > PERFT_MAX_DEPTH {
            return Err(PerftError::TooDeep(depth));
        }
        if depth == 0 {
            return Ok(Counts {
                moves: Vec::new(),
                total: 1,
            });
        }
        let subtrees = deal(root, depth);
        let table = Table::new(self.hash_mib).ok_or(PerftError::Alloc(self.hash_mib))?;
        let walk = PerftWalk {
            table: (!table.is_empty()).then_some(&table),
            stop,
        };
        let next = AtomicUsize::new(0);
        let moves = root.legal_moves();
        let counts: Vec<AtomicU64> = moves.iter().map(|_| AtomicU64::new(0)).collect();
        let work = || {
            while let Some(subtree) = subtrees.get(next.fetch_add(1, Relaxed)) {
                if stop.load(Relaxed) {
                    return;
                }
                let leaves = walk.count(&subtree.position, subtree.depth);
                let sum = |count: u64| Some(count.saturating_add(leaves));
                // It never fails, as it always has a new value.
                let _ = counts[subtree.root_move].fetch_update(Relaxed, Relaxed, sum);
            }
        };
        thread::scope(|scope| {
            for _ in 1..self.threads.min(subtrees.len()) {
                // If a thread cannot be started, the others do its share.
                if let Err(error) = thread::Builder::new().spawn_scoped(scope, work) {
                    log::warn!("perft with fewer threads: {error}");
                    break;
                }
            }
            work();
        });
        let counts = counts.into_iter().map(AtomicU64::into_inner);
        let moves: Vec<(Move, u64)> = moves.into_iter().zip(counts).collect();
        let counts = moves.iter().map(|&(_, count)| count);
        match counts.fold(0, u64::saturating_add) {
            u64::MAX => Err(PerftError::TooMany),
            total => Ok(Counts { moves, total }),
        }
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
    use std::collections::HashMap;

    use super::*;
    use crate::board::tests::{cases, random_games};
    use crate::types::CastlingMode;

    fn total(perft: Perft, root: &Position, depth: u32) -> u64 {
        perft.divide(root, depth).expect("not too deep").total
    }

    #[test]
    fn more_plies_than_the_stack_holds_are_refused() {
        // One legal move in each position, for ever.
        let fen = "k1n5/p1p1p3/PpPpP3/1P1P4/4p1p1/3pPpPp/3P1P1P/5N1K w - - 0 1";
        let root = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        assert_eq!(total(Perft::default(), &root, PERFT_MAX_DEPTH), 1);
        let refused = Perft::default().divide(&root, PERFT_MAX_DEPTH + 1);
        assert_eq!(refused, Err(PerftError::TooDeep(PERFT_MAX_DEPTH + 1)));
    }

    /// Counts by another way: how many lines lead to each pair of squares, with kings alone.
    fn lines_of_two_kings(depth: u32) -> u128 {
        let root = Position::from_fen(TWO_KINGS, CastlingMode::Standard).expect("a position");
        let mut reached = HashMap::from([(root.key(), (root, 1_u128))]);
        for _ in 0..depth {
            let mut next = HashMap::new();
            for (position, lines) in reached.into_values() {
                for m in position.legal_moves() {
                    let after = position.play(m);
                    next.entry(after.key()).or_insert((after, 0)).1 += lines;
                }
            }
            reached = next;
        }
        reached.into_values().map(|(_, lines)| lines).sum()
    }

    const TWO_KINGS: &str = "8/8/8/4k3/8/8/8/4K3 w - - 0 1";

    #[test]
    #[cfg_attr(miri, ignore = "too many positions to interpret")]
    fn more_lines_than_64_bits_hold_are_refused() {
        let root = Position::from_fen(TWO_KINGS, CastlingMode::Standard).expect("a position");
        let perft = Perft {
            threads: 2,
            hash_mib: 16,
        };
        let true_count = lines_of_two_kings(23);
        assert_eq!(u128::from(total(perft, &root, 23)), true_count);
        assert!(lines_of_two_kings(24) > u128::from(u64::MAX));
        for depth in [24, 40] {
            assert_eq!(perft.divide(&root, depth), Err(PerftError::TooMany));
        }
    }

    #[test]
    fn chess960_rights_in_a_standard_fen_count() {
        let leaves = |rights: &str, mode| {
            let fen = format!("r3k1r1/8/8/8/8/8/8/1R2K1R1 w {rights} - 2 9");
            perft(&Position::from_fen(&fen, mode).expect("a position"), 3)
        };
        let chess960 = leaves("GBga", CastlingMode::Chess960);
        assert_eq!(leaves("GBga", CastlingMode::Standard), chess960);
        assert!(leaves("-", CastlingMode::Standard) < chess960);
    }

    #[test]
    fn boards_full_of_queens_fit_the_lists() {
        let fen = "kBQQQQQQ/BR5Q/Q6Q/Q6Q/Q6Q/Q6Q/Q6Q/KQQQQQQQ w - - 0 1";
        let root = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        assert!(root.legal_moves().len() > 224);
        assert_eq!(root.legal_moves().len() as u64, perft(&root, 1));
    }

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
                let counts = [(0, 1), (1, 20), (2, 400), (3, 8902), (4, 197_281)];
                for (depth, leaves) in counts.into_iter().take(cases(5, 3) as usize) {
                    assert_eq!(total(perft, &root, depth), leaves);
                }
            }
        }
    }

    #[test]
    fn more_than_the_machine_has() {
        let threads = Perft {
            threads: usize::MAX,
            hash_mib: 0,
        };
        assert_eq!(total(threads, &Position::startpos(), 3), 8902);
        let hash = Perft {
            threads: 1,
            hash_mib: usize::MAX,
        };
        let refused = hash.divide(&Position::startpos(), 3);
        assert_eq!(refused, Err(PerftError::Alloc(usize::MAX)));
    }

    #[test]
    fn divided_counts_are_those_of_the_children() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let root = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let counts = Perft::default().divide(&root, 3).expect("not too deep");
        assert_eq!(counts.total, 97_862);
        for (m, leaves) in counts.moves {
            assert_eq!(leaves, perft(&root.play(m), 2), "{}", root.uci(m));
        }
    }

    #[test]
    #[cfg_attr(miri, ignore = "too many positions to interpret")]
    fn a_hash_table_full_to_the_brim_changes_nothing() {
        let fen = "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1";
        let root = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let perft = Perft {
            threads: 2,
            hash_mib: 1,
        };
        assert_eq!(total(perft, &root, 5), 193_690_690);
    }
}
