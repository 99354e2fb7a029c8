//! The layers of the layered architecture: definition, numbers in the file, reference.
//!
//! A network of this kind computes what a single-layer network computes and adds the output of
//! three small dense layers, one set for each output bucket. Their inputs are products of pairs of
//! hidden units. With the hidden layers `h` of the side to move (s = 0) and of the other side
//! (s = 1), each N wide, and the bucket b:
//!
//! ```text
//! c[s][i]        = clip(h[s][i], 0, QA)
//! p[s*N/2 + i]   = (c[s][i] * c[s][i + N/2]) >> 9             0..=127, i < N/2: N products
//! u[j]           = bias1[b][j] + sum over n of p[n] * w1[b][n][j]          j < 16
//! z[j]           = u[j] >> e[b][j]
//! l[j]           = clip(z[j] >> 6, 0, 127)
//! q[j]           = clip(z[j], -8191, 8191)^2 >> 19
//! in             = q[0..16], l[0..16]
//! y[k]           = bias2[b][k] + sum over m of in[m] * w2[b][k][m]         k < 32
//! a[k]           = clip(y[k] >> 4, 0, 4064)
//! o              = sum over k of a[k] * w3[b][k]
//! ```
//!
//! Sums are of 32 bits and wrap around; shifts round down. The units: `p`, `l` and `q` are in
//! units of 1/127, `z` of 1/8128, `w2` and `w3` of 1/512, `y` and `bias2` of 1/65024, `a` of 1/4064,
//! `o` of 1/2080768. [`to_output_units`] brings `o` to the unit of the single-layer output.
//!
//! The weights `w1` of an output are in units of 1/64 with no extra bits (`e` = 0), of 1/512 with
//! three, and its bias and sum `u` of 1/127 of that. An output whose weights are all small so gets
//! finer ones in the same byte: "per-channel" scales, as in other quantised networks (Krishnamoorthi
//! 2018, "Quantizing deep convolutional networks for efficient inference"), here powers of two.
//!
//! Small layers for each bucket, products of pairs, an activation next to its square, and an
//! output that bypasses the layers are ideas of Stockfish's networks (the `SFNNv` series). There
//! the bypass is a neuron of the first layer; here it is the whole single-layer output.

use super::features::OUTPUT_BUCKETS;
use super::format::{NetError, Reader};
use super::simd::QA;
use super::single_layer::QB;

/// Outputs of the first layer.
pub const FIRST: usize = 16;
/// Inputs of the second layer: the first layer's outputs squared, then clipped.
pub const SECOND_INPUTS: usize = 2 * FIRST;
/// Outputs of the second layer.
pub const SECOND: usize = 32;

/// Products that follow each other in the file's order and that the kernels pass over together if
/// all of them are zero.
pub const PRODUCT_GROUP: usize = 4;
/// The upper end of products, and of the inputs of the second layer: what stands for 1.0.
pub const INPUT_ONE: i32 = 127;
/// What stands for 1.0 among the first layer's weights without extra bits.
pub const FIRST_ONE: i32 = 64;
/// The most bits by which an output's weights in the first layer may be finer than
/// 1/[`FIRST_ONE`].
pub const MAX_EXTRA_BITS: u8 = 3;
/// What stands for 1.0 among the second and the third layer's weights.
pub const WEIGHT_ONE: i32 = 512;
/// What stands for 1.0 among the second layer's activations.
pub const SECOND_ACTIVATION_ONE: i32 = 4064;
/// Largest weight of the first layer.
pub const MAX_FIRST_WEIGHT: i8 = i8::MAX;
/// Largest weight of the second and of the third layer.
pub const MAX_WEIGHT: i16 = 1016;

/// Products of clipped hidden units are shifted right by this.
pub const PRODUCT_SHIFT: u32 = super::simd::PRODUCT_SHIFT;
/// Sums of the first layer are shifted right by this to be clipped.
pub const FIRST_SHIFT: u32 = 6;
/// Sums of the first layer are clipped to this on both sides before they are squared.
pub const SQUARE_LIMIT: i32 = 8191;
/// Squares are shifted right by this.
pub const SQUARE_SHIFT: u32 = 19;
/// Sums of the second layer are shifted right by this.
pub const SECOND_SHIFT: u32 = 4;

