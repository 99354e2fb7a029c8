//! The dense layers of the layered network while they are trained: their parameters, the copies
//! that evaluation uses, and what follows the products of neurons, forward and backward.
//!
//! Neurons in the same place of both halves of a tile's `Row` are partners: the product of their
//! clipped values is an input of the first layer. Sums over products, and both gradients that
//! belong to them, are matrix products in bfloat16 with 32-bit sums, like all the loops that take
//! much time. The finished network loses nothing by that: its products and first weights have
//! seven bits. See `nnue::layers` for the definition in integers, which fake quantisation follows.

use crate::nnue::layers::{self as definition, FIRST, SECOND, SECOND_INPUTS};
use crate::nnue::single_layer::{QA, Shape};
use crate::record::{HINTS, TeacherHints};

use super::extra_bits;
use super::lanes::{Floats, HALF, Lanes, Line, Row, TILE, neuron, upper_half};
use super::normal::Normal;
use super::optimiser::{Rate, Trained, WEIGHT_LIMIT, add, clamp, round};
use super::quantisation::{FIXED_ONE, FakeQuantisation};
use super::sample::BUCKETS;

/// What stands for 1.0 in products and first activations of the finished network.
pub(super) const ACTIVE_ONE: f32 = definition::INPUT_ONE as f32;
/// What the product of two neurons in the steps of the 16-bit weights is multiplied by to be in
/// units of 1 / [`ACTIVE_ONE`].
const PRODUCT_STEP: f32 = {
    let finer = FIXED_ONE / QA as f32;
    1.0 / (finer * finer * (1 << definition::PRODUCT_SHIFT) as f32)
};
/// What the square of a first sum is multiplied by to be in units of 1 / [`ACTIVE_ONE`].
const SQUARE_STEP: f32 = {
    let one = ACTIVE_ONE * extra_bits::one(0);
    one * one / (1 << definition::SQUARE_SHIFT) as f32
};
/// Deviation of the first layer's initial weights, and the number of hidden neurons it is for.
const FIRST_DEVIATION: (f32, f32) = (0.1, 1024.0);
/// What stands for 1.0 among hints.
const HINT_ONE: f32 = 127.0;
/// Initial bias of the first two layers: some of their units respond to every position.
const FIRST_SUM: f32 = 0.1;

/// One value for each of the layers' arrays.
#[derive(Clone, Debug, PartialEq)]
pub struct LayerArrays<T> {
    /// `[BUCKETS][N / 32][2][16][FIRST]`: from the products of a tile, the side to move's first.
    pub first: T,
    /// `[BUCKETS][FIRST]`
    pub first_bias: T,
    /// `[BUCKETS][2 * FIRST][SECOND]`
    pub second: T,
    /// `[BUCKETS][SECOND]`
    pub second_bias: T,
    /// `[BUCKETS][SECOND]`
    pub third: T,
}

impl<T> LayerArrays<T> {
    /// Makes each array by its length in floats.
    fn new(shape: Shape, make: impl Fn(usize) -> T) -> LayerArrays<T> {
        LayerArrays {
            first: make(BUCKETS * shape.hidden * FIRST),
            first_bias: make(BUCKETS * FIRST),
            second: make(BUCKETS * SECOND_INPUTS * SECOND),
            second_bias: make(BUCKETS * SECOND),
            third: make(BUCKETS * SECOND),
        }
    }

    /// All in the order of a checkpoint.
    pub fn each(&self) -> [&T; 5] {
        [
            &self.first,
            &self.first_bias,
            &self.second,
            &self.second_bias,
            &self.third,
        ]
    }

    /// The same, to be set.
    pub fn each_mut(&mut self) -> [&mut T; 5] {
        [
            &mut self.first,
            &mut self.first_bias,
            &mut self.second,
            &mut self.second_bias,
            &mut self.third,
        ]
    }
}

/// Gradients of the layers as one thread gathers them.
pub type LayerGradients = LayerArrays<Vec<Floats>>;

