//! Both architectures of the network: shape, file and forward pass. Number 1 has a single layer
//! after the hidden one, number 3 has [`layers`](super::layers) besides; number 2 is number 3
//! without extra bits.
//!
//! The hidden layers of the side to move and of the other side, through the squared clipped ReLU,
//! feed one of eight outputs, picked by the number of pieces:
//!
//! ```text
//! sum    = sum over both sides of clip(hidden, 0, QA)^2 / 4 * output weight  32 bits
//! output = (4 * sum / QA + output bias) * scale / (QA * QB)                  centipawns
//! ```
//!
//! Divisions round towards zero. A layered network adds the output of [`layers`](super::layers) to
//! this, before the scale. The trainer's model (`train::model`) has the same [`Shape`], and its
//! exporter writes a [`QuantisedNet`].
//!
//! The payload of its files, in little-endian integers:
//!
//! | numbers | bits | what |
//! |---|---|---|
//! | F·N | 16 | feature weights in units of 1/QA, N for feature 0, N for feature 1, ... |
//! | N | 16 | feature bias in units of 1/QA |
//! | 8·2N | 16 | output weights in units of 1/QB, per bucket N for the side to move, N for the other |
//! | 8 | 32 | output bias, in units of 1/(QA·QB) |
//!
//! and with the number 3 in the header, which stands for a network with [`layers`](super::layers)
//! that add to the output, further
//!
//! | numbers | bits | what |
//! |---|---|---|
//! | 8·N·16 | 8 | first layer's weights, per bucket 16 for product 0, 16 for product 1, ... |
//! | 8·16 | 32 | first layer's bias |
//! | 8·32·32 | 16 | second layer's weights, per bucket 32 for output 0, 32 for output 1, ... |
//! | 8·32 | 32 | second layer's bias |
//! | 8·32 | 16 | third layer's weights |
//! | 8·16 | 8 | extra bits of the first layer's weights; in files with the number 2 absent, and zero |
//!
//! QA is 255, QB 2048 (in older files 512 or 64), F 768 for each king bucket, N a multiple of 64.
//! Flags: bit 0 mirrored inputs and bit 1 squared clipped ReLU, both set; bit 3 see
//! [`QuantisedNet::bare`].

use std::fs;
use std::io;
use std::mem::MaybeUninit;
use std::path::Path;

use super::features::{KingBuckets, output_bucket};
use super::format::{FLAG_PACKED, FLAG_SEALED, HEADER_BYTES, Header, NetError, Reader, expect};
use super::layers::{EXTRA_BITS_BYTES, QuantisedLayers, check_range, to_output_units};
use super::packing;
use super::row::{HIDDEN, Row};
use super::simd::Simd;
use super::simd::dense::{DenseLayers, sum_and_products};
use super::simd::kernels::sum_of_squares;
use crate::files;
use crate::memory::LargeTable;

#[cfg(test)]
mod tests;

/// Number in the header of a network without layers.
pub const SINGLE_LAYER: u32 = 1;
/// Number in the header of a network with [`layers`](super::layers) without extra bits, as they
/// were written up to layered-p-1024k10.
const LAYERED_WITHOUT_EXTRA_BITS: u32 = 2;
/// Number in the header of a network with [`layers`](super::layers).
pub const LAYERED: u32 = 3;
/// Inputs for one place of the viewer's king: two colours, six roles, 64 squares.
pub const PIECE_FEATURES: usize = super::features::PIECE_FEATURES;
/// Output layers; the number of pieces on the board picks one.
pub const BUCKETS: usize = super::features::OUTPUT_BUCKETS;
/// What stands for 1.0 in the hidden layer.
pub const QA: i32 = super::simd::QA;
/// What stands for 1.0 among the output weights. Half of them are smaller than 1/16, so the steps
/// must be fine: with 512 rounding them made the loss of layered-b1-1024k10 2 % larger.
pub const QB: i32 = 2048;
/// What stood for 1.0 among the output weights up to layered-z-mean.
pub const FORMER_QB: i32 = 512;
/// What stood for 1.0 among the output weights of the first networks.
pub const COARSE_QB: i32 = 64;
/// Largest output weight, just below 2.0. A trained network's sums stay far within 32 bits; those
/// of a hostile file may wrap around, alike on every processor.
pub const MAX_OUTPUT_WEIGHT: i16 = 4064;
/// The hidden width is a multiple of this, so that kernels need no remainder loop.
pub const HIDDEN_STEP: usize = 64;
/// Widest hidden layer that is still taken for a chess network rather than a broken file.
pub const MAX_HIDDEN: usize = 8192;
/// Largest scale that is taken seriously, in centipawns for an output of 1.0.
pub const MAX_SCALE: u32 = 10_000;

