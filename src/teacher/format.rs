//! The teacher's file.
//!
//! All numbers are little-endian; the weights stand row by row.
//!
//! | part | content |
//! |---|---|
//! | head | `u32` version, `u32` hash of the architecture, `u32` length of a description, the description |
//! | transformer | `u32` hash; `width` biases of 16 bits; for each of 22,528 inputs `width` weights of 16 bits; for each input eight piece values of 32 bits; each of the three as it is (Stockfish 15.1) or compressed (17.1) |
//! | eight stacks | `u32` hash; 16 biases of 32 bits, 16 x `width` weights of 8 bits; 32 biases, 32 x 32 weights; one bias, 32 weights |
//!
//! Compressed numbers begin with `COMPRESSED_LEB128` and a `u32` number of bytes; each is in signed
//! LEB128: seven bits a byte, the lowest first, the highest bit set in all bytes but the last, and
//! the highest bit of these seven in the last one is the sign.
//!
//! The hashes tell architectures apart but do not cover the weights, so that a damaged file would
//! pass. Its SHA-256 does: published files carry the first twelve digits in their name,
//! `nn-ad9b42354671.nnue`. [`TeacherNet::load`] refuses a file whose digits are neither those of
//! its name nor those of a known network.

use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};

use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::memory::LargeTable;
use crate::nnue::simd::Block;

use super::engine::TeacherEngine;
use super::features::INPUTS;

/// Sets of piece values, and stacks of layers, chosen by the number of pieces.
pub const STACKS: usize = 8;
/// Outputs of a stack's first layer; the last one is added to the stack's output directly.
pub const FIRST: usize = 16;
/// Inputs (two of them unused) and outputs of a stack's second layer.
pub const SECOND: usize = 32;
const LANES: usize = Block::LANES;

const VERSION: u32 = 0x7af3_2f20;
const FEATURES_HASH: u32 = 0x7f23_4cb8;
const STACK_HASH: u32 = 0xec42_e90d;
const AFFINE_HASH: u32 = 0xcc03_dae4;
const RELU_HASH: u32 = 0x538d_24c7;
/// The longest description that is accepted.
const MAX_DESCRIPTION: usize = 1 << 16;
/// A file's name has this many digits of its SHA-256.
const NAME_DIGITS: usize = 12;
/// Numbers that follow are compressed.
const COMPRESSED: &[u8] = b"COMPRESSED_LEB128";

/// Why a file cannot be used as a teacher.
#[derive(Debug, Error)]
pub enum TeacherError {
    #[error("cannot read {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    #[error("{} is no regular file", .0.display())]
    NoFile(PathBuf),
    #[error("it is no network of this family: version {found:#010x} instead of {VERSION:#010x}")]
    Version { found: u32 },
    #[error(
        "its architecture is another one than those of Stockfish 15.1 and 17.1: \
         {part} has the hash {found:#010x} instead of {expected:#010x}"
    )]
    Architecture {
        part: &'static str,
        found: u32,
        expected: u32,
    },
    #[error("it is cut off within the {0}")]
    TooShort(&'static str),
    #[error("its description has {0} bytes, more than {MAX_DESCRIPTION}")]
    LongDescription(usize),
    #[error("compressed numbers of its {0} cannot be read")]
    BadCompression(&'static str),
    #[error("{0} bytes follow where it should end")]
    TooLong(u64),
    #[error(
        "its SHA-256 begins with {digest}, which is neither in its name (nn-{digest}.nnue) nor \
         known: it is damaged, or has been renamed"
    )]
    Unknown { digest: String },
    #[error("no memory for its weights: {0}")]
    Memory(io::Error),
}

/// The layers behind the transformer for one range of piece counts.
#[derive(Clone, Debug)]
pub(super) struct LayerStack {
    pub first_bias: [i32; FIRST],
    /// A row of `width` weights for each output.
    pub first: Vec<Block>,
    pub second_bias: [i32; SECOND],
    /// By input, then by output.
    pub second: [[i32; SECOND]; SECOND],
    pub third_bias: i32,
    pub third: [i32; SECOND],
}

/// A teacher's weights, immutable and shared by all threads.
#[derive(Debug)]
pub struct TeacherNet {
    engine: TeacherEngine,
    blocks: usize,
    pub(super) bias: Vec<Block>,
    weights: LargeTable<Block>,
    values: LargeTable<[i32; STACKS]>,
    pub(super) stacks: Vec<LayerStack>,
    /// SHA-256 of the file's bytes, in hexadecimal.
    sha256: String,
}

