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

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
mod portable;

use std::sync::OnceLock;

use bytemuck::{Pod, Zeroable};

#[cfg(target_arch = "x86_64")]
use avx2::{Avx2Lanes, run_avx2};
#[cfg(target_arch = "x86_64")]
use avx512::{Avx512Lanes, run_avx512, run_avx512_bf16};
use portable::PortableLanes;
#[cfg(test)]
pub use portable::lengthen;
pub use portable::upper_half;

/// Neurons in a tile.
pub const TILE: usize = 32;
/// Half a tile: the floats in a register.
pub const HALF: usize = TILE / 2;
/// Half of the lowest bit of a float's upper half: added before the lower one is cut off, it rounds.
const HALF_UNIT: i32 = 0x8000;
/// The bits of a float's upper half.
#[cfg(target_arch = "x86_64")]
const UPPER_BITS: i32 = 0xffff_0000_u32 as i32;
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
            if Avx2Lanes::new().is_some() {
                units.push(Unit::Avx2);
            }
            if Avx512Lanes::<false>::new().is_some() {
                units.push(Unit::Avx512);
            }
            if Avx512Lanes::<true>::new().is_some() {
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
                if let Some(lanes) = Avx2Lanes::new() {
                    // SAFETY: `lanes` proves that the processor has these instructions.
                    return unsafe { run_avx2(lanes, task) };
                }
            }
            Unit::Avx512 => {
                if let Some(lanes) = Avx512Lanes::<false>::new() {
                    // SAFETY: `lanes` proves that the processor has these instructions.
                    return unsafe { run_avx512(lanes, task) };
                }
            }
            Unit::Avx512Bf16 => {
                if let Some(lanes) = Avx512Lanes::<true>::new() {
                    // SAFETY: `lanes` proves that the processor has these instructions.
                    return unsafe { run_avx512_bf16(lanes, task) };
                }
            }
        }
        task.run(PortableLanes)
    }
}

#[cfg(test)]
mod tests;