/// The layers of all buckets as plain integers in the file's order.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantisedLayers {
    /// `[BUCKETS][N][FIRST]`, in units of 1/([`FIRST_ONE`] << extra bits); none larger than
    /// [`MAX_FIRST_WEIGHT`].
    pub first_weights: Vec<i8>,
    /// `[BUCKETS][FIRST]`, in units of 1/([`INPUT_ONE`]·[`FIRST_ONE`] << extra bits).
    pub first_bias: Vec<i32>,
    /// `[BUCKETS][FIRST]`, by how many bits the output's weights are finer than 1/[`FIRST_ONE`];
    /// at most [`MAX_EXTRA_BITS`].
    pub extra_bits: Vec<u8>,
    /// `[BUCKETS][SECOND][SECOND_INPUTS]`, in units of 1/[`WEIGHT_ONE`]; none larger than
    /// [`MAX_WEIGHT`].
    pub second_weights: Vec<i16>,
    /// `[BUCKETS][SECOND]`, in units of 1/([`INPUT_ONE`]·[`WEIGHT_ONE`]).
    pub second_bias: Vec<i32>,
    /// `[BUCKETS][SECOND]`, in units of 1/[`WEIGHT_ONE`]; none larger than [`MAX_WEIGHT`].
    pub third_weights: Vec<i16>,
}

impl QuantisedLayers {
    /// Layers of zeros over hidden layers of this width. They add nothing to the output.
    #[must_use]
    pub fn zeroed(hidden: usize) -> QuantisedLayers {
        let [first, second, third] = counts(hidden);
        QuantisedLayers {
            first_weights: vec![0; first],
            first_bias: vec![0; OUTPUT_BUCKETS * FIRST],
            extra_bits: vec![0; EXTRA_BITS_BYTES],
            second_weights: vec![0; second],
            second_bias: vec![0; OUTPUT_BUCKETS * SECOND],
            third_weights: vec![0; third],
        }
    }

    /// Bytes of the layers' numbers over hidden layers of this width.
    #[must_use]
    pub const fn payload_bytes(hidden: usize) -> usize {
        let [first, second, third] = counts(hidden);
        let biases = OUTPUT_BUCKETS * (FIRST + SECOND);
        let without = first + size_of::<i16>() * (second + third) + size_of::<i32>() * biases;
        without + EXTRA_BITS_BYTES
    }

    /// Takes the layers' numbers off the front of a payload whose length has been checked. The
    /// extra bits are zeros unless the payload `has_extra_bits`.
    ///
    /// # Errors
    /// [`NetError::WeightOutOfRange`] or [`NetError::OtherArchitecture`].
    pub(super) fn read(
        rest: &mut Reader,
        hidden: usize,
        has_extra_bits: bool,
    ) -> Result<QuantisedLayers, NetError> {
        let [first, second, third] = counts(hidden);
        // The fields are read in this order, which is the file's.
        let layers = QuantisedLayers {
            first_weights: rest.i8s(first),
            first_bias: rest.i32s(OUTPUT_BUCKETS * FIRST),
            second_weights: rest.i16s(second),
            second_bias: rest.i32s(OUTPUT_BUCKETS * SECOND),
            third_weights: rest.i16s(third),
            extra_bits: if has_extra_bits {
                rest.u8s(EXTRA_BITS_BYTES)
            } else {
                vec![0; EXTRA_BITS_BYTES]
            },
        };
        if let Some(&bits) = (layers.extra_bits.iter()).find(|&&bits| bits > MAX_EXTRA_BITS) {
            return Err(NetError::OtherArchitecture {
                field: "extra bits",
                found: bits.into(),
                expected: format!("0 to {MAX_EXTRA_BITS}"),
            });
        }
        let first = layers.first_weights.iter().map(|&weight| weight.into());
        check_range("first layer", MAX_FIRST_WEIGHT.into(), first)?;
        let second = layers.second_weights.iter().copied();
        check_range("second layer", MAX_WEIGHT, second)?;
        let third = layers.third_weights.iter().copied();
        check_range("third layer", MAX_WEIGHT, third)?;
        Ok(layers)
    }

    /// Appends the layers' numbers to a payload.
    pub(super) fn write(&self, payload: &mut Vec<u8>) {
        let int8 = |values: &[i8]| values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let int16 = |values: &[i16]| values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let int32 = |values: &[i32]| values.iter().flat_map(|x| x.to_le_bytes()).collect();
        let parts: [Vec<u8>; 5] = [
            int8(&self.first_weights),
            int32(&self.first_bias),
            int16(&self.second_weights),
            int32(&self.second_bias),
            int16(&self.third_weights),
        ];
        payload.extend(parts.iter().flatten());
        payload.extend(&self.extra_bits);
    }