impl LayerGradients {
    /// Zeros for a network of this shape.
    #[must_use]
    pub fn zeroed(shape: Shape) -> LayerGradients {
        LayerArrays::new(shape, |len| vec![Floats::ZERO; len / HALF])
    }
}

/// First-layer weights of one output bucket and tile: what the pair `q` of a line of products is
/// multiplied by, for all outputs.
type ByProduct = [Line; HALF];
/// The same weights for each side: what a pair of the outputs' gradients is multiplied by, for all
/// products of a tile.
type ByOutput = [[Line; FIRST / 2]; 2];

/// The weights as evaluation uses them, rounded when they are to be (see [`FakeQuantisation`]).
#[derive(Clone, Debug, Default, PartialEq)]
pub struct LayerCopies {
    /// `[BUCKETS][N / 32]`
    by_product: Vec<ByProduct>,
    /// `[BUCKETS][N / 32]`
    by_output: Vec<ByOutput>,
    /// What follows, by bucket.
    small: Vec<SmallLayers>,
}

/// What follows the sums over products in one output bucket.
#[derive(Clone, Debug, PartialEq)]
struct SmallLayers {
    first_bias: Floats,
    /// By input.
    second: [Row; SECOND_INPUTS],
    /// By output.
    second_transposed: [Row; SECOND],
    second_bias: Row,
    third: Row,
}

/// The layers with the optimiser's state.
#[derive(Clone, Debug, PartialEq)]
pub struct TrainedLayers {
    pub arrays: LayerArrays<Trained>,
    tiles: usize,
    copies: LayerCopies,
}

impl TrainedLayers {
    /// Layers of zeros for a network of this shape.
    #[must_use]
    pub fn zeroed(shape: Shape) -> TrainedLayers {
        TrainedLayers {
            arrays: LayerArrays::new(shape, Trained::zeroed),
            tiles: shape.hidden / TILE,
            copies: LayerCopies::default(),
        }
    }

    /// Normally distributed weights.
    pub(super) fn random(shape: Shape, normal: &mut Normal) -> TrainedLayers {
        let mut layers = TrainedLayers::zeroed(shape);
        let (deviation, hidden) = FIRST_DEVIATION;
        let first = deviation * (hidden / shape.hidden as f32).sqrt();
        let second = (2.0 / SECOND_INPUTS as f32).sqrt();
        let third = (1.0 / SECOND as f32).sqrt();
        let arrays = &mut layers.arrays;
        for (array, deviation) in [
            (&mut arrays.first, first),
            (&mut arrays.second, second),
            (&mut arrays.third, third),
        ] {
            for weight in array.floats_mut() {
                *weight = (normal.next() * deviation).clamp(-WEIGHT_LIMIT, WEIGHT_LIMIT);
            }
        }
        arrays.first_bias.floats_mut().fill(FIRST_SUM);
        arrays.second_bias.floats_mut().fill(FIRST_SUM);
        layers
    }

    /// Copies the parameters of a network with fewer neurons; the additional products get weights
    /// of zero.
    pub fn widen(&mut self, narrow: &TrainedLayers) {
        for (into, from) in self.arrays.each_mut().into_iter().zip(narrow.arrays.each()) {
            if into.value.len() == from.value.len() {
                into.value.copy_from_slice(&from.value);
                continue;
            }
            into.value.fill(Floats::ZERO);
            let length = from.value.len() / BUCKETS;
            let wide = into.value.len() / BUCKETS;
            let buckets = into.value.chunks_exact_mut(wide);
            for (into, from) in buckets.zip(from.value.chunks_exact(length)) {
                into[..length].copy_from_slice(from);
            }
        }
    }

