//! Training records: games in viriformat, the format of the Viridithas engine.
//!
//! A game is its start position in 32 bytes ([`PackedBoard`]), then four bytes a ply (a
//! [`PackedMove`](crate::types::PackedMove) and an `i16` score in centipawns as White sees it),
//! then four zero bytes. Files are games one after another, plain or compressed with zstd.
//! The format has no field for how the scores were made: file names and the notes next to them
//! say so.

mod compression;
mod convert;
mod file;
mod game;
mod mailbox;
mod packed_board;
mod position;
#[cfg(test)]
pub(crate) mod tests;

pub use file::GameReader;
pub(crate) use file::{FileHash, GameWriter, holds_positions};
pub(crate) use game::NO_SCORE;
pub use game::{GameRecord, PlyRecord};
pub(crate) use mailbox::Mailbox;
pub use packed_board::PackedBoard;
pub(crate) use packed_board::{BLACK, MAX_PIECES};
pub(crate) use position::NO_HINTS;
pub(crate) use position::PositionWriter;
pub use position::{HINTS, PositionFormat, PositionReader, PositionRecord, TeacherHints};

use std::io;
use std::path::PathBuf;

use thiserror::Error;

/// Why a record was refused. Records are games or single positions, counted from 1.
#[derive(Debug, Error)]
pub enum RecordError {
    /// The file could not be opened, read or written.
    #[error("cannot access {}: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    /// The compressed data are damaged, or the disk failed.
    #[error("cannot read record {record}: {source}")]
    Read { record: u64, source: io::Error },
    /// The file ends within a game or position.
    #[error("the file is cut off within record {0}")]
    Truncated(u64),
    /// A file without a single game, such as one of no length.
    #[error("the file holds no game")]
    NoGames,
    /// A file of something other than positions.
    #[error("the file holds no positions: its first bytes are not those of such a file")]
    NoPositions,
    /// A game's start position or a single position is invalid.
    #[error("record {record}: {reason}")]
    BadBoard { record: u64, reason: &'static str },
    /// A move that moves no piece of the side to move.
    #[error("game {game}, ply {ply}: {reason}")]
    BadMove {
        game: u64,
        ply: usize,
        reason: &'static str,
    },
}