/// Size of the largest network's file.
const MAX_FILE_BYTES: usize = {
    let largest = Shape {
        hidden: MAX_HIDDEN,
        king_buckets: KingBuckets::ThirtyTwo,
        layered: true,
    };
    HEADER_BYTES + largest.payload_bytes()
};

const FLAG_MIRRORED: u32 = 1;
const FLAG_SCRELU: u32 = 2;
const FLAGS: u32 = FLAG_MIRRORED | FLAG_SCRELU;
const FLAG_BARE: u32 = 8;

/// What a network's size follows from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// Width of the hidden layer, N.
    pub hidden: usize,
    pub king_buckets: KingBuckets,
    /// Whether [`layers`](super::layers) add to the output.
    pub layered: bool,
}

impl Shape {
    /// Inputs of a perspective, F.
    #[must_use]
    pub const fn features(&self) -> usize {
        self.king_buckets.count() * PIECE_FEATURES
    }

    /// Feature weights and the bias: rows of N numbers.
    #[must_use]
    pub const fn rows(&self) -> usize {
        self.features() + 1
    }

    /// Bytes of the numbers of a network.
    #[must_use]
    pub const fn payload_bytes(&self) -> usize {
        let layers = if self.layered {
            QuantisedLayers::payload_bytes(self.hidden)
        } else {
            0
        };
        2 * (self.rows() + 2 * BUCKETS) * self.hidden + 4 * BUCKETS + layers
    }

    /// Bytes of the numbers in a file with this header, which is of this shape.
    #[must_use]
    pub const fn payload_bytes_with(&self, header: &Header) -> usize {
        if self.layered && !has_extra_bits(header) {
            self.payload_bytes() - EXTRA_BITS_BYTES
        } else {
            self.payload_bytes()
        }
    }

    /// The shape that a header tells of.
    ///
    /// # Errors
    /// [`NetError::OtherArchitecture`] if anything in it is neither architecture's.
    pub fn of(header: &Header) -> Result<Shape, NetError> {
        let architectures = [SINGLE_LAYER, LAYERED_WITHOUT_EXTRA_BITS, LAYERED];
        expect("architecture", header.architecture, &architectures)?;
        let layered = header.architecture != SINGLE_LAYER;
        let possible = KingBuckets::ALL.map(|kind| (kind.count() * PIECE_FEATURES) as u32);
        expect("features", header.features, &possible)?;
        let known = KingBuckets::with_count(header.features as usize / PIECE_FEATURES);
        let other = |field, found, expected| NetError::OtherArchitecture {
            field,
            found,
            expected,
        };
        let king_buckets = known.unwrap_or(KingBuckets::One);
        let hidden = header.hidden as usize;
        if hidden == 0 || !hidden.is_multiple_of(HIDDEN_STEP) || hidden > MAX_HIDDEN {
            let expected = format!("a multiple of {HIDDEN_STEP} up to {MAX_HIDDEN}");
            return Err(other("hidden", header.hidden, expected));
        }
        expect("output buckets", header.buckets, &[BUCKETS as u32])?;
        expect("QA", header.qa, &[QA as u32])?;
        let steps: &[u32] = if layered {
            &[QB as u32, FORMER_QB as u32]
        } else {
            &[QB as u32, FORMER_QB as u32, COARSE_QB as u32]
        };
        expect("QB", header.qb, steps)?;
        if header.scale == 0 || header.scale > MAX_SCALE {
            let expected = format!("1 to {MAX_SCALE}");
            return Err(other("scale", header.scale, expected));
        }
        let own_flags = header.flags & !(FLAG_SEALED | FLAG_PACKED | FLAG_BARE);
        expect("flags", own_flags, &[FLAGS])?;
        Ok(Shape {
            hidden,
            king_buckets,
            layered,
        })
    }
}

