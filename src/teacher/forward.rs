//! The teacher's arithmetic on blocks of integers.
//!
//! Mostly plain loops over fixed-size arrays, which the compiler turns into vector instructions
//! when they are inlined into an [`Operation`](crate::nnue::simd::Operation): hence
//! `inline(always)` everywhere.

use crate::nnue::simd::kernels::dots;
use crate::nnue::simd::{Block, Simd};

use super::engine::OUTPUT_SCALE;
use super::format::{FIRST, LayerStack, SECOND, STACKS};
use crate::record::TeacherHints;

/// The largest activation of a neuron.
const ONE: i16 = 127;
/// Products of two neurons are divided by two to this.
const PRODUCT_SHIFT: u32 = 7;
/// Sums of the small layers are divided by two to this.
const WEIGHT_SHIFT: u32 = 6;
/// Outputs of the first layer that pass through activations; the last is added to the output.
const ACTIVATED: usize = FIRST - 1;
/// Rows of the first layer that are computed together.
const ROWS: usize = 8;
/// What 1.0 in that added output, the skip connection, stands for, in the network's unit.
const SKIP_SCALE: i32 = 600;

/// Adds the rows `added` to `row` and subtracts `removed`.
#[inline(always)]
pub fn change(row: &mut [Block], added: &[&[Block]], removed: &[&[Block]]) {
    for weights in added {
        for (block, weights) in row.iter_mut().zip(*weights) {
            for (lane, weight) in block.0.iter_mut().zip(weights.0) {
                *lane = lane.wrapping_add(weight);
            }
        }
    }
    for weights in removed {
        for (block, weights) in row.iter_mut().zip(*weights) {
            for (lane, weight) in block.0.iter_mut().zip(weights.0) {
                *lane = lane.wrapping_sub(weight);
            }
        }
    }
}

/// `child = parent + added - removed`, in one pass.
#[inline(always)]
pub fn derive<const ADDED: usize, const REMOVED: usize>(
    child: &mut [Block],
    parent: &[Block],
    added: [&[Block]; ADDED],
    removed: [&[Block]; REMOVED],
) {
    let count = child.len();
    let parent = &parent[..count];
    let added = added.map(|row| &row[..count]);
    let removed = removed.map(|row| &row[..count]);
    for at in 0..count {
        let mut values = parent[at].0;
        for row in added {
            for (value, weight) in values.iter_mut().zip(row[at].0) {
                *value = value.wrapping_add(weight);
            }
        }
        for row in removed {
            for (value, weight) in values.iter_mut().zip(row[at].0) {
                *value = value.wrapping_sub(weight);
            }
        }
        child[at].0 = values;
    }
}

/// Adds the piece values `added` to `sums` and subtracts `removed`.
#[inline(always)]
pub fn change_values(
    sums: &mut [i32; STACKS],
    added: &[&[i32; STACKS]],
    removed: &[&[i32; STACKS]],
) {
    for values in added {
        for (sum, value) in sums.iter_mut().zip(*values) {
            *sum = sum.wrapping_add(*value);
        }
    }
    for values in removed {
        for (sum, value) in sums.iter_mut().zip(*values) {
            *sum = sum.wrapping_sub(*value);
        }
    }
}

/// Each neuron times its partner in the other half of its side, clipped: the stacks' inputs, the
/// mover's first.
#[inline(always)]
pub fn products(sides: [&[Block]; 2], out: &mut [Block]) {
    let half = out.len() / 2;
    for (side, out) in sides.into_iter().zip(out.chunks_exact_mut(half)) {
        let (left, right) = side.split_at(half);
        for ((out, left), right) in out.iter_mut().zip(left).zip(right) {
            for ((out, left), right) in out.0.iter_mut().zip(left.0).zip(right.0) {
                *out = (left.clamp(0, ONE) * right.clamp(0, ONE)) >> PRODUCT_SHIFT;
            }
        }
    }
}

/// The output of a stack, [`OUTPUT_SCALE`] for the network's unit, and the first layer's sums.
#[inline(always)]
pub fn propagate<S: Simd>(simd: S, stack: &LayerStack, inputs: &[Block]) -> (i32, [i32; FIRST]) {
    let mut first = stack.first_bias;
    for (group, sums) in first.chunks_exact_mut(ROWS).enumerate() {
        let row = |row: usize| &stack.first[(group * ROWS + row) * inputs.len()..];
        let products = dots::<S, ROWS>(simd, std::array::from_fn(row), inputs);
        for (sum, product) in sums.iter_mut().zip(products) {
            *sum += product;
        }
    }
    let clip = |sum: i32| (sum >> WEIGHT_SHIFT).clamp(0, i32::from(ONE));
    let square = |sum: i32| {
        let sum = i64::from(sum);
        ((sum * sum) >> (2 * WEIGHT_SHIFT + PRODUCT_SHIFT)).min(i64::from(ONE)) as i32
    };
    let mut activated = [0; SECOND];
    for (index, &sum) in first[..ACTIVATED].iter().enumerate() {
        activated[index] = square(sum);
        activated[ACTIVATED + index] = clip(sum);
    }
    let mut second = stack.second_bias;
    for (input, weights) in activated.into_iter().zip(&stack.second) {
        for (sum, weight) in second.iter_mut().zip(weights) {
            *sum += input * weight;
        }
    }
    let mut output = stack.third_bias;
    for (sum, weight) in second.into_iter().zip(stack.third) {
        output += clip(sum) * weight;
    }
    let skip =
        first[ACTIVATED].wrapping_mul(SKIP_SCALE * OUTPUT_SCALE) / (i32::from(ONE) << WEIGHT_SHIFT);
    (output + skip, first)
}

/// The first layer's sums in the unit of [`TeacherHints`].
#[inline(always)]
pub fn hints(first: [i32; FIRST]) -> TeacherHints {
    let one = i32::from(ONE);
    first.map(|sum| (sum >> WEIGHT_SHIFT).clamp(-one, one) as i8)
}
