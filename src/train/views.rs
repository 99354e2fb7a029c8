//! The views of a chunk's positions, and the orders in which the passes of `kernel` take them.
//!
//! Every position is two views: 2 i is the side to move's of position i, 2 i + 1 the other's.
//! Neighbours in a game have most of their pieces on the same squares. Their views from one side
//! make a [`ViewGroup`]; the inputs that all of them have are listed once, for the group, and the
//! rest for each view. So hidden sums and gradients need fewer additions.

use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::PIECE_FEATURES;

use super::sample::{MAX_ACTIVE, Sample};

/// Positions that are learnt from together: so many neighbours in a game.
pub const NEIGHBOURS: usize = 4;

/// A list of active inputs.
#[derive(Clone, Copy, Debug, Default)]
struct Inputs {
    active: [u16; MAX_ACTIVE],
    count: u8,
}

impl Inputs {
    #[inline(always)]
    fn list(&self) -> &[u16] {
        &self.active[..usize::from(self.count)]
    }

    /// Keeps the inputs for which `keep` holds.
    fn retain(&mut self, keep: impl Fn(u16) -> bool) {
        let mut kept = 0;
        for index in 0..usize::from(self.count) {
            let input = self.active[index];
            self.active[kept] = input;
            kept += usize::from(keep(input));
        }
        self.count = kept as u8;
    }
}

/// The views of neighbouring positions from one side.
#[derive(Clone, Debug, Default)]
pub struct ViewGroup {
    views: [u16; NEIGHBOURS],
    count: u8,
    shared: Inputs,
    /// King bucket of the first view.
    bucket: u8,
    /// Where its part of `Views::beside` begins and how long it is.
    beside: (u32, u8),
}

impl ViewGroup {
    /// Its views.
    #[inline(always)]
    #[must_use]
    pub fn views(&self) -> &[u16] {
        &self.views[..usize::from(self.count)]
    }

    /// The inputs that all of them have.
    #[inline(always)]
    #[must_use]
    pub fn shared(&self) -> &[u16] {
        self.shared.list()
    }
}

/// The active inputs of each view, those that a group shares apart.
pub struct Views {
    own: Vec<Inputs>,
    groups: Vec<ViewGroup>,
    /// For each group what its views have beyond the shared inputs, one of each side by side.
    beside: Vec<[u16; NEIGHBOURS]>,
    /// Stands for no input in `beside`.
    padding: u16,
    /// By input: how many views of a group have it; zero between groups.
    having: Vec<u8>,
}

impl Views {
    /// Room for this many views of a network with so many rows of weights, after which comes a
    /// row of zeros.
    #[must_use]
    pub fn new(rows: usize, most: usize) -> Views {
        Views {
            own: Vec::with_capacity(most),
            groups: Vec::with_capacity(most.div_ceil(NEIGHBOURS) + 2),
            beside: Vec::with_capacity(most * MAX_ACTIVE / 2),
            padding: rows as u16,
            having: vec![0; rows],
        }
    }

    /// Replaces the views by those of these positions; `order` lists them as they were neighbours.
    pub fn load(&mut self, samples: &[Sample], order: &[u16], buckets: KingBuckets) {
        self.own.resize(2 * samples.len(), Inputs::default());
        let pairs = self.own.as_chunks_mut::<2>().0;
        for (sample, [own, other]) in samples.iter().zip(pairs) {
            let count = sample.features(buckets, &mut own.active, &mut other.active) as u8;
            (own.count, other.count) = (count, count);
        }
        self.groups.clear();
        self.beside.clear();
        for neighbours in order.chunks(NEIGHBOURS) {
            self.group(neighbours);
        }
    }

    /// Makes the two groups of neighbouring positions.
    fn group(&mut self, positions: &[u16]) {
        let Some(&first) = positions.first() else {
            return;
        };
        self.count(2 * first);
        let mut groups = [0, 1].map(|_| ViewGroup::default());
        for &position in positions {
            let [own, other] = [0, 1].map(|side| 2 * position + side);
            // Each move changes sides, but not every position of a game needs to be here.
            let as_first = self.in_common(own) >= self.in_common(other);
            let views = if as_first { [own, other] } else { [other, own] };
            for (group, view) in groups.iter_mut().zip(views) {
                group.views[usize::from(group.count)] = view;
                group.count += 1;
            }
        }
        self.clear(2 * first);
        for group in groups {
            self.share(group);
        }
    }

    /// Moves the inputs that all views of a group have from their lists to the group's.
    fn share(&mut self, mut group: ViewGroup) {
        for &view in group.views() {
            self.count(view);
        }
        let first = self.own[usize::from(group.views[0])];
        group.bucket = (first.active[0] / PIECE_FEATURES as u16) as u8;
        group.shared = first;
        let having = &self.having;
        let is_shared = |input: u16| having[usize::from(input)] == group.count;
        group.shared.retain(is_shared);
        for &view in group.views() {
            self.own[usize::from(view)].retain(|input| !is_shared(input));
        }
        for &input in group.shared() {
            self.having[usize::from(input)] = 0;
        }
        for &view in group.views() {
            self.clear(view);
        }
        self.put_beside(&mut group);
        self.groups.push(group);
    }

