//! The transposition table: what earlier searches found out about positions, shared by all
//! threads without locks.
//!
//! A cluster is 32 bytes, so two share a cache line and none straddles one:
//!
//! ```text
//! word 0..2   one entry each:  move 16 | score 16 | eval 16 | depth 8 | age 5, pv 1, bound 2
//! word 3      three 16-bit tags, 16 bits unused
//! ```
//!
//! Every word is read and written atomically (relaxed), so there are no torn entries and no
//! undefined behaviour; a tag holds the key's low bits xor a fold of its entry, so that an entry
//! and a tag that two threads wrote at the same time do not match. The idea of checking one by
//! the other is Hyatt and Mann's lockless hashing.

mod entry;

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering::Relaxed};
use std::time::Duration;

use bytemuck::Zeroable;
use thiserror::Error;

use crate::memory::{LargeTable, exceeds_memory, prefetch};
use crate::types::{Bound, Depth, Ply, Score};
pub use entry::TtEntry;
use entry::{AGES, Word};

/// Entries in a cluster.
const ENTRIES: usize = 3;
const TAG_BITS: usize = 16;
/// A result of the same search that is at least this much deeper than a new one for its position is
/// kept, unless the new one is exact.
const DEEPER_KEPT: i32 = 4;
/// In that comparison a new result from a principal variation counts as this many plies deeper.
const PV_WORTH: i32 = 2;
/// Clusters looked at to estimate how full the table is: with three entries each, a thousand.
const SAMPLE: usize = 334;
#[derive(Zeroable)]
#[repr(C, align(32))]
pub(crate) struct Cluster {
    entries: [AtomicU64; ENTRIES],
    tags: AtomicU64,
}

const _: () = assert!(size_of::<Cluster>() == 32);

/// The memory for a table could not be allocated.
#[derive(Clone, Copy, Debug, Error, PartialEq, Eq)]
#[error("no memory for a hash table of {0} MiB")]
pub struct AllocError(pub usize);

fn tag(tags: u64, index: usize) -> u16 {
    (tags >> (TAG_BITS * index)) as u16
}

/// The table, shared by reference.
pub struct TranspositionTable {
    clusters: LargeTable<Cluster>,
    /// Nothing has been stored since the table was made or cleared. Clearing would otherwise make
    /// the system provide memory that was never used.
    clean: AtomicBool,
    age: AtomicU8,
}

impl TranspositionTable {
    /// An empty table of `mib` mebibytes, at least one.
    ///
    /// # Errors
    /// If allocation fails.
    pub fn new(mib: usize) -> Result<TranspositionTable, AllocError> {
        const MIB: usize = 1 << 20;
        let bytes = mib.max(1).saturating_mul(MIB);
        if exceeds_memory(bytes) {
            return Err(AllocError(mib));
        }
        TranspositionTable::with_clusters(bytes / size_of::<Cluster>()).ok_or(AllocError(mib))
    }

    /// An empty table; `None` if allocation fails. `clusters` must not be 0.
    fn with_clusters(clusters: usize) -> Option<TranspositionTable> {
        Some(TranspositionTable {
            clusters: LargeTable::new(clusters).ok()?,
            clean: AtomicBool::new(true),
            age: AtomicU8::new(0),
        })
    }

    /// Has the system supply the table's memory with up to `threads` threads, waiting for it no
    /// longer than `timeout`: a search on a fresh large table would wait for it at nearly every
    /// node.
    pub fn populate(&mut self, threads: usize, timeout: Duration) {
        if !self.clusters.populate(threads, timeout) {
            log::debug!("the hash table's memory is not all supplied yet");
        }
    }

    /// Forgets everything. The work is divided among up to `threads` threads; where the system
    /// starts none, the caller does all of it.
    pub fn clear(&self, threads: usize) {
        self.age.store(0, Relaxed);
        if self.clean.swap(true, Relaxed) {
            return;
        }
        let part = self.clusters.len().div_ceil(threads.max(1));
        let mut parts = self.clusters.chunks(part);
        let own = parts.next();
        std::thread::scope(|scope| {
            for part in parts {
                let thread = std::thread::Builder::new();
                if thread.spawn_scoped(scope, || clear(part)).is_err() {
                    clear(part);
                }
            }
            own.map(clear);
        });
    }

    /// From now on entries count as newer than all before.
    pub fn new_search(&self) {
        self.age.store((self.age.load(Relaxed) + 1) % AGES, Relaxed);
    }

