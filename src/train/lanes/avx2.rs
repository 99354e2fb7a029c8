//! AVX2 and fused multiplication: a line and half a row are two registers each. Unpacking
//! instructions treat every 16 bytes apart, so that the order of numbers is that of one register of
//! twice the length.

use std::arch::x86_64::*;

use super::{Floats, HALF_UNIT, Lanes, Line, Task, UPPER_BITS};

/// Floats in a register.
const QUARTER: usize = 8;

/// Enters code compiled for AVX2 and fused multiplication.
#[target_feature(enable = "avx2,fma")]
pub fn run_avx2<T: Task>(lanes: Avx2Lanes, task: T) -> T::Output {
    task.run(lanes)
}

/// Proof that the processor has AVX2 and fused multiplication.
#[derive(Clone, Copy, Debug)]
pub struct Avx2Lanes(());

impl Avx2Lanes {
    /// The proof, where it holds.
    pub fn new() -> Option<Self> {
        let found = is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma");
        found.then_some(Avx2Lanes(()))
    }
}

/// Two registers of whole numbers.
type Integers = [__m256i; 2];
/// Two registers of floats.
type Singles = [__m256; 2];

// SAFETY, for every block below: `self` proves that the processor has these instructions, and loads
// and stores go through references to values of 64 bytes aligned to 64.
impl Lanes for Avx2Lanes {
    type Line = Integers;
    type Floats = Singles;

    #[inline(always)]
    fn line(self, from: &Line) -> Integers {
        let from: *const __m256i = std::ptr::from_ref(from).cast();
        // SAFETY: see above.
        unsafe { [_mm256_load_si256(from), _mm256_load_si256(from.add(1))] }
    }

    #[inline(always)]
    fn put_line(self, to: &mut Line, value: Integers) {
        let to: *mut __m256i = std::ptr::from_mut(to).cast();
        // SAFETY: see above.
        unsafe {
            _mm256_store_si256(to, value[0]);
            _mm256_store_si256(to.add(1), value[1]);
        }
    }

    #[inline(always)]
    fn floats(self, from: &Floats) -> Singles {
        let from = from.0.as_ptr();
        // SAFETY: see above.
        unsafe { [_mm256_load_ps(from), _mm256_load_ps(from.add(QUARTER))] }
    }

    #[inline(always)]
    fn put_floats(self, to: &mut Floats, value: Singles) {
        let to = to.0.as_mut_ptr();
        // SAFETY: see above.
        unsafe {
            _mm256_store_ps(to, value[0]);
            _mm256_store_ps(to.add(QUARTER), value[1]);
        }
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Singles {
        // SAFETY: see above.
        unsafe { [_mm256_set1_ps(value); 2] }
    }

    #[inline(always)]
    fn prefetch<T>(self, from: &T) {
        // SAFETY: see above; a prefetch reads nothing.
        unsafe { _mm_prefetch::<_MM_HINT_T0>(std::ptr::from_ref(from).cast()) };
    }

    #[inline(always)]
    fn add_lines(self, a: Integers, b: Integers) -> Integers {
        // SAFETY: see above.
        unsafe { [_mm256_adds_epi16(a[0], b[0]), _mm256_adds_epi16(a[1], b[1])] }
    }

    #[inline(always)]
    fn clamp_to_floats(self, line: Integers, limit: i16) -> [Singles; 2] {
        // SAFETY: see above.
        unsafe {
            let (zero, limit) = (_mm256_setzero_si256(), _mm256_set1_epi16(limit));
            let a = _mm256_min_epi16(_mm256_max_epi16(line[0], zero), limit);
            let b = _mm256_min_epi16(_mm256_max_epi16(line[1], zero), limit);
            self.unpack_to_floats([a, b], [zero; 2])
        }
    }

    #[inline(always)]
    fn to_floats(self, line: Integers) -> [Singles; 2] {
        // SAFETY: see above.
        let signs = unsafe {
            [
                _mm256_srai_epi16::<15>(line[0]),
                _mm256_srai_epi16::<15>(line[1]),
            ]
        };
        self.unpack_to_floats(line, signs)
    }

    #[inline(always)]
    fn to_line(self, [low, high]: [Singles; 2]) -> Integers {
        // SAFETY: see above.
        unsafe {
            [
                _mm256_packs_epi32(_mm256_cvtps_epi32(low[0]), _mm256_cvtps_epi32(high[0])),
                _mm256_packs_epi32(_mm256_cvtps_epi32(low[1]), _mm256_cvtps_epi32(high[1])),
            ]
        }
    }

    #[inline(always)]
    fn mul(self, a: Singles, b: Singles) -> Singles {
        // SAFETY: see above.
        unsafe { [_mm256_mul_ps(a[0], b[0]), _mm256_mul_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn add(self, a: Singles, b: Singles) -> Singles {
        // SAFETY: see above.
        unsafe { [_mm256_add_ps(a[0], b[0]), _mm256_add_ps(a[1], b[1])] }
    }

    #[inline(always)]
    fn mul_add(self, a: Singles, b: Singles, c: Singles) -> Singles {
        // SAFETY: see above.
        unsafe {
            [
                _mm256_fmadd_ps(a[0], b[0], c[0]),
                _mm256_fmadd_ps(a[1], b[1], c[1]),
            ]
        }
    }

    #[inline(always)]
    fn inside(self, value: Singles, test: Singles, limit: f32) -> Singles {
        // SAFETY: see above.
        unsafe {
            let (zero, limit) = (_mm256_setzero_ps(), _mm256_set1_ps(limit));
            let mut inside = value;
            for (part, test) in inside.iter_mut().zip(test) {
                let above = _mm256_cmp_ps::<_CMP_GT_OQ>(test, zero);
                let below = _mm256_cmp_ps::<_CMP_LT_OQ>(test, limit);
                *part = _mm256_and_ps(*part, _mm256_and_ps(above, below));
            }
            inside
        }
    }

    #[inline(always)]
    fn shorten(self, [low, high]: [Singles; 2]) -> Integers {
        // SAFETY: see above.
        unsafe {
            let half_unit = _mm256_set1_epi32(HALF_UNIT);
            let mut line = [half_unit; 2];
            for part in 0..2 {
                let low = _mm256_add_epi32(_mm256_castps_si256(low[part]), half_unit);
                let high = _mm256_add_epi32(_mm256_castps_si256(high[part]), half_unit);
                let (low, high) = (_mm256_srli_epi32::<16>(low), _mm256_srli_epi32::<16>(high));
                line[part] = _mm256_packus_epi32(low, high);
            }
            line
        }
    }

    #[inline(always)]
    fn add_short_pair(self, sums: [Singles; 2], a: Integers, b: Integers) -> [Singles; 2] {
        // SAFETY: see above.
        unsafe {
            let zero = _mm256_setzero_si256();
            let mut into = sums;
            for part in 0..2 {
                let low = _mm256_add_ps(
                    _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, a[part])),
                    _mm256_castsi256_ps(_mm256_unpacklo_epi16(zero, b[part])),
                );
                let high = _mm256_add_ps(
                    _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, a[part])),
                    _mm256_castsi256_ps(_mm256_unpackhi_epi16(zero, b[part])),
                );
                into[0][part] = _mm256_add_ps(into[0][part], low);
                into[1][part] = _mm256_add_ps(into[1][part], high);
            }
            into
        }
    }