    /// Lists what the views of a group have beyond its shared inputs.
    fn put_beside(&mut self, group: &mut ViewGroup) {
        let lists = group.views.map(|view| self.own[usize::from(view)]);
        let lists = &lists[..usize::from(group.count)];
        let longest = lists.iter().map(|list| list.count).max().unwrap_or(0);
        group.beside = (self.beside.len() as u32, longest);
        for at in 0..usize::from(longest) {
            let mut inputs = [self.padding; NEIGHBOURS];
            for (input, list) in inputs.iter_mut().zip(lists) {
                if let Some(&own) = list.list().get(at) {
                    *input = own;
                }
            }
            self.beside.push(inputs);
        }
    }

    fn count(&mut self, view: u16) {
        for &input in self.own[usize::from(view)].list() {
            self.having[usize::from(input)] += 1;
        }
    }

    fn clear(&mut self, view: u16) {
        for &input in self.own[usize::from(view)].list() {
            self.having[usize::from(input)] = 0;
        }
    }

    /// How many of a view's inputs are counted at present.
    fn in_common(&self, view: u16) -> u8 {
        let inputs = self.own[usize::from(view)].list();
        inputs
            .iter()
            .map(|&input| self.having[usize::from(input)])
            .sum()
    }

    /// How many views there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.own.len()
    }

    /// The groups; each view is in one.
    #[must_use]
    pub fn groups(&self) -> &[ViewGroup] {
        &self.groups
    }

    /// What the views of a group have beyond the shared inputs, one of each side by side; the
    /// number after the last row where a view has no more.
    #[inline(always)]
    #[must_use]
    pub fn beside(&self, group: &ViewGroup) -> &[[u16; NEIGHBOURS]] {
        let (from, count) = group.beside;
        &self.beside[from as usize..][..usize::from(count)]
    }

    /// A view's active inputs, without those that its group shares.
    #[inline(always)]
    #[must_use]
    pub fn inputs(&self, view: u16) -> &[u16] {
        self.own[usize::from(view)].list()
    }
}

/// The groups by king bucket, and those of one bucket by their numbers of inputs.
///
/// In this order one bucket's weight rows serve many views while they are in the first-level
/// cache, and successive groups have equally many of them to add up, so that branches are
/// predicted well.
#[derive(Default)]
pub struct ByKing {
    order: Vec<u16>,
    next: Vec<u16>,
}

impl ByKing {
    /// Counting sort of the groups.
    pub fn list(&mut self, groups: &[ViewGroup], buckets: KingBuckets) {
        const COUNTS: usize = MAX_ACTIVE + 1;
        let key = |group: &ViewGroup| {
            let by_shared = usize::from(group.bucket) * COUNTS + group.shared().len();
            by_shared * COUNTS + usize::from(group.beside.1)
        };
        self.next.clear();
        self.next.resize(buckets.count() * COUNTS * COUNTS, 0);
        for group in groups {
            self.next[key(group)] += 1;
        }
        let mut sum = 0;
        for next in &mut self.next {
            sum += std::mem::replace(next, sum);
        }
        self.order.resize(groups.len(), 0);
        for (index, group) in groups.iter().enumerate() {
            let place = &mut self.next[key(group)];
            self.order[usize::from(*place)] = index as u16;
            *place += 1;
        }
    }

    /// The groups in this order, by their index.
    #[must_use]
    pub fn order(&self) -> &[u16] {
        &self.order
    }
}

/// What has each input: views by their number, and groups, which are numbered from where the most
/// views end.
pub struct ByInput {
    /// Where each input's list begins; used while listing.
    next: Vec<u32>,
    rows: Vec<(usize, usize, usize)>,
    having: Vec<u16>,
    /// The number of the first group.
    first_group: usize,
}

impl ByInput {
    /// For a network with this many rows of weights, the last of which is the bias, and at most
    /// so many views.
    #[must_use]
    pub fn new(rows: usize, most: usize) -> ByInput {
        ByInput {
            next: vec![0; rows + 1],
            rows: Vec::with_capacity(rows),
            having: vec![0; most * (MAX_ACTIVE + 1)],
            first_group: most,
        }
    }

