//! The few vector operations that the network needs, for each instruction set.
//!
//! An instruction set is a type that implements [`Simd`]. Its values are proofs: one can be had
//! only on a processor that has the instructions, which makes the operations safe to call. [`Isa`]
//! picks the best one once at run time, so a single binary is fast everywhere.
//!
//! Functions with a `#[target_feature]` are inlined only into functions that have it too. That is
//! why a whole [`Operation`] (bringing accumulators up to date and computing the output) is
//! handed to [`Isa::run`], which enters the instruction set once and inlines the rest there.
//!
//! All instruction sets give the same bits: sums wrap around at 16 and 32 bits, which makes
//! addition associative, and `scalar` is the reference that the tests hold the others to.

#![allow(unsafe_code)]

use std::fmt;
use std::str::FromStr;
use std::sync::OnceLock;

pub mod dense;
pub mod kernels;
mod scalar;

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod avx512;
#[cfg(target_arch = "aarch64")]
mod neon;

#[cfg(test)]
mod tests;

/// What stands for 1.0 in the hidden layer: the upper end of the clipped ReLU.
pub const QA: i32 = 255;
/// Products of clipped hidden units are shifted right by this, which leaves 0 to 127.
pub const PRODUCT_SHIFT: u32 = 9;
/// Products of one side that follow each other, as [`Simd::products`] writes them.
pub const PRODUCT_RUN: usize = 8;

/// The operations. Arithmetic wraps around.
pub trait Simd: Copy {
    /// A register of [`Simd::LANES`] 16-bit integers.
    type I16: Copy;
    /// A register of 8-bit integers, twice as many.
    type I8: Copy;
    /// A register of 32-bit integers, half as many.
    type I32: Copy;
    /// 16-bit integers in a register: a power of two, at most 32.
    const LANES: usize;

    /// Reads `LANES` integers.
    ///
    /// # Safety
    /// `from` points to `LANES` readable integers and is aligned to their total size.
    unsafe fn load(self, from: *const i16) -> Self::I16;

    /// Writes `LANES` integers.
    ///
    /// # Safety
    /// `to` points to `LANES` writable integers and is aligned to their total size.
    unsafe fn store(self, to: *mut i16, value: Self::I16);

    /// Lane by lane sum.
    fn add(self, a: Self::I16, b: Self::I16) -> Self::I16;

    /// Lane by lane difference.
    fn sub(self, a: Self::I16, b: Self::I16) -> Self::I16;

    /// Every lane brought between 0 and QA: the clipped ReLU.
    fn clip(self, a: Self::I16) -> Self::I16;

    /// `a * a / 4` of lanes between 0 and QA, rounded down.
    fn quarter_square(self, a: Self::I16) -> Self::I16;

    /// `sum` plus the products of `a` and `b`, with 32 bits and added up in some order.
    fn dot(self, sum: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32;

    /// Each 32-bit integer of `sum` plus two products of `a` and `b`, those of neighbours.
    fn dot_pairs(self, sum: Self::I32, a: Self::I16, b: Self::I16) -> Self::I32;

    /// `a * b >> PRODUCT_SHIFT` for the two registers of each side, whose lanes are between 0 and
    /// QA. The sides' products alternate: [`PRODUCT_RUN`] of `own`, as many of `other`, and so on. Where
    /// registers have parts of 128 bits, narrowing two of them results in this order.
    fn products(self, own: [Self::I16; 2], other: [Self::I16; 2]) -> Self::I8;

    /// Reads `2 * LANES` bytes.
    ///
    /// # Safety
    /// `from` points to `2 * LANES` readable bytes and is aligned to their number.
    unsafe fn load8(self, from: *const i8) -> Self::I8;

    /// Writes `2 * LANES` bytes.
    ///
    /// # Safety
    /// `to` points to `2 * LANES` writable bytes and is aligned to their number.
    unsafe fn store8(self, to: *mut i8, value: Self::I8);

    /// Writes the numbers of those groups of four bytes, none of them negative, that are not all
    /// zeros, and returns how many they are. The groups are numbered from `first` on.
    ///
    /// # Safety
    /// `to` points to `LANES / 2` writable integers; those after the last number may be
    /// overwritten with anything.
    unsafe fn list_nonzero(self, to: *mut u32, first: u32, a: Self::I8) -> usize;

    /// The same four bytes everywhere.
    fn splat8(self, bytes: [i8; 4]) -> Self::I8;

    /// The same two 16-bit integers everywhere: the lower half of `pair`, then the upper one.
    fn splat(self, pair: i32) -> Self::I16;

    /// Each 32-bit integer of `sum` plus four products of `a` and `b`. No byte of `a` is negative,
    /// and none of `b` is -128.
    fn dot8(self, sum: Self::I32, a: Self::I8, b: Self::I8) -> Self::I32;

    /// Each 32-bit integer of `a` shifted right, rounding down, by as many `bits`, 0 to 31, as stand
    /// in its place.
    fn shift_right(self, a: Self::I32, bits: Self::I32) -> Self::I32;

    /// The inputs of the second layer from sums of the first: of each sum its square and its clipped
    /// value side by side, as [`layers`](crate::nnue::layers) defines them.
    fn activate(self, sums: Self::I32) -> Self::I16;

    /// Reads `LANES / 2` integers.
    ///
    /// # Safety
    /// `from` points to `LANES / 2` readable integers and is aligned to their total size.
    unsafe fn load32(self, from: *const i32) -> Self::I32;

    /// Writes `LANES / 2` integers.
    ///
    /// # Safety
    /// `to` points to `LANES / 2` writable integers and is aligned to their total size.
    unsafe fn store32(self, to: *mut i32, value: Self::I32);

    /// Zeros.
    fn zero(self) -> Self::I32;

    /// Lane by lane sum of 32-bit integers.
    fn add32(self, a: Self::I32, b: Self::I32) -> Self::I32;

    /// All lanes added up.
    fn reduce(self, a: Self::I32) -> i32;
}

/// As many 16-bit integers as fit the widest registers, aligned for them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, bytemuck::Zeroable)]
#[repr(C, align(64))]
pub struct Block(pub [i16; Block::LANES]);

impl Block {
    /// Integers in a block.
    pub const LANES: usize = 32;
    /// Zeros.
    pub const ZERO: Block = Block([0; Block::LANES]);
}

/// Work to be done with some instruction set. Implementations of [`Operation::run`] should be
/// `#[inline(always)]`, and so should whatever they call that touches vectors.
pub trait Operation {
    /// What the work results in.
    type Output;