/// Whether a payload with this header ends in the extra bits of its [`layers`](super::layers).
const fn has_extra_bits(header: &Header) -> bool {
    header.architecture == LAYERED
}

/// A network as plain integers in the file's order: what the trainer exports and what
/// [`Network`](super::Network) copies into aligned memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantisedNet {
    /// What the network calls itself; only the first bytes are stored.
    pub name: String,
    pub shape: Shape,
    /// Centipawns for an output of 1.0 (the K of the training target's sigmoid).
    pub scale: i32,
    /// True: the output leaves out the factor by material (`material`), by which the evaluation then
    /// multiplies it, and the output bucket is (pieces - 1) / 4, both as in Stockfish 15.1. False, as
    /// in the networks up to fine-1024k5: the output includes the factor, and the bucket is
    /// (pieces - 2) / 4.
    pub bare: bool,
    /// `[F][N]`, in units of 1/[`QA`].
    pub feature_weights: Vec<i16>,
    /// `[N]`, in units of 1/[`QA`].
    pub feature_bias: Vec<i16>,
    /// `[BUCKETS][2N]`, in units of 1/[`QB`], N for the side to move first; none larger than
    /// [`MAX_OUTPUT_WEIGHT`].
    pub output_weights: Vec<i16>,
    /// `[BUCKETS]`, in units of 1/([`QA`]·[`QB`]).
    pub output_bias: Vec<i32>,
    /// What adds to the output, if the shape says that the network is layered.
    pub(crate) layers: Option<QuantisedLayers>,
}

impl QuantisedNet {
    /// A network of zeros.
    #[must_use]
    pub fn zeroed(name: &str, shape: Shape, scale: i32) -> QuantisedNet {
        QuantisedNet {
            name: name.to_owned(),
            shape,
            scale,
            bare: true,
            feature_weights: vec![0; shape.features() * shape.hidden],
            feature_bias: vec![0; shape.hidden],
            output_weights: vec![0; BUCKETS * 2 * shape.hidden],
            output_bias: vec![0; BUCKETS],
            layers: (shape.layered).then(|| QuantisedLayers::zeroed(shape.hidden)),
        }
    }

    /// The same network with these layers.
    #[must_use]
    pub(crate) fn with_layers(mut self, layers: QuantisedLayers) -> QuantisedNet {
        self.shape.layered = true;
        self.layers = Some(layers);
        self
    }

    /// The hidden layer of a view with these inputs, of which each is below
    /// [`Shape::features`].
    #[must_use]
    pub(crate) fn hidden_layer(&self, inputs: impl Iterator<Item = usize>) -> Vec<i16> {
        let width = self.shape.hidden;
        let mut sums = self.feature_bias.clone();
        for input in inputs {
            let row = &self.feature_weights[input * width..][..width];
            for (sum, weight) in sums.iter_mut().zip(row) {
                *sum = sum.wrapping_add(*weight);
            }
        }
        sums
    }

