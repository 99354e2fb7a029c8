//! AVX-512: thirty-two 16-bit integers at a time, with VNNI's fused dot product where present.

use std::arch::x86_64::*;

use super::{Operation, QA, Simd};

/// Proof that the processor has AVX-512 F and BW, and VNNI if the parameter says so.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512<const VNNI: bool>(());

impl<const VNNI: bool> Avx512<VNNI> {
    /// The proof, where it holds.
    pub fn new() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        (wide && (!VNNI || is_x86_feature_detected!("avx512vnni"))).then_some(Avx512(()))
    }
}

/// Enters code compiled for AVX-512.
#[target_feature(enable = "avx512f,avx512bw")]
pub fn run<O: Operation>(simd: Avx512<false>, operation: O) -> O::Output {
    operation.run(simd)
}

/// Enters code compiled for AVX-512 with VNNI.
#[target_feature(enable = "avx512f,avx512bw,avx512vnni")]
pub fn run_vnni<O: Operation>(simd: Avx512<true>, operation: O) -> O::Output {
    operation.run(simd)
}

impl<const VNNI: bool> Simd for Avx512<VNNI> {
    type I16 = __m512i;
    type I32 = __m512i;
    const LANES: usize = 32;

    #[inline(always)]
    unsafe fn load(self, from: *const i16) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe { _mm512_load_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i16, value: __m512i) {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe { _mm512_store_si512(to.cast(), value) }
    }

    #[inline(always)]
    fn add(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_add_epi16(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_sub_epi16(a, b) }
    }

    #[inline(always)]
    fn clip(self, a: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe {
            let positive = _mm512_max_epi16(a, _mm512_setzero_si512());
            _mm512_min_epi16(positive, _mm512_set1_epi16(QA as i16))
        }
    }

    #[inline(always)]
    fn quarter_square(self, a: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_srli_epi16(_mm512_mullo_epi16(a, a), 2) }
    }

    #[inline(always)]
    fn dot(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe {
            if VNNI {
                _mm512_dpwssd_epi32(sum, a, b)
            } else {
                _mm512_add_epi32(sum, _mm512_madd_epi16(a, b))
            }
        }
    }

    #[inline(always)]
    fn zero(self) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_setzero_si512() }
    }

    #[inline(always)]
    fn add32(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_add_epi32(a, b) }
    }

    #[inline(always)]
    fn reduce(self, a: __m512i) -> i32 {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_reduce_add_epi32(a) }
    }
}
