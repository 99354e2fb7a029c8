//! Vector arithmetic for the trainer's inner loops, chosen at run time.
//!
//! A tile's row for one input is a [`Line`] of 32 integers of 16 bits in plain order. As floats it
//! is a [`Row`]: two registers of sixteen, in the order that the processor's unpacking
//! instructions give (eight neurons at a time, the first four in one register, the others in the
//! other; see [`neuron`]). Gradients are stored in lines as the upper halves of floats
//! ("bfloat16").
//!
//! Summing such lines takes most of the training time. Where the processor multiplies pairs of
//! bfloat16 (AVX-512 BF16), two lines are interleaved and added by one instruction for each half.
#![allow(unsafe_code)]

use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};

/// Neurons in a tile.
pub const TILE: usize = 32;
/// Half a tile: the floats in a register.
pub const HALF: usize = TILE / 2;
/// Neurons that lie together in each half of a row.
const GROUP: usize = 4;

/// A row of a tile in 16 bits, neurons in plain order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Line(pub [i16; TILE]);

/// Half a row in floats.
#[derive(Clone, Copy, Debug, PartialEq, Pod, Zeroable)]
#[repr(C, align(64))]
pub struct Floats(pub [f32; HALF]);

/// A row of a tile in floats; slot `s` is the neuron [`neuron`]`(s)`.
pub type Row = [Floats; 2];

impl Line {
    pub const ZERO: Line = Line([0; TILE]);

    /// The numbers two by two, as the 32 bits that [`Lanes::dot_pairs`] takes.
    #[inline(always)]
    #[must_use]
    pub fn pairs(&self) -> &[i32; HALF] {
        bytemuck::cast_ref(&self.0)
    }
}

impl Floats {
    pub const ZERO: Floats = Floats([0.0; HALF]);
}

/// The neuron of a tile whose floats stand in `slot` of a [`Row`].
#[must_use]
pub const fn neuron(slot: usize) -> usize {
    let (half, place) = (slot / HALF, slot % HALF);
    place / GROUP * 2 * GROUP + half * GROUP + place % GROUP
}

/// The operations of the inner loops over registers of 32 small integers or 16 floats.
pub trait Lanes: Copy {
    type Line: Copy;
    type Floats: Copy;

    fn line(self, from: &Line) -> Self::Line;
    fn put_line(self, to: &mut Line, value: Self::Line);
    fn floats(self, from: &Floats) -> Self::Floats;
    fn put_floats(self, to: &mut Floats, value: Self::Floats);
    fn splat(self, value: f32) -> Self::Floats;

    /// Starts to fetch a cache line.
    #[inline(always)]
    fn prefetch<T>(self, _from: &T) {}

    /// Sum of integers, held within 16 bits.
    fn add_lines(self, a: Self::Line, b: Self::Line) -> Self::Line;

    /// Integers brought between 0 and `limit`, as floats.
    fn clamp_to_floats(self, line: Self::Line, limit: i16) -> [Self::Floats; 2];

    /// Integers as floats.
    fn to_floats(self, line: Self::Line) -> [Self::Floats; 2];

    /// Whole numbers as integers, held within 16 bits.
    fn to_line(self, row: [Self::Floats; 2]) -> Self::Line;

    fn mul(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;
    fn add(self, a: Self::Floats, b: Self::Floats) -> Self::Floats;

    /// `a * b + c`.
    fn mul_add(self, a: Self::Floats, b: Self::Floats, c: Self::Floats) -> Self::Floats;

    /// `value` where `test` lies strictly between 0 and `limit`, elsewhere 0.
    fn inside(self, value: Self::Floats, test: Self::Floats, limit: f32) -> Self::Floats;

    /// Floats rounded to bfloat16.
    fn shorten(self, row: [Self::Floats; 2]) -> Self::Line;

    /// `sums` plus two lines of bfloat16.
    fn add_short_pair(
        self,
        sums: [Self::Floats; 2],
        a: Self::Line,
        b: Self::Line,
    ) -> [Self::Floats; 2];

    /// `value` brought between 0 and `limit`.
    fn clip(self, value: Self::Floats, limit: f32) -> Self::Floats;

    /// The whole numbers at or below numbers of at least 0.
    fn floor(self, value: Self::Floats) -> Self::Floats;

    /// Two lines taken in turn, four numbers of each at a time: first those that are in the first
    /// half of a [`Row`], then the others.
    fn interleave(self, a: Self::Line, b: Self::Line) -> [Self::Line; 2];

    /// `sums` plus, in each place, the products of a pair of bfloat16 with the two of `line` there.
    fn dot_pairs(self, sums: Self::Floats, pair: i32, line: Self::Line) -> Self::Floats;
}

/// Work for some kind of [`Lanes`].
pub trait Task {
    type Output;