    /// Reads a whole network file.
    ///
    /// # Errors
    /// Says what is wrong with the bytes; see [`NetError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<QuantisedNet, NetError> {
        QuantisedNet::parse(bytes, Header::check)
    }

    /// Reads a whole network file whose hash is known to be right, without computing it once more.
    ///
    /// # Errors
    /// Says what is wrong with the bytes; see [`NetError`].
    pub(super) fn from_undamaged_bytes(bytes: &[u8]) -> Result<QuantisedNet, NetError> {
        QuantisedNet::parse(bytes, |_, _| Ok(()))
    }

    /// Reads a whole network file, if its header accepts the bytes after it by this `check`.
    fn parse(
        bytes: &[u8],
        check: impl FnOnce(&Header, &[u8]) -> Result<(), NetError>,
    ) -> Result<QuantisedNet, NetError> {
        let header = Header::parse(bytes)?;
        let shape = Shape::of(&header)?;
        let stored = &bytes[HEADER_BYTES..];
        let payload_bytes = shape.payload_bytes_with(&header);
        let (found, expected) = (bytes.len(), HEADER_BYTES + payload_bytes);
        if !header.is_packed() && found < expected {
            return Err(NetError::TooShort { found, expected });
        }
        if !header.is_packed() && found > expected {
            return Err(NetError::TooLong { found, expected });
        }
        check(&header, stored)?;
        if header.is_packed() {
            let payload = packing::unpack(stored, payload_bytes)?;
            QuantisedNet::read(header, shape, &payload)
        } else {
            QuantisedNet::read(header, shape, stored)
        }
    }

    /// The numbers after the header, which are as many as the shape says.
    fn read(header: Header, shape: Shape, payload: &[u8]) -> Result<QuantisedNet, NetError> {
        let mut rest = Reader(payload);
        let has_extra_bits = has_extra_bits(&header);
        let finer = QB / header.qb as i32;
        let net = QuantisedNet {
            name: header.name,
            shape,
            scale: header.scale as i32,
            bare: header.flags & FLAG_BARE != 0,
            feature_weights: rest.i16s(shape.features() * shape.hidden),
            feature_bias: rest.i16s(shape.hidden),
            output_weights: (rest.i16s(BUCKETS * 2 * shape.hidden).into_iter())
                .map(|weight| weight.saturating_mul(finer as i16))
                .collect(),
            output_bias: (rest.i32s(BUCKETS).into_iter())
                .map(|bias| bias.saturating_mul(finer))
                .collect(),
            layers: if shape.layered {
                let layers = QuantisedLayers::read(&mut rest, shape.hidden, has_extra_bits)?;
                Some(layers)
            } else {
                None
            },
        };
        let weights = net.output_weights.iter().copied();
        check_range("output", MAX_OUTPUT_WEIGHT, weights)?;
        Ok(net)
    }

    /// Reads a network file from disk. Pipes, devices and files larger than any network are refused
    /// before they are read.
    ///
    /// # Errors
    /// The file cannot be read, or is no network; see [`NetError`].
    pub fn load(path: &Path) -> Result<QuantisedNet, NetError> {
        let failed = |source| NetError::Io {
            path: path.to_path_buf(),
            source,
        };
        let data = fs::metadata(path).map_err(failed)?;
        if !data.is_file() {
            let kind = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
            return Err(failed(kind));
        }
        if data.len() > MAX_FILE_BYTES as u64 {
            return Err(NetError::TooLong {
                found: usize::try_from(data.len()).unwrap_or(usize::MAX),
                expected: MAX_FILE_BYTES,
            });
        }
        QuantisedNet::from_bytes(&fs::read(path).map_err(failed)?)
    }

    fn header(&self) -> Header {
        Header {
            architecture: if self.shape.layered {
                LAYERED
            } else {
                SINGLE_LAYER
            },
            features: self.shape.features() as u32,
            hidden: self.shape.hidden as u32,
            buckets: BUCKETS as u32,
            qa: QA as u32,
            qb: QB as u32,
            scale: self.scale as u32,
            flags: FLAGS | if self.bare { FLAG_BARE } else { 0 },
            hash: 0,
            name: self.name.clone(),
        }
    }

    fn payload(&self) -> Vec<u8> {
        let mut payload = Vec::with_capacity(self.shape.payload_bytes());
        for part in [
            &self.feature_weights,
            &self.feature_bias,
            &self.output_weights,
        ] {
            payload.extend(part.iter().flat_map(|value| value.to_le_bytes()));
        }
        let bias = self.output_bias.iter();
        payload.extend(bias.flat_map(|value| value.to_le_bytes()));
        if let Some(layers) = &self.layers {
            layers.write(&mut payload);
        }
        debug_assert_eq!(payload.len(), self.shape.payload_bytes());
        payload
    }

    /// The bytes of the network file: header, hash and payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        self.header().seal(&self.payload())
    }

    /// The same with the payload compressed, for networks that are shipped.
    ///
    /// # Errors
    /// [`NetError::BadPacking`] if the compressor fails.
    pub fn to_packed_bytes(&self) -> Result<Vec<u8>, NetError> {
        let mut header = self.header();
        header.flags |= FLAG_PACKED;
        Ok(header.seal(&packing::pack(&self.payload())?))
    }

    /// Writes the network file, compressed, whole or not at all.
    ///
    /// # Errors
    /// [`NetError::Io`] if the file cannot be written.
    pub fn save(&self, path: &Path) -> Result<(), NetError> {
        files::replace(path, &self.to_packed_bytes()?).map_err(|source| NetError::Io {
            path: path.to_path_buf(),
            source,
        })
    }
}

