//! The layers of the layered architecture ([`layers`](crate::nnue::layers)), for any instruction
//! set.
//!
//! The first layer is most of the work: N inputs, of which a large part is zero. Its weights lie in
//! blocks, one for each four inputs, with the four weights of each output side by side: what a dot
//! product of four bytes takes. Blocks whose four inputs are all zero are passed over, so that their
//! weights need not even be in the nearest cache (Stockfish's pull request 4612 by AndrovT, 2023).

use std::mem::MaybeUninit;

use bytemuck::Zeroable;

use super::{Block, PRODUCT_RUN, Simd};
use crate::nnue::layers::{
    FIRST, PRODUCT_GROUP, QuantisedLayers, SECOND, SECOND_ACTIVATION_ONE, SECOND_INPUTS,
    SECOND_SHIFT,
};
use crate::nnue::row::{HIDDEN, Row};

/// Inputs that a block of weights is for.
const GROUP: usize = PRODUCT_GROUP;
/// Blocks of weights of the first layer.
const GROUPS: usize = HIDDEN / GROUP;
/// The most numbers of groups that are written at once.
const SPARE: usize = Block::LANES / 2;

/// The products of pairs of hidden units, and which groups of them are not all zero.
#[repr(C, align(64))]
pub struct Products {
    /// One more than there are, of zeros.
    groups: MaybeUninit<[[i8; GROUP]; GROUPS + 1]>,
    /// The numbers of the groups that are not all zero, rising, then that of the group of zeros.
    nonzero: MaybeUninit<[u32; GROUPS + SPARE]>,
    count: usize,
}

impl Products {
    /// The largest number of groups that can be read at once.
    const PADDING: usize = 4;

    /// The group that stands at `index` among those that are not all zero, with its number, which
    /// is at most [`GROUPS`].
    ///
    /// # Safety
    /// `index` is less than [`Products::PADDING`] above the count, which is not zero.
    #[inline(always)]
    unsafe fn get(&self, index: usize) -> (usize, [i8; GROUP]) {
        // SAFETY: `sum_and_products`, which alone sets the count, has written so many numbers and
        // the padding, all groups, and the group of zeros.
        unsafe {
            let number = *self.nonzero.as_ptr().cast::<u32>().add(index) as usize;
            let group = *self.groups.as_ptr().cast::<[i8; GROUP]>().add(number);
            (number, group)
        }
    }
}

/// Where the product number `n` of the file's order stands among [`Products`].
const fn place(n: usize) -> usize {
    let (side, i) = (n / (HIDDEN / 2), n % (HIDDEN / 2));
    i / PRODUCT_RUN * (2 * PRODUCT_RUN) + side * PRODUCT_RUN + i % PRODUCT_RUN
}

/// What [`sum_of_squares`](super::kernels::sum_of_squares) computes, and the products of the
/// hidden units on the way: both need every unit, clipped.
#[inline(always)]
pub fn sum_and_products<'a, S: Simd>(
    simd: S,
    hidden: [&Row; 2],
    weights: &[Row; 2],
    room: &'a mut MaybeUninit<Products>,
) -> (i32, &'a Products) {
    const HALF: usize = HIDDEN / 2;
    const { assert!(HALF.is_multiple_of(S::LANES)) };
    let products = room.as_mut_ptr();
    // SAFETY: the pointers lie within the products' room.
    let (groups, nonzero) = unsafe {
        let groups = (&raw mut (*products).groups).cast::<[i8; GROUP]>();
        (groups, (&raw mut (*products).nonzero).cast::<u32>())
    };
    let mut sums = [[simd.zero(); 2]; 2];
    let mut count = 0;
    for at in (0..HALF).step_by(S::LANES) {
        let mut clipped = |side: usize, half: usize| {
            let offset = half * HALF + at;
            // SAFETY: `at` is a multiple of `LANES` below half of the row, which `LANES` divides;
            // rows are aligned to 64 bytes.
            let (value, weight) = unsafe {
                let value = simd.load(hidden[side].0.as_ptr().add(offset));
                (value, simd.load(weights[side].0.as_ptr().add(offset)))
            };
            let value = simd.clip(value);
            let sum = &mut sums[side][half];
            *sum = simd.dot(*sum, simd.quarter_square(value), weight);
            value
        };
        let own = [clipped(0, 0), clipped(0, 1)];
        let other = [clipped(1, 0), clipped(1, 1)];
        let bytes = simd.products(own, other);
        let first = 2 * at / GROUP;
        // SAFETY: `2 * at` is a multiple of the register's bytes below `HIDDEN`, which they divide;
        // the values are aligned to 64 bytes. As many numbers as there are groups before `first` at
        // most precede, and the register's groups are no more than follow or are spare.
        unsafe {
            simd.store8(groups.add(first).cast::<i8>(), bytes);
            count += simd.list_nonzero(nonzero.add(count), first as u32, bytes);
        }
    }
    // SAFETY: there are no more numbers than groups, and room for the padding after them; one more
    // group follows the products. That and the count is all that has to be set.
    let products = unsafe {
        for place in 0..Products::PADDING {
            nonzero.add(count + place).write(GROUPS as u32);
        }
        groups.add(GROUPS).write([0; GROUP]);
        (&raw mut (*products).count).write(count);
        room.assume_init_ref()
    };
    let [[a, b], [c, d]] = sums;
    let sum = simd.reduce(simd.add32(simd.add32(a, b), simd.add32(c, d)));
    (sum, products)
}