    fn run<L: Lanes>(self, lanes: L) -> Self::Output;
}

/// The vector instructions of this processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    Portable,
    #[cfg(target_arch = "x86_64")]
    Avx2,
    #[cfg(target_arch = "x86_64")]
    Avx512,
    #[cfg(target_arch = "x86_64")]
    Avx512Bf16,
}

impl Unit {
    /// All units that this processor has, the fastest last.
    #[must_use]
    pub fn available() -> Vec<Unit> {
        #[allow(unused_mut)]
        let mut units = vec![Unit::Portable];
        #[cfg(target_arch = "x86_64")]
        {
            if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                units.push(Unit::Avx2);
            }
            if x86::Avx512::<false>::new().is_some() {
                units.push(Unit::Avx512);
            }
            if x86::Avx512::<true>::new().is_some() {
                units.push(Unit::Avx512Bf16);
            }
        }
        units
    }

    /// The fastest unit of this processor.
    #[must_use]
    pub fn best() -> Unit {
        static BEST: OnceLock<Unit> = OnceLock::new();
        *BEST.get_or_init(|| Unit::available().pop().unwrap_or(Unit::Portable))
    }

    /// Does some work; a unit that this processor lacks falls back to portable code.
    pub fn run<T: Task>(self, task: T) -> T::Output {
        #[cfg(target_arch = "x86_64")]
        match self {
            Unit::Portable => {}
            Unit::Avx2 => {
                if is_x86_feature_detected!("avx2") && is_x86_feature_detected!("fma") {
                    // SAFETY: the processor has these instructions.
                    return unsafe { x86::run_avx2(task) };
                }
            }
            Unit::Avx512 => {
                if let Some(lanes) = x86::Avx512::<false>::new() {
                    // SAFETY: `lanes` proves that the processor has these instructions.
                    return unsafe { x86::run_avx512(lanes, task) };
                }
            }
            Unit::Avx512Bf16 => {
                if let Some(lanes) = x86::Avx512::<true>::new() {
                    // SAFETY: `lanes` proves that the processor has these instructions.
                    return unsafe { x86::run_avx512_bf16(lanes, task) };
                }
            }
        }
        task.run(Portable::<false>)
    }
}

/// Plain Rust over arrays, which the compiler vectorises with the instructions it may use. The
/// parameter says whether a fused multiplication and addition is one instruction.
#[derive(Clone, Copy, Debug)]
pub struct Portable<const FUSED: bool>;

/// Computes each element from its index.
#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> Floats {
    Floats(std::array::from_fn(f))
}

/// The float whose upper half is `bits`.
#[inline(always)]
pub(super) fn lengthen(bits: i16) -> f32 {
    f32::from_bits(u32::from(bits as u16) << 16)
}

/// A float's upper half, rounded to the nearest.
#[inline(always)]
pub(super) fn upper_half(value: f32) -> i16 {
    const HALF_UNIT: u32 = 0x8000;
    (value.to_bits().wrapping_add(HALF_UNIT) >> 16) as i16
}

impl<const FUSED: bool> Lanes for Portable<FUSED> {
    type Line = Line;
    type Floats = Floats;

    #[inline(always)]
    fn line(self, from: &Line) -> Line {
        *from
    }

    #[inline(always)]
    fn put_line(self, to: &mut Line, value: Line) {
        *to = value;
    }

    #[inline(always)]
    fn floats(self, from: &Floats) -> Floats {
        *from
    }

