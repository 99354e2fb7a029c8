//! PGN: games as text, with comments, annotation glyphs and variations kept as a tree.

mod read;
mod respelled;
mod spelling;
mod write;

pub use read::{PgnError, PgnReader};

use super::game::Game;
use super::position::Position;
use crate::types::{GameResult, Move};

/// A game as PGN has it.
#[derive(Clone, Debug)]
pub struct PgnGame {
    pub headers: Headers,
    /// The position before the first move: of the headers `FEN` and `Variant` when read. `FEN`, and
    /// the `Variant` of Chess960, are made from it when written.
    pub start: Position,
    pub main_line: PgnLine,
    /// The result, of the header if the moves end without one; `None` if neither tells.
    pub result: Option<GameResult>,
    /// What was left out in reading: variations with illegal moves, from there on.
    pub warnings: Vec<String>,
}

/// A sequence of moves: the main line, or a variation.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PgnLine {
    /// The comment before the first move.
    pub comment: String,
    pub moves: Vec<PgnMove>,
}

/// A move with what is said about it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PgnMove {
    /// A legal move of the position that it is played in.
    pub played: Move,
    /// Numeric annotation glyphs: 1 `!`, 2 `?`, 3 `!!`, 4 `??`, 5 `!?`, 6 `?!`, others as the
    /// PGN standard lists them.
    pub nags: Vec<u8>,
    /// The comment after the move, braces left out; several are joined by a space.
    pub comment: String,
    /// Lines that begin with another move in place of this one.
    pub variations: Vec<PgnLine>,
}

impl From<Move> for PgnMove {
    fn from(played: Move) -> PgnMove {
        PgnMove {
            played,
            nags: Vec::new(),
            comment: String::new(),
            variations: Vec::new(),
        }
    }
}

impl PgnGame {
    /// A game without moves, headers and result.
    #[must_use]
    pub fn new(start: Position) -> PgnGame {
        PgnGame {
            headers: Headers::default(),
            start,
            main_line: PgnLine::default(),
            result: None,
            warnings: Vec::new(),
        }
    }

    /// The main line as a game.
    #[must_use]
    pub fn to_game(&self) -> Game {
        let mut game = Game::from(self.start.clone());
        for m in &self.main_line.moves {
            game.play(m.played);
        }
        game
    }
}

impl From<&Game> for PgnGame {
    fn from(game: &Game) -> PgnGame {
        let mut pgn = PgnGame::new(game.start().clone());
        pgn.main_line.moves = game.moves().iter().map(|&m| m.into()).collect();
        pgn.result = game.end().map(super::game::GameEnd::result);
        pgn
    }
}

/// Tag pairs, in order.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Headers(Vec<(String, String)>);

impl Headers {
    /// The value of a header; of the first, if there are several of that name.
    #[must_use]
    pub fn get(&self, name: &str) -> Option<&str> {
        self.iter()
            .find(|(other, _)| *other == name)
            .map(|(_, value)| value)
    }

    /// Sets a header, in its old place if it is there already.
    pub fn set(&mut self, name: impl Into<String>, value: impl Into<String>) {
        let (name, value) = (name.into(), value.into());
        match self.0.iter_mut().find(|(other, _)| *other == name) {
            Some((_, old)) => *old = value,
            None => self.0.push((name, value)),
        }
    }

    /// Names and values, in order.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0
            .iter()
            .map(|(name, value)| (name.as_str(), value.as_str()))
    }

    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

#[cfg(test)]
mod tests;
