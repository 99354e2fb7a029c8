//! The network file: a header that says what the network is, then its integers.
//!
//! All numbers are little endian. `N` is the width of the hidden layer.
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | magic, `PLEACHNN` |
//! | 8 | 4 | version of this layout, 1 |
//! | 12 | 4 | features F: 768 for each of 1, 5 or 10 king buckets |
//! | 16 | 4 | hidden width N, a multiple of 64 |
//! | 20 | 4 | output buckets, 8 |
//! | 24 | 4 | QA, the integer that stands for 1.0 in the hidden layer, 255 |
//! | 28 | 4 | QB, the integer that stands for 1.0 among the output weights, 512 (in older files 64) |
//! | 32 | 4 | scale: centipawns for an output of 1.0 |
//! | 36 | 4 | flags: bit 0 mirrored inputs, bit 1 squared clipped ReLU, both set; bit 2 sealed; bit 3 bare |
//! | 40 | 8 | hash, FNV-1a with 64 bits: of the payload, if sealed of all other bytes of the file |
//! | 48 | 64 | name, UTF-8, padded with zeros |
//! | 112 | 2·F·N | feature weights, i16, N for feature 0, N for feature 1, ... |
//! | | 2·N | feature bias, i16 |
//! | | 2·8·2N | output weights, i16, per bucket: N for the side to move, N for the other |
//! | | 4·8 | output bias, i32, in units of 1/(QA·QB) |
//!
//! This file uses nothing else of the crate, since `build.rs` compiles it too: the network that
//! a build embeds is checked before the engine is compiled.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

/// First bytes of every network file.
pub const MAGIC: [u8; 8] = *b"PLEACHNN";
/// Layout that this code reads and writes.
pub const VERSION: u32 = 1;
/// Inputs for one place of the viewer's king: two colours, six roles, 64 squares.
pub const PIECE_FEATURES: usize = 768;
/// How many groups of squares for the viewer's king ("king buckets") a network may have, each with
/// weights of its own; `features` says which squares form a group.
pub const KING_BUCKETS: [usize; 3] = [1, 5, 10];
/// Output layers; the number of pieces on the board picks one.
pub const BUCKETS: usize = 8;
/// What stands for 1.0 in the hidden layer.
pub const QA: i32 = 255;
/// What stands for 1.0 among the output weights. Half of them are smaller than 1/16, so the steps
/// must be fine.
pub const QB: i32 = 512;
/// What stood for 1.0 among the output weights of the first networks.
pub const COARSE_QB: i32 = 64;
/// Largest output weight, just below 2.0. A trained network's sums stay far within 32 bits; those
/// of a hostile file may wrap around, alike on every processor.
pub const MAX_OUTPUT_WEIGHT: i16 = 1016;
/// The hidden width is a multiple of this, so that kernels need no remainder loop.
pub const HIDDEN_STEP: usize = 64;
/// Widest hidden layer that is still taken for a chess network rather than a broken file.
pub const MAX_HIDDEN: usize = 8192;
/// Longest name in bytes.
pub const NAME_BYTES: usize = 64;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 112;

const FLAG_MIRRORED: u32 = 1;
const FLAG_SCRELU: u32 = 2;
const FLAGS: u32 = FLAG_MIRRORED | FLAG_SCRELU;
/// Outputs are without the factor by material, and pieces are grouped as the teacher groups them.
const FLAG_BARE: u32 = 8;
/// The hash covers the header too. The first networks were written without; all are now sealed.
const FLAG_SEALED: u32 = 4;
/// Where the hash stands, which cannot cover itself.
const HASH_OFFSET: usize = 40;
const HASH_END: usize = HASH_OFFSET + 8;
/// Largest scale that is taken seriously, in centipawns for an output of 1.0.
pub const MAX_SCALE: u32 = 10_000;

