//! Plain Rust: the reference, and what runs where nothing better is known. Its loops are simple
//! enough for the compiler to vectorise them with whatever the target has.

use std::array;

use super::{PRODUCT_RUN, PRODUCT_SHIFT, QA, Simd};
use crate::nnue::layers::{FIRST_SHIFT, INPUT_ONE, SQUARE_LIMIT, SQUARE_SHIFT};

const LANES: usize = 16;

/// Plain Rust, available everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar;

impl Simd for Scalar {
    type I16 = [i16; LANES];
    type I8 = [i8; 2 * LANES];
    type I32 = [i32; LANES / 2];
    const LANES: usize = LANES;

    #[inline(always)]
    unsafe fn load(self, from: *const i16) -> Self::I16 {
        // SAFETY: the caller vouches for `LANES` readable integers.
        unsafe { from.cast::<Self::I16>().read() }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i16, value: Self::I16) {
        // SAFETY: the caller vouches for `LANES` writable integers.
        unsafe { to.cast::<Self::I16>().write(value) }
    }

    #[inline(always)]
    fn add(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        array::from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn sub(self, a: Self::I16, b: Self::I16) -> Self::I16 {
        array::from_fn(|i| a[i].wrapping_sub(b[i]))
    }

    #[inline(always)]
    fn clip(self, a: Self::I16) -> Self::I16 {
        a.map(|value| value.clamp(0, QA as i16))
    }

    #[inline(always)]
    fn quarter_square(self, a: Self::I16) -> Self::I16 {
        a.map(|value| ((value as u16).wrapping_mul(value as u16) / 4) as i16)
    }

    #[inline(always)]
    fn dot(self, sum: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32 {
        let product = |i: usize| i32::from(a[i]) * i32::from(b[i]);
        array::from_fn(|i| {
            sum[i]
                .wrapping_add(product(2 * i))
                .wrapping_add(product(2 * i + 1))
        })
    }

    #[inline(always)]
    fn products(self, own: [Self::I16; 2], other: [Self::I16; 2]) -> Self::I8 {
        let product = |a: i16, b: i16| ((a as u16).wrapping_mul(b as u16) >> PRODUCT_SHIFT) as i8;
        let mut bytes = [0; 2 * LANES];
        for (parity, [a, b]) in [own, other].into_iter().enumerate() {
            for run in 0..LANES / PRODUCT_RUN {
                let at = (2 * run + parity) * PRODUCT_RUN;
                for i in 0..PRODUCT_RUN {
                    bytes[at + i] = product(a[run * PRODUCT_RUN + i], b[run * PRODUCT_RUN + i]);
                }
            }
        }
        bytes
    }

    #[inline(always)]
    unsafe fn load8(self, from: *const i8) -> Self::I8 {
        // SAFETY: the caller vouches for `2 * LANES` readable bytes.
        unsafe { from.cast::<Self::I8>().read() }
    }

    #[inline(always)]
    unsafe fn store8(self, to: *mut i8, value: Self::I8) {
        // SAFETY: the caller vouches for `2 * LANES` writable bytes.
        unsafe { to.cast::<Self::I8>().write(value) }
    }

    #[inline(always)]
    unsafe fn list_nonzero(self, to: *mut u32, first: u32, a: Self::I8) -> usize {
        let mut count = 0;
        for (number, group) in (first..).zip(a.as_chunks::<4>().0) {
            // SAFETY: fewer numbers were counted than there are groups, and the caller vouches
            // for as many integers.
            unsafe { to.add(count).write(number) };
            count += usize::from(i32::from_ne_bytes(group.map(|byte| byte as u8)) != 0);
        }
        count
    }

    #[inline(always)]
    fn splat8(self, bytes: [i8; 4]) -> Self::I8 {
        array::from_fn(|i| bytes[i % 4])
    }

    #[inline(always)]
    fn splat(self, pair: i32) -> Self::I16 {
        let halves = [pair as i16, (pair >> i16::BITS) as i16];
        array::from_fn(|i| halves[i % 2])
    }

    #[inline(always)]
    fn dot8(self, sum: Self::I32, a: Self::I8, b: Self::I8) -> Self::I32 {
        let product = |i: usize| i32::from(a[i]) * i32::from(b[i]);
        array::from_fn(|i| {
            let four = (4 * i..4 * i + 4).map(product).sum();
            sum[i].wrapping_add(four)
        })
    }

    #[inline(always)]
    fn shift_right(self, a: Self::I32, bits: Self::I32) -> Self::I32 {
        array::from_fn(|i| a[i] >> bits[i])
    }

    #[inline(always)]
    fn activate(self, sums: Self::I32) -> Self::I16 {
        let mut inputs = [0; LANES];
        for (i, &sum) in sums.iter().enumerate() {
            let bounded = sum.clamp(-SQUARE_LIMIT, SQUARE_LIMIT);
            inputs[2 * i] = ((bounded * bounded) >> SQUARE_SHIFT) as i16;
            inputs[2 * i + 1] = (sum >> FIRST_SHIFT).clamp(0, INPUT_ONE) as i16;
        }
        inputs
    }

    #[inline(always)]
    unsafe fn load32(self, from: *const i32) -> Self::I32 {
        // SAFETY: the caller vouches for `LANES / 2` readable integers.
        unsafe { from.cast::<Self::I32>().read() }
    }

    #[inline(always)]
    unsafe fn store32(self, to: *mut i32, value: Self::I32) {
        // SAFETY: the caller vouches for `LANES / 2` writable integers.
        unsafe { to.cast::<Self::I32>().write(value) }
    }

    #[inline(always)]
    fn dot_pairs(self, sum: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32 {
        self.dot(sum, a, b)
    }

    #[inline(always)]
    fn zero(self) -> Self::I32 {
        [0; LANES / 2]
    }

    #[inline(always)]
    fn add32(self, a: Self::I32, b: Self::I32) -> Self::I32 {
        array::from_fn(|i| a[i].wrapping_add(b[i]))
    }

    #[inline(always)]
    fn reduce(self, a: Self::I32) -> i32 {
        a.iter().fold(0, |sum, &lane| sum.wrapping_add(lane))
    }
}
