//! The game so far: where it stands and which positions came before.

use thiserror::Error;

use crate::board::{FenError, MoveError, Position};
use crate::types::{CastlingMode, Move};

/// A position occurring this often in the game is a draw.
const REPETITIONS_TO_DRAW: usize = 3;
/// Plies without progress after which the game is a draw.
const FIFTY_MOVES: u32 = 100;

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

/// A position and the keys of the positions before it.
#[derive(Clone, Debug)]
pub struct Game {
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
    fn from(position: Position) -> Game {
        Game {
            position,
            history: Vec::new(),
        }
    }
}

impl Game {
    /// Sets up a start and plays the moves, given in UCI notation.
    ///
    /// # Errors
    /// If the FEN or one of the moves is wrong; no part of the game is kept then.
    pub fn new(start: &Start, moves: &[String], mode: CastlingMode) -> Result<Game, GameError> {
        let position = match (start, mode) {
            (Start::Initial, CastlingMode::Standard) => Position::startpos(),
            (Start::Initial, CastlingMode::Chess960) => {
                Position::from_fen(&Position::startpos().fen(), mode)?
            }
            (Start::Fen(fen), _) => Position::from_fen(fen, mode)?,
        };
        let mut game = Game::from(position);
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
        self.position = self.position.play(m);
    }

    /// The same game under the other way to write and load castling.
    ///
    /// # Errors
    /// If the position cannot be had in that mode.
    pub fn in_mode(&self, mode: CastlingMode) -> Result<Game, GameError> {
        let position = Position::from_fen(&self.position.fen(), mode)?;
        Ok(Game {
            position,
            history: self.history.clone(),
        })
    }

    /// The position with the colours exchanged; the game before it is forgotten.
    ///
    /// # Errors
    /// If the mirrored position is not accepted.
    pub fn flipped(&self) -> Result<Game, GameError> {
        let mode = self.position.castling_mode();
        Ok(Game::from(Position::from_fen(
            &mirror(&self.position.fen()),
            mode,
        )?))
    }

    /// Whether the rules (mate and stalemate apart) have ended the game in a draw: 50 moves,
    /// threefold repetition, or too little material.
    #[must_use]
    pub fn is_drawn(&self) -> bool {
        let key = self.position.key();
        let window = self.position.halfmoves() as usize;
        let seen = self
            .history
            .iter()
            .rev()
            .take(window)
            .filter(|&&k| k == key)
            .count();
        seen + 1 >= REPETITIONS_TO_DRAW
            || self.position.halfmoves() >= FIFTY_MOVES
            || self.position.is_insufficient_material()
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

/// A FEN with the board upside down and the colours exchanged.
fn mirror(fen: &str) -> String {
    let swap_case = |text: &str| -> String {
        text.chars()
            .map(|c| {
                if c.is_ascii_uppercase() {
                    c.to_ascii_lowercase()
                } else {
                    c.to_ascii_uppercase()
                }
            })
            .collect()
    };
    let mut fields = fen.split_whitespace();
    let mut mirrored = Vec::new();
    if let Some(board) = fields.next() {
        let ranks: Vec<&str> = board.split('/').rev().collect();
        mirrored.push(swap_case(&ranks.join("/")));
    }
    if let Some(turn) = fields.next() {
        mirrored.push(if turn == "w" { "b" } else { "w" }.to_owned());
    }
    if let Some(castling) = fields.next() {
        mirrored.push(swap_case(castling));
    }
    if let Some(en_passant) = fields.next() {
        mirrored.push(
            en_passant
                .replace('3', "x")
                .replace('6', "3")
                .replace('x', "6"),
        );
    }
    mirrored.extend(fields.map(str::to_owned));
    mirrored.join(" ")
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