/// Why a network file was refused.
#[derive(Debug, Error)]
pub enum NetError {
    /// The file could not be read or written.
    #[error("cannot access the network file {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// Cut off, or not a network at all.
    #[error("the network file is too short: {found} bytes where {expected} are needed")]
    TooShort { found: usize, expected: usize },
    /// More bytes than the header announces.
    #[error("the network file is too long: {found} bytes where {expected} are expected")]
    TooLong { found: usize, expected: usize },
    /// Some other kind of file.
    #[error("not a Pleach network: the file does not begin with PLEACHNN")]
    WrongMagic,
    /// A Pleach network of another layout.
    #[error("network file version {0} is not supported (this build reads version {VERSION})")]
    UnsupportedVersion(u32),
    /// A network with another shape or arithmetic than this code computes.
    #[error("the network has another architecture: {field} is {found}, expected {expected}")]
    OtherArchitecture {
        field: &'static str,
        found: u32,
        expected: String,
    },
    /// A changed or damaged file.
    #[error(
        "the network file is damaged: its hash is {found:016x}, its header says {expected:016x}"
    )]
    HashMismatch { found: u64, expected: u64 },
    /// An output weight that is larger than any that training allows.
    #[error("output weight {value} is outside -{MAX_OUTPUT_WEIGHT}..={MAX_OUTPUT_WEIGHT}")]
    WeightOutOfRange { value: i16 },
    /// The name in the header is no UTF-8.
    #[error("the network's name is not UTF-8")]
    BadName,
}

/// What a network file says of itself before its payload.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    /// Inputs of a perspective: [`PIECE_FEATURES`] times one of [`KING_BUCKETS`].
    pub features: usize,
    /// Width of the hidden layer.
    pub hidden: usize,
    /// What stands for 1.0 among the output weights: [`QB`] or [`COARSE_QB`].
    pub qb: i32,
    /// Centipawns for an output of 1.0.
    pub scale: i32,
    /// See [`QuantisedNet::bare`].
    pub bare: bool,
    /// Whether the hash covers the header too.
    pub sealed: bool,
    /// FNV-1a hash of the payload, if sealed of the header before it (see [`Header::digest`]).
    pub hash: u64,
    /// What the network calls itself, at most [`NAME_BYTES`] bytes.
    pub name: String,
}

impl Header {
    /// Reads the header and checks that it describes a network this code can compute.
    ///
    /// # Errors
    /// Everything but [`NetError::Io`], [`NetError::HashMismatch`] and
    /// [`NetError::WeightOutOfRange`], which concern the payload.
    pub fn parse(bytes: &[u8]) -> Result<Header, NetError> {
        // The magic first: a short text file is a foreign file rather than a truncated network.
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(NetError::WrongMagic);
        }
        let (header, _) = bytes
            .split_at_checked(HEADER_BYTES)
            .ok_or(NetError::TooShort {
                found: bytes.len(),
                expected: HEADER_BYTES,
            })?;
        let mut fields = Reader(&header[MAGIC.len()..]);
        let version = fields.u32();
        if version != VERSION {
            return Err(NetError::UnsupportedVersion(version));
        }
        let features = fields.u32();
        let possible = KING_BUCKETS.map(|count| (count * PIECE_FEATURES) as u32);
        expect_one_of("features", features, &possible)?;
        let hidden = fields.u32();
        if hidden == 0
            || !(hidden as usize).is_multiple_of(HIDDEN_STEP)
            || hidden as usize > MAX_HIDDEN
        {
            let expected = format!("a multiple of {HIDDEN_STEP} up to {MAX_HIDDEN}");
            return Err(NetError::OtherArchitecture {
                field: "hidden",
                found: hidden,
                expected,
            });
        }
        expect("output buckets", fields.u32(), BUCKETS as u32)?;
        expect("QA", fields.u32(), QA as u32)?;
        let qb = fields.u32();
        expect_one_of("QB", qb, &[QB as u32, COARSE_QB as u32])?;
        let scale = fields.u32();
        if scale == 0 || scale > MAX_SCALE {
            let expected = format!("1 to {MAX_SCALE}");
            return Err(NetError::OtherArchitecture {
                field: "scale",
                found: scale,
                expected,
            });
        }
        let flags = fields.u32();
        expect("flags", flags & !(FLAG_SEALED | FLAG_BARE), FLAGS)?;
        let hash = fields.u64();
        let name = std::str::from_utf8(fields.0).map_err(|_| NetError::BadName)?;
        Ok(Header {
            features: features as usize,
            hidden: hidden as usize,
            qb: qb as i32,
            scale: scale as i32,
            bare: flags & FLAG_BARE != 0,
            sealed: flags & FLAG_SEALED != 0,
            hash,
            name: name.trim_end_matches('\0').to_owned(),
        })
    }

    /// The header's bytes. A name that is too long is cut at a character's boundary.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        let fields = [
            VERSION,
            self.features as u32,
            self.hidden as u32,
            BUCKETS as u32,
            QA as u32,
            self.qb as u32,
            self.scale as u32,
            FLAGS
                | if self.sealed { FLAG_SEALED } else { 0 }
                | if self.bare { FLAG_BARE } else { 0 },
        ];
        for field in fields {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.extend_from_slice(&self.hash.to_le_bytes());
        let mut end = self.name.len().min(NAME_BYTES);
        while !self.name.is_char_boundary(end) {
            end -= 1;
        }
        bytes.extend_from_slice(&self.name.as_bytes()[..end]);
        let mut header = [0; HEADER_BYTES];
        header[..bytes.len()].copy_from_slice(&bytes);
        header
    }

    /// The hash that belongs into this header if `payload` follows it.
    #[must_use]
    pub fn digest(&self, payload: &[u8]) -> u64 {
        let header = self.to_bytes();
        let (before, after) = (&header[..HASH_OFFSET], &header[HASH_END..]);
        let parts = if self.sealed {
            [before, after, payload]
        } else {
            [&[], &[], payload]
        };
        parts.into_iter().fold(FNV_OFFSET_BASIS, fnv1a_from)
    }

    /// Bytes of payload that follow this header.
    #[must_use]
    pub const fn payload_bytes(&self) -> usize {
        2 * (self.features * self.hidden + self.hidden + BUCKETS * 2 * self.hidden) + 4 * BUCKETS
    }
}

