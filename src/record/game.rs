//! One recorded game.

use crate::types::{Color, PackedMove};

use super::PackedBoard;
use super::packed_board::PACKED_BYTES;

/// A score that says there is none: files of static evaluations mark positions in check so.
pub const NO_SCORE: i16 = i16::MAX;

/// How a game ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[repr(u8)]
pub enum GameResult {
    BlackWins = 0,
    Draw = 1,
    WhiteWins = 2,
}

impl GameResult {
    /// The result in half points for `color`: 0 lost, 1 drawn, 2 won.
    #[must_use]
    pub const fn half_points(self, color: Color) -> u8 {
        match color {
            Color::White => self as u8,
            Color::Black => 2 - self as u8,
        }
    }

    /// The inverse of `self as u8`.
    #[must_use]
    pub const fn from_bits(bits: u8) -> Option<GameResult> {
        match bits {
            0 => Some(GameResult::BlackWins),
            1 => Some(GameResult::Draw),
            2 => Some(GameResult::WhiteWins),
            _ => None,
        }
    }
}

/// A move and what was thought of the position before it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Ply {
    pub played: PackedMove,
    /// Centipawns from White's side, or [`NO_SCORE`].
    pub score: i16,
}

/// A game as recorded: where it started, what was played, how it ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Game {
    pub start: PackedBoard,
    pub result: GameResult,
    pub plies: Vec<Ply>,
}

impl Game {
    /// A game without moves from an empty board, to be read into.
    #[must_use]
    pub fn empty() -> Game {
        let (start, _) = PackedBoard::from_bytes(&[0; PACKED_BYTES]);
        Game {
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