    /// Recomputes the copies that evaluation uses.
    pub fn refresh(&mut self, quantisation: FakeQuantisation) {
        let on = quantisation == FakeQuantisation::On;
        let rounded = |x: f32, one: f32, limit: f32| match on {
            true => clamp(round(x * one), limit) / one,
            false => x,
        };
        let ones = on.then(|| self.extra_bits().map(|bits| bits.map(extra_bits::one)));
        let copies = &mut self.copies;
        copies.by_product.clear();
        copies.by_output.clear();
        let (tiles, _) = self.arrays.first.floats().as_chunks::<{ TILE * FIRST }>();
        for (tile, weights) in tiles.iter().enumerate() {
            let ones = ones.as_ref().map(|ones| &ones[tile / self.tiles]);
            let mut by_product = [Line::ZERO; HALF];
            let mut by_output = [[Line::ZERO; FIRST / 2]; 2];
            for (index, &weight) in weights.iter().enumerate() {
                let (slot, output) = (index / FIRST, index % FIRST);
                let bits = upper_half(match ones {
                    Some(ones) => extra_bits::steps(weight, ones[output]) / ones[output],
                    None => weight,
                });
                let place = neuron(slot);
                by_product[place / 2].0[2 * output + place % 2] = bits;
                let (side, product) = (slot / HALF, slot % HALF);
                by_output[side][output / 2].0[2 * product + output % 2] = bits;
            }
            copies.by_product.push(by_product);
            copies.by_output.push(by_output);
        }
        copies.small.clear();
        let one = definition::WEIGHT_ONE as f32;
        let limit = f32::from(definition::MAX_WEIGHT);
        let fine = |floats: Floats| Floats(floats.0.map(|x| rounded(x, one, limit)));
        let arrays = &self.arrays;
        for bucket in 0..BUCKETS {
            let row = |of: &Trained, at: usize| of.rows()[at].map(fine);
            let second: [Row; SECOND_INPUTS] =
                std::array::from_fn(|input| row(&arrays.second, bucket * SECOND_INPUTS + input));
            let at = |input: usize, output: usize| second[input][output / HALF].0[output % HALF];
            copies.small.push(SmallLayers {
                first_bias: arrays.first_bias.value[bucket],
                second_transposed: std::array::from_fn(|output| {
                    [0, HALF].map(|half| Floats(std::array::from_fn(|i| at(half + i, output))))
                }),
                second,
                second_bias: arrays.second_bias.rows()[bucket],
                third: row(&arrays.third, bucket),
            });
        }
    }

    /// The first layer's extra bits in the network file, by bucket.
    pub(super) fn extra_bits(&self) -> [[u8; FIRST]; BUCKETS] {
        let weights = self.arrays.first.floats();
        let per_bucket = weights.len() / BUCKETS;
        std::array::from_fn(|bucket| {
            extra_bits::choose(&weights[bucket * per_bucket..][..per_bucket])
        })
    }

    /// One optimiser step along the sum of all threads' gradients, which become zero.
    #[inline(always)]
    pub(super) fn step(&mut self, parts: &mut [&mut LayerGradients], factor: f32, rate: &Rate) {
        let Some((sums, others)) = parts.split_first_mut() else {
            return;
        };
        for part in others {
            for (sums, part) in sums.each_mut().into_iter().zip(part.each_mut()) {
                for (sum, part) in sums.iter_mut().zip(part) {
                    *sum = add(sum, &std::mem::replace(part, Floats::ZERO));
                }
            }
        }
        let infinite = f32::INFINITY;
        let limits = [WEIGHT_LIMIT, infinite, WEIGHT_LIMIT, infinite, WEIGHT_LIMIT];
        let arrays = self.arrays.each_mut().into_iter().zip(sums.each_mut());
        for ((array, sums), limit) in arrays.zip(limits) {
            array.step(sums, factor, rate, limit);
        }
    }

    fn by_product(&self, bucket: usize, tile: usize) -> &ByProduct {
        &self.copies.by_product[bucket * self.tiles + tile]
    }

    fn by_output(&self, bucket: usize, tile: usize) -> &ByOutput {
        &self.copies.by_output[bucket * self.tiles + tile]
    }
}

/// The products of both sides' partners, from their values in the steps of the 16-bit weights:
/// bfloat16 in units of 1/127.
#[inline(always)]
pub fn products<L: Lanes>(l: L, inputs: [[L::Floats; 2]; 2], rounding: bool) -> L::Line {
    let [own, other] = inputs;
    l.shorten([product(l, own, rounding), product(l, other, rounding)])
}