/// A network as plain integers in the file's order: what the trainer exports and what
/// `Network` copies into aligned memory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QuantisedNet {
    /// What the network calls itself; at most [`NAME_BYTES`] bytes are stored.
    pub name: String,
    /// Width of the hidden layer, N: a multiple of [`HIDDEN_STEP`].
    pub hidden: usize,
    /// Centipawns for an output of 1.0 (the K of the training target's sigmoid).
    pub scale: i32,
    /// Whether the output is without the factor by material (`material`), which the evaluation
    /// then multiplies by, and 4n + 1 to 4n + 4 pieces share an output layer, as the teacher has
    /// it. The networks up to fine-1024k5 include the factor, and 4n + 2 to 4n + 5 share.
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
}

impl QuantisedNet {
    /// A network of zeros.
    #[must_use]
    pub fn zeroed(name: &str, hidden: usize, king_buckets: usize, scale: i32) -> QuantisedNet {
        QuantisedNet {
            name: name.to_owned(),
            hidden,
            scale,
            bare: true,
            feature_weights: vec![0; king_buckets * PIECE_FEATURES * hidden],
            feature_bias: vec![0; hidden],
            output_weights: vec![0; BUCKETS * 2 * hidden],
            output_bias: vec![0; BUCKETS],
        }
    }

    /// Groups of squares for the viewer's king.
    #[must_use]
    pub fn king_buckets(&self) -> usize {
        self.feature_weights.len() / (PIECE_FEATURES * self.hidden)
    }

    /// Reads a whole network file.
    ///
    /// # Errors
    /// Says what is wrong with the bytes; see [`NetError`].
    pub fn from_bytes(bytes: &[u8]) -> Result<QuantisedNet, NetError> {
        let header = Header::parse(bytes)?;
        let payload = &bytes[HEADER_BYTES..];
        let (found, expected) = (bytes.len(), HEADER_BYTES + header.payload_bytes());
        if found < expected {
            return Err(NetError::TooShort { found, expected });
        }
        if found > expected {
            return Err(NetError::TooLong { found, expected });
        }
        let hash = header.digest(payload);
        if hash != header.hash {
            return Err(NetError::HashMismatch {
                found: hash,
                expected: header.hash,
            });
        }
        let hidden = header.hidden;
        let mut rest = Reader(payload);
        let finer = QB / header.qb;
        let net = QuantisedNet {
            name: header.name,
            hidden,
            scale: header.scale,
            bare: header.bare,
            feature_weights: rest.i16s(header.features * hidden),
            feature_bias: rest.i16s(hidden),
            output_weights: (rest.i16s(BUCKETS * 2 * hidden).into_iter())
                .map(|weight| weight.saturating_mul(finer as i16))
                .collect(),
            output_bias: (rest.i32s(BUCKETS).into_iter())
                .map(|bias| bias.saturating_mul(finer))
                .collect(),
        };
        match net
            .output_weights
            .iter()
            .find(|w| w.unsigned_abs() > MAX_OUTPUT_WEIGHT as u16)
        {
            Some(&value) => Err(NetError::WeightOutOfRange { value }),
            None => Ok(net),
        }
    }

    /// Reads a network file from disk.
    ///
    /// # Errors
    /// The file cannot be read, or is no network; see [`NetError`].
    pub fn load(path: &Path) -> Result<QuantisedNet, NetError> {
        let bytes = fs::read(path).map_err(|source| NetError::Io {
            path: path.to_path_buf(),
            source,
        })?;
        QuantisedNet::from_bytes(&bytes)
    }

