//! AVX2: sixteen 16-bit integers at a time.

use std::arch::x86_64::*;

use super::{Operation, QA, Simd};

/// Proof that the processor has AVX2.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    /// The proof, where it holds.
    pub fn new() -> Option<Avx2> {
        is_x86_feature_detected!("avx2").then_some(Avx2(()))
    }
}

/// Enters code compiled for AVX2.
#[target_feature(enable = "avx2")]
pub fn run<O: Operation>(simd: Avx2, operation: O) -> O::Output {
    operation.run(simd)
}

impl Simd for Avx2 {
    type I16 = __m256i;
    type I32 = __m256i;
    const LANES: usize = 16;

    #[inline(always)]
    unsafe fn load(self, from: *const i16) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2;
        // the caller vouches for the pointer.
        unsafe { _mm256_load_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut i16, value: __m256i) {
        // SAFETY: `self` proves that the processor has AVX2;
        // the caller vouches for the pointer.
        unsafe { _mm256_store_si256(to.cast(), value) }
    }

    #[inline(always)]
    fn add(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_add_epi16(a, b) }
    }

    #[inline(always)]
    fn sub(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_sub_epi16(a, b) }
    }

    #[inline(always)]
    fn clip(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe {
            let positive = _mm256_max_epi16(a, _mm256_setzero_si256());
            _mm256_min_epi16(positive, _mm256_set1_epi16(QA as i16))
        }
    }

    #[inline(always)]
    fn quarter_square(self, a: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_srli_epi16(_mm256_mullo_epi16(a, a), 2) }
    }

    #[inline(always)]
    fn dot(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_add_epi32(sum, _mm256_madd_epi16(a, b)) }
    }

    #[inline(always)]
    fn zero(self) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_setzero_si256() }
    }

    #[inline(always)]
    fn add32(self, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_add_epi32(a, b) }
    }

    #[inline(always)]
    fn reduce(self, a: __m256i) -> i32 {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe {
            let four = _mm_add_epi32(_mm256_castsi256_si128(a), _mm256_extracti128_si256(a, 1));
            let two = _mm_add_epi32(four, _mm_unpackhi_epi64(four, four));
            let one = _mm_add_epi32(two, _mm_shuffle_epi32(two, 1));
            _mm_cvtsi128_si32(one)
        }
    }
}
