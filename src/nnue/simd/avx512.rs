//! AVX-512: thirty-two 16-bit integers at a time, with VNNI's fused dot product where present.

use std::arch::x86_64::*;

use super::{Operation, PRODUCT_SHIFT, QA, Simd};
use crate::nnue::layers::{FIRST_SHIFT, INPUT_ONE, SQUARE_LIMIT, SQUARE_SHIFT};

/// Proof that the processor has AVX-512 F and BW, and VNNI if the parameter says so, and
/// POPCNT as every such processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx512<const VNNI: bool>(());

impl<const VNNI: bool> Avx512<VNNI> {
    /// The proof, where it holds.
    pub fn new() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        let wide = wide && is_x86_feature_detected!("popcnt");
        (wide && (!VNNI || is_x86_feature_detected!("avx512vnni"))).then_some(Avx512(()))
    }
}

/// Enters code compiled for AVX-512.
#[target_feature(enable = "popcnt,avx512f,avx512bw")]
pub fn run<O: Operation>(simd: Avx512<false>, operation: O) -> O::Output {
    operation.run(simd)
}

/// Enters code compiled for AVX-512 with VNNI.
#[target_feature(enable = "popcnt,avx512f,avx512bw,avx512vnni")]
pub fn run_vnni<O: Operation>(simd: Avx512<true>, operation: O) -> O::Output {
    operation.run(simd)
}

impl<const VNNI: bool> Simd for Avx512<VNNI> {
    type I16 = __m512i;
    type I8 = __m512i;
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
    fn products(self, own: [__m512i; 2], other: [__m512i; 2]) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe {
            let own = _mm512_srli_epi16::<PRODUCT_SHIFT>(_mm512_mullo_epi16(own[0], own[1]));
            let other = _mm512_srli_epi16::<PRODUCT_SHIFT>(_mm512_mullo_epi16(other[0], other[1]));
            _mm512_packus_epi16(own, other)
        }
    }

    #[inline(always)]
    unsafe fn load8(self, from: *const i8) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe { _mm512_load_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store8(self, to: *mut i8, value: __m512i) {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe { _mm512_store_si512(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn list_nonzero(self, to: *mut u32, first: u32, a: __m512i) -> usize {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe {
            let places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
            let numbers = _mm512_add_epi32(places, _mm512_set1_epi32(first as i32));
            let bits = _mm512_test_epi32_mask(a, a);
            // Compressing in a register and writing all of it is faster than compressing into
            // memory on Zen 4.
            let listed = _mm512_maskz_compress_epi32(bits, numbers);
            _mm512_storeu_si512(to.cast(), listed);
            bits.count_ones() as usize
        }
    }

    #[inline(always)]
    fn splat8(self, bytes: [i8; 4]) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_set1_epi32(i32::from_ne_bytes(bytes.map(|byte| byte as u8))) }
    }

    #[inline(always)]
    fn splat(self, pair: i32) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_set1_epi32(pair) }
    }

    #[inline(always)]
    fn dot8(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe {
            if VNNI {
                _mm512_dpbusd_epi32(sum, a, b)
            } else {
                // Pairs of products fit 16 bits: 2 * 127 * 127 < 2^15.
                let pairs = _mm512_maddubs_epi16(a, b);
                let fours = _mm512_madd_epi16(pairs, _mm512_set1_epi16(1));
                _mm512_add_epi32(sum, fours)
            }
        }
    }

    #[inline(always)]
    fn shift_right(self, a: __m512i, bits: __m512i) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe { _mm512_srav_epi32(a, bits) }
    }

    #[inline(always)]
    fn activate(self, sums: __m512i) -> __m512i {
        const UPPER_HALF: u32 = 16;
        // SAFETY: `self` proves that the processor has these instructions.
        unsafe {
            let bounded = _mm512_max_epi32(sums, _mm512_set1_epi32(-SQUARE_LIMIT));
            let bounded = _mm512_min_epi32(bounded, _mm512_set1_epi32(SQUARE_LIMIT));
            let squares = _mm512_mullo_epi32(bounded, bounded);
            let squares = _mm512_srli_epi32::<{ SQUARE_SHIFT }>(squares);
            let clipped = _mm512_srai_epi32::<{ FIRST_SHIFT }>(sums);
            let clipped = _mm512_max_epi32(clipped, _mm512_setzero_si512());
            let clipped = _mm512_min_epi32(clipped, _mm512_set1_epi32(INPUT_ONE));
            _mm512_or_si512(squares, _mm512_slli_epi32::<UPPER_HALF>(clipped))
        }
    }

    #[inline(always)]
    unsafe fn load32(self, from: *const i32) -> __m512i {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe { _mm512_load_si512(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store32(self, to: *mut i32, value: __m512i) {
        // SAFETY: `self` proves that the processor has these instructions;
        // the caller vouches for the pointer.
        unsafe { _mm512_store_si512(to.cast(), value) }
    }

    #[inline(always)]
    fn dot_pairs(self, sum: __m512i, a: __m512i, b: __m512i) -> __m512i {
        self.dot(sum, a, b)
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
