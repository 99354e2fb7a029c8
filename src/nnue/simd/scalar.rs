//! Plain Rust: the reference, and what runs where nothing better is known. Its loops are simple
//! enough for the compiler to vectorise them with whatever the target has.

use std::array;

use super::{QA, Simd};

const LANES: usize = 16;

/// Plain Rust, available everywhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scalar;

impl Simd for Scalar {
    type I16 = [i16; LANES];
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