/// The products of one side. A function, because the compiler calls a closure given to `map`
/// without the vector instructions of its surroundings.
#[inline(always)]
fn product<L: Lanes>(l: L, [low, high]: [L::Floats; 2], rounding: bool) -> L::Floats {
    let product = l.mul(l.mul(low, high), l.splat(PRODUCT_STEP));
    if rounding { l.floor(product) } else { product }
}

/// What a product's slope by one partner is: the other's value times the slope by the product.
#[inline(always)]
pub fn partner_slopes<L: Lanes>(
    l: L,
    [low, high]: [L::Floats; 2],
    by_product: L::Floats,
) -> [L::Floats; 2] {
    let by_product = l.mul(by_product, l.splat(PRODUCT_STEP * FIXED_ONE));
    [l.mul(by_product, high), l.mul(by_product, low)]
}

/// Adds a tile's products to the first layer's sums of some positions of one bucket.
#[inline(always)]
pub fn add_products<L: Lanes>(
    l: L,
    layers: &TrainedLayers,
    (bucket, tile): (usize, usize),
    products: &[Line],
    sums: &mut [Floats],
) {
    const CHAINS: usize = 4;
    let weights = layers.by_product(bucket, tile);
    let mut lines = [l.line(&weights[0]); HALF];
    for (line, weights) in lines.iter_mut().zip(weights) {
        *line = l.line(weights);
    }
    let weights = lines;
    for (sum, products) in sums.iter_mut().zip(products) {
        let pairs = products.pairs();
        // A single chain of additions would be limited by their latency.
        let mut parts = [l.floats(sum), l.splat(0.0), l.splat(0.0), l.splat(0.0)];
        // Indices that the compiler knows leave the sums in registers.
        for first in (0..HALF).step_by(CHAINS) {
            for (chain, part) in parts.iter_mut().enumerate() {
                let pair = first + chain;
                *part = l.dot_pairs(*part, pairs[pair], weights[pair]);
            }
        }
        let [a, b, c, d] = parts;
        l.put_floats(sum, l.add(l.add(a, b), l.add(c, d)));
    }
}

/// Slopes by the first layer's sums, of two positions of one bucket, in bfloat16.
#[derive(Clone, Copy, Debug)]
pub struct SumSlopes {
    /// The outputs of the one position and of the other as [`Lanes::shorten`] orders them.
    by_position: Line,
    /// Each output's pair.
    by_output: Line,
}

impl SumSlopes {
    pub const ZERO: SumSlopes = SumSlopes {
        by_position: Line::ZERO,
        by_output: Line::ZERO,
    };
}

/// The slopes by a tile's products, of some positions of one bucket.
#[inline(always)]
pub fn product_slopes<L: Lanes>(
    l: L,
    layers: &TrainedLayers,
    (bucket, tile): (usize, usize),
    slopes: &[SumSlopes],
    into: &mut [Row],
) {
    let weights = layers.by_output(bucket, tile);
    for side in 0..2 {
        let mut lines = [l.line(&weights[side][0]); FIRST / 2];
        for (line, weights) in lines.iter_mut().zip(&weights[side]) {
            *line = l.line(weights);
        }
        let weights = lines;
        for (slopes, rows) in slopes.iter().zip(into.chunks_mut(2)) {
            let pairs = slopes.by_position.pairs();
            for (position, row) in rows.iter_mut().enumerate() {
                let mut parts = [l.splat(0.0); 2];
                for output in 0..FIRST / 2 {
                    let pair = pairs[neuron(position * HALF + 2 * output) / 2];
                    parts[output % 2] = l.dot_pairs(parts[output % 2], pair, weights[output]);
                }
                l.put_floats(&mut row[side], l.add(parts[0], parts[1]));
            }
        }
    }
}

