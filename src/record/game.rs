//! One recorded game.

use crate::types::{GameResult, PackedMove};

use super::PackedBoard;
use super::packed_board::PACKED_BYTES;

/// The value for a missing score: files of static evaluations have it for positions in check.
pub const NO_SCORE: i16 = i16::MAX;

/// A move and the score of the position before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PlyRecord {
    pub played: PackedMove,
    /// Centipawns from White's side, or [`NO_SCORE`].
    pub score: i16,
}

/// A game as recorded: where it started, what was played, how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GameRecord {
    pub start: PackedBoard,
    pub result: GameResult,
    pub plies: Vec<PlyRecord>,
}

impl GameRecord {
    /// A game without moves from an empty board, to be read into.
    #[must_use]
    pub fn empty() -> GameRecord {
        let (start, _) = PackedBoard::from_bytes(&[0; PACKED_BYTES]);
        GameRecord {
            start,
            result: GameResult::Draw,
            plies: Vec::new(),
        }
    }

    /// Appends the game's bytes to `out`.
    pub fn encode(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.start.to_bytes(self.result));
        for ply in &self.plies {
            out.extend_from_slice(&ply.played.bits().to_le_bytes());
            out.extend_from_slice(&ply.score.to_le_bytes());
        }
        out.extend_from_slice(&[0; 4]);
    }
}
