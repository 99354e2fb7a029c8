//! Files of games, plain or compressed with zstd.

use std::fs::{self, File};
use std::io::{self, BufRead, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::files::PendingFile;
use crate::hash::{FNV_OFFSET_BASIS, fnv1a_from};
use crate::types::{GameResult, PackedMove};

use super::compression::{BUFFER_BYTES, decoded};
use super::packed_board::PACKED_BYTES;
use super::{GameRecord, PackedBoard, PlyRecord, RecordError, position};

const PLY_BYTES: usize = 4;
/// Games of more plies are treated as damage: the longest possible game by the 75-move rule.
const MAX_PLIES: usize = 17_697;

/// Reads games one after another.
pub struct GameReader<R> {
    input: R,
    games: u64,
    failed: bool,
}

impl GameReader<Box<dyn BufRead>> {
    /// Opens a file, plain or zstd according to its first bytes.
    ///
    /// # Errors
    /// [`RecordError::Open`] if it cannot be opened.
    pub fn open(path: &Path) -> Result<Self, RecordError> {
        GameReader::open_counted(path, Arc::default())
    }

    /// The same; `read` counts the file's bytes as they are read.
    ///
    /// # Errors
    /// [`RecordError::Open`] if it cannot be opened.
    pub fn open_counted(path: &Path, read: Arc<AtomicU64>) -> Result<Self, RecordError> {
        decoded(path, read).map(GameReader::new)
    }
}

/// Whether a file holds single positions rather than games.
///
/// # Errors
/// [`RecordError::Open`] if it cannot be read, or is a pipe, which could not be read again.
pub fn holds_positions(path: &Path) -> Result<bool, RecordError> {
    let failed = |source| RecordError::Open {
        path: path.to_path_buf(),
        source,
    };
    if !fs::metadata(path).map_err(failed)?.is_file() {
        let kind = io::Error::new(io::ErrorKind::InvalidInput, "not a regular file");
        return Err(failed(kind));
    }
    let mut input = decoded(path, Arc::default())?;
    let first = input.fill_buf().map_err(failed)?;
    Ok(first.starts_with(&position::MAGIC))
}

impl<R: BufRead> GameReader<R> {
    /// Reads games from any stream of plain bytes.
    pub fn new(input: R) -> GameReader<R> {
        GameReader {
            input,
            games: 0,
            failed: false,
        }
    }

    /// Games read so far; the number of the current one, counted from 1.
    pub fn games(&self) -> u64 {
        self.games
    }

    /// Reads the next game into `game`, whose list of plies is used again. False at the end.
    ///
    /// # Errors
    /// The stream fails, ends within a game, or holds something that is not a game.
    pub fn read_into(&mut self, game: &mut GameRecord) -> Result<bool, RecordError> {
        let number = self.games + 1;
        let failed = |source| RecordError::Read {
            record: number,
            source,
        };
        if self.input.fill_buf().map_err(failed)?.is_empty() {
            return Ok(false);
        }
        self.games = number;
        let mut head = [0; PACKED_BYTES];
        self.exact(&mut head)?;
        let (start, result) = PackedBoard::from_bytes(&head);
        game.start = start;
        game.result = GameResult::from_bits(result).ok_or(RecordError::BadBoard {
            record: number,
            reason: if number == 1 {
                "not a file of games in viriformat"
            } else {
                "unknown result"
            },
        })?;
        game.plies.clear();
        loop {
            let mut bytes = [0; PLY_BYTES];
            self.exact(&mut bytes)?;
            if bytes == [0; PLY_BYTES] {
                return Ok(true);
            }
            let ply = game.plies.len() + 1;
            let played = PackedMove::from_bits(u16::from_le_bytes([bytes[0], bytes[1]]));
            let bad = |reason| RecordError::BadMove {
                game: number,
                ply,
                reason,
            };
            if played.is_none() {
                return Err(bad("an empty move"));
            }
            if ply > MAX_PLIES {
                return Err(bad("the game never ends"));
            }
            let score = i16::from_le_bytes([bytes[2], bytes[3]]);
            game.plies.push(PlyRecord { played, score });
        }
    }

    fn exact(&mut self, bytes: &mut [u8]) -> Result<(), RecordError> {
        self.input
            .read_exact(bytes)
            .map_err(|source| match source.kind() {
                io::ErrorKind::UnexpectedEof => RecordError::Truncated(self.games),
                _ => RecordError::Read {
                    record: self.games,
                    source,
                },
            })
    }
}

/// Ends after the first error: nothing after damage in a stream can be read as games.
impl<R: BufRead> Iterator for GameReader<R> {
    type Item = Result<GameRecord, RecordError>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.failed {
            return None;
        }
        let mut game = GameRecord::empty();
        match self.read_into(&mut game) {
            Ok(true) => Some(Ok(game)),
            Ok(false) => None,
            Err(error) => {
                self.failed = true;
                Some(Err(error))
            }
        }
    }
}

/// Writes games, compressed with zstd. The file gets its final name when it is complete.
pub struct GameWriter {
    path: PathBuf,
    output: zstd::Encoder<'static, BufWriter<PendingFile>>,
    bytes: Vec<u8>,
}

impl GameWriter {
    /// Begins a file, which replaces one of this name in [`GameWriter::finish`].
    ///
    /// # Errors
    /// [`RecordError::Open`] if that fails.
    pub fn create(path: &Path) -> Result<GameWriter, RecordError> {
        let failed = |source| RecordError::Open {
            path: path.to_path_buf(),
            source,
        };
        let file =
            BufWriter::with_capacity(BUFFER_BYTES, PendingFile::create(path).map_err(failed)?);
        let output = zstd::Encoder::new(file, zstd::DEFAULT_COMPRESSION_LEVEL).map_err(failed)?;
        Ok(GameWriter {
            path: path.to_path_buf(),
            output,
            bytes: Vec::new(),
        })
    }

    /// Appends a game.
    ///
    /// # Errors
    /// [`RecordError::Open`] if the file cannot be written.
    pub fn write(&mut self, game: &GameRecord) -> Result<(), RecordError> {
        self.bytes.clear();
        game.encode(&mut self.bytes);
        let written = self.output.write_all(&self.bytes);
        written.map_err(|source| RecordError::Open {
            path: self.path.clone(),
            source,
        })
    }

    /// Completes the file and gives it its name.
    ///
    /// # Errors
    /// [`RecordError::Open`] if the file cannot be written.
    pub fn finish(self) -> Result<(), RecordError> {
        let file = self.output.finish();
        let file = file.and_then(|file| file.into_inner().map_err(io::IntoInnerError::into_error));
        file.and_then(PendingFile::commit)
            .map_err(|source| RecordError::Open {
                path: self.path,
                source,
            })
    }
}

/// FNV-1a with 64 bits over a file's bytes as they lie on the disk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FileHash(pub u64);

impl FileHash {
    /// Hashes a file.
    ///
    /// # Errors
    /// [`RecordError::Open`] if it cannot be read.
    pub fn of(path: &Path) -> Result<FileHash, RecordError> {
        let failed = |source| RecordError::Open {
            path: path.to_path_buf(),
            source,
        };
        let mut file = File::open(path).map_err(failed)?;
        let mut buffer = vec![0; BUFFER_BYTES];
        let mut hash = FNV_OFFSET_BASIS;
        loop {
            let count = file.read(&mut buffer).map_err(failed)?;
            if count == 0 {
                return Ok(FileHash(hash));
            }
            hash = fnv1a_from(hash, &buffer[..count]);
        }
    }
}