/// The output layers, laid out for the kernels.
#[derive(Debug)]
pub(super) struct Outputs {
    weights: Box<[[Row; 2]; BUCKETS]>,
    bias: [i32; BUCKETS],
    scale: i32,
    bare: bool,
    layers: Option<LargeTable<DenseLayers>>,
}

impl Outputs {
    /// Copies the output layers of a network of the build's width.
    pub fn new(net: &QuantisedNet) -> Outputs {
        let mut weights = Box::new([const { [Row::ZERO; 2] }; BUCKETS]);
        let pairs = net.output_weights.chunks_exact(2 * HIDDEN);
        for (pair, weights) in weights.iter_mut().zip(pairs) {
            *pair = [
                Row::from_slice(&weights[..HIDDEN]),
                Row::from_slice(&weights[HIDDEN..]),
            ];
        }
        let mut bias = [0; BUCKETS];
        bias.copy_from_slice(&net.output_bias);
        Outputs {
            weights,
            bias,
            scale: net.scale,
            bare: net.bare,
            layers: net.layers.as_ref().map(lay_out),
        }
    }

    /// See [`QuantisedNet::bare`].
    #[inline]
    pub const fn is_bare(&self) -> bool {
        self.bare
    }

    /// Centipawns, from the hidden layers of the side to move and of the other side on a board of
    /// so many pieces.
    ///
    /// Integers throughout and always in this order: trainer and kernels agree to the last bit.
    #[inline(always)]
    pub fn forward<S: Simd>(&self, simd: S, hidden: [&Row; 2], pieces: usize) -> i32 {
        let bucket = output_bucket(pieces, self.bare);
        let weights = &self.weights[bucket];
        let (sum, added) = match &self.layers {
            None => (sum_of_squares(simd, hidden, weights), 0),
            Some(layers) => {
                let mut room = MaybeUninit::uninit();
                let (sum, products) = sum_and_products(simd, hidden, weights, &mut room);
                let added = layers[bucket].forward(simd, products);
                (sum, to_output_units(added))
            }
        };
        let output = 4 * i64::from(sum) / i64::from(QA) + i64::from(self.bias[bucket]) + added;
        (output * i64::from(self.scale) / i64::from(QA * QB)) as i32
    }
}

/// The layers of all buckets for the kernels.
fn lay_out(layers: &QuantisedLayers) -> LargeTable<DenseLayers> {
    let mut table = LargeTable::<DenseLayers>::new(BUCKETS).expect("memory for a network");
    for (bucket, dense) in table.iter_mut().enumerate() {
        dense.lay_out(layers, bucket);
    }
    table
}