/// Adds the gradients of a tile's first-layer weights over some pairs of positions of one bucket,
/// whose products are interleaved.
#[inline(always)]
pub fn add_first_gradients<L: Lanes>(
    l: L,
    products: &[[Line; 2]],
    slopes: &[SumSlopes],
    into: &mut [Floats; TILE],
) {
    let (sides, _) = into.as_chunks_mut::<HALF>();
    for (side, into) in sides.iter_mut().enumerate() {
        let mut sums = [l.floats(&into[0]); HALF];
        for (sum, into) in sums.iter_mut().zip(into.iter()) {
            *sum = l.floats(into);
        }
        for (products, slopes) in products.iter().zip(slopes) {
            let pairs = products[side].pairs();
            let slopes = l.line(&slopes.by_output);
            for product in 0..HALF {
                sums[product] = l.dot_pairs(sums[product], pairs[product], slopes);
            }
        }
        for (into, sum) in into.iter_mut().zip(sums) {
            l.put_floats(into, sum);
        }
    }
}

impl LayerGradients {
    /// The first layer's gradients of a bucket and tile.
    pub fn of_tile(&mut self, bucket: usize, tile: usize) -> &mut [Floats; TILE] {
        let (all, _) = self.first.as_chunks_mut::<TILE>();
        let tiles = all.len() / BUCKETS;
        &mut all[bucket * tiles + tile]
    }
}

/// Inputs of the second layer from the first layer's sums, in units of 1.
#[inline(always)]
fn second_inputs<L: Lanes>(l: L, sums: L::Floats, rounding: bool) -> [L::Floats; 2] {
    let one = l.splat(ACTIVE_ONE);
    let square = l.mul(l.mul(sums, sums), l.splat(SQUARE_STEP));
    [
        active(l, square, rounding),
        active(l, l.mul(sums, one), rounding),
    ]
}

/// A clipped activation, rounded down to whole steps late in a run.
#[inline(always)]
fn active<L: Lanes>(l: L, sums: L::Floats, rounding: bool) -> L::Floats {
    let active = l.clip(sums, ACTIVE_ONE);
    let active = if rounding { l.floor(active) } else { active };
    l.mul(active, l.splat(1.0 / ACTIVE_ONE))
}

/// A vector and matrix product: `start` plus every row times its number.
#[inline(always)]
fn dense<L: Lanes>(
    l: L,
    start: [L::Floats; 2],
    numbers: &Row,
    rows: &[Row; TILE],
) -> [L::Floats; 2] {
    let mut even = start;
    let mut odd = [l.splat(0.0); 2];
    for pair in 0..HALF {
        for (sums, index) in [(&mut even, 2 * pair), (&mut odd, 2 * pair + 1)] {
            let number = l.splat(numbers[index / HALF].0[index % HALF]);
            for half in 0..2 {
                sums[half] = l.mul_add(number, l.floats(&rows[index][half]), sums[half]);
            }
        }
    }
    [l.add(even[0], odd[0]), l.add(even[1], odd[1])]
}

/// From a position's sums over products to what the layers add to its output, spread over the
/// places of a vector. Keeps the first and second layers' sums for [`backward`].
#[inline(always)]
pub fn forward<L: Lanes>(
    l: L,
    layers: &TrainedLayers,
    bucket: usize,
    rounding: bool,
    (first, second): (&mut Floats, &mut Row),
) -> L::Floats {
    let small = &layers.copies.small[bucket];
    let unit = l.splat(1.0 / ACTIVE_ONE);
    let sums = l.mul_add(l.floats(first), unit, l.floats(&small.first_bias));
    l.put_floats(first, sums);
    let inputs = second_inputs(l, sums, rounding);
    let mut numbers = [Floats::ZERO; 2];
    let [low, high] = &small.second_bias;
    let bias = [l.floats(low), l.floats(high)];
    for half in 0..2 {
        l.put_floats(&mut numbers[half], inputs[half]);
    }
    let sums = dense(l, bias, &numbers, &small.second);
    let mut output = l.splat(0.0);
    for half in 0..2 {
        l.put_floats(&mut second[half], sums[half]);
        output = l.mul_add(
            l.clip(sums[half], 1.0),
            l.floats(&small.third[half]),
            output,
        );
    }
    output
}