    /// The bytes of the network file: header, hash and payload.
    #[must_use]
    pub fn to_bytes(&self) -> Vec<u8> {
        let mut payload = Vec::new();
        for part in [
            &self.feature_weights,
            &self.feature_bias,
            &self.output_weights,
        ] {
            payload.extend(part.iter().flat_map(|value| value.to_le_bytes()));
        }
        payload.extend(
            self.output_bias
                .iter()
                .flat_map(|value| value.to_le_bytes()),
        );
        let mut header = Header {
            features: self.king_buckets() * PIECE_FEATURES,
            hidden: self.hidden,
            qb: QB,
            scale: self.scale,
            bare: self.bare,
            sealed: true,
            hash: 0,
            name: self.name.clone(),
        };
        header.hash = header.digest(&payload);
        debug_assert_eq!(payload.len(), header.payload_bytes());
        let mut bytes = header.to_bytes().to_vec();
        bytes.append(&mut payload);
        bytes
    }
}

fn expect(field: &'static str, found: u32, expected: u32) -> Result<(), NetError> {
    if found == expected {
        return Ok(());
    }
    Err(NetError::OtherArchitecture {
        field,
        found,
        expected: expected.to_string(),
    })
}

fn expect_one_of(field: &'static str, found: u32, choices: &[u32]) -> Result<(), NetError> {
    if choices.contains(&found) {
        return Ok(());
    }
    let choices: Vec<String> = choices.iter().map(u32::to_string).collect();
    Err(NetError::OtherArchitecture {
        field,
        found,
        expected: choices.join(" or "),
    })
}

/// The hash of nothing: what [`fnv1a_from`] starts with.
pub const FNV_OFFSET_BASIS: u64 = 0xcbf2_9ce4_8422_2325;

/// FNV-1a with 64 bits (Fowler, Noll, Vo): enough to notice damage, no defence against forgery.
#[must_use]
pub fn fnv1a(bytes: &[u8]) -> u64 {
    fnv1a_from(FNV_OFFSET_BASIS, bytes)
}

/// Goes on hashing from the hash of the bytes before these.
#[must_use]
pub fn fnv1a_from(hash: u64, bytes: &[u8]) -> u64 {
    const PRIME: u64 = 0x0000_0100_0000_01b3;
    let add = |hash: u64, &byte: &u8| (hash ^ u64::from(byte)).wrapping_mul(PRIME);
    bytes.iter().fold(hash, add)
}