impl TeacherNet {
    /// The name under which the network is published: it holds the first digits of its hash.
    #[must_use]
    pub fn file_name(&self) -> String {
        format!("nn-{}.nnue", &self.sha256[..NAME_DIGITS])
    }

    /// Reads a file.
    ///
    /// # Errors
    /// The file can't be read, is of another kind, cut off or damaged.
    pub fn load(path: &Path) -> Result<TeacherNet, TeacherError> {
        TeacherNet::load_shaped(path, &PUBLISHED)
    }

    /// The same for networks of other shapes.
    pub(super) fn load_shaped(
        path: &Path,
        shapes: &[TeacherShape],
    ) -> Result<TeacherNet, TeacherError> {
        let failed = |source| TeacherError::Io {
            path: path.to_path_buf(),
            source,
        };
        let data = fs::metadata(path).map_err(failed)?;
        if !data.is_file() {
            return Err(TeacherError::NoFile(path.to_path_buf()));
        }
        // Reading one byte more than the longest valid file is enough to detect a longer one.
        let widest = shapes.iter().map(|shape| shape.width).max().unwrap_or(0);
        let longest = file_bytes(widest, MAX_DESCRIPTION) as u64;
        let mut bytes = Vec::new();
        File::open(path)
            .and_then(|file| file.take(longest + 1).read_to_end(&mut bytes))
            .map_err(failed)?;
        let net = TeacherNet::parse(&bytes, shapes)?;
        let digest = &net.sha256[..NAME_DIGITS];
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let known = TeacherEngine::ALL.map(TeacherEngine::digest);
        if known.contains(&digest) || *name == *net.file_name() {
            Ok(net)
        } else {
            Err(TeacherError::Unknown {
                digest: digest.to_owned(),
            })
        }
    }

    /// Reads a file's bytes; one of these shapes is expected.
    ///
    /// # Errors
    /// The bytes are of another kind or cut off.
    pub fn parse(bytes: &[u8], shapes: &[TeacherShape]) -> Result<TeacherNet, TeacherError> {
        let mut reader = TeacherReader {
            rest: bytes,
            part: "head",
        };
        let version = reader.u32()?;
        if version != VERSION {
            return Err(TeacherError::Version { found: version });
        }
        let TeacherShape { engine, width } = reader.shape(shapes)?;
        debug_assert!(width.is_multiple_of(2 * LANES));
        let (transformer, stack) = (transformer_hash(width), stack_hash(width));
        let length = reader.u32()? as usize;
        if length > MAX_DESCRIPTION {
            return Err(TeacherError::LongDescription(length));
        }
        reader.take(length)?;

        reader.part = "transformer";
        reader.hash(transformer)?;
        let blocks = width / LANES;
        let mut bias = vec![Block::ZERO; blocks];
        reader.blocks(&mut bias)?;
        let mut weights = LargeTable::new(INPUTS * blocks).map_err(TeacherError::Memory)?;
        reader.blocks(&mut weights)?;
        let mut values = LargeTable::<[i32; STACKS]>::new(INPUTS).map_err(TeacherError::Memory)?;
        reader.values(&mut values)?;
        reader.part = "stacks";
        let mut stacks = Vec::with_capacity(STACKS);
        for _ in 0..STACKS {
            reader.hash(stack)?;
            stacks.push(reader.stack(blocks)?);
        }
        if !reader.rest.is_empty() {
            return Err(TeacherError::TooLong(reader.rest.len() as u64));
        }
        let digest = Sha256::digest(bytes);
        Ok(TeacherNet {
            engine,
            blocks,
            bias,
            weights,
            values,
            stacks,
            sha256: digest.iter().map(|byte| format!("{byte:02x}")).collect(),
        })
    }

    /// The engine that the network was made for.
    #[must_use]
    pub const fn engine(&self) -> TeacherEngine {
        self.engine
    }

    /// Blocks of one side's neurons.
    pub(super) const fn blocks(&self) -> usize {
        self.blocks
    }

    /// The weights of an input.
    #[inline(always)]
    pub(super) fn row(&self, input: usize) -> &[Block] {
        &self.weights[input * self.blocks..][..self.blocks]
    }

    /// The piece values of an input, one for each stack.
    #[inline(always)]
    pub(super) fn values(&self, input: usize) -> &[i32; STACKS] {
        &self.values[input]
    }
}

