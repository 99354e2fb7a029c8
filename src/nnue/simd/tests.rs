//! Every kernel of every instruction set against the same computation written out.

use std::mem::MaybeUninit;

use bytemuck::Zeroable;

use super::dense::{DenseLayers, sum_and_products};
use super::kernels::{sum_of_squares, update, update_many};
use super::{Isa, Operation, Simd};
use crate::board::tests::cases;
use crate::nnue::features::OUTPUT_BUCKETS;
use crate::nnue::layers::{MAX_EXTRA_BITS, MAX_WEIGHT, QuantisedLayers, products};
use crate::nnue::row::{HIDDEN, Row};
use crate::nnue::single_layer::{MAX_OUTPUT_WEIGHT, QA};
use crate::nnue::synthetic;

/// Rows of arbitrary integers: all 16 bits of them, so that sums wrap around.
fn rows<const COUNT: usize>(seed: u64) -> [Row; COUNT] {
    let mut state = seed;
    let mut next = || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (state >> 48) as i16
    };
    std::array::from_fn(|_| {
        let mut row = Row::ZERO;
        row.0.fill_with(&mut next);
        row
    })
}

fn weights(seed: u64) -> [Row; 2] {
    let mut weights = rows::<2>(seed);
    for weight in weights.iter_mut().flat_map(|row| &mut row.0) {
        *weight %= MAX_OUTPUT_WEIGHT + 1;
    }
    weights
}

/// What all kernels compute: children by a few features, rows by many, and the output.
struct Everything<'a>(&'a [Row; 5], &'a [Row; 2]);

#[derive(Debug, PartialEq)]
struct Results {
    children: [Row; 3],
    many: [Row; 2],
    output: i32,
}

impl Operation for Everything<'_> {
    type Output = Results;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Results {
        let Everything([parent, a, b, c, d], weights) = self;
        let mut children = [Row::ZERO; 3];
        update(simd, &mut children[0], parent, [a], [b]);
        update(simd, &mut children[1], parent, [a], [b, c]);
        update(simd, &mut children[2], parent, [a, b], [c, d]);
        let mut many = [parent.clone(), Row::ZERO];
        let [row, copy] = &mut many;
        update_many(simd, row, copy, &[a, b, c], &[d]);
        Results {
            children,
            many,
            output: sum_of_squares(simd, [a, b], weights),
        }
    }
}

fn written_out([parent, a, b, c, d]: &[Row; 5], weights: &[Row; 2]) -> Results {
    let combine = |added: &[&Row], removed: &[&Row]| {
        let mut row = parent.clone();
        for (i, value) in row.0.iter_mut().enumerate() {
            for feature in added {
                *value = value.wrapping_add(feature.0[i]);
            }
            for feature in removed {
                *value = value.wrapping_sub(feature.0[i]);
            }
        }
        row
    };
    let half = |hidden: &Row, weights: &Row| -> i64 {
        let term =
            |(v, w): (&i16, &i16)| i64::from((*v).clamp(0, QA as i16)).pow(2) / 4 * i64::from(*w);
        hidden.0.iter().zip(&weights.0).map(term).sum()
    };
    let many = combine(&[a, b, c], &[d]);
    Results {
        children: [
            combine(&[a], &[b]),
            combine(&[a], &[b, c]),
            combine(&[a, b], &[c, d]),
        ],
        many: [many.clone(), many],
        // Truncated to 32 bits as the kernels' sums are.
        output: (half(a, &weights[0]) + half(b, &weights[1])) as i32,
    }
}

#[test]
fn kernels_compute_what_is_written_out() {
    for isa in Isa::available() {
        for seed in 0..cases(50, 1) {
            let (rows, weights) = (rows(seed), weights(seed + 1000));
            let results = isa.run(Everything(&rows, &weights));
            assert!(
                results == written_out(&rows, &weights),
                "{isa}, seed {seed}, N = {HIDDEN}"
            );
        }
    }
}

/// The output layer and the layers of one bucket.
struct Layers<'a>([&'a Row; 2], &'a [Row; 2], &'a DenseLayers);