/// Takes little-endian numbers off the front of a slice whose length has been checked.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        let (first, rest) = self.0.split_at(BYTES);
        self.0 = rest;
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(first);
        bytes
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn i16s(&mut self, count: usize) -> Vec<i16> {
        (0..count)
            .map(|_| i16::from_le_bytes(self.take()))
            .collect()
    }

    fn i32s(&mut self, count: usize) -> Vec<i32> {
        (0..count)
            .map(|_| i32::from_le_bytes(self.take()))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sample() -> QuantisedNet {
        let mut net = QuantisedNet::zeroed("sample", HIDDEN_STEP, 5, 400);
        for (i, weight) in net.feature_weights.iter_mut().enumerate() {
            *weight = (i % 1009) as i16 - 504;
        }
        for (i, weight) in net.output_weights.iter_mut().enumerate() {
            *weight = (i % 2033) as i16 - MAX_OUTPUT_WEIGHT;
        }
        net.output_bias[3] = -70_000;
        net
    }

    #[test]
    fn a_network_survives_its_file() {
        let net = sample();
        let bytes = net.to_bytes();
        assert_eq!(QuantisedNet::from_bytes(&bytes).expect("own file"), net);
        let header = Header::parse(&bytes).expect("own header");
        assert_eq!(header.to_bytes(), bytes[..HEADER_BYTES]);
        assert_eq!(bytes.len(), HEADER_BYTES + header.payload_bytes());
    }

    #[test]
    fn hash_is_fnv1a() {
        // Test vectors of the algorithm's authors.
        assert_eq!(fnv1a(b""), 0xcbf2_9ce4_8422_2325);
        assert_eq!(fnv1a(b"foobar"), 0x8594_4171_f739_67e8);
    }

    #[test]
    fn every_truncation_is_noticed() {
        let bytes = sample().to_bytes();
        for length in (0..bytes.len())
            .step_by(97)
            .chain([0, 8, HEADER_BYTES, bytes.len() - 1])
        {
            let error = QuantisedNet::from_bytes(&bytes[..length]).expect_err("truncated");
            assert!(
                matches!(error, NetError::TooShort { .. }),
                "{length}: {error}"
            );
        }
        let mut longer = bytes;
        longer.push(0);
        let error = QuantisedNet::from_bytes(&longer).expect_err("too long");
        assert!(matches!(error, NetError::TooLong { .. }));
    }

    #[test]
    fn every_flipped_bit_is_noticed() {
        let bytes = sample().to_bytes();
        let header = 0..HEADER_BYTES * 8;
        let payload = (HEADER_BYTES * 8..bytes.len() * 8).step_by(4099);
        for bit in header.chain(payload) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(QuantisedNet::from_bytes(&flipped).is_err(), "bit {bit}");
        }
    }

    #[test]
    fn files_with_an_older_hash_are_read() {
        let mut bytes = sample().to_bytes();
        bytes[36] = (FLAGS | FLAG_BARE) as u8;
        let hash = fnv1a(&bytes[HEADER_BYTES..]);
        bytes[HASH_OFFSET..HASH_END].copy_from_slice(&hash.to_le_bytes());
        assert_eq!(
            QuantisedNet::from_bytes(&bytes).expect("an older file"),
            sample()
        );
    }

    #[test]
    fn coarse_output_weights_keep_their_value() {
        let finer = QB / COARSE_QB;
        let mut net = sample();
        for weight in &mut net.output_weights {
            *weight /= finer as i16;
        }
        let mut bytes = net.to_bytes();
        bytes[28..32].copy_from_slice(&(COARSE_QB as u32).to_le_bytes());
        let header = Header::parse(&bytes).expect("a header");
        let hash = header.digest(&bytes[HEADER_BYTES..]);
        bytes[HASH_OFFSET..HASH_END].copy_from_slice(&hash.to_le_bytes());
        let read = QuantisedNet::from_bytes(&bytes).expect("a network");
        for (fine, coarse) in read.output_weights.iter().zip(&net.output_weights) {
            assert_eq!(i32::from(*fine), finer * i32::from(*coarse));
        }
        assert_eq!(read.output_bias[3], finer * net.output_bias[3]);
    }

    #[test]
    fn every_number_of_king_buckets_is_read() {
        for count in KING_BUCKETS {
            let net = QuantisedNet::zeroed("buckets", HIDDEN_STEP, count, 400);
            let read = QuantisedNet::from_bytes(&net.to_bytes()).expect("own file");
            assert_eq!(read, net);
            assert_eq!(read.king_buckets(), count);
        }
        let other = QuantisedNet::zeroed("buckets", HIDDEN_STEP, 7, 400);
        let error = QuantisedNet::from_bytes(&other.to_bytes()).expect_err("seven");
        assert!(error.to_string().contains("features is 5376"), "{error}");
    }

    #[test]
    fn foreign_files_are_named_as_such() {
        let png = b"\x89PNG\r\n\x1a\n and then some";
        assert!(matches!(
            QuantisedNet::from_bytes(png),
            Err(NetError::WrongMagic)
        ));
        let mut newer = sample().to_bytes();
        newer[8] = 2;
        assert!(matches!(
            QuantisedNet::from_bytes(&newer),
            Err(NetError::UnsupportedVersion(2))
        ));
        let mut narrow = sample().to_bytes();
        narrow[16] = 65;
        let error = QuantisedNet::from_bytes(&narrow).expect_err("width");
        assert!(error.to_string().contains("hidden is 65"), "{error}");
        let error = QuantisedNet::load(Path::new("no/such/net")).expect_err("missing");
        assert!(error.to_string().contains("no/such/net"));
    }

    #[test]
    fn output_weights_must_fit_the_kernels() {
        const TOO_MUCH: i16 = -MAX_OUTPUT_WEIGHT - 1;
        let mut net = sample();
        net.output_weights[5] = TOO_MUCH;
        let error = QuantisedNet::from_bytes(&net.to_bytes()).err();
        assert!(matches!(
            error,
            Some(NetError::WeightOutOfRange { value: TOO_MUCH })
        ));
    }

    #[test]
    fn long_names_are_cut_between_characters() {
        let mut net = sample();
        net.name = format!("x{}", "ä".repeat(NAME_BYTES));
        let read = QuantisedNet::from_bytes(&net.to_bytes()).expect("own file");
        assert_eq!(read.name, format!("x{}", "ä".repeat(31)));
    }
}