/// What a file's head tells about its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeacherShape {
    /// The engine that it was made for.
    pub engine: TeacherEngine,
    /// Neurons of one side, a multiple of 64.
    pub width: usize,
}

/// The shapes of published networks.
const PUBLISHED: [TeacherShape; 2] = [
    TeacherShape::published(TeacherEngine::Stockfish15),
    TeacherShape::published(TeacherEngine::Stockfish17),
];

impl TeacherShape {
    /// The shape of an engine's own network.
    const fn published(engine: TeacherEngine) -> TeacherShape {
        let width = engine.width();
        TeacherShape { engine, width }
    }
}

/// The length of a file without compression.
const fn file_bytes(width: usize, description: usize) -> usize {
    const HEAD: usize = 12;
    const HASH: usize = 4;
    let transformer = HASH + 2 * width + INPUTS * (2 * width + 4 * STACKS);
    let stack = HASH + 4 * FIRST + FIRST * width + 4 * SECOND + SECOND * SECOND + 4 + SECOND;
    HEAD + description + transformer + STACKS * stack
}

pub(super) const fn transformer_hash(width: usize) -> u32 {
    FEATURES_HASH ^ (2 * width) as u32
}

/// The hash of a stack is computed layer by layer.
pub(super) const fn stack_hash(width: usize) -> u32 {
    const fn affine(before: u32, outputs: usize) -> u32 {
        AFFINE_HASH.wrapping_add(outputs as u32) ^ before >> 1 ^ before << 31
    }
    const fn relu(before: u32) -> u32 {
        before.wrapping_add(RELU_HASH)
    }
    let hash = STACK_HASH ^ (2 * width) as u32;
    let hash = relu(affine(hash, FIRST));
    let hash = relu(affine(hash, SECOND));
    affine(hash, 1)
}

/// The bytes that are still to be read, and the part of the file that they are in.
struct TeacherReader<'a> {
    rest: &'a [u8],
    part: &'static str,
}

impl<'a> TeacherReader<'a> {
    fn take(&mut self, length: usize) -> Result<&'a [u8], TeacherError> {
        let (taken, rest) = self
            .rest
            .split_at_checked(length)
            .ok_or(TeacherError::TooShort(self.part))?;
        self.rest = rest;
        Ok(taken)
    }

    fn u32(&mut self) -> Result<u32, TeacherError> {
        Ok(self.i32s::<1>()?[0] as u32)
    }

    fn hash(&mut self, expected: u32) -> Result<(), TeacherError> {
        let found = self.u32()?;
        if found == expected {
            Ok(())
        } else {
            Err(TeacherError::Architecture {
                part: self.part,
                found,
                expected,
            })
        }
    }

    /// The shape that the hash of the whole architecture stands for.
    fn shape(&mut self, shapes: &[TeacherShape]) -> Result<TeacherShape, TeacherError> {
        let found = self.u32()?;
        let hash = |shape: &TeacherShape| transformer_hash(shape.width) ^ stack_hash(shape.width);
        let known = shapes.iter().find(|shape| hash(shape) == found);
        known.copied().ok_or(TeacherError::Architecture {
            part: self.part,
            found,
            expected: shapes.first().map_or(0, hash),
        })
    }

    fn i32s<const COUNT: usize>(&mut self) -> Result<[i32; COUNT], TeacherError> {
        let bytes = self.take(4 * COUNT)?.as_chunks::<4>().0;
        Ok(std::array::from_fn(|index| {
            i32::from_le_bytes(bytes[index])
        }))
    }

    fn i8s(&mut self, count: usize) -> Result<impl Iterator<Item = i8>, TeacherError> {
        Ok(self.take(count)?.iter().map(|&byte| byte as i8))
    }

    fn blocks(&mut self, blocks: &mut [Block]) -> Result<(), TeacherError> {
        let count = LANES * blocks.len();
        let lanes = blocks.iter_mut().flat_map(|block| &mut block.0);
        if self.is_compressed() {
            return self.decompress(lanes, |number| number as i16);
        }
        let bytes = self.take(2 * count)?.as_chunks::<2>().0;
        for (lane, &bytes) in lanes.zip(bytes) {
            *lane = i16::from_le_bytes(bytes);
        }
        Ok(())
    }

    fn values(&mut self, values: &mut [[i32; STACKS]]) -> Result<(), TeacherError> {
        if self.is_compressed() {
            return self.decompress(values.as_flattened_mut().iter_mut(), |number| number);
        }
        for row in values {
            *row = self.i32s()?;
        }
        Ok(())
    }

    /// Whether compressed numbers follow.
    fn is_compressed(&self) -> bool {
        self.rest.starts_with(COMPRESSED)
    }

    /// Reads compressed numbers, as many as there are places for them.
    fn decompress<'n, N: 'n>(
        &mut self,
        numbers: impl Iterator<Item = &'n mut N>,
        convert: impl Fn(i32) -> N,
    ) -> Result<(), TeacherError> {
        self.take(COMPRESSED.len())?;
        let length = self.u32()? as usize;
        let mut bytes = self.take(length)?;
        for number in numbers {
            *number = leb128(&mut bytes)
                .map(&convert)
                .ok_or(TeacherError::BadCompression(self.part))?;
        }
        if bytes.is_empty() {
            Ok(())
        } else {
            Err(TeacherError::BadCompression(self.part))
        }
    }

    fn stack(&mut self, blocks: usize) -> Result<LayerStack, TeacherError> {
        let first_bias = self.i32s()?;
        let mut first = vec![Block::ZERO; FIRST * blocks];
        let weights = self.i8s(first.len() * LANES)?;
        let lanes = first.iter_mut().flat_map(|block| &mut block.0);
        for (lane, weight) in lanes.zip(weights) {
            *lane = i16::from(weight);
        }
        let second_bias = self.i32s()?;
        let mut second = [[0; SECOND]; SECOND];
        for (index, weight) in self.i8s(SECOND * SECOND)?.enumerate() {
            second[index % SECOND][index / SECOND] = i32::from(weight);
        }
        let [third_bias] = self.i32s()?;
        let mut third = [0; SECOND];
        for (lane, weight) in third.iter_mut().zip(self.i8s(SECOND)?) {
            *lane = i32::from(weight);
        }
        Ok(LayerStack {
            first_bias,
            first,
            second_bias,
            second,
            third_bias,
            third,
        })
    }
}

