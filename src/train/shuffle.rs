//! A random order that needs no memory: a permutation computed index by index.
//!
//! A Feistel network over the smallest even number of bits that covers the range permutes
//! numbers; values outside the range are permuted again until they fall inside ("cycle
//! walking", Black and Rogaway 2002). Any place in any epoch is found from the seed alone, so a
//! resumed run continues with the same position as an uninterrupted one.

use crate::hash::mix;

const ROUNDS: u64 = 4;

/// A permutation of `0..len`.
#[derive(Clone, Copy, Debug)]
pub struct Permutation {
    len: u64,
    half_bits: u32,
    keys: [u64; ROUNDS as usize],
}

impl Permutation {
    /// The permutation of `0..len` that belongs to a seed and an epoch.
    #[must_use]
    pub fn new(len: usize, seed: u64, epoch: u64) -> Permutation {
        let len = len as u64;
        let bits = u64::BITS - len.saturating_sub(1).leading_zeros();
        let mut keys = [0; ROUNDS as usize];
        for (round, key) in keys.iter_mut().enumerate() {
            *key = mix(mix(seed ^ mix(epoch)) ^ round as u64);
        }
        Permutation {
            len,
            half_bits: bits.div_ceil(2).max(1),
            keys,
        }
    }

    /// The image of `index`, which must be inside the range.
    #[must_use]
    pub fn at(&self, index: usize) -> usize {
        debug_assert!((index as u64) < self.len);
        let mask = (1u64 << self.half_bits) - 1;
        let mut value = index as u64;
        loop {
            let (mut left, mut right) = (value >> self.half_bits, value & mask);
            for key in self.keys {
                (left, right) = (right, left ^ mix(right ^ key) & mask);
            }
            value = left << self.half_bits | right;
            if value < self.len {
                return value as usize;
            }
        }
    }
}

/// A random order in which groups of neighbours stay together; a permutation too.
#[derive(Clone, Copy, Debug)]
pub struct GroupOrder {
    len: usize,
    neighbours: usize,
    groups: Permutation,
    /// Where the first group begins: the groups of another epoch are others.
    shift: usize,
}

impl GroupOrder {
    /// The order of `0..len` in groups of so many neighbours that belongs to a seed and an epoch.
    #[must_use]
    pub fn new(len: usize, neighbours: usize, seed: u64, epoch: u64) -> GroupOrder {
        GroupOrder {
            len,
            neighbours,
            groups: Permutation::new(len / neighbours, seed, epoch),
            shift: (mix(seed ^ mix(epoch)) % neighbours as u64) as usize,
        }
    }

    /// The image of `index`, which must be inside the range. Numbers that fill no group come last.
    #[must_use]
    pub fn at(&self, index: usize) -> usize {
        let (group, place) = (index / self.neighbours, index % self.neighbours);
        let in_groups = if group < self.len / self.neighbours {
            self.groups.at(group) * self.neighbours + place
        } else {
            index
        };
        (in_groups + self.shift) % self.len
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_index_appears_once_and_epochs_differ() {
        for len in [1, 2, 3, 64, 65, 1000, 5003] {
            let order = Permutation::new(len, 7, 1);
            let mut seen = vec![false; len];
            for i in 0..len {
                let at = order.at(i);
                assert!(!seen[at], "{len}: {at} twice");
                seen[at] = true;
            }
        }
        let (a, b) = (Permutation::new(5003, 7, 1), Permutation::new(5003, 7, 2));
        let same = (0..5003).filter(|&i| a.at(i) == b.at(i)).count();
        assert!(same < 10, "{same} places agree");
    }

    #[test]
    fn groups_stay_together() {
        for (len, epoch) in [(1, 0), (3, 1), (8, 2), (5003, 3)] {
            let order = GroupOrder::new(len, 4, 7, epoch);
            let mut all: Vec<usize> = (0..len).map(|index| order.at(index)).collect();
            for group in all.chunks_exact(4) {
                assert!(group.windows(2).all(|pair| pair[1] == (pair[0] + 1) % len));
            }
            all.sort_unstable();
            assert!(all.into_iter().eq(0..len));
        }
        let (a, b) = (
            GroupOrder::new(5003, 4, 7, 1),
            GroupOrder::new(5003, 4, 7, 2),
        );
        let same = (0..5003).filter(|&i| a.at(i) == b.at(i)).count();
        assert!(same < 40, "{same} places agree");
    }
}
