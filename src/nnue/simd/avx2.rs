//! AVX2: sixteen 16-bit integers at a time.

use std::arch::x86_64::*;

use super::{Operation, PRODUCT_SHIFT, QA, Simd};
use crate::nnue::layers::{FIRST_SHIFT, INPUT_ONE, SQUARE_LIMIT, SQUARE_SHIFT};

/// Proof that the processor has AVX2, and POPCNT as every such processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Avx2(());

impl Avx2 {
    /// The proof, where it holds.
    pub fn new() -> Option<Avx2> {
        let bits = is_x86_feature_detected!("popcnt");
        (bits && is_x86_feature_detected!("avx2")).then_some(Avx2(()))
    }
}

/// Enters code compiled for AVX2.
#[target_feature(enable = "avx2,popcnt")]
pub fn run<O: Operation>(simd: Avx2, operation: O) -> O::Output {
    operation.run(simd)
}

/// For each byte the numbers of its bits that are set, rising, then zeros.
static BITS: [[u8; 8]; 256] = {
    let mut table = [[0; 8]; 256];
    let mut byte = 0;
    while byte < table.len() {
        let (mut bit, mut count) = (0, 0);
        while bit < 8 {
            if byte >> bit & 1 == 1 {
                table[byte][count] = bit as u8;
                count += 1;
            }
            bit += 1;
        }
        byte += 1;
    }
    table
};

impl Simd for Avx2 {
    type I16 = __m256i;
    type I8 = __m256i;
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
    fn products(self, own: [__m256i; 2], other: [__m256i; 2]) -> __m256i {
        const SHIFT: i32 = PRODUCT_SHIFT as i32;
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe {
            let own = _mm256_srli_epi16::<SHIFT>(_mm256_mullo_epi16(own[0], own[1]));
            let other = _mm256_srli_epi16::<SHIFT>(_mm256_mullo_epi16(other[0], other[1]));
            _mm256_packus_epi16(own, other)
        }
    }

    #[inline(always)]
    unsafe fn load8(self, from: *const i8) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2;
        // the caller vouches for the pointer.
        unsafe { _mm256_load_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store8(self, to: *mut i8, value: __m256i) {
        // SAFETY: `self` proves that the processor has AVX2;
        // the caller vouches for the pointer.
        unsafe { _mm256_store_si256(to.cast(), value) }
    }

    #[inline(always)]
    unsafe fn list_nonzero(self, to: *mut u32, first: u32, a: __m256i) -> usize {
        // SAFETY: `self` proves that the processor has AVX2; a line of the table has eight bytes,
        // and the caller vouches for `to`.
        unsafe {
            let nonzero = _mm256_cmpgt_epi32(a, _mm256_setzero_si256());
            let bits = _mm256_movemask_ps(_mm256_castsi256_ps(nonzero)) as u8;
            let places = _mm_loadl_epi64(BITS[usize::from(bits)].as_ptr().cast());
            let numbers = _mm256_cvtepu8_epi32(places);
            let numbers = _mm256_add_epi32(numbers, _mm256_set1_epi32(first as i32));
            _mm256_storeu_si256(to.cast(), numbers);
            bits.count_ones() as usize
        }
    }

    #[inline(always)]
    fn splat8(self, bytes: [i8; 4]) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_set1_epi32(i32::from_ne_bytes(bytes.map(|byte| byte as u8))) }
    }

    #[inline(always)]
    fn splat(self, pair: i32) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_set1_epi32(pair) }
    }

    #[inline(always)]
    fn dot8(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe {
            // Pairs of products fit 16 bits: 2 * 127 * 127 < 2^15.
            let pairs = _mm256_maddubs_epi16(a, b);
            let fours = _mm256_madd_epi16(pairs, _mm256_set1_epi16(1));
            _mm256_add_epi32(sum, fours)
        }
    }

    #[inline(always)]
    fn shift_right(self, a: __m256i, bits: __m256i) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe { _mm256_srav_epi32(a, bits) }
    }

    #[inline(always)]
    fn activate(self, sums: __m256i) -> __m256i {
        const UPPER_HALF: i32 = 16;
        // SAFETY: `self` proves that the processor has AVX2.
        unsafe {
            let bounded = _mm256_max_epi32(sums, _mm256_set1_epi32(-SQUARE_LIMIT));
            let bounded = _mm256_min_epi32(bounded, _mm256_set1_epi32(SQUARE_LIMIT));
            let squares = _mm256_mullo_epi32(bounded, bounded);
            let squares = _mm256_srli_epi32::<{ SQUARE_SHIFT as i32 }>(squares);
            let clipped = _mm256_srai_epi32::<{ FIRST_SHIFT as i32 }>(sums);
            let clipped = _mm256_max_epi32(clipped, _mm256_setzero_si256());
            let clipped = _mm256_min_epi32(clipped, _mm256_set1_epi32(INPUT_ONE));
            _mm256_or_si256(squares, _mm256_slli_epi32::<UPPER_HALF>(clipped))
        }
    }

    #[inline(always)]
    unsafe fn load32(self, from: *const i32) -> __m256i {
        // SAFETY: `self` proves that the processor has AVX2;
        // the caller vouches for the pointer.
        unsafe { _mm256_load_si256(from.cast()) }
    }

    #[inline(always)]
    unsafe fn store32(self, to: *mut i32, value: __m256i) {
        // SAFETY: `self` proves that the processor has AVX2;
        // the caller vouches for the pointer.
        unsafe { _mm256_store_si256(to.cast(), value) }
    }

    #[inline(always)]
    fn dot_pairs(self, sum: __m256i, a: __m256i, b: __m256i) -> __m256i {
        self.dot(sum, a, b)
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
