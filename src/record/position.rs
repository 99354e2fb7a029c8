//! Files of single labelled positions.
//!
//! A file is a head of 32 bytes and then 32 bytes a position, plain or compressed with zstd. The
//! head holds the eight bytes `PLEACHPS`, a version (`u32`, 1 or 2) and zeros. A position is laid out
//! as the start of a game is ([`PackedBoard`]), with its score in the place that games leave
//! unused:
//!
//! | offset | bytes | what |
//! |---|---|---|
//! | 0 | 28 | the board |
//! | 28 | 2 | score, `i16`, centipawns from White's side, or 32767 for none |
//! | 30 | 1 | result of the game it comes from: 0 Black won, 1 draw, 2 White won |
//! | 31 | 1 | zero |
//!
//! Behind the head these are the records of Marlinflow, which other trainers read. In version 2
//! 16 bytes of [`TeacherHints`] follow each record.

use std::io::{self, BufRead, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::files::PendingFile;
use crate::types::GameResult;

use super::compression::{BUFFER_BYTES, decoded};
use super::packed_board::{PACKED_BYTES, SCORE};
use super::{PackedBoard, RecordError};

/// First bytes of a file of positions.
pub(super) const MAGIC: [u8; 8] = *b"PLEACHPS";
const PLAIN_VERSION: u32 = 1;
const HINTED_VERSION: u32 = 2;

/// How many sums of a teacher's first dense layer go with a position.
pub const HINTS: usize = 16;

/// What the first dense layer of the teacher sums up in a position, seen by the side to move, in
/// 1/127 of the sum at which an activation saturates; larger sums count as 127 of either sign. They
/// are learnt from besides the score.
pub type TeacherHints = [i8; HINTS];

/// What stands for hints that are not known, in files and in memory: no sum is as small.
pub(crate) const NO_HINTS: TeacherHints = [i8::MIN; HINTS];

/// A position, its score, and the result of its game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PositionRecord {
    pub board: PackedBoard,
    /// Centipawns from White's side, or [`NO_SCORE`](super::NO_SCORE).
    pub score: i16,
    /// How the game ended that the position comes from; a draw if it comes from none.
    pub result: GameResult,
    /// The teacher's sums, if they were recorded.
    pub hints: Option<TeacherHints>,
}

impl PositionRecord {
    /// The record's 32 bytes, without its hints.
    #[must_use]
    pub fn to_bytes(&self) -> [u8; PACKED_BYTES] {
        let mut bytes = self.board.to_bytes(self.result);
        bytes[SCORE..SCORE + 2].copy_from_slice(&self.score.to_le_bytes());
        bytes
    }

    /// The record within 32 bytes; `None` if its result is invalid.
    #[must_use]
    pub fn from_bytes(bytes: &[u8; PACKED_BYTES]) -> Option<PositionRecord> {
        let (board, result) = PackedBoard::from_bytes(bytes);
        Some(PositionRecord {
            board,
            score: i16::from_le_bytes([bytes[SCORE], bytes[SCORE + 1]]),
            result: GameResult::from_bits(result)?,
            hints: None,
        })
    }
}

/// Whether a file holds hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PositionFormat {
    #[default]
    Plain,
    Hinted,
}

impl PositionFormat {
    fn head(self) -> [u8; PACKED_BYTES] {
        let version = match self {
            PositionFormat::Plain => PLAIN_VERSION,
            PositionFormat::Hinted => HINTED_VERSION,
        };
        let mut head = [0; PACKED_BYTES];
        head[..MAGIC.len()].copy_from_slice(&MAGIC);
        head[MAGIC.len()..MAGIC.len() + 4].copy_from_slice(&version.to_le_bytes());
        head
    }

    fn of_head(head: &[u8; PACKED_BYTES]) -> Option<PositionFormat> {
        let formats = [PositionFormat::Plain, PositionFormat::Hinted];
        formats.into_iter().find(|format| format.head() == *head)
    }
}

/// Reads positions one after another. After an error it returns nothing more.
pub struct PositionReader<R> {
    input: R,
    format: PositionFormat,
    positions: u64,
    failed: bool,
}

impl PositionReader<Box<dyn BufRead>> {
    /// Opens a file, plain or zstd according to its first bytes.
    ///
    /// # Errors
    /// It can't be opened, or holds something else.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        PositionReader::open_counted(path, Arc::default())
    }

    /// The same; `read` counts the file's bytes as they are read.
    ///
    /// # Errors
    /// It can't be opened, or holds something else.
    pub fn open_counted(path: &Path, read: Arc<AtomicU64>) -> Result<Self, RecordError> {
        PositionReader::new(decoded(path, read)?)
    }
}

impl<R: BufRead> PositionReader<R> {
    /// Reads positions from any stream of plain bytes.
    ///
    /// # Errors
    /// The stream has another head.
    pub fn new(mut input: R) -> Result<PositionReader<R>, RecordError> {
        let mut found = [0; PACKED_BYTES];
        match input.read_exact(&mut found) {
            Ok(()) => Ok(PositionReader {
                input,
                format: PositionFormat::of_head(&found).ok_or(RecordError::NoPositions)?,
                positions: 0,
                failed: false,
            }),
            Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => {
                Err(RecordError::NoPositions)
            }
            Err(source) => Err(RecordError::Read { record: 0, source }),
        }
    }