/// Slopes of the weighted mean squared distance of the first layer's sums from the teacher's; returns
/// that mean, without weight. A sum beyond the range of its activation, as the teacher's, is no error.
/// (Hints: Romero and others 2015, "FitNets".)
#[inline(always)]
pub fn hint_slopes(first: &Floats, hints: &TeacherHints, weight: f32, into: &mut Floats) -> f32 {
    const COUNT: f32 = HINTS as f32;
    let mut squares = 0.0;
    for ((&sum, &hint), slope) in first.0.iter().zip(hints).zip(&mut into.0) {
        let hint = f32::from(hint) / HINT_ONE;
        let low = if hint <= -1.0 { 0.0 } else { f32::NEG_INFINITY };
        let high = if hint >= 1.0 { 0.0 } else { f32::INFINITY };
        let distance = (sum - hint).max(low).min(high);
        squares += distance * distance;
        *slope = 2.0 * weight / COUNT * distance;
    }
    squares / COUNT
}

/// Adds the gradients of the small layers by one position, whose output has this slope and whose
/// first sums the hints pull by `by_hints`, and returns the slopes by its sums over products.
#[inline(always)]
pub fn backward<L: Lanes>(
    l: L,
    layers: &TrainedLayers,
    bucket: usize,
    (first, second): (&Floats, &Row),
    (slope, by_hints): (f32, &Floats),
    gradients: &mut LayerGradients,
    rounding: bool,
) -> L::Floats {
    let small = &layers.copies.small[bucket];
    let add_to = |sum: &mut Floats, value| l.put_floats(sum, l.add(l.floats(sum), value));
    let slope = l.splat(slope);
    let third = &mut gradients.third.as_chunks_mut::<2>().0[bucket];
    let second_bias = &mut gradients.second_bias.as_chunks_mut::<2>().0[bucket];
    let mut slopes = [Floats::ZERO; 2];
    for half in 0..2 {
        let sum = l.floats(&second[half]);
        add_to(&mut third[half], l.mul(slope, l.clip(sum, 1.0)));
        let by_sum = l.inside(l.mul(slope, l.floats(&small.third[half])), sum, 1.0);
        add_to(&mut second_bias[half], by_sum);
        l.put_floats(&mut slopes[half], by_sum);
    }
    let sums = l.floats(first);
    let mut inputs = [Floats::ZERO; 2];
    for (input, value) in inputs.iter_mut().zip(second_inputs(l, sums, rounding)) {
        l.put_floats(input, value);
    }
    let weights = &mut gradients.second.as_chunks_mut::<2>().0[bucket * SECOND_INPUTS..];
    let by_sum = [l.floats(&slopes[0]), l.floats(&slopes[1])];
    for (index, row) in weights[..SECOND_INPUTS].iter_mut().enumerate() {
        let input = l.splat(inputs[index / HALF].0[index % HALF]);
        for half in 0..2 {
            let sum = l.mul_add(input, by_sum[half], l.floats(&row[half]));
            l.put_floats(&mut row[half], sum);
        }
    }
    let [square, linear] = dense(l, [l.splat(0.0); 2], &slopes, &small.second_transposed);
    let per_square = l.mul(l.mul(sums, l.splat(2.0 * SQUARE_STEP / ACTIVE_ONE)), square);
    let squared = l.mul(l.mul(sums, sums), l.splat(SQUARE_STEP));
    let by_first = l.add(
        l.inside(per_square, squared, ACTIVE_ONE),
        l.inside(linear, sums, 1.0),
    );
    let by_first = l.add(by_first, l.floats(by_hints));
    add_to(&mut gradients.first_bias[bucket], by_first);
    l.mul(by_first, l.splat(1.0 / ACTIVE_ONE))
}

/// Two positions' slopes by their sums, for the matrix products.
#[inline(always)]
pub fn pair_slopes<L: Lanes>(l: L, [a, b]: [L::Floats; 2]) -> SumSlopes {
    let zero = l.splat(0.0);
    let [by_output, _] = l.interleave(l.shorten([a, zero]), l.shorten([b, zero]));
    let mut slopes = SumSlopes::ZERO;
    l.put_line(&mut slopes.by_position, l.shorten([a, b]));
    l.put_line(&mut slopes.by_output, by_output);
    slopes
}