/// The layers of one bucket, laid out for the kernels.
#[derive(Clone, Debug)]
#[repr(C, align(64))]
pub struct DenseLayers {
    /// Per group of inputs, per output, the weights of the group's inputs; then those of the group
    /// of zeros, which are zeros.
    first: [[[i8; GROUP]; FIRST]; GROUPS + 1],
    first_bias: [i32; FIRST],
    extra_bits: [i32; FIRST],
    /// Per output of the first layer, per output of the second, the weights of the former's square
    /// and of its clipped value.
    second: [[[i16; 2]; SECOND]; FIRST],
    second_bias: [i32; SECOND],
    third: [i16; SECOND],
}

// SAFETY: arrays of integers, of which any bits are valid. Derived, this would ask for an array
// length that the trait knows.
unsafe impl Zeroable for DenseLayers {}

impl DenseLayers {
    /// Lays out a bucket's layers of a network of the build's width.
    pub fn lay_out(&mut self, layers: &QuantisedLayers, bucket: usize) {
        let weights = &layers.first_weights[bucket * HIDDEN * FIRST..][..HIDDEN * FIRST];
        for (n, weights) in weights.as_chunks::<FIRST>().0.iter().enumerate() {
            let place = place(n);
            for (output, &weight) in weights.iter().enumerate() {
                self.first[place / GROUP][output][place % GROUP] = weight;
            }
        }
        for k in 0..SECOND {
            let row = (bucket * SECOND + k) * SECOND_INPUTS;
            for j in 0..FIRST {
                let weight = |m| layers.second_weights[row + m];
                self.second[j][k] = [weight(j), weight(FIRST + j)];
            }
        }
        let (first, second) = (bucket * FIRST, bucket * SECOND);
        self.first_bias = std::array::from_fn(|j| layers.first_bias[first + j]);
        self.extra_bits = std::array::from_fn(|j| layers.extra_bits[first + j].into());
        self.second_bias = std::array::from_fn(|k| layers.second_bias[second + k]);
        self.third = std::array::from_fn(|k| layers.third_weights[second + k]);
    }