    /// Does the work.
    fn run<S: Simd>(self, simd: S) -> Self::Output;
}

/// An instruction set that this processor has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Isa {
    /// Plain Rust.
    Scalar(scalar::Scalar),
    /// 256-bit integers.
    #[cfg(target_arch = "x86_64")]
    Avx2(avx2::Avx2),
    /// 512-bit integers.
    #[cfg(target_arch = "x86_64")]
    Avx512(avx512::Avx512<false>),
    /// 512-bit integers with a fused dot product.
    #[cfg(target_arch = "x86_64")]
    Avx512Vnni(avx512::Avx512<true>),
    /// 128-bit integers, on every 64-bit ARM.
    #[cfg(target_arch = "aarch64")]
    Neon(neon::Neon),
}

impl Isa {
    /// Environment variable that asks for an instruction set by name, for tests and comparisons.
    pub const OVERRIDE: &str = "PLEACH_SIMD";

    /// Everything that this processor offers, the reference first and the fastest last.
    #[must_use]
    pub fn available() -> Vec<Isa> {
        let mut found = vec![Isa::Scalar(scalar::Scalar)];
        #[cfg(target_arch = "x86_64")]
        {
            found.extend(avx2::Avx2::new().map(Isa::Avx2));
            found.extend(avx512::Avx512::<false>::new().map(Isa::Avx512));
            found.extend(avx512::Avx512::<true>::new().map(Isa::Avx512Vnni));
        }
        #[cfg(target_arch = "aarch64")]
        found.extend(neon::Neon::new().map(Isa::Neon));
        found
    }

    /// The fastest that this processor offers, unless [`Isa::OVERRIDE`] names another one. It is
    /// looked up once.
    #[must_use]
    pub fn best() -> Isa {
        static BEST: OnceLock<Isa> = OnceLock::new();
        *BEST.get_or_init(|| {
            let best = Isa::available()
                .pop()
                .unwrap_or(Isa::Scalar(scalar::Scalar));
            let Ok(name) = std::env::var(Isa::OVERRIDE) else {
                return best;
            };
            name.parse().unwrap_or_else(|error| {
                log::warn!("{}: {error}; using {best}", Isa::OVERRIDE);
                best
            })
        })
    }

    /// Its short name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Isa::Scalar(_) => "scalar",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(_) => "avx512",
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Vnni(_) => "avx512vnni",
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(_) => "neon",
        }
    }

    /// Does some work with these instructions.
    #[inline]
    pub(crate) fn run<O: Operation>(self, operation: O) -> O::Output {
        match self {
            Isa::Scalar(simd) => operation.run(simd),
            #[cfg(target_arch = "x86_64")]
            Isa::Avx2(simd) => {
                // SAFETY: `simd` proves that the processor has these instructions.
                unsafe { avx2::run(simd, operation) }
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512(simd) => {
                // SAFETY: `simd` proves that the processor has these instructions.
                unsafe { avx512::run(simd, operation) }
            }
            #[cfg(target_arch = "x86_64")]
            Isa::Avx512Vnni(simd) => {
                // SAFETY: `simd` proves that the processor has these instructions.
                unsafe { avx512::run_vnni(simd, operation) }
            }
            #[cfg(target_arch = "aarch64")]
            Isa::Neon(simd) => {
                // SAFETY: `simd` proves that the processor has these instructions.
                unsafe { neon::run(simd, operation) }
            }
        }
    }
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// No instruction set of that name here.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no instruction set {name:?} on this processor, which has {available}")]
pub struct IsaError {
    name: String,
    available: String,
}

impl FromStr for Isa {
    type Err = IsaError;

    fn from_str(name: &str) -> Result<Isa, IsaError> {
        let available = Isa::available();
        available
            .iter()
            .copied()
            .find(|isa| isa.name() == name)
            .ok_or_else(|| IsaError {
                name: name.to_owned(),
                available: available
                    .iter()
                    .map(|isa| isa.name())
                    .collect::<Vec<_>>()
                    .join(", "),
            })
    }
}
