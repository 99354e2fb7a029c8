//! AVX-512: a line and half a row are a register each.

use std::arch::x86_64::*;

use super::{Floats, HALF_UNIT, Lanes, Line, Task, UPPER_BITS};

/// Enters code compiled for AVX-512.
#[target_feature(enable = "avx512f,avx512bw")]
pub fn run_avx512<T: Task>(lanes: Avx512Lanes<false>, task: T) -> T::Output {
    task.run(lanes)
}

/// Enters code compiled for AVX-512 with bfloat16.
#[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
pub fn run_avx512_bf16<T: Task>(lanes: Avx512Lanes<true>, task: T) -> T::Output {
    task.run(lanes)
}

/// Proof that the processor has AVX-512 F and BW, and BF16 if the parameter says so.
#[derive(Clone, Copy, Debug)]
pub struct Avx512Lanes<const BF16: bool>(());

impl<const BF16: bool> Avx512Lanes<BF16> {
    /// The proof, where it holds.
    pub fn new() -> Option<Self> {
        let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
        (wide && (!BF16 || is_x86_feature_detected!("avx512bf16"))).then_some(Avx512Lanes(()))
    }
}

// SAFETY, for every block below: `self` proves that the processor has these instructions,
// and loads and stores go through references to values of 64 bytes aligned to 64.
impl<const BF16: bool> Lanes for Avx512Lanes<BF16> {
    type Line = __m512i;
    type Floats = __m512;

