//! NEON: eight 16-bit integers at a time.

use std::arch::aarch64::*;
use std::arch::is_aarch64_feature_detected;

use super::{Operation, QA, Simd};

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
