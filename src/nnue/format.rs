//! The container of a network file: a header that says what the network is, then its numbers.
//!
//! All numbers are little endian. What the header's fields mean and which numbers follow is a
//! matter of the architecture, for example [`single_layer`](super::single_layer).
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 8 | magic, `PLEACHNN` |
//! | 8 | 4 | number of the architecture |
//! | 12 | 4 | inputs of a perspective, F |
//! | 16 | 4 | width of the hidden layer, N |
//! | 20 | 4 | output buckets |
//! | 24 | 4 | QA, the integer that stands for 1.0 in the hidden layer |
//! | 28 | 4 | QB, the integer that stands for 1.0 among the output weights |
//! | 32 | 4 | scale: centipawns for an output of 1.0 |
//! | 36 | 4 | flags: bit 2 sealed, bit 4 packed, the others the architecture's |
//! | 40 | 8 | hash, FNV-1a with 64 bits: of the payload, if sealed of all other bytes of the file |
//! | 48 | 64 | name, UTF-8, padded with zeros |
//! | 112 | | payload, if packed compressed as `packing` describes |
//!
//! This file uses nothing else of the crate, since `build.rs` compiles it too: the network that
//! a build embeds is checked before the engine is compiled.

use std::io;
use std::path::{Path, PathBuf};

use thiserror::Error;

use crate::hash::{FNV_OFFSET_BASIS, fnv1a_from};

/// First bytes of every network file.
pub const MAGIC: [u8; 8] = *b"PLEACHNN";
/// Longest name in bytes.
pub const NAME_BYTES: usize = 64;
/// Bytes before the payload.
pub const HEADER_BYTES: usize = 112;
/// Flag: the hash covers the header too. The first networks were written without; all are now
/// sealed.
pub const FLAG_SEALED: u32 = 4;
/// Flag: the payload is compressed.
pub const FLAG_PACKED: u32 = 16;

/// Where the hash stands, which cannot cover itself.
const HASH_OFFSET: usize = 40;
const HASH_END: usize = HASH_OFFSET + 8;

/// Why a network file was refused.
#[derive(Debug, Error)]
pub enum NetError {
    /// The file could not be read or written.
    #[error("cannot access the network file {}: {source}", path.display())]
    Io { path: PathBuf, source: io::Error },
    /// The contents of a file are refused.
    #[error("{}: {reason}", path.display())]
    Refused {
        path: PathBuf,
        reason: Box<NetError>,
    },
    /// Cut off, or not a network at all.
    #[error("the network file is too short: {found} bytes where {expected} are needed")]
    TooShort { found: usize, expected: usize },
    /// More bytes than the header announces.
    #[error("the network file is too long: {found} bytes where {expected} are expected")]
    TooLong { found: usize, expected: usize },
    /// Some other kind of file.
    #[error("not a Pleach network: the file does not begin with PLEACHNN")]
    WrongMagic,
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
    /// A compressed payload that does not decompress to what the header announces.
    #[error("the network file's compressed numbers cannot be read")]
    BadPacking,
    /// A weight that is larger than any that training allows.
    #[error("{layer} weight {value} is outside -{limit}..={limit}")]
    WeightOutOfRange {
        layer: &'static str,
        value: i16,
        limit: i16,
    },
    /// The name in the header is no UTF-8.
    #[error("the network's name is not UTF-8")]
    BadName,
}

impl NetError {
    /// With the name of the file, if it is not there yet.
    pub(crate) fn in_file(self, path: &Path) -> NetError {
        match self {
            NetError::Io { .. } | NetError::Refused { .. } => self,
            reason => NetError::Refused {
                path: path.to_path_buf(),
                reason: Box::new(reason),
            },
        }
    }
}

/// The header of a network file, as it stands there.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Header {
    pub architecture: u32,
    pub features: u32,
    pub hidden: u32,
    pub buckets: u32,
    pub qa: u32,
    pub qb: u32,
    /// Centipawns for an output of 1.0.
    pub scale: u32,
    pub flags: u32,
    /// FNV-1a hash of the payload, if sealed of the header before it (see [`Header::digest`]).
    pub hash: u64,
    /// The network's name, at most [`NAME_BYTES`] bytes.
    pub name: String,
}

