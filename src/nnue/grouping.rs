//! An order of the hidden units in which pairs that are active together are neighbours.
//!
//! The first of the dense [`layers`](super::layers) passes over groups of four products that are all
//! zero. The order of the hidden units changes no output, but it decides how many groups have a
//! product above zero. (That neurons can be permuted for this is known from Stockfish and other
//! engines.)

use super::features::{Feature, View};
use super::layers::{FIRST, PRODUCT_GROUP, products};
use super::single_layer::QuantisedNet;
use crate::board::Position;
use crate::types::{Color, Square};

/// Bits of a word.
const WORD: usize = u64::BITS as usize;

/// In which of the views that were observed the product of each pair of hidden units is not zero.
pub struct PairActivity {
    views: usize,
    /// A set of bits for each pair, a bit for each view.
    active: Vec<Vec<u64>>,
}

impl PairActivity {
    /// For a network with hidden layers of this width, N, and so N/2 pairs.
    #[must_use]
    pub fn new(hidden: usize) -> PairActivity {
        PairActivity {
            views: 0,
            active: vec![Vec::new(); hidden / 2],
        }
    }

    /// Adds both sides' views of a position, as the network sees them.
    pub fn observe_position(&mut self, net: &QuantisedNet, position: &Position) {
        let board = position.board();
        let sides = [Color::White, Color::Black].map(|side| {
            let king = board.king_of(side).unwrap_or(Square::A1);
            let view = View::new(side, king, net.shape.king_buckets);
            let pieces = board.clone().into_iter();
            net.hidden_layer(pieces.map(|(square, piece)| Feature::new(piece, square).index(view)))
        });
        self.observe([&sides[0], &sides[1]]);
    }

    /// Adds two hidden layers.
    pub fn observe(&mut self, hidden: [&[i16]; 2]) {
        let products = products(hidden);
        for view in products.chunks_exact(self.active.len()) {
            let (word, bit) = (self.views / WORD, self.views % WORD);
            for (active, &product) in self.active.iter_mut().zip(view) {
                active.resize(word + 1, 0);
                active[word] |= u64::from(product > 0) << bit;
            }
            self.views += 1;
        }
    }

    /// The mean share of groups, from 0 to 1, that are not all zero if the pairs stand in this
    /// order.
    #[must_use]
    pub fn active_groups(&self, order: &[usize]) -> f64 {
        let groups = order.chunks_exact(PRODUCT_GROUP);
        let all = groups.len() * self.views;
        let active: usize = groups.map(|group| self.union(group)).sum();
        active as f64 / all.max(1) as f64
    }

    /// An order of the pairs in which few groups are active: each group begins with the pair that
    /// is active most often among those left and is filled with what adds least; then pairs of
    /// different groups change places as long as that is better.
    #[must_use]
    pub fn order(&self) -> Vec<usize> {
        let mut groups = self.greedy();
        while self.exchange(&mut groups) {}
        groups.into_iter().flat_map(|group| group.pairs).collect()
    }

    fn greedy(&self) -> Vec<PairGroup> {
        let mut left: Vec<usize> = (0..self.active.len()).collect();
        // The most active pair is last.
        left.sort_by_key(|&pair| self.union(&[pair]));
        let mut groups = Vec::new();
        while let Some(first) = left.pop() {
            let mut pairs = vec![first];
            while pairs.len() < PRODUCT_GROUP && !left.is_empty() {
                let with = |&index: &usize| self.union(&[&pairs[..], &[left[index]]].concat());
                let best = (0..left.len()).min_by_key(with).unwrap_or(0);
                pairs.push(left.remove(best));
            }
            groups.push(self.group(pairs));
        }
        groups
    }

    /// Exchanges pairs of two groups wherever that makes the groups less active; whether any were.
    fn exchange(&self, groups: &mut [PairGroup]) -> bool {
        let mut exchanged = false;
        for last in 1..groups.len() {
            let (before, rest) = groups.split_at_mut(last);
            let b = &mut rest[0];
            for a in before {
                exchanged |= self.exchange_two(a, b);
            }
        }
        exchanged
    }

    fn exchange_two(&self, a: &mut PairGroup, b: &mut PairGroup) -> bool {
        let mut exchanged = false;
        for i in 0..a.pairs.len() {
            for j in 0..b.pairs.len() {
                let (mut x, mut y) = (a.pairs.clone(), b.pairs.clone());
                std::mem::swap(&mut x[i], &mut y[j]);
                let (x, y) = (self.group(x), self.group(y));
                if x.active + y.active < a.active + b.active {
                    (*a, *b) = (x, y);
                    exchanged = true;
                }
            }
        }
        exchanged
    }

