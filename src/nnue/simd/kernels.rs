//! The networks' four computations over rows, for any instruction set: a row derived from another
//! by a few features, a row changed by many features, the weighted sum of squares, and dot products.

use super::{Block, Simd};
use crate::nnue::row::{HIDDEN, Row};

/// `to = from + added - removed`, each value passing through a register once.
///
/// The numbers of rows are constants: a move has few shapes, and each gets a loop of its own.
#[inline(always)]
pub fn update<S: Simd, const ADDED: usize, const REMOVED: usize>(
    simd: S,
    to: &mut Row,
    from: &Row,
    added: [&Row; ADDED],
    removed: [&Row; REMOVED],
) {
    const { assert!(HIDDEN.is_multiple_of(S::LANES)) };
    for at in (0..HIDDEN).step_by(S::LANES) {
        // SAFETY: `at` is a multiple of `LANES` below `HIDDEN`, which `LANES` divides, so the
        // registers lie inside the rows; rows are aligned to 64 bytes, the widest register.
        unsafe {
            let mut values = simd.load(from.0.as_ptr().add(at));
            for row in added {
                values = simd.add(values, simd.load(row.0.as_ptr().add(at)));
            }
            for row in removed {
                values = simd.sub(values, simd.load(row.0.as_ptr().add(at)));
            }
            simd.store(to.0.as_mut_ptr().add(at), values);
        }
    }
}

/// Adds and removes any number of features in place, and copies the result to `copy`.
#[inline(always)]
pub fn update_many<S: Simd>(
    simd: S,
    row: &mut Row,
    copy: &mut Row,
    added: &[&Row],
    removed: &[&Row],
) {
    /// Registers that a block of a row is kept in while features pass by, and for narrow rows.
    const WIDE: usize = 8;
    const NARROW: usize = 2;
    if HIDDEN.is_multiple_of(WIDE * S::LANES) {
        update_blocks::<S, WIDE>(simd, row, copy, added, removed);
    } else {
        update_blocks::<S, NARROW>(simd, row, copy, added, removed);
    }
}

#[inline(always)]
fn update_blocks<S: Simd, const REGISTERS: usize>(
    simd: S,
    row: &mut Row,
    copy: &mut Row,
    added: &[&Row],
    removed: &[&Row],
) {
    const { assert!(HIDDEN.is_multiple_of(2 * S::LANES)) };
    for block in (0..HIDDEN).step_by(REGISTERS * S::LANES) {
        let offset = |register: usize| block + register * S::LANES;
        // SAFETY: the caller chose a number of registers that divides the row into whole blocks,
        // so every offset is a multiple of `LANES` below `HIDDEN`; rows are aligned to 64 bytes.
        unsafe {
            let mut values: [S::I16; REGISTERS] =
                std::array::from_fn(|r| simd.load(row.0.as_ptr().add(offset(r))));
            for feature in added {
                for (r, value) in values.iter_mut().enumerate() {
                    *value = simd.add(*value, simd.load(feature.0.as_ptr().add(offset(r))));
                }
            }
            for feature in removed {
                for (r, value) in values.iter_mut().enumerate() {
                    *value = simd.sub(*value, simd.load(feature.0.as_ptr().add(offset(r))));
                }
            }
            for (r, value) in values.into_iter().enumerate() {
                simd.store(row.0.as_mut_ptr().add(offset(r)), value);
                simd.store(copy.0.as_mut_ptr().add(offset(r)), value);
            }
        }
    }
}

/// The output layer over the hidden layers of both sides, with the squared clipped ReLU: the sum
/// of `clip(v)^2 / 4 * w`, in units of 4/(QA·QA·QB). A quarter of the square fits 16 bits, and so
/// leaves the weights all of theirs.
#[inline(always)]
pub fn sum_of_squares<S: Simd>(simd: S, hidden: [&Row; 2], weights: &[Row; 2]) -> i32 {
    const { assert!(HIDDEN.is_multiple_of(2 * S::LANES)) };
    // Four independent sums hide the latency of the dot product.
    let mut sums = [[simd.zero(); 2]; 2];
    for pair in (0..HIDDEN).step_by(2 * S::LANES) {
        for (side, sums) in sums.iter_mut().enumerate() {
            for (register, sum) in sums.iter_mut().enumerate() {
                let at = pair + register * S::LANES;
                // SAFETY: `at` is a multiple of `LANES` below `HIDDEN`, which two registers
                // divide; rows are aligned to 64 bytes.
                unsafe {
                    let value = simd.clip(simd.load(hidden[side].0.as_ptr().add(at)));
                    let weight = simd.load(weights[side].0.as_ptr().add(at));
                    *sum = simd.dot(*sum, simd.quarter_square(value), weight);
                }
            }
        }
    }
    let [[a, b], [c, d]] = sums;
    simd.reduce(simd.add32(simd.add32(a, b), simd.add32(c, d)))
}

/// The sums of the products of each row with `inputs`, lane by lane; rows are as long as `inputs`
/// or longer.
#[inline(always)]
pub fn dots<S: Simd, const ROWS: usize>(
    simd: S,
    rows: [&[Block]; ROWS],
    inputs: &[Block],
) -> [i32; ROWS] {
    const { assert!(Block::LANES.is_multiple_of(S::LANES)) };
    let rows = rows.map(|row| &row[..inputs.len()]);
    let mut sums = [simd.zero(); ROWS];
    for (index, input) in inputs.iter().enumerate() {
        for at in (0..Block::LANES).step_by(S::LANES) {
            // SAFETY: `at` is a multiple of `LANES` below the block's length, which `LANES`
            // divides; blocks are aligned to 64 bytes, the widest register.
            let input = unsafe { simd.load(input.0.as_ptr().add(at)) };
            for (sum, row) in sums.iter_mut().zip(rows) {
                // SAFETY: as above.
                let weights = unsafe { simd.load(row[index].0.as_ptr().add(at)) };
                *sum = simd.dot(*sum, input, weights);
            }
        }
    }
    sums.map(|sum| simd.reduce(sum))
}