    #[inline(always)]
    fn clip(self, value: Singles, limit: f32) -> Singles {
        // SAFETY: see above.
        unsafe {
            let (zero, limit) = (_mm256_setzero_ps(), _mm256_set1_ps(limit));
            [
                _mm256_min_ps(_mm256_max_ps(value[0], zero), limit),
                _mm256_min_ps(_mm256_max_ps(value[1], zero), limit),
            ]
        }
    }

    #[inline(always)]
    fn floor(self, value: Singles) -> Singles {
        // SAFETY: see above.
        unsafe { [_mm256_floor_ps(value[0]), _mm256_floor_ps(value[1])] }
    }

    #[inline(always)]
    fn interleave(self, a: Integers, b: Integers) -> [Integers; 2] {
        // SAFETY: see above.
        unsafe {
            [
                [
                    _mm256_unpacklo_epi16(a[0], b[0]),
                    _mm256_unpacklo_epi16(a[1], b[1]),
                ],
                [
                    _mm256_unpackhi_epi16(a[0], b[0]),
                    _mm256_unpackhi_epi16(a[1], b[1]),
                ],
            ]
        }
    }

    #[inline(always)]
    fn dot_pairs(self, sums: Singles, pair: i32, line: Integers) -> Singles {
        // SAFETY: see above.
        unsafe {
            let first = _mm256_castsi256_ps(_mm256_set1_epi32(pair << 16));
            let second = _mm256_castsi256_ps(_mm256_set1_epi32(pair & UPPER_BITS));
            let upper = _mm256_set1_epi32(UPPER_BITS);
            let mut into = sums;
            for (sum, line) in into.iter_mut().zip(line) {
                let firsts = _mm256_castsi256_ps(_mm256_slli_epi32::<16>(line));
                let seconds = _mm256_castsi256_ps(_mm256_and_si256(line, upper));
                *sum = _mm256_fmadd_ps(second, seconds, _mm256_fmadd_ps(first, firsts, *sum));
            }
            into
        }
    }
}

impl Avx2Lanes {
    /// Integers and the bits above them as floats, in the order of a row.
    #[inline(always)]
    fn unpack_to_floats(self, line: Integers, above: Integers) -> [Singles; 2] {
        // SAFETY: see above.
        unsafe {
            [
                [
                    _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(line[0], above[0])),
                    _mm256_cvtepi32_ps(_mm256_unpacklo_epi16(line[1], above[1])),
                ],
                [
                    _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(line[0], above[0])),
                    _mm256_cvtepi32_ps(_mm256_unpackhi_epi16(line[1], above[1])),
                ],
            ]
        }
    }
}