    /// What the layers of a bucket make of these [`products`], in units of
    /// 1/([`SECOND_ACTIVATION_ONE`]·[`WEIGHT_ONE`]): `o` of the [definition](self).
    ///
    /// This is the reference that the kernels are held to, and what the trainer compares its floats
    /// with.
    #[must_use]
    pub fn forward(&self, products: &[u8], bucket: usize) -> i32 {
        let weights = &self.first_weights[bucket * products.len() * FIRST..];
        let mut first = [0; FIRST];
        first.copy_from_slice(&self.first_bias[bucket * FIRST..][..FIRST]);
        for (&product, weights) in products.iter().zip(weights.as_chunks::<FIRST>().0) {
            for (sum, &weight) in first.iter_mut().zip(weights) {
                *sum = sum.wrapping_add(i32::from(product) * i32::from(weight));
            }
        }
        let mut inputs = [0; SECOND_INPUTS];
        for (j, &sum) in first.iter().enumerate() {
            let sum = sum >> self.extra_bits[bucket * FIRST + j];
            let bounded = sum.clamp(-SQUARE_LIMIT, SQUARE_LIMIT);
            inputs[j] = (bounded * bounded) >> SQUARE_SHIFT;
            inputs[FIRST + j] = (sum >> FIRST_SHIFT).clamp(0, INPUT_ONE);
        }
        let mut output = 0i32;
        for k in bucket * SECOND..(bucket + 1) * SECOND {
            let weights = &self.second_weights[k * SECOND_INPUTS..][..SECOND_INPUTS];
            let products = inputs.iter().zip(weights);
            let sum = products.fold(self.second_bias[k], |sum, (&input, &weight)| {
                sum.wrapping_add(input * i32::from(weight))
            });
            let activation = (sum >> SECOND_SHIFT).clamp(0, SECOND_ACTIVATION_ONE);
            output = output.wrapping_add(activation * i32::from(self.third_weights[k]));
        }
        output
    }
}

/// Bytes of the extra bits in a payload: one for each output of each bucket.
pub(super) const EXTRA_BITS_BYTES: usize = OUTPUT_BUCKETS * FIRST;

/// Weights of the first, the second and the third layer, in all buckets.
const fn counts(hidden: usize) -> [usize; 3] {
    [
        OUTPUT_BUCKETS * hidden * FIRST,
        OUTPUT_BUCKETS * SECOND * SECOND_INPUTS,
        OUTPUT_BUCKETS * SECOND,
    ]
}

/// Asks that no weight be larger than `limit`.
///
/// # Errors
/// [`NetError::WeightOutOfRange`].
pub(super) fn check_range(
    layer: &'static str,
    limit: i16,
    mut weights: impl Iterator<Item = i16>,
) -> Result<(), NetError> {
    match weights.find(|weight| weight.unsigned_abs() > limit.unsigned_abs()) {
        Some(value) => Err(NetError::WeightOutOfRange {
            layer,
            value,
            limit,
        }),
        None => Ok(()),
    }
}

/// The layers' inputs: products of the clipped hidden units `i` and `i + N/2`, those of the side
/// to move before those of the other side.
#[must_use]
pub fn products(hidden: [&[i16]; 2]) -> Vec<u8> {
    let clip = |value: i16| i32::from(value).clamp(0, QA);
    let side = |hidden: &[i16]| -> Vec<u8> {
        let (lower, upper) = hidden.split_at(hidden.len() / 2);
        let product = |(&a, &b): (&i16, &i16)| ((clip(a) * clip(b)) >> PRODUCT_SHIFT) as u8;
        lower.iter().zip(upper).map(product).collect()
    };
    hidden.map(side).concat()
}

/// The layers' output in the unit of the single-layer output, 1/(QA·QB), rounded towards zero. QB
/// is a multiple of [`WEIGHT_ONE`].
#[must_use]
pub const fn to_output_units(output: i32) -> i64 {
    output as i64 * (QA * (QB / WEIGHT_ONE)) as i64 / SECOND_ACTIVATION_ONE as i64
}