    fn cluster(&self, key: u64) -> &Cluster {
        let clusters = &self.clusters;
        let index = (u128::from(key) * clusters.len() as u128) >> 64;
        &clusters[index as usize]
    }

    /// Asks the processor to load the position's cluster, some time before it is needed.
    #[inline]
    pub fn prefetch(&self, key: u64) {
        prefetch(self.cluster(key));
    }

    /// What is known about the position with this key, `ply` plies below the root and with
    /// `halfmoves` plies played since the last irreversible one.
    #[must_use]
    #[inline(always)]
    pub fn probe(&self, key: u64, ply: Ply, halfmoves: u32) -> Option<TtEntry> {
        let cluster = self.cluster(key);
        let tags = cluster.tags.load(Relaxed);
        for (index, entry) in cluster.entries.iter().enumerate() {
            let word = Word(entry.load(Relaxed));
            if tag(tags, index) == key as u16 ^ word.fold() && !word.is_empty() {
                return Some(TtEntry {
                    best: word.best(),
                    score: Score::from_table(word.score(), ply, halfmoves),
                    bound: word.bound(),
                    depth: Depth(word.depth()),
                    pv: word.pv(),
                    eval: word.eval(),
                });
            }
        }
        None
    }

    /// Stores a result `ply` plies below the root. An old move is kept where there is no new
    /// one, and a much deeper result of the same search is kept whole.
    pub fn store(&self, key: u64, ply: Ply, entry: &TtEntry) {
        // Read first: a write would take the cache line from the other threads.
        if self.clean.load(Relaxed) {
            self.clean.store(false, Relaxed);
        }
        let cluster = self.cluster(key);
        let age = self.age.load(Relaxed);
        let tags = cluster.tags.load(Relaxed);
        let (index, old) = victim(cluster, tags, key, age);

        let mut best = entry.best;
        if let Some(old) = old {
            if best.is_none() {
                best = old.best();
            }
            let advance = entry.depth.plies() + PV_WORTH * i32::from(entry.pv) + DEEPER_KEPT;
            if entry.bound != Some(Bound::Exact) && advance <= old.depth() && old.age() == age {
                return;
            }
        }
        let word = Word::pack(best, entry.score.to_table(ply), entry, age);
        let shift = TAG_BITS * index;
        let cleared = tags & !(u64::from(u16::MAX) << shift);
        cluster.entries[index].store(word.0, Relaxed);
        cluster.tags.store(
            cleared | u64::from(key as u16 ^ word.fold()) << shift,
            Relaxed,
        );
    }

    /// How full the table is with entries of this search, in permille of a sample.
    #[must_use]
    pub fn hashfull(&self) -> u32 {
        let age = self.age.load(Relaxed);
        let sample = self.clusters.iter().take(SAMPLE);
        let looked_at = sample.len() * ENTRIES;
        let used = sample
            .flat_map(|cluster| &cluster.entries)
            .map(|entry| Word(entry.load(Relaxed)))
            .filter(|word| !word.is_empty() && word.age() == age)
            .count();
        (used * 1000 / looked_at.max(1)) as u32
    }
}

fn clear(clusters: &[Cluster]) {
    for cluster in clusters {
        cluster
            .entries
            .iter()
            .for_each(|entry| entry.store(0, Relaxed));
        cluster.tags.store(0, Relaxed);
    }
}

