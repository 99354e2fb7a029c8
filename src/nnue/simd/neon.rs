//! NEON: eight 16-bit integers at a time.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::{Operation, PRODUCT_SHIFT, QA, Simd};
use crate::nnue::layers::{FIRST_SHIFT, INPUT_ONE, SQUARE_LIMIT, SQUARE_SHIFT};

/// Proof that the processor has NEON.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Neon(());

impl Neon {
    /// The proof, where it holds.
    pub fn new() -> Option<Neon> {
        is_aarch64_feature_detected!("neon").then_some(Neon(()))
    }
}

/// Enters code compiled for NEON.
#[target_feature(enable = "neon")]
pub fn run<O: Operation>(simd: Neon, operation: O) -> O::Output {
    operation.run(simd)
}

impl Simd for Neon {
    type I16 = int16x8_t;
    type I8 = int8x16_t;
    type I32 = int32x4_t;
    const LANES: usize = 8;

    #[inline(always)]
    unsafe fn load(self, from: *const i16) -> int16x8_t {
        // SAFETY: `self` proves that the processor has NEON;
        // the caller vouches for the pointer.
        unsafe { vld1q_s16(from) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i16, value: int16x8_t) {
        // SAFETY: `self` proves that the processor has NEON;
        // the caller vouches for the pointer.
        unsafe { vst1q_s16(to, value) }
    }

    #[inline(always)]
    fn add(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vaddq_s16(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: int16x8_t, b: int16x8_t) -> int16x8_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vsubq_s16(a, b) }
    }