    /// The output of the layers; see [`QuantisedLayers::forward`].
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, products: &Products) -> i32 {
        // Registers that hold the outputs of the first layer, sets of them, and registers that hold
        // the outputs of the second layer.
        match S::LANES {
            32 => self.forward_in::<S, 1, 4, 2>(simd, products),
            16 => self.forward_in::<S, 2, 2, 4>(simd, products),
            _ => self.forward_in::<S, 4, 2, 8>(simd, products),
        }
    }

    #[inline(always)]
    fn forward_in<S: Simd, const FIRSTS: usize, const SETS: usize, const SECONDS: usize>(
        &self,
        simd: S,
        products: &Products,
    ) -> i32 {
        assert!(FIRSTS * S::LANES == 2 * FIRST && SECONDS * S::LANES == 2 * SECOND);
        let inputs = self.first_layer::<S, FIRSTS, SETS>(simd, products);
        self.last_layers::<S, SECONDS>(simd, &inputs)
    }

    /// The first layer, as inputs of the second.
    #[inline(always)]
    fn first_layer<S: Simd, const REGISTERS: usize, const SETS: usize>(
        &self,
        simd: S,
        products: &Products,
    ) -> FirstLanes {
        const { assert!(SETS <= Products::PADDING) };
        let lanes = S::LANES / 2;
        // Several sets of sums hide the dot product's latency.
        let mut sums = [[simd.zero(); REGISTERS]; SETS];
        for index in (0..products.count).step_by(SETS) {
            for (set, sums) in sums.iter_mut().enumerate() {
                // SAFETY: there are no more sets than padding.
                let (number, group) = unsafe { products.get(index + set) };
                let input = simd.splat8(group);
                for (register, sum) in sums.iter_mut().enumerate() {
                    // SAFETY: there are as many blocks of weights as groups, with that of zeros; the
                    // registers together are a block's size; blocks are aligned to 64 bytes.
                    let weights = unsafe {
                        let block = self.first.as_ptr().add(number).cast::<i8>();
                        simd.load8(block.add(register * 2 * S::LANES))
                    };
                    *sum = simd.dot8(*sum, input, weights);
                }
            }
        }
        let mut result = FirstLanes([0; FIRST]);
        for register in 0..REGISTERS {
            let sets = sums.iter().map(|set| set[register]);
            let sum = sets.fold(simd.zero(), |a, b| simd.add32(a, b));
            // SAFETY: the registers together are as many integers as each array has, and all
            // arrays are aligned to 64 bytes.
            unsafe {
                let bias = simd.load32(self.first_bias.as_ptr().add(register * lanes));
                let extra_bits = simd.load32(self.extra_bits.as_ptr().add(register * lanes));
                let pairs = simd.activate(simd.shift_right(simd.add32(sum, bias), extra_bits));
                let to = result.0.as_mut_ptr().add(register * lanes);
                simd.store(to.cast::<i16>(), pairs);
            }
        }
        result
    }

    /// The second and the third layer.
    #[inline(always)]
    fn last_layers<S: Simd, const REGISTERS: usize>(&self, simd: S, inputs: &FirstLanes) -> i32 {
        let lanes = S::LANES / 2;
        let mut sums = [[simd.zero(); REGISTERS]; 2];
        for (j, &input) in inputs.0.iter().enumerate() {
            let input = simd.splat(input);
            let weights = self.second[j].as_ptr().cast::<i16>();
            for (register, sum) in sums[j % 2].iter_mut().enumerate() {
                // SAFETY: the registers together are as large as the weights of an input, which are
                // aligned to 64 bytes.
                let weights = unsafe { simd.load(weights.add(register * S::LANES)) };
                *sum = simd.dot_pairs(*sum, input, weights);
            }
        }
        let mut second = SecondLanes([0; SECOND]);
        let [even, odd] = sums;
        for (register, (even, odd)) in even.into_iter().zip(odd).enumerate() {
            let sum = simd.add32(even, odd);
            // SAFETY: the registers together are as many integers as the array has, and both
            // arrays are aligned to 64 bytes.
            unsafe {
                let bias = simd.load32(self.second_bias.as_ptr().add(register * lanes));
                let sum = simd.add32(sum, bias);
                simd.store32(second.0.as_mut_ptr().add(register * lanes), sum);
            }
        }
        let terms = second.0.iter().zip(&self.third);
        terms.fold(0, |output: i32, (&sum, &weight)| {
            let activation = (sum >> SECOND_SHIFT).clamp(0, SECOND_ACTIVATION_ONE);
            output.wrapping_add(activation * i32::from(weight))
        })
    }
}

/// An input of the second layer for each output of the first: its square in the lower 16 bits, its
/// clipped value in the upper ones.
#[repr(C, align(64))]
struct FirstLanes([i32; FIRST]);

/// The sum of each output of the second layer.
#[repr(C, align(64))]
struct SecondLanes([i32; SECOND]);