/// The place for a position: its own entry (then also returned) or the least worth keeping.
fn victim(cluster: &Cluster, tags: u64, key: u64, age: u8) -> (usize, Option<Word>) {
    let mut least = (0, i32::MAX);
    for (index, entry) in cluster.entries.iter().enumerate() {
        let word = Word(entry.load(Relaxed));
        if !word.is_empty() && tag(tags, index) == key as u16 ^ word.fold() {
            return (index, Some(word));
        }
        let worth = word.worth(age);
        if worth < least.1 {
            least = (index, worth);
        }
    }
    (least.0, None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::PackedMove;

    fn entry(depth: i32, score: i32) -> TtEntry {
        TtEntry {
            best: PackedMove::from_bits(0x0123),
            score: Score::cp(score),
            bound: Some(Bound::Lower),
            depth: Depth(depth),
            pv: false,
            eval: Some(Score::cp(-17)),
        }
    }

    /// For tests that touch many clusters or one very often: Miri looks at the whole table at every
    /// touch. It is large enough for [`SAMPLE`].
    fn small_table() -> TranspositionTable {
        let clusters = if cfg!(miri) { 512 } else { 1 << 16 };
        TranspositionTable::with_clusters(clusters).expect("memory")
    }

    #[test]
    fn what_is_stored_is_found() {
        let table = TranspositionTable::new(1).unwrap();
        assert_eq!(table.probe(77, Ply(0), 0), None);
        table.store(77, Ply(0), &entry(9, 123));
        let tt_entry = table.probe(77, Ply(0), 0).unwrap();
        assert_eq!(
            (tt_entry.score, tt_entry.depth, tt_entry.bound),
            (Score::cp(123), Depth(9), Some(Bound::Lower))
        );
        assert_eq!(
            (tt_entry.best.bits(), tt_entry.eval, tt_entry.pv),
            (0x0123, Some(Score::cp(-17)), false)
        );
        assert_eq!(table.probe(78, Ply(0), 0), None);
        table.clear(2);
        assert_eq!(table.probe(77, Ply(0), 0), None);
    }

    #[test]
    fn clearing_works_without_threads_and_again() {
        let table = small_table();
        for threads in [0, 1, 2, 5, 1000] {
            table.store(77, Ply(0), &entry(9, 123));
            table.store(u64::MAX - 77, Ply(0), &entry(9, 123));
            table.clear(threads);
            table.clear(threads);
            assert!(table.clusters.iter().all(|cluster| {
                let entries = cluster.entries.iter().all(|entry| entry.load(Relaxed) == 0);
                entries && cluster.tags.load(Relaxed) == 0
            }));
        }
    }

    /// Memory that nobody has used stays with the system.
    #[cfg(target_os = "linux")]
    #[cfg_attr(miri, ignore = "counts the system's pages, of which Miri has none")]
    #[test]
    fn clearing_a_fresh_table_touches_nothing() {
        const MIB: usize = 64;
        let resident = || crate::memory::resident_memory().expect("on Linux");
        let table = TranspositionTable::new(MIB).unwrap();
        let before = resident();
        table.clear(1);
        // Other tests run meanwhile, in other threads.
        assert!(resident() < before + (MIB << 19) as u64);
        table.store(77, Ply(0), &entry(9, 123));
        table.clear(1);
        assert!(table.probe(77, Ply(0), 0).is_none());
    }

    #[test]
    fn more_than_the_machine_has_is_refused() {
        assert_eq!(
            TranspositionTable::new(1 << 25).err(),
            Some(AllocError(1 << 25))
        );
    }

    #[test]
    fn mates_are_stored_relative_to_the_node() {
        let table = TranspositionTable::new(1).unwrap();
        let mate = TtEntry {
            score: Score::mate_in(Ply(7)),
            ..entry(3, 0)
        };
        table.store(5, Ply(4), &mate);
        assert_eq!(
            table.probe(5, Ply(2), 0).unwrap().score,
            Score::mate_in(Ply(5))
        );
    }

    #[test]
    fn the_shallowest_and_oldest_entry_is_replaced() {
        let table = TranspositionTable::new(1).unwrap();
        for (key, depth) in [(1, 5), (2, 3), (3, 8)] {
            table.store(key, Ply(0), &entry(depth, 0));
        }
        table.store(4, Ply(0), &entry(1, 0));
        assert!(table.probe(2, Ply(0), 0).is_none() && table.probe(1, Ply(0), 0).is_some());
        table.new_search();
        table.new_search();
        table.store(4, Ply(0), &entry(1, 0));
        table.store(9, Ply(0), &entry(1, 0));
        assert!(table.probe(1, Ply(0), 0).is_none() && table.probe(4, Ply(0), 0).is_some());
    }

    #[test]
    fn an_old_move_is_kept_and_a_deep_result_too() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(1, Ply(0), &entry(5, 40));
        table.store(
            1,
            Ply(0),
            &TtEntry {
                best: PackedMove::NONE,
                ..entry(6, 50)
            },
        );
        let tt_entry = table.probe(1, Ply(0), 0).unwrap();
        assert_eq!(
            (tt_entry.best.bits(), tt_entry.score),
            (0x0123, Score::cp(50))
        );
        table.store(1, Ply(0), &entry(1, 60));
        assert_eq!(table.probe(1, Ply(0), 0).unwrap().score, Score::cp(50));
    }

    #[test]
    fn a_result_much_shallower_than_the_known_one_is_not_stored() {
        let table = TranspositionTable::new(1).unwrap();
        let known = 20;
        table.store(1, Ply(0), &entry(known, 40));
        table.store(1, Ply(0), &entry(known - DEEPER_KEPT, 60));
        assert_eq!(table.probe(1, Ply(0), 0).unwrap().score, Score::cp(40));
        table.store(1, Ply(0), &entry(known - DEEPER_KEPT + 1, 60));
        assert_eq!(table.probe(1, Ply(0), 0).unwrap().score, Score::cp(60));
    }

    #[test]
    fn two_threads_hardly_ever_read_what_none_wrote() {
        const ROUNDS: u64 = if cfg!(miri) { 200 } else { 20_000 };
        // A torn cluster passes the check of sixteen bits once in 65,536 times; searches verify
        // moves and live with a wrong score. Without the check, tears would show by the thousand.
        const MOST_WRONG: u64 = 10;
        let table = small_table();
        let wrong = std::sync::atomic::AtomicU64::new(0);
        std::thread::scope(|scope| {
            for thread in 0..2u64 {
                let (table, wrong) = (&table, &wrong);
                scope.spawn(move || {
                    for round in 0..ROUNDS {
                        // Keys that share a cluster; the score is a function of the key.
                        let key = |number: u64| (number * 0x9E37) & 0xFFFF;
                        let number = (round * 7 + thread) % 8;
                        let written = entry((round % 9) as i32, number as i32 * 100);
                        table.store(key(number), Ply(0), &written);
                        if let Some(tt_entry) = table.probe(key(number ^ 1), Ply(0), 0)
                            && tt_entry.score != Score::cp((number ^ 1) as i32 * 100)
                        {
                            wrong.fetch_add(1, Relaxed);
                        }
                    }
                });
            }
        });
        let wrong = wrong.into_inner();
        assert!(wrong <= MOST_WRONG, "{wrong}");
    }

    #[test]
    fn fullness_counts_this_search_only() {
        let table = small_table();
        assert_eq!(table.hashfull(), 0);
        // Two for each cluster on average, which has room for three.
        for index in 0..table.clusters.len() as u64 * 2 {
            table.store(
                index.wrapping_mul(0x9E37_79B9_7F4A_7C15),
                Ply(0),
                &entry(2, 0),
            );
        }
        assert!(
            (400..900).contains(&table.hashfull()),
            "{}",
            table.hashfull()
        );
        table.new_search();
        assert_eq!(table.hashfull(), 0);
    }

    #[test]
    fn an_exact_result_replaces_a_deeper_bound_of_the_same_position() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(1, Ply(0), &entry(30, 40));
        let exact = TtEntry {
            bound: Some(Bound::Exact),
            ..entry(1, 60)
        };
        table.store(1, Ply(0), &exact);
        assert_eq!(table.probe(1, Ply(0), 0).unwrap().score, Score::cp(60));
    }

    #[test]
    fn any_result_of_a_new_search_replaces_an_old_one_of_the_same_position() {
        let table = TranspositionTable::new(1).unwrap();
        table.store(1, Ply(0), &entry(30, 40));
        table.new_search();
        table.store(1, Ply(0), &entry(1, 60));
        assert_eq!(table.probe(1, Ply(0), 0).unwrap().score, Score::cp(60));
    }

    #[test]
    fn an_evaluation_alone_decides_nothing_and_gives_way_to_any_result() {
        let table = TranspositionTable::new(1).unwrap();
        let only = TtEntry::evaluation(Score::cp(-33), true);
        table.store(1, Ply(0), &only);
        let found = table.probe(1, Ply(0), 0).unwrap();
        assert_eq!(found, only);
        assert!(!found.decides(Score::INFINITE) && !found.decides(-Score::INFINITE));
        table.store(1, Ply(0), &entry(0, 40));
        let found = table.probe(1, Ply(0), 0).unwrap();
        assert_eq!(
            (found.bound, found.score),
            (Some(Bound::Lower), Score::cp(40))
        );
    }

    #[test]
    fn a_new_position_always_gets_a_place() {
        let table = TranspositionTable::new(1).unwrap();
        for key in 1..=3 {
            table.store(key, Ply(0), &entry(60, 0));
        }
        table.store(4, Ply(0), &entry(0, 5));
        assert_eq!(table.probe(4, Ply(0), 0).unwrap().score, Score::cp(5));
    }
}