    #[inline(always)]
    fn clip(self, a: int16x8_t) -> int16x8_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vminq_s16(vmaxq_s16(a, vdupq_n_s16(0)), vdupq_n_s16(QA as i16)) }
    }

    #[inline(always)]
    fn quarter_square(self, a: int16x8_t) -> int16x8_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe {
            let square = vreinterpretq_u16_s16(vmulq_s16(a, a));
            vreinterpretq_s16_u16(vshrq_n_u16(square, 2))
        }
    }

    #[inline(always)]
    fn dot(self, sum: int32x4_t, a: int16x8_t, b: int16x8_t) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe {
            let sum = vmlal_s16(sum, vget_low_s16(a), vget_low_s16(b));
            vmlal_high_s16(sum, a, b)
        }
    }

    #[inline(always)]
    fn products(self, own: [int16x8_t; 2], other: [int16x8_t; 2]) -> int8x16_t {
        const SHIFT: i32 = PRODUCT_SHIFT as i32;
        // SAFETY: `self` proves that the processor has NEON.
        unsafe {
            let own = vreinterpretq_u16_s16(vmulq_s16(own[0], own[1]));
            let other = vreinterpretq_u16_s16(vmulq_s16(other[0], other[1]));
            // A narrowing shift goes no further than eight bits.
            let (own, other) = (vshrq_n_u16::<SHIFT>(own), vshrq_n_u16::<SHIFT>(other));
            vreinterpretq_s8_u8(vmovn_high_u16(vmovn_u16(own), other))
        }
    }

    #[inline(always)]
    unsafe fn load8(self, from: *const i8) -> int8x16_t {
        // SAFETY: `self` proves that the processor has NEON;
        // the caller vouches for the pointer.
        unsafe { vld1q_s8(from) }
    }

    #[inline(always)]
    unsafe fn store8(self, to: *mut i8, value: int8x16_t) {
        // SAFETY: `self` proves that the processor has NEON;
        // the caller vouches for the pointer.
        unsafe { vst1q_s8(to, value) }
    }

    #[inline(always)]
    unsafe fn list_nonzero(self, to: *mut u32, first: u32, a: int8x16_t) -> usize {
        const BITS: [u32; 4] = [1, 2, 4, 8];
        /// For four bits the numbers of those that are set, rising, then zeros.
        const PLACES: [[u32; 4]; 16] = {
            let mut table = [[0; 4]; 16];
            let mut bits = 0;
            while bits < table.len() {
                let (mut bit, mut count) = (0, 0);
                while bit < 4 {
                    if bits >> bit & 1 == 1 {
                        table[bits][count] = bit;
                        count += 1;
                    }
                    bit += 1;
                }
                bits += 1;
            }
            table
        };
        // SAFETY: `self` proves that the processor has NEON; the arrays have four integers each,
        // and the caller vouches for `to`.
        unsafe {
            let groups = vreinterpretq_u32_s8(a);
            let bits = vandq_u32(vtstq_u32(groups, groups), vld1q_u32(BITS.as_ptr()));
            let bits = vaddvq_u32(bits);
            let places = vld1q_u32(PLACES[bits as usize].as_ptr());
            vst1q_u32(to, vaddq_u32(places, vdupq_n_u32(first)));
            bits.count_ones() as usize
        }
    }

    #[inline(always)]
    fn splat8(self, bytes: [i8; 4]) -> int8x16_t {
        let group = i32::from_ne_bytes(bytes.map(|byte| byte as u8));
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vreinterpretq_s8_s32(vdupq_n_s32(group)) }
    }

    #[inline(always)]
    fn splat(self, pair: i32) -> int16x8_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vreinterpretq_s16_s32(vdupq_n_s32(pair)) }
    }

    #[inline(always)]
    fn dot8(self, sum: int32x4_t, a: int8x16_t, b: int8x16_t) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe {
            let low = vmull_s8(vget_low_s8(a), vget_low_s8(b));
            let high = vmull_high_s8(a, b);
            // Pairs of products fit 16 bits: 2 * 127 * 127 < 2^15.
            vpadalq_s16(sum, vpaddq_s16(low, high))
        }
    }

    #[inline(always)]
    fn shift_right(self, a: int32x4_t, bits: int32x4_t) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vshlq_s32(a, vnegq_s32(bits)) }
    }

    #[inline(always)]
    fn activate(self, sums: int32x4_t) -> int16x8_t {
        const UPPER_HALF: i32 = 16;
        // SAFETY: `self` proves that the processor has NEON.
        unsafe {
            let bounded = vmaxq_s32(sums, vdupq_n_s32(-SQUARE_LIMIT));
            let bounded = vminq_s32(bounded, vdupq_n_s32(SQUARE_LIMIT));
            let squares = vshrq_n_s32::<{ SQUARE_SHIFT as i32 }>(vmulq_s32(bounded, bounded));
            let clipped = vshrq_n_s32::<{ FIRST_SHIFT as i32 }>(sums);
            let clipped = vmaxq_s32(clipped, vdupq_n_s32(0));
            let clipped = vminq_s32(clipped, vdupq_n_s32(INPUT_ONE));
            let pairs = vorrq_s32(squares, vshlq_n_s32::<UPPER_HALF>(clipped));
            vreinterpretq_s16_s32(pairs)
        }
    }

    #[inline(always)]
    unsafe fn load32(self, from: *const i32) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON;
        // the caller vouches for the pointer.
        unsafe { vld1q_s32(from) }
    }

    #[inline(always)]
    unsafe fn store32(self, to: *mut i32, value: int32x4_t) {
        // SAFETY: `self` proves that the processor has NEON;
        // the caller vouches for the pointer.
        unsafe { vst1q_s32(to, value) }
    }

    #[inline(always)]
    fn dot_pairs(self, sum: int32x4_t, a: int16x8_t, b: int16x8_t) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe {
            let low = vmull_s16(vget_low_s16(a), vget_low_s16(b));
            let high = vmull_high_s16(a, b);
            vaddq_s32(sum, vpaddq_s32(low, high))
        }
    }

    #[inline(always)]
    fn zero(self) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vdupq_n_s32(0) }
    }

    #[inline(always)]
    fn add32(self, a: int32x4_t, b: int32x4_t) -> int32x4_t {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vaddq_s32(a, b) }
    }

    #[inline(always)]
    fn reduce(self, a: int32x4_t) -> i32 {
        // SAFETY: `self` proves that the processor has NEON.
        unsafe { vaddvq_s32(a) }
    }
}