impl Header {
    /// Reads the header of a file.
    ///
    /// # Errors
    /// The bytes are too few, or those of another kind of file.
    pub fn parse(bytes: &[u8]) -> Result<Header, NetError> {
        // The magic first: a short text file is a foreign file rather than a truncated network.
        let known = bytes.len().min(MAGIC.len());
        if bytes[..known] != MAGIC[..known] {
            return Err(NetError::WrongMagic);
        }
        let (found, expected) = (bytes.len(), HEADER_BYTES);
        if found < expected {
            return Err(NetError::TooShort { found, expected });
        }
        let mut fields = Reader(&bytes[MAGIC.len()..HEADER_BYTES]);
        Ok(Header {
            architecture: fields.u32(),
            features: fields.u32(),
            hidden: fields.u32(),
            buckets: fields.u32(),
            qa: fields.u32(),
            qb: fields.u32(),
            scale: fields.u32(),
            flags: fields.u32(),
            hash: fields.u64(),
            name: std::str::from_utf8(fields.0)
                .map_err(|_| NetError::BadName)?
                .trim_end_matches('\0')
                .to_owned(),
        })
    }

    /// The header's bytes. A name that is too long is cut at a character's boundary.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; HEADER_BYTES] {
        let mut bytes = Vec::with_capacity(HEADER_BYTES);
        bytes.extend_from_slice(&MAGIC);
        let fields = [
            self.architecture,
            self.features,
            self.hidden,
            self.buckets,
            self.qa,
            self.qb,
            self.scale,
            self.flags,
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

    /// Whether the payload is compressed.
    #[must_use]
    pub const fn is_packed(&self) -> bool {
        self.flags & FLAG_PACKED != 0
    }

    /// The hash that belongs into this header if `payload` follows it.
    #[must_use]
    pub fn digest(&self, payload: &[u8]) -> u64 {
        let header = self.to_bytes();
        let (before, after) = (&header[..HASH_OFFSET], &header[HASH_END..]);
        let parts = if self.flags & FLAG_SEALED != 0 {
            [before, after, payload]
        } else {
            [&[], &[], payload]
        };
        parts.into_iter().fold(FNV_OFFSET_BASIS, fnv1a_from)
    }

    /// Checks that the payload, as it stands in the file, is the one that the header was made
    /// for.
    ///
    /// # Errors
    /// [`NetError::HashMismatch`].
    pub fn check(&self, payload: &[u8]) -> Result<(), NetError> {
        let found = self.digest(payload);
        if found == self.hash {
            return Ok(());
        }
        Err(NetError::HashMismatch {
            found,
            expected: self.hash,
        })
    }

    /// A whole file of this header, its hash put in, and `payload`.
    #[must_use]
    pub fn seal(mut self, payload: &[u8]) -> Vec<u8> {
        self.flags |= FLAG_SEALED;
        self.hash = self.digest(payload);
        let mut bytes = self.to_bytes().to_vec();
        bytes.extend_from_slice(payload);
        bytes
    }
}

/// Asks that a header's field have one of a few values.
///
/// # Errors
/// [`NetError::OtherArchitecture`].
pub fn expect(field: &'static str, found: u32, choices: &[u32]) -> Result<(), NetError> {
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

/// Takes little-endian numbers off the front of a slice whose length has been checked.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    fn front(&mut self, count: usize) -> &'a [u8] {
        let (first, rest) = self.0.split_at(count);
        self.0 = rest;
        first
    }

    fn take<const BYTES: usize>(&mut self) -> [u8; BYTES] {
        let mut bytes = [0; BYTES];
        bytes.copy_from_slice(self.front(BYTES));
        bytes
    }

    /// The next `count` integers, all at once: a network has millions of them.
    fn integers<T, const BYTES: usize>(
        &mut self,
        count: usize,
        from_bytes: impl Fn([u8; BYTES]) -> T,
    ) -> Vec<T> {
        let integers = self.front(count * BYTES).as_chunks().0.iter();
        integers.map(|&bytes| from_bytes(bytes)).collect()
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    /// The next `count` bytes.
    pub fn u8s(&mut self, count: usize) -> Vec<u8> {
        self.front(count).to_vec()
    }

    /// The next `count` integers of 8 bits.
    pub fn i8s(&mut self, count: usize) -> Vec<i8> {
        self.integers(count, i8::from_le_bytes)
    }

    /// The next `count` integers of 16 bits.
    pub fn i16s(&mut self, count: usize) -> Vec<i16> {
        self.integers(count, i16::from_le_bytes)
    }

    /// The next `count` integers of 32 bits.
    pub fn i32s(&mut self, count: usize) -> Vec<i32> {
        self.integers(count, i32::from_le_bytes)
    }
}
