//! The views of a chunk's positions, and the orders in which the passes of `kernel` take them.
//!
//! Every position is two views: 2 i is the side to move's of position i, 2 i + 1 the other's.

use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::PIECE_FEATURES;

use super::sample::{MAX_ACTIVE, Sample};

/// The active inputs of each view.
pub struct Views {
    active: Vec<[u16; MAX_ACTIVE]>,
    counts: Vec<u8>,
}

impl Views {
    /// Room for this many views.
    #[must_use]
    pub fn new(most: usize) -> Views {
        Views {
            active: Vec::with_capacity(most),
            counts: Vec::with_capacity(most),
        }
    }

    /// Replaces the views by those of these positions.
    pub fn load(&mut self, samples: &[Sample], buckets: KingBuckets) {
        let views = 2 * samples.len();
        self.active.resize(views, [0; MAX_ACTIVE]);
        self.counts.clear();
        let pairs = self.active.as_chunks_mut::<2>().0;
        for (sample, [own, other]) in samples.iter().zip(pairs) {
            let count = sample.features(buckets, own, other) as u8;
            self.counts.extend([count; 2]);
        }
    }

    /// How many views there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.counts.len()
    }

    /// A view's active inputs.
    #[inline(always)]
    #[must_use]
    pub fn inputs(&self, view: usize) -> &[u16] {
        &self.active[view][..usize::from(self.counts[view])]
    }
}

/// The views by king bucket, and those of one bucket by their number of inputs.
///
/// In this order one bucket's weight rows serve many views while they are in the first-level
/// cache, and neighbours have equally many of them to add up.
#[derive(Default)]
pub struct ByKing {
    order: Vec<u16>,
    next: Vec<u16>,
}

impl ByKing {
    /// Counting sort of the views.
    pub fn list(&mut self, views: &Views, buckets: KingBuckets) {
        const COUNTS: usize = MAX_ACTIVE + 1;
        let key = |view: usize| {
            let inputs = views.inputs(view);
            let bucket = inputs
                .first()
                .map_or(0, |&input| usize::from(input) / PIECE_FEATURES);
            bucket * COUNTS + inputs.len()
        };
        self.next.clear();
        self.next.resize(buckets.count() * COUNTS, 0);
        for view in 0..views.len() {
            self.next[key(view)] += 1;
        }
        let mut sum = 0;
        for next in &mut self.next {
            sum += std::mem::replace(next, sum);
        }
        self.order.resize(views.len(), 0);
        for view in 0..views.len() {
            let place = &mut self.next[key(view)];
            self.order[usize::from(*place)] = view as u16;
            *place += 1;
        }
    }

    /// The views in this order.
    #[must_use]
    pub fn order(&self) -> &[u16] {
        &self.order
    }
}

/// The views that have each input.
pub struct ByInput {
    /// Where each input's views begin; used while listing.
    next: Vec<u32>,
    rows: Vec<(usize, usize, usize)>,
    views: Vec<u16>,
}

impl ByInput {
    /// For a network with this many rows of weights, the last of which is the bias, and at most
    /// so many views.
    #[must_use]
    pub fn new(rows: usize, most: usize) -> ByInput {
        ByInput {
            next: vec![0; rows + 1],
            rows: Vec::with_capacity(rows),
            views: vec![0; most * (MAX_ACTIVE + 1)],
        }
    }

    /// Counting sort of the views by their inputs; the bias is an input that all have.
    pub fn list(&mut self, views: &Views) {
        let bias = self.next.len() - 2;
        self.next.fill(0);
        for view in 0..views.len() {
            for &input in views.inputs(view) {
                self.next[usize::from(input) + 1] += 1;
            }
        }
        self.rows.clear();
        let mut from = 0;
        for input in 0..bias {
            let to = from + self.next[input + 1] as usize;
            if from < to {
                self.rows.push((input, from, to));
            }
            self.next[input] = from as u32;
            from = to;
        }
        self.rows.push((bias, from, from + views.len()));
        for view in 0..views.len() {
            for &input in views.inputs(view) {
                let place = &mut self.next[usize::from(input)];
                self.views[*place as usize] = view as u16;
                *place += 1;
            }
            self.views[from + view] = view as u16;
        }
    }

    /// The inputs that any view has, each with its views.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[u16])> {
        let range = |&(input, from, to): &(usize, usize, usize)| (input, &self.views[from..to]);
        self.rows.iter().map(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;
    use crate::record::{Mailbox, PackedBoard};

    fn views(buckets: KingBuckets) -> Views {
        let mut samples = Vec::new();
        random_games(3, |position| {
            let mailbox = Mailbox::unpack(&PackedBoard::pack(position)).expect("a position");
            samples.push(Sample::pack(&mailbox, 0, 0, 0));
        });
        let mut views = Views::new(2 * samples.len());
        views.load(&samples, buckets);
        assert_eq!(views.len(), 2 * samples.len());
        views
    }

    #[test]
    fn views_come_by_king_bucket_and_number_of_inputs() {
        let buckets = KingBuckets::Ten;
        let views = views(buckets);
        let mut by_king = ByKing::default();
        by_king.list(&views, buckets);
        let key = |&view: &u16| {
            let inputs = views.inputs(usize::from(view));
            (usize::from(inputs[0]) / PIECE_FEATURES, inputs.len())
        };
        let order = by_king.order();
        assert!(order.is_sorted_by_key(key));
        assert!(key(&order[0]).0 < key(&order[order.len() - 1]).0);
        let mut all = order.to_vec();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..views.len() as u16));
    }

    #[test]
    fn each_input_lists_its_views() {
        let buckets = KingBuckets::Ten;
        let views = views(buckets);
        let bias = buckets.count() * PIECE_FEATURES;
        let mut by_input = ByInput::new(bias + 1, views.len());
        by_input.list(&views);
        let mut listed = vec![0; bias + 1];
        for (input, with_it) in by_input.rows() {
            listed[input] = with_it.len();
            for &view in with_it {
                let inputs = views.inputs(usize::from(view));
                assert!(input == bias || inputs.contains(&(input as u16)));
            }
        }
        let all: usize = (0..views.len()).map(|view| views.inputs(view).len()).sum();
        assert_eq!(listed[bias], views.len());
        assert_eq!(listed[..bias].iter().sum::<usize>(), all);
    }
}