    #[inline(always)]
    fn line(self, from: &Line) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_load_si512(std::ptr::from_ref(from).cast()) }
    }

    #[inline(always)]
    fn put_line(self, to: &mut Line, value: __m512i) {
        // SAFETY: see above.
        unsafe { _mm512_store_si512(std::ptr::from_mut(to).cast(), value) }
    }

    #[inline(always)]
    fn floats(self, from: &Floats) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_load_ps(from.0.as_ptr()) }
    }

    #[inline(always)]
    fn put_floats(self, to: &mut Floats, value: __m512) {
        // SAFETY: see above.
        unsafe { _mm512_store_ps(to.0.as_mut_ptr(), value) }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_set1_ps(value) }
    }

    #[inline(always)]
    fn prefetch<T>(self, from: &T) {
        // SAFETY: see above; a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(from).cast()) };
    }

    #[inline(always)]
    fn add_lines(self, a: __m512i, b: __m512i) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_adds_epi16(a, b) }
    }

    #[inline(always)]
    fn clamp_to_floats(self, line: __m512i, limit: i16) -> [__m512; 2] {
        // SAFETY: see above.
        unsafe {
            let zero = _mm512_setzero_si512();
            let clamped = _mm512_max_epi16(line, zero);
            let clamped = _mm512_min_epi16(clamped, _mm512_set1_epi16(limit));
            [
                _mm512_cvtepi32_ps(_mm512_unpacklo_epi16(clamped, zero)),
                _mm512_cvtepi32_ps(_mm512_unpackhi_epi16(clamped, zero)),
            ]
        }
    }

    #[inline(always)]
    fn to_floats(self, line: __m512i) -> [__m512; 2] {
        // SAFETY: see above.
        unsafe {
            let sign = _mm512_srai_epi16::<15>(line);
            [
                _mm512_cvtepi32_ps(_mm512_unpacklo_epi16(line, sign)),
                _mm512_cvtepi32_ps(_mm512_unpackhi_epi16(line, sign)),
            ]
        }
    }

    #[inline(always)]
    fn to_line(self, [low, high]: [__m512; 2]) -> __m512i {
        // SAFETY: see above.
        unsafe { _mm512_packs_epi32(_mm512_cvtps_epi32(low), _mm512_cvtps_epi32(high)) }
    }

    #[inline(always)]
    fn mul(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_mul_ps(a, b) }
    }

    #[inline(always)]
    fn add(self, a: __m512, b: __m512) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_add_ps(a, b) }
    }

    #[inline(always)]
    fn mul_add(self, a: __m512, b: __m512, c: __m512) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_fmadd_ps(a, b, c) }
    }

    #[inline(always)]
    fn inside(self, value: __m512, test: __m512, limit: f32) -> __m512 {
        // SAFETY: see above.
        unsafe {
            let above = _mm512_cmp_ps_mask::<_CMP_GT_OQ>(test, _mm512_setzero_ps());
            let inside = _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(above, test, _mm512_set1_ps(limit));
            _mm512_maskz_mov_ps(inside, value)
        }
    }

    #[inline(always)]
    fn shorten(self, [low, high]: [__m512; 2]) -> __m512i {
        // SAFETY: see above.
        unsafe {
            let half_unit = _mm512_set1_epi32(HALF_UNIT);
            let upper = |floats: __m512| {
                let rounded = _mm512_add_epi32(_mm512_castps_si512(floats), half_unit);
                _mm512_srli_epi32::<16>(rounded)
            };
            _mm512_packus_epi32(upper(low), upper(high))
        }
    }

    #[inline(always)]
    fn add_short_pair(self, sums: [__m512; 2], a: __m512i, b: __m512i) -> [__m512; 2] {
        // SAFETY: see above.
        unsafe {
            if BF16 {
                // 1.0 in every place: products are the numbers themselves.
                let one = std::mem::transmute::<__m512i, __m512bh>(_mm512_set1_epi16(0x3f80));
                let pairs = |words| std::mem::transmute::<__m512i, __m512bh>(words);
                [
                    _mm512_dpbf16_ps(sums[0], pairs(_mm512_unpacklo_epi16(a, b)), one),
                    _mm512_dpbf16_ps(sums[1], pairs(_mm512_unpackhi_epi16(a, b)), one),
                ]
            } else {
                let zero = _mm512_setzero_si512();
                let low = |line| _mm512_castsi512_ps(_mm512_unpacklo_epi16(zero, line));
                let high = |line| _mm512_castsi512_ps(_mm512_unpackhi_epi16(zero, line));
                [
                    _mm512_add_ps(sums[0], _mm512_add_ps(low(a), low(b))),
                    _mm512_add_ps(sums[1], _mm512_add_ps(high(a), high(b))),
                ]
            }
        }
    }

    #[inline(always)]
    fn clip(self, value: __m512, limit: f32) -> __m512 {
        // SAFETY: see above.
        unsafe {
            let value = _mm512_max_ps(value, _mm512_setzero_ps());
            _mm512_min_ps(value, _mm512_set1_ps(limit))
        }
    }

    #[inline(always)]
    fn floor(self, value: __m512) -> __m512 {
        // SAFETY: see above.
        unsafe { _mm512_roundscale_ps::<_MM_FROUND_TO_NEG_INF>(value) }
    }

    #[inline(always)]
    fn interleave(self, a: __m512i, b: __m512i) -> [__m512i; 2] {
        // SAFETY: see above.
        unsafe { [_mm512_unpacklo_epi16(a, b), _mm512_unpackhi_epi16(a, b)] }
    }

    #[inline(always)]
    fn dot_pairs(self, sums: __m512, pair: i32, line: __m512i) -> __m512 {
        // SAFETY: see above.
        unsafe {
            let pair = _mm512_set1_epi32(pair);
            if BF16 {
                let words = |line| std::mem::transmute::<__m512i, __m512bh>(line);
                _mm512_dpbf16_ps(sums, words(pair), words(line))
            } else {
                let first = |line| _mm512_castsi512_ps(_mm512_slli_epi32::<16>(line));
                let second = |line| {
                    let mask = _mm512_set1_epi32(UPPER_BITS);
                    _mm512_castsi512_ps(_mm512_and_si512(line, mask))
                };
                let sums = _mm512_fmadd_ps(first(pair), first(line), sums);
                _mm512_fmadd_ps(second(pair), second(line), sums)
            }
        }
    }
}