    /// Counting sort of views and groups by their inputs; the bias is an input that all groups
    /// have.
    pub fn list(&mut self, views: &Views) {
        let bias = self.next.len() - 2;
        let first_group = self.first_group;
        let of_views = || (0..views.len()).map(|view| (view, views.inputs(view as u16)));
        let groups = (first_group..).zip(views.groups());
        let of_groups = || {
            groups
                .clone()
                .map(|(number, group)| (number, group.shared()))
        };
        self.next.fill(0);
        for (_, inputs) in of_views().chain(of_groups()) {
            for &input in inputs {
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
        self.rows.push((bias, from, from + views.groups().len()));
        for (number, inputs) in of_groups().chain(of_views()) {
            for &input in inputs {
                let place = &mut self.next[usize::from(input)];
                self.having[*place as usize] = number as u16;
                *place += 1;
            }
        }
        for (place, (number, _)) in self.having[from..].iter_mut().zip(of_groups()) {
            *place = number as u16;
        }
    }

    /// The inputs that any view has, each with the views and groups that list it.
    pub fn rows(&self) -> impl Iterator<Item = (usize, &[u16])> {
        let range = |&(input, from, to): &(usize, usize, usize)| (input, &self.having[from..to]);
        self.rows.iter().map(range)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;
    use crate::record::{Mailbox, PackedBoard};

    fn samples() -> Vec<Sample> {
        let mut samples = Vec::new();
        random_games(3, |position| {
            let mailbox = Mailbox::unpack(&PackedBoard::pack(position)).expect("a position");
            samples.push(Sample::pack(&mailbox, 0, 0, 0));
        });
        samples
    }

    fn views(samples: &[Sample], buckets: KingBuckets) -> Views {
        let mut views = Views::new(buckets.count() * PIECE_FEATURES + 1, 2 * samples.len());
        let order: Vec<u16> = (0..samples.len() as u16).collect();
        views.load(samples, &order, buckets);
        assert_eq!(views.len(), 2 * samples.len());
        views
    }

    #[test]
    fn groups_share_what_all_their_views_have() {
        let buckets = KingBuckets::Ten;
        let samples = samples();
        let views = views(&samples, buckets);
        let (mut seen, mut listed, mut all) = (vec![0; views.len()], 0, 0);
        for group in views.groups() {
            listed += group.shared().len();
            for &view in group.views() {
                let mut found = [views.inputs(view), group.shared()].concat();
                let (mut own, mut other) = ([0; MAX_ACTIVE], [0; MAX_ACTIVE]);
                let sample = &samples[usize::from(view) / 2];
                let count = sample.features(buckets, &mut own, &mut other);
                let mut expected = [own, other][usize::from(view) % 2][..count].to_vec();
                found.sort_unstable();
                expected.sort_unstable();
                assert_eq!(found, expected);
                seen[usize::from(view)] += 1;
                listed += views.inputs(view).len();
                all += count;
            }
        }
        assert!(seen.iter().all(|&times| times == 1));
        assert!(3 * listed < 2 * all, "{listed} of {all}");
    }

    #[test]
    fn lists_side_by_side_are_the_views_own() {
        let buckets = KingBuckets::Ten;
        let views = views(&samples(), buckets);
        let padding = (buckets.count() * PIECE_FEATURES + 1) as u16;
        for group in views.groups() {
            for (place, &view) in group.views().iter().enumerate() {
                let beside = views.beside(group).iter().map(|inputs| inputs[place]);
                let own = beside.filter(|&input| input != padding);
                assert!(own.eq(views.inputs(view).iter().copied()));
            }
        }
    }

    #[test]
    fn groups_come_by_king_bucket_and_numbers_of_inputs() {
        let buckets = KingBuckets::Ten;
        let views = views(&samples(), buckets);
        let mut by_king = ByKing::default();
        by_king.list(views.groups(), buckets);
        let key = |&index: &u16| {
            let group = &views.groups()[usize::from(index)];
            (group.bucket, group.shared().len(), group.beside.1)
        };
        let order = by_king.order();
        assert!(order.is_sorted_by_key(key));
        assert!(key(&order[0]).0 < key(&order[order.len() - 1]).0);
        let mut all = order.to_vec();
        all.sort_unstable();
        assert!(all.into_iter().eq(0..views.groups().len() as u16));
    }

    #[test]
    fn each_input_lists_what_has_it() {
        let buckets = KingBuckets::Ten;
        let views = views(&samples(), buckets);
        let bias = buckets.count() * PIECE_FEATURES;
        let mut by_input = ByInput::new(bias + 1, views.len());
        by_input.list(&views);
        let mut listed = vec![0; bias + 1];
        for (input, having) in by_input.rows() {
            listed[input] = having.len();
            for &number in having {
                let inputs = match usize::from(number).checked_sub(views.len()) {
                    Some(group) => views.groups()[group].shared(),
                    None => views.inputs(number),
                };
                assert!(input == bias || inputs.contains(&(input as u16)));
            }
        }
        let own: usize = (0..views.len() as u16)
            .map(|view| views.inputs(view).len())
            .sum();
        let shared: usize = (views.groups().iter())
            .map(|group| group.shared().len())
            .sum();
        assert_eq!(listed[bias], views.groups().len());
        assert_eq!(listed[..bias].iter().sum::<usize>(), own + shared);
    }
}
