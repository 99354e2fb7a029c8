//! The steps to which the first dense layer's weights are rounded: for each output as fine as its
//! weights allow. See `nnue::layers` for the extra bits.

use crate::nnue::layers::{self as definition, FIRST, MAX_EXTRA_BITS};

use super::optimiser::{clamp, round};

/// Largest weight in steps.
const LIMIT: f32 = definition::MAX_FIRST_WEIGHT as f32;

/// What stands for 1.0 among weights with so many extra bits.
pub(super) const fn one(bits: u8) -> f32 {
    (definition::FIRST_ONE << bits) as f32
}

/// A weight in whole steps of 1/`one`, as far as a byte of the network file holds them.
#[inline(always)]
pub(super) fn steps(weight: f32, one: f32) -> f32 {
    clamp(round(weight * one), LIMIT)
}

/// The extra bits of a bucket's outputs with which its weights, `FIRST` for each product, are met
/// best: those with the smallest sum of squared errors, whether by rounding or because a byte does
/// not hold the weight. Of equals the fewest.
pub(super) fn choose(weights: &[f32]) -> [u8; FIRST] {
    let mut chosen = [0; FIRST];
    let mut least = [f32::INFINITY; FIRST];
    for bits in 0..=MAX_EXTRA_BITS {
        let errors = squared_errors(weights, one(bits));
        for ((chosen, least), error) in chosen.iter_mut().zip(&mut least).zip(errors) {
            if error < *least {
                (*chosen, *least) = (bits, error);
            }
        }
    }
    chosen
}

/// The sum of squared errors of each output's weights in steps of 1/`one`.
#[inline(always)]
fn squared_errors(weights: &[f32], one: f32) -> [f32; FIRST] {
    let mut sums = [0.0; FIRST];
    for weights in weights.as_chunks::<FIRST>().0 {
        for (sum, &weight) in sums.iter_mut().zip(weights) {
            let error = weight - steps(weight, one) / one;
            *sum += error * error;
        }
    }
    sums
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Weights that all have the same value for all outputs but the one.
    fn weights(others: f32, at: usize, values: [f32; 3]) -> Vec<f32> {
        let row = |value| {
            let mut row = [others; FIRST];
            row[at] = value;
            row
        };
        values.map(row).concat()
    }

    #[test]
    fn each_output_gets_the_finest_steps_that_hold_its_weights() {
        let third: f32 = 1.0 / 3.0;
        for (largest, bits) in [(1.9, 0), (0.99, 1), (0.49, 2), (0.24, 3)] {
            let chosen = choose(&weights(0.0, 5, [0.001, third.min(largest), largest]));
            let mut expected = [0; FIRST];
            expected[5] = bits;
            assert_eq!(chosen, expected, "{largest}");
        }
    }

    #[test]
    fn the_fewest_bits_that_are_exact_are_enough() {
        let sixty_fourths = [3.0, -127.0, 8.0].map(|x| x / 64.0);
        assert_eq!(choose(&weights(0.25, 0, sixty_fourths)), [0; FIRST]);
        let chosen = choose(&weights(0.25, 15, [1.0 / 256.0, 0.25, -0.25]));
        assert_eq!(chosen[15], 2);
    }

    #[test]
    fn many_small_weights_outvote_a_large_one_that_is_cut_a_little() {
        let mut small = vec![1.0 / 128.0; 4000 * FIRST];
        small[7] = 1.02;
        let chosen = choose(&small);
        assert!(chosen.iter().all(|&bits| bits == 1), "{chosen:?}");
        small[7] = 1.9;
        assert_eq!(choose(&small)[7], 0);
    }
}