    #[inline(always)]
    fn put_floats(self, to: &mut Floats, value: Floats) {
        *to = value;
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Floats {
        Floats([value; HALF])
    }

    #[inline(always)]
    fn add_lines(self, a: Line, b: Line) -> Line {
        Line(std::array::from_fn(|i| a.0[i].saturating_add(b.0[i])))
    }

    #[inline(always)]
    fn clamp_to_floats(self, line: Line, limit: i16) -> [Floats; 2] {
        self.to_floats(Line(line.0.map(|value| value.clamp(0, limit))))
    }

    #[inline(always)]
    fn to_floats(self, line: Line) -> [Floats; 2] {
        [0, HALF].map(|first| each(|i| f32::from(line.0[neuron(first + i)])))
    }

    #[inline(always)]
    fn to_line(self, row: [Floats; 2]) -> Line {
        let mut line = Line::ZERO;
        for slot in 0..TILE {
            line.0[neuron(slot)] = row[slot / HALF].0[slot % HALF] as i16;
        }
        line
    }

    #[inline(always)]
    fn mul(self, a: Floats, b: Floats) -> Floats {
        each(|i| a.0[i] * b.0[i])
    }

    #[inline(always)]
    fn add(self, a: Floats, b: Floats) -> Floats {
        each(|i| a.0[i] + b.0[i])
    }

    #[inline(always)]
    fn mul_add(self, a: Floats, b: Floats, c: Floats) -> Floats {
        if FUSED {
            each(|i| a.0[i].mul_add(b.0[i], c.0[i]))
        } else {
            each(|i| a.0[i] * b.0[i] + c.0[i])
        }
    }

    #[inline(always)]
    fn inside(self, value: Floats, test: Floats, limit: f32) -> Floats {
        each(|i| {
            if test.0[i] > 0.0 && test.0[i] < limit {
                value.0[i]
            } else {
                0.0
            }
        })
    }

    #[inline(always)]
    fn shorten(self, row: [Floats; 2]) -> Line {
        let mut line = Line::ZERO;
        for slot in 0..TILE {
            line.0[neuron(slot)] = upper_half(row[slot / HALF].0[slot % HALF]);
        }
        line
    }

    #[inline(always)]
    fn add_short_pair(self, sums: [Floats; 2], a: Line, b: Line) -> [Floats; 2] {
        std::array::from_fn(|half| {
            each(|i| {
                let at = neuron(half * HALF + i);
                sums[half].0[i] + (lengthen(a.0[at]) + lengthen(b.0[at]))
            })
        })
    }

    #[inline(always)]
    fn clip(self, value: Floats, limit: f32) -> Floats {
        each(|i| value.0[i].max(0.0).min(limit))
    }

    #[inline(always)]
    fn floor(self, value: Floats) -> Floats {
        each(|i| value.0[i] as i32 as f32)
    }

    #[inline(always)]
    fn interleave(self, a: Line, b: Line) -> [Line; 2] {
        [0, HALF].map(|first| {
            Line(std::array::from_fn(|i| {
                let at = neuron(first + i / 2);
                if i % 2 == 0 { a.0[at] } else { b.0[at] }
            }))
        })
    }

    #[inline(always)]
    fn dot_pairs(self, sums: Floats, pair: i32, line: Line) -> Floats {
        let (low, high) = (lengthen(pair as i16), lengthen((pair >> 16) as i16));
        each(|i| {
            let products = low * lengthen(line.0[2 * i]) + high * lengthen(line.0[2 * i + 1]);
            sums.0[i] + products
        })
    }
}

#[cfg(target_arch = "x86_64")]
mod x86 {
    use std::arch::x86_64::*;

    use super::{Floats, Lanes, Line, Portable, Task};

    /// Enters code compiled for AVX2 and fused multiplication.
    #[target_feature(enable = "avx2,fma")]
    pub fn run_avx2<T: Task>(task: T) -> T::Output {
        task.run(Portable::<true>)
    }

    /// Enters code compiled for AVX-512.
    #[target_feature(enable = "avx512f,avx512bw")]
    pub fn run_avx512<T: Task>(lanes: Avx512<false>, task: T) -> T::Output {
        task.run(lanes)
    }

    /// Enters code compiled for AVX-512 with bfloat16.
    #[target_feature(enable = "avx512f,avx512bw,avx512bf16")]
    pub fn run_avx512_bf16<T: Task>(lanes: Avx512<true>, task: T) -> T::Output {
        task.run(lanes)
    }

    /// Proof that the processor has AVX-512 F and BW, and BF16 if the parameter says so.
    #[derive(Clone, Copy, Debug)]
    pub struct Avx512<const BF16: bool>(());

    impl<const BF16: bool> Avx512<BF16> {
        /// The proof, where it holds.
        pub fn new() -> Option<Self> {
            let wide = is_x86_feature_detected!("avx512f") && is_x86_feature_detected!("avx512bw");
            (wide && (!BF16 || is_x86_feature_detected!("avx512bf16"))).then_some(Avx512(()))
        }
    }

    // SAFETY, for every block below: `self` proves that the processor has these instructions,
    // and loads and stores go through references to values of 64 bytes aligned to 64.
    impl<const BF16: bool> Lanes for Avx512<BF16> {
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
                let inside =
                    _mm512_mask_cmp_ps_mask::<_CMP_LT_OQ>(above, test, _mm512_set1_ps(limit));
                _mm512_maskz_mov_ps(inside, value)
            }
        }

        #[inline(always)]
        fn shorten(self, [low, high]: [__m512; 2]) -> __m512i {
            // SAFETY: see above.
            unsafe {
                let half_unit = _mm512_set1_epi32(0x8000);
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
                        let mask = _mm512_set1_epi32(0xffff_0000_u32 as i32);
                        _mm512_castsi512_ps(_mm512_and_si512(line, mask))
                    };
                    let sums = _mm512_fmadd_ps(first(pair), first(line), sums);
                    _mm512_fmadd_ps(second(pair), second(line), sums)
                }
            }
        }
    }
}

#[cfg(test)]
#[path = "lanes_tests.rs"]
mod tests;
