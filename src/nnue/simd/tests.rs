//! Every kernel of every instruction set against the same computation written out.

use super::kernels::{sum_of_squares, update, update_many};
use super::{Isa, Operation, Simd};
use crate::nnue::row::{HIDDEN, Row};
use crate::nnue::single_layer::{MAX_OUTPUT_WEIGHT, QA};

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
        for seed in 0..50 {
            let (rows, weights) = (rows(seed), weights(seed + 1000));
            let results = isa.run(Everything(&rows, &weights));
            assert!(
                results == written_out(&rows, &weights),
                "{isa}, seed {seed}, N = {HIDDEN}"
            );
        }
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