impl Operation for Layers<'_> {
    type Output = [i32; 3];

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> [i32; 3] {
        let Layers(hidden, weights, layers) = self;
        let mut room = MaybeUninit::uninit();
        let (sum, products) = sum_and_products(simd, hidden, weights, &mut room);
        let alone = sum_of_squares(simd, hidden, weights);
        [sum, alone, layers.forward(simd, products)]
    }
}

/// Holds the layers' kernels to the reference, for these hidden layers and weights.
fn assert_layers(hidden: [&Row; 2], layers: &QuantisedLayers, what: &str) {
    let weights = weights(99);
    let products = products(hidden.map(|row| &row.0[..]));
    for bucket in [0, OUTPUT_BUCKETS - 1] {
        let expected = layers.forward(&products, bucket);
        let mut dense = DenseLayers::zeroed();
        dense.lay_out(layers, bucket);
        for isa in Isa::available() {
            let [sum, alone, output] = isa.run(Layers(hidden, &weights, &dense));
            assert_eq!(sum, alone, "{isa}, {what}: the sum of squares");
            assert_eq!(output, expected, "{isa}, {what}, bucket {bucket}");
        }
    }
}

#[test]
fn layers_compute_what_is_written_out() {
    for seed in 0..cases(20, 1) {
        let layers = synthetic::random_layers(HIDDEN, seed);
        let [own, other] = rows::<2>(seed + 500);
        assert_layers([&own, &other], &layers, &format!("seed {seed}"));
        // Values as a trained network has them: small, and few above zero.
        let [mut own, mut other] = [own, other];
        for value in own.0.iter_mut().chain(&mut other.0) {
            *value = *value % 300 - 150;
        }
        assert_layers([&own, &other], &layers, &format!("small, seed {seed}"));
    }
}

/// Hidden units, weights and biases at the ends of their ranges: sums saturate nowhere.
#[test]
fn layers_agree_at_the_extremes() {
    let hidden: [Row; 4] = [i16::MIN, 0, QA as i16, i16::MAX].map(|value| {
        let mut row = Row::ZERO;
        row.0.fill(value);
        row
    });
    let extreme = |first: i8, first_bias: i32, second: i16, second_bias: i32, third: i16| {
        let mut layers = QuantisedLayers::zeroed(HIDDEN);
        layers.first_weights.fill(first);
        layers.first_bias.fill(first_bias);
        layers.second_weights.fill(second);
        layers.second_bias.fill(second_bias);
        layers.third_weights.fill(third);
        layers
    };
    let most = MAX_WEIGHT;
    let cases = [
        extreme(127, i32::MAX, most, i32::MAX, most),
        extreme(127, i32::MAX, most, 0, -most),
        extreme(127, 0, most, 0, most),
        extreme(-127, i32::MIN, -most, i32::MIN, most),
        extreme(-127, 0, most, 0, -most),
        extreme(0, i32::MIN, most, i32::MIN, -most),
        extreme(0, i32::MAX, most, i32::MIN, most),
    ];
    let finest = cases.clone().map(|mut layers| {
        layers.extra_bits.fill(MAX_EXTRA_BITS);
        layers
    });
    let step = if cfg!(miri) { 3 } else { 1 };
    let cases = cases.iter().chain(&finest).enumerate();
    for (number, layers) in cases.step_by(step) {
        for own in &hidden {
            for other in &hidden {
                let (x, y) = (own.0[0], other.0[0]);
                let what = format!("case {number}, hidden {x} and {y}");
                assert_layers([own, other], layers, &what);
            }
        }
    }
}

/// One group of four products after the other is all that is not zero, so that none is missed.
#[test]
fn no_group_of_inputs_is_passed_over() {
    let layers = synthetic::random_layers(HIDDEN, 3);
    for pair in (0..HIDDEN / 2).step_by(if cfg!(miri) { 5 } else { 1 }) {
        let mut rows = [Row::ZERO; 2];
        let row = &mut rows[pair % 2].0;
        row[pair] = 23;
        row[pair + HIDDEN / 2] = 23;
        let [own, other] = &rows;
        assert_layers([own, other], &layers, &format!("pair {pair}"));
    }
}

#[test]
fn instruction_sets_go_by_name() {
    for isa in Isa::available() {
        assert_eq!(isa.name().parse(), Ok(isa));
    }
    let error = "mmx".parse::<Isa>().expect_err("none of ours");
    assert!(error.to_string().contains("scalar"), "{error}");
}