/// Takes a number in signed LEB128 off the front, if a whole one of at most 32 bits is there.
fn leb128(bytes: &mut &[u8]) -> Option<i32> {
    const BITS: u32 = 7;
    const MORE: u8 = 1 << BITS;
    let mut number = 0;
    for shift in (0..i32::BITS).step_by(BITS as usize) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        number |= i32::from(byte & !MORE) << shift;
        if byte & MORE == 0 {
            let unused = i32::BITS.saturating_sub(shift + BITS);
            return Some(number << unused >> unused);
        }
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lengths_and_hashes_are_those_of_the_published_file() {
        // Of nn-ad9b42354671.nnue, whose description has 75 bytes.
        let width = TeacherEngine::Stockfish15.width();
        assert_eq!(file_bytes(width, 75), 47_001_499);
        assert_eq!(transformer_hash(width) ^ stack_hash(width), 0x1c10_2ef2);
        assert_eq!(transformer_hash(width), 0x7f23_44b8);
        // Of nn-1c0000000000.nnue.
        let width = TeacherEngine::Stockfish17.width();
        assert_eq!(transformer_hash(width) ^ stack_hash(width), 0x1c10_20f2);
        assert_eq!(transformer_hash(width), 0x7f23_54b8);
    }

    #[test]
    fn compressed_numbers_are_leb128() {
        // Examples of the DWARF standard, and the ends of the range.
        let read = |bytes: &[u8]| {
            let mut rest = bytes;
            leb128(&mut rest).map(|number| (number, rest.len()))
        };
        assert_eq!(read(&[2]), Some((2, 0)));
        assert_eq!(read(&[0x7e]), Some((-2, 0)));
        assert_eq!(read(&[0xff, 0]), Some((127, 0)));
        assert_eq!(read(&[0x81, 0x7f, 9]), Some((-127, 1)));
        assert_eq!(read(&[0x80, 0x7f]), Some((-128, 0)));
        assert_eq!(read(&[0xff, 0xff, 0xff, 0xff, 7]), Some((i32::MAX, 0)));
        assert_eq!(read(&[0x80, 0x80, 0x80, 0x80, 0x78]), Some((i32::MIN, 0)));
        assert_eq!(read(&[0x80, 0x80]), None);
        assert_eq!(read(&[0x80; 6]), None);
    }
}
