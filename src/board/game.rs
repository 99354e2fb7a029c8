//! A game: where it started, the moves so far, where it stands, and the rules that end it.

use std::fmt;

use thiserror::Error;

use super::notation::{FenError, MoveError};
use super::position::Position;
use super::repetition::occurrences;
use crate::types::{CastlingMode, Color, FIFTY_MOVES, GameResult, Move};

/// Where a game starts.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    Initial,
    Fen(String),
}

/// Why a game was refused.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum GameError {
    #[error("position refused: {0}")]
    Fen(#[from] FenError),
    #[error("position refused: move {number}: {error}")]
    Move { number: usize, error: MoveError },
}

/// How the rules end a game.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum GameEnd {
    /// The side to move is mated.
    Checkmate { winner: Color },
    /// The side to move has no legal move and is not in check.
    Stalemate,
    /// Neither side has the material to mate.
    InsufficientMaterial,
    /// 50 moves of each side without capture or pawn move.
    FiftyMoves,
    /// The position has occurred three times.
    Repetition,
}

impl GameEnd {
    /// The result that this end gives.
    #[must_use]
    pub const fn result(self) -> GameResult {
        match self {
            GameEnd::Checkmate { winner } => GameResult::of_winner(winner),
            _ => GameResult::Draw,
        }
    }
}

impl fmt::Display for GameEnd {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            GameEnd::Checkmate { .. } => "checkmate",
            GameEnd::Stalemate => "stalemate",
            GameEnd::InsufficientMaterial => "draw by insufficient material",
            GameEnd::FiftyMoves => "draw by the 50-move rule",
            GameEnd::Repetition => "draw by repetition",
        })
    }
}

impl Position {
    /// Checkmate or stalemate, if the side to move has no legal move.
    #[must_use]
    pub fn mate_or_stalemate(&self) -> Option<GameEnd> {
        if self.has_legal_move() {
            return None;
        }
        Some(if self.in_check() {
            GameEnd::Checkmate {
                winner: !self.turn(),
            }
        } else {
            GameEnd::Stalemate
        })
    }
}

/// A start position, the moves played from it, and the position reached.
#[derive(Clone, Debug)]
pub struct Game {
    start: Position,
    moves: Vec<Move>,
    position: Position,
    /// Keys of the earlier positions, oldest first, the current one excluded.
    history: Vec<u64>,
}

impl Default for Game {
    fn default() -> Game {
        Game::from(Position::startpos())
    }
}

impl From<Position> for Game {
    fn from(start: Position) -> Game {
        Game {
            position: start.clone(),
            start,
            moves: Vec::new(),
            history: Vec::new(),
        }
    }
}

impl Game {
    /// A position occurring this often in the game is a draw.
    pub const REPETITIONS_TO_DRAW: usize = 3;

    /// Sets up a start and plays the moves, given in UCI notation.
    ///
    /// # Errors
    /// If the FEN or one of the moves is wrong; no part of the game is kept then.
    pub fn new(start: &Start, moves: &[String], mode: CastlingMode) -> Result<Game, GameError> {
        let mut game = Game::from(match start {
            Start::Initial => Position::startpos().in_mode(mode)?,
            Start::Fen(fen) => Position::from_fen(fen, mode)?,
        });
        for (index, text) in moves.iter().enumerate() {
            let m = game
                .position
                .parse_uci(text)
                .map_err(|error| GameError::Move {
                    number: index + 1,
                    error,
                })?;
            game.play(m);
        }
        Ok(game)
    }

    /// The position before the first move.
    #[must_use]
    pub const fn start(&self) -> &Position {
        &self.start
    }

    /// The moves played from the start.
    #[must_use]
    pub fn moves(&self) -> &[Move] {
        &self.moves
    }

    /// The current position.
    #[must_use]
    pub const fn position(&self) -> &Position {
        &self.position
    }

    /// Keys of the earlier positions, oldest first, the current one excluded.
    #[must_use]
    pub fn history(&self) -> &[u64] {
        &self.history
    }

    /// Plays a legal move.
    pub fn play(&mut self, m: Move) {
        self.history.push(self.position.key());
        self.moves.push(m);
        self.position = self.position.play(m);
    }

    /// The same game under the other way to write and load castling.
    ///
    /// # Errors
    /// If the start or the current position has castling rights that the mode does not allow.
    pub fn in_mode(&self, mode: CastlingMode) -> Result<Game, GameError> {
        Ok(Game {
            start: self.start.in_mode(mode)?,
            moves: self.moves.clone(),
            position: self.position.in_mode(mode)?,
            history: self.history.clone(),
        })
    }

    /// The position with the colours exchanged; the game before it is forgotten.
    ///
    /// # Errors
    /// If the mirrored position is not accepted.
    pub fn flipped(&self) -> Result<Game, GameError> {
        Ok(Game::from(self.position.mirrored()?))
    }

