//! The positions of one optimiser step, sorted by where the kings stand.

use crate::nnue::features::KingBuckets;

use super::sample::Sample;
use super::shuffle::GroupOrder;
use super::views::NEIGHBOURS;

/// A batch in processing order.
#[derive(Debug, Default)]
pub struct Batch {
    picked: Vec<Sample>,
    sorted: Vec<Sample>,
    starts: Vec<usize>,
}

impl Batch {
    /// Fetches the positions `from..to` of a random order, with `threads` threads, and sorts them
    /// by the king buckets of both sides, [`NEIGHBOURS`] at a time. Which groups of neighbours are in
    /// a batch is random; their order within it is not, and gradients are sums over all of them.
    pub fn fill(
        &mut self,
        pool: &[Sample],
        order: &GroupOrder,
        range: std::ops::Range<usize>,
        threads: usize,
        buckets: KingBuckets,
    ) -> &[Sample] {
        self.picked.resize(range.len(), Sample::default());
        let share = range.len().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for (number, part) in self.picked.chunks_mut(share).enumerate() {
                let first = range.start + number * share;
                scope.spawn(move || {
                    for (index, sample) in part.iter_mut().enumerate() {
                        *sample = pool[order.at(first + index)];
                    }
                });
            }
        });
        self.sort(buckets);
        &self.sorted
    }

    /// Counting sort of the groups of neighbours by the first position's pair of king buckets,
    /// whichever side is to move; positions that fill no group stay last.
    fn sort(&mut self, buckets: KingBuckets) {
        let key = |sample: &Sample| {
            let [own, other] = sample.king_buckets(buckets);
            own.min(other) * buckets.count() + own.max(other)
        };
        let (groups, rest) = self.picked.as_chunks::<NEIGHBOURS>();
        self.starts.clear();
        self.starts.resize(buckets.count() * buckets.count(), 0);
        for group in groups {
            self.starts[key(&group[0])] += 1;
        }
        let mut sum = 0;
        for start in &mut self.starts {
            sum += std::mem::replace(start, sum);
        }
        self.sorted.resize(self.picked.len(), Sample::default());
        let (sorted, last) = self.sorted.as_chunks_mut::<NEIGHBOURS>();
        for group in groups {
            let place = &mut self.starts[key(&group[0])];
            sorted[*place] = *group;
            *place += 1;
        }
        last.copy_from_slice(rest);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;
    use crate::record::{Mailbox, PackedBoard};

    #[test]
    fn batches_hold_what_the_order_says_sorted_by_king_buckets() {
        let mut pool = Vec::new();
        random_games(8, |position| {
            let mailbox = Mailbox::unpack(&PackedBoard::pack(position)).expect("a position");
            pool.push(Sample::pack(&mailbox, pool.len() as i16, 0, 0));
        });
        let order = GroupOrder::new(pool.len(), NEIGHBOURS, 3, 0);
        let mut batch = Batch::default();
        for range in [12..212, 0..1, 212..pool.len()] {
            let buckets = KingBuckets::Ten;
            let found = batch.fill(&pool, &order, range.clone(), 3, buckets);
            let keys = found.chunks_exact(NEIGHBOURS).map(|group| {
                let mut key = group[0].king_buckets(buckets);
                key.sort_unstable();
                key
            });
            assert!(keys.is_sorted());
            let mut scores: Vec<i16> = found.iter().map(|sample| sample.score).collect();
            let mut expected: Vec<i16> = range.map(|index| pool[order.at(index)].score).collect();
            scores.sort_unstable();
            expected.sort_unstable();
            assert_eq!(scores, expected);
        }
    }
}