    fn read(&mut self) -> Result<Option<PositionRecord>, RecordError> {
        let number = self.positions + 1;
        let failed = |source: io::Error| match source.kind() {
            io::ErrorKind::UnexpectedEof => RecordError::Truncated(number),
            _ => RecordError::Read {
                record: number,
                source,
            },
        };
        if self.input.fill_buf().map_err(failed)?.is_empty() {
            return Ok(None);
        }
        self.positions = number;
        let mut bytes = [0; PACKED_BYTES];
        self.input.read_exact(&mut bytes).map_err(failed)?;
        let mut record = PositionRecord::from_bytes(&bytes).ok_or(RecordError::BadBoard {
            record: number,
            reason: "unknown result",
        })?;
        if self.format == PositionFormat::Hinted {
            let mut hints = NO_HINTS;
            self.input
                .read_exact(bytemuck::cast_slice_mut(&mut hints))
                .map_err(failed)?;
            record.hints = (hints != NO_HINTS).then_some(hints);
        }
        Ok(Some(record))
    }
}

impl<R: BufRead> Iterator for PositionReader<R> {
    type Item = Result<PositionRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let record = self.read().transpose();
        self.failed = matches!(record, Some(Err(_)));
        record
    }
}

/// Writes positions, compressed with zstd. The file gets its final name when it is complete.
pub struct PositionWriter {
    path: PathBuf,
    format: PositionFormat,
    output: zstd::Encoder<'static, BufWriter<PendingFile>>,
}

impl PositionWriter {
    /// Begins a file, which replaces one of this name in [`PositionWriter::finish`].
    ///
    /// # Errors
    /// [`RecordError::Open`] if that fails.
    pub fn create(path: &Path, format: PositionFormat) -> Result<PositionWriter, RecordError> {
        let begin = || {
            let file = BufWriter::with_capacity(BUFFER_BYTES, PendingFile::create(path)?);
            let mut output = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL)?;
            output.write_all(&format.head())?;
            Ok(output)
        };
        let output = begin().map_err(|source| RecordError::Open {
            path: path.to_path_buf(),
            source,
        })?;
        Ok(PositionWriter {
            path: path.to_path_buf(),
            format,
            output,
        })
    }

    /// Appends a position.
    ///
    /// # Errors
    /// [`RecordError::Open`] if the file can't be written.
    pub fn write(&mut self, record: &PositionRecord) -> Result<(), RecordError> {
        let mut written = self.output.write_all(&record.to_bytes());
        if self.format == PositionFormat::Hinted {
            let hints = record.hints.unwrap_or(NO_HINTS);
            written = written.and_then(|()| self.output.write_all(bytemuck::cast_slice(&hints)));
        }
        written.map_err(|source| RecordError::Open {
            path: self.path.clone(),
            source,
        })
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`RecordError::Open`] if the file can't be written.
    pub fn finish(self) -> Result<(), RecordError> {
        let complete = || self.output.finish()?.into_inner()?.commit();
        complete().map_err(|source| RecordError::Open {
            path: self.path,
            source,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;

    fn records() -> Vec<PositionRecord> {
        let mut records = Vec::new();
        random_games(3, |position| {
            let number = records.len();
            records.push(PositionRecord {
                board: PackedBoard::pack(position),
                score: number as i16 - 100,
                result: GameResult::from_bits((number % 3) as u8).expect("a result"),
                hints: (number % 5 > 0).then(|| std::array::from_fn(|i| (number + i) as i8 / 2)),
            });
        });
        records
    }

    #[test]
    #[cfg_attr(miri, ignore = "compressed by C code")]
    fn what_is_written_is_read_again() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("positions.zst");
        let mut records = records();
        for format in [PositionFormat::Hinted, PositionFormat::Plain] {
            let mut writer = PositionWriter::create(&path, format).expect("a file");
            for record in &records {
                writer.write(record).expect("written");
            }
            assert!(!path.exists(), "the file appears when it is complete");
            writer.finish().expect("written");
            if format == PositionFormat::Plain {
                records.iter_mut().for_each(|record| record.hints = None);
            }
            let read: Result<Vec<_>, _> = PositionReader::open(&path).expect("a file").collect();
            assert_eq!(read.expect("sound"), records);
            std::fs::remove_file(&path).expect("removed");
        }
    }

    #[test]
    fn other_files_and_truncations_are_refused() {
        let mut bytes = PositionFormat::Plain.head().to_vec();
        for record in records().iter().take(3) {
            bytes.extend_from_slice(&record.to_bytes());
        }
        for length in 0..bytes.len() {
            let read = PositionReader::new(&bytes[..length])
                .and_then(|reader| reader.collect::<Result<Vec<_>, _>>());
            let whole = length >= PACKED_BYTES && length % PACKED_BYTES == 0;
            assert_eq!(read.is_ok(), whole, "{length}");
        }
        let games = [0; 100];
        assert!(matches!(
            PositionReader::new(&games[..]),
            Err(RecordError::NoPositions)
        ));
    }

    #[test]
    fn nothing_comes_after_an_error() {
        let mut bytes = PositionFormat::Plain.head().to_vec();
        for record in records().iter().take(3) {
            bytes.extend_from_slice(&record.to_bytes());
        }
        bytes[2 * PACKED_BYTES + 30] = 9;
        let reader = PositionReader::new(&bytes[..]).expect("a head");
        let sound: Vec<bool> = reader.map(|record| record.is_ok()).collect();
        assert_eq!(sound, [true, false]);
    }
}