    /// Whether the current position has occurred often enough to be a draw.
    fn is_repetition(&self) -> bool {
        occurrences(&self.position, &self.history, 0) >= Game::REPETITIONS_TO_DRAW
    }

    /// Whether the rules (mate and stalemate apart) have ended the game in a draw: 50 moves,
    /// threefold repetition, or too little material.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        self.position.halfmoves() >= FIFTY_MOVES
            || self.position.is_insufficient_material()
            || self.is_repetition()
    }

    /// How the rules have ended the game, if they have. Checkmate comes before all draws.
    #[must_use]
    pub fn end(&self) -> Option<GameEnd> {
        self.position.mate_or_stalemate().or_else(|| {
            if self.position.is_insufficient_material() {
                Some(GameEnd::InsufficientMaterial)
            } else if self.is_repetition() {
                Some(GameEnd::Repetition)
            } else {
                (self.position.halfmoves() >= FIFTY_MOVES).then_some(GameEnd::FiftyMoves)
            }
        })
    }

    /// The leading part of `pv` that is legal and does not go on after the end of the game.
    #[must_use]
    pub fn playable(&self, pv: &[Move]) -> Vec<Move> {
        let mut game = self.clone();
        let mut line = Vec::with_capacity(pv.len());
        for &m in pv {
            if !game.position.legal_moves().contains(&m) {
                break;
            }
            game.play(m);
            line.push(m);
            if game.is_drawn() {
                break;
            }
        }
        line
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn moves(text: &str) -> Vec<String> {
        text.split_whitespace().map(str::to_owned).collect()
    }

    fn game(text: &str) -> Result<Game, GameError> {
        Game::new(&Start::Initial, &moves(text), CastlingMode::Standard)
    }

    #[test]
    fn wrong_games_are_refused_whole() {
        assert!(matches!(
            game("e2e4 e2e4"),
            Err(GameError::Move { number: 2, .. })
        ));
        assert!(matches!(
            game("e2e4 hello"),
            Err(GameError::Move { number: 2, .. })
        ));
        let fen = Start::Fen("8/8/8/8/8/8/8/8 w - - 0 1".to_owned());
        assert!(matches!(
            Game::new(&fen, &[], CastlingMode::Standard),
            Err(GameError::Fen(_))
        ));
    }

    #[test]
    fn the_third_occurrence_is_a_draw() {
        let shuffle = "g1f3 g8f6 f3g1 f6g8 ";
        assert!(!game(shuffle).expect("legal").is_drawn());
        assert!(game(&shuffle.repeat(2)).expect("legal").is_drawn());
    }

    #[test]
    fn ends_are_named_and_mate_comes_first() {
        let end = |fen: &str| {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
            Game::from(position).end()
        };
        let winner = Color::Black;
        for (fen, expected) in [
            (
                "8/8/8/8/8/5k2/6q1/7K w - - 100 90",
                Some(GameEnd::Checkmate { winner }),
            ),
            ("8/8/8/8/8/6q1/5k2/7K w - - 0 90", Some(GameEnd::Stalemate)),
            (
                "8/8/8/8/8/5k2/8/7K w - - 0 90",
                Some(GameEnd::InsufficientMaterial),
            ),
            (
                "8/8/8/8/q7/5k2/8/7K w - - 100 90",
                Some(GameEnd::FiftyMoves),
            ),
            ("8/8/8/8/q7/5k2/8/7K w - - 99 90", None),
        ] {
            assert_eq!(end(fen), expected, "{fen}");
        }
        let shuffle = game(&"g1f3 g8f6 f3g1 f6g8 ".repeat(2)).expect("legal");
        assert_eq!(shuffle.end(), Some(GameEnd::Repetition));
        assert_eq!(shuffle.end().map(GameEnd::result), Some(GameResult::Draw));
        assert_eq!(shuffle.moves().len(), 8);
        assert_eq!(shuffle.start().fen(), Position::startpos().fen());
    }

    #[test]
    fn flipping_twice_is_no_change() {
        let start = game("e2e4 a7a6 e4e5 d7d5").expect("legal");
        let flipped = start.flipped().expect("legal");
        assert_eq!(
            flipped.position().fen(),
            "rnbqkbnr/pppp1ppp/8/8/3Pp3/P7/1PP1PPPP/RNBQKBNR b KQkq d3 0 3"
        );
        let twice = flipped.flipped().expect("legal");
        assert_eq!(twice.position().fen(), start.position().fen());
    }

    #[test]
    fn lines_end_with_the_game() {
        let start = game("g1f3 g8f6 f3g1 f6g8").expect("legal");
        let mut line = Vec::new();
        let mut ahead = start.clone();
        for text in moves("g1f3 g8f6 f3g1 f6g8 e2e4") {
            let m = ahead.position().parse_uci(&text).expect("legal");
            ahead.play(m);
            line.push(m);
        }
        assert_eq!(start.playable(&line).len(), 4);
        assert_eq!(start.playable(&line[1..]).len(), 0);
    }
}