    fn group(&self, pairs: Vec<usize>) -> PairGroup {
        PairGroup {
            active: self.union(&pairs),
            pairs,
        }
    }

    /// Views in which one of these pairs is active.
    fn union(&self, pairs: &[usize]) -> usize {
        let word = |at: usize| {
            pairs
                .iter()
                .fold(0, |bits, &pair| bits | self.active[pair][at])
        };
        let words = 0..self.views.div_ceil(WORD);
        words.map(|at| word(at).count_ones() as usize).sum()
    }
}

/// Pairs whose products are passed over together, and the views in which they are not.
struct PairGroup {
    pairs: Vec<usize>,
    active: usize,
}

impl QuantisedNet {
    /// The same network with its pairs of hidden units in another order; equal in every output.
    ///
    /// # Panics
    /// If `order` is not a permutation of the N/2 pairs.
    #[must_use]
    pub fn with_pairs_in_order(mut self, order: &[usize]) -> QuantisedNet {
        let pairs = self.shape.hidden / 2;
        let mut sorted = order.to_vec();
        sorted.sort_unstable();
        assert!(
            sorted.into_iter().eq(0..pairs),
            "not a permutation of the pairs"
        );
        // The partner of a unit stands half the width further on.
        let partners = order.iter().map(|pair| pairs + pair);
        let units: Vec<usize> = order.iter().copied().chain(partners).collect();
        reorder(&mut self.feature_weights, &units);
        reorder(&mut self.feature_bias, &units);
        reorder(&mut self.output_weights, &units);
        if let Some(layers) = &mut self.layers {
            reorder(layers.first_weights.as_chunks_mut::<FIRST>().0, order);
        }
        self
    }
}

/// Puts the elements of every row in this order.
fn reorder<T: Copy>(rows: &mut [T], order: &[usize]) {
    for row in rows.chunks_exact_mut(order.len()) {
        let before = row.to_vec();
        for (element, &from) in row.iter_mut().zip(order) {
            *element = before[from];
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::{cases, random_games};
    use crate::nnue::{HIDDEN, Network, synthetic};

    #[test]
    fn another_order_changes_no_output() {
        let pairs = HIDDEN / 2;
        let net = synthetic::random(HIDDEN, 21).with_layers(synthetic::random_layers(HIDDEN, 21));
        // The number of pairs is a multiple of 32, so steps of an odd prime reach all of them.
        let order: Vec<usize> = (0..pairs).map(|at| at * 37 % pairs).collect();
        let moved = net.clone().with_pairs_in_order(&order);
        assert_ne!(moved.feature_bias, net.feature_bias);
        let [before, after] = [&net, &moved].map(|net| Network::new(net).expect("valid"));
        let mut seen = 0;
        random_games(cases(3, 1), |position| {
            seen += 1;
            assert_eq!(after.evaluate(position), before.evaluate(position));
        });
        assert!(seen > 20, "{seen}");
    }

    #[test]
    fn pairs_active_together_become_neighbours() {
        // Eight pairs: the even ones are active in every other view, the odd ones in the rest.
        let hidden = |odd: bool| -> Vec<i16> {
            let unit = |at: usize| if (at % 8 % 2 == 1) == odd { 200 } else { 0 };
            (0..16).map(unit).collect()
        };
        let mut activity = PairActivity::new(16);
        for _ in 0..40 {
            activity.observe([&hidden(false), &hidden(true)]);
        }
        let as_it_is: Vec<usize> = (0..8).collect();
        assert_eq!(activity.active_groups(&as_it_is), 1.0);
        let order = activity.order();
        assert_eq!(activity.active_groups(&order), 0.5);
        assert!(
            order[..4].iter().all(|pair| pair % 2 == order[0] % 2),
            "{order:?}"
        );
    }

    #[test]
    fn exchanges_improve_on_the_greedy_order() {
        let net = synthetic::random(HIDDEN, 22);
        let mut activity = PairActivity::new(HIDDEN);
        random_games(cases(4, 1), |position| {
            activity.observe_position(&net, position)
        });
        let as_it_is: Vec<usize> = (0..HIDDEN / 2).collect();
        let mut greedy: Vec<usize> = Vec::new();
        for group in activity.greedy() {
            greedy.extend(group.pairs);
        }
        let [before, greedy, ordered] =
            [as_it_is, greedy, activity.order()].map(|order| activity.active_groups(&order));
        assert!(
            ordered < greedy && greedy < before,
            "{before} {greedy} {ordered}"
        );
    }

    #[test]
    #[should_panic(expected = "not a permutation")]
    fn an_order_names_every_pair_once() {
        let _ = synthetic::random(64, 1).with_pairs_in_order(&[3; 32]);
    }
}
