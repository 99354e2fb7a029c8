//! Positions and moves as text: FEN, UCI and SAN, with errors that say what is wrong.

use shakmaty::fen::Fen;
use shakmaty::san::{San, SanPlus};
use shakmaty::uci::UciMove;
use shakmaty::{
    Castles, CastlingMode, Chess, EnPassantMode, FromSetup as _, Move, Position as _,
    PositionError, PositionErrorKinds, Rank, Setup, Square,
};
use thiserror::Error;

use super::position::Position;

/// Why a text is no position.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum FenError {
    #[error("not a FEN: {0}")]
    Syntax(String),
    #[error("not a legal position: {0}")]
    Illegal(String),
}

/// Why a text is no move.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum MoveError {
    #[error("'{0}' is not a move")]
    Syntax(String),
    #[error("'{0}' is not a move in UCI notation, such as e2e4")]
    NotUci(String),
    #[error("'{0}' is not legal here")]
    Illegal(String),
}

impl Position {
    /// Reads a FEN (standard, X-FEN or Shredder-FEN). A position with more men than a game can
    /// produce, or a check that no move can have given, is still playable and accepted. Under
    /// [`CastlingMode::Standard`], castling rights that only Chess960 knows make the position
    /// one of Chess960.
    ///
    /// # Errors
    /// Says which rule the text or the position breaks.
    pub fn from_fen(fen: &str, mode: CastlingMode) -> Result<Position, FenError> {
        if fen.trim().is_empty() {
            return Err(FenError::Syntax("it is empty".to_owned()));
        }
        let fen: Fen = fen
            .trim()
            .parse()
            .map_err(|error| FenError::Syntax(format!("{error} in '{}'", quote(fen))))?;
        Position::from_setup(fen.into_setup(), mode)
    }

    /// A position whose castling rights standard chess does not know is one of Chess960; rights
    /// without king and rook in their places are refused.
    ///
    /// # Errors
    /// Says which rule the position breaks.
    pub(crate) fn from_setup(mut setup: Setup, mode: CastlingMode) -> Result<Position, FenError> {
        /// Plies after which the game is over even without a claim of a draw (75 moves of each
        /// side); no rule asks for more.
        const LARGEST_CLOCK: u32 = 150;
        setup.halfmoves = setup.halfmoves.min(LARGEST_CLOCK);
        let mode = if Castles::from_setup(&setup, mode).is_ok() {
            mode
        } else {
            CastlingMode::Chess960
        };
        Chess::from_setup(setup, mode)
            .or_else(PositionError::ignore_too_much_material)
            .or_else(PositionError::ignore_impossible_check)
            .or_else(PositionError::ignore_invalid_ep_square)
            .map(Position::from)
            .map_err(|error| {
                FenError::Illegal(
                    if error.kinds() == PositionErrorKinds::INVALID_CASTLING_RIGHTS {
                        "castling rights without king and rook in their places".to_owned()
                    } else {
                        let text = error.to_string();
                        // The error around it says this already.
                        text.strip_prefix("illegal position: ")
                            .unwrap_or(&text)
                            .to_owned()
                    },
                )
            })
    }

    fn setup(&self) -> Setup {
        self.chess().to_setup(EnPassantMode::Legal)
    }

    /// The same position with castling written and loaded as in `mode`.
    ///
    /// # Errors
    /// If it has castling rights that standard chess does not know.
    pub fn in_mode(&self, mode: CastlingMode) -> Result<Position, FenError> {
        let position = Position::from_setup(self.setup(), mode)?;
        if position.castling_mode() == mode {
            Ok(position)
        } else {
            Err(FenError::Illegal(
                "its castling rights are those of Chess960".to_owned(),
            ))
        }
    }

    /// The position with board and colours exchanged, the same for the side to move.
    ///
    /// # Errors
    /// If the mirrored position is not accepted.
    pub fn mirrored(&self) -> Result<Position, FenError> {
        Position::from_setup(self.setup().into_mirrored(), self.castling_mode())
    }

    /// The position as FEN; castling rights in Shredder letters under Chess960.
    #[must_use]
    pub fn fen(&self) -> String {
        let text = Fen::from_position(self.chess(), EnPassantMode::Legal).to_string();
        let rooks = self.castling_rooks();
        if self.castling_mode() == CastlingMode::Standard || rooks.is_empty() {
            return text;
        }
        let letter = |rook: Square| {
            if rook.rank() == Rank::First {
                rook.file().upper_char()
            } else {
                rook.file().char()
            }
        };
        let white = rooks.into_iter().filter(|rook| rook.rank() == Rank::First);
        let black = rooks.into_iter().filter(|rook| rook.rank() != Rank::First);
        let rights: String = white
            .rev()
            .map(letter)
            .chain(black.rev().map(letter))
            .collect();
        let mut fields: Vec<&str> = text.split(' ').collect();
        if let Some(field) = fields.get_mut(2) {
            *field = &rights;
        }
        fields.join(" ")
    }

    /// Reads a legal move in UCI notation; castling as the king's two-square step or, as in
    /// Chess960, as the king taking its own rook.
    ///
    /// # Errors
    /// If the text is no move, or no legal one here.
    pub fn parse_uci(&self, text: &str) -> Result<Move, MoveError> {
        let shown = || quote(text);
        let uci: UciMove = text.parse().map_err(|_| MoveError::NotUci(shown()))?;
        let m = uci
            .to_move(self.chess())
            .map_err(|_| MoveError::Illegal(shown()))?;
        if self.chess().is_legal(m) {
            Ok(m)
        } else {
            Err(MoveError::Illegal(shown()))
        }
    }

    /// Reads a legal move in standard algebraic notation. A missing or needless `x`, `+`, `#` or
    /// `=`, castling with zeros and glyphs such as `!?` do no harm.
    ///
    /// # Errors
    /// If the text is no move, no legal one here, or several.
    pub fn parse_san(&self, text: &str) -> Result<Move, MoveError> {
        let mut bare = text
            .trim()
            .trim_end_matches(['!', '?', '+', '#'])
            .replace('0', "O");
        let last = bare.pop();
        if last.is_some_and(|c| "QRBN".contains(c)) && bare.ends_with(['1', '8']) {
            bare.push('=');
        }
        bare.extend(last);
        let san: San = bare.parse().map_err(|_| MoveError::Syntax(quote(text)))?;
        move_of_san(self.chess(), san).ok_or_else(|| MoveError::Illegal(quote(text)))
    }

    /// A legal move in UCI notation, castling as the position's mode has it.
    #[must_use]
    pub fn uci(&self, m: Move) -> String {
        UciMove::from_move(m, self.castling_mode()).to_string()
    }

    /// A legal move in standard algebraic notation, with `+` and `#`.
    #[must_use]
    pub fn san(&self, m: Move) -> String {
        SanPlus::from_move(self.chess().clone(), m).to_string()
    }
}

/// The legal move that a SAN stands for; a wrong capture mark is forgiven if the rest leaves one
/// move only.
pub(super) fn move_of_san(position: &Chess, san: San) -> Option<Move> {
    if let Ok(m) = san.to_move(position) {
        return Some(m);
    }
    let San::Normal {
        role,
        file,
        rank,
        capture,
        to,
        promotion,
    } = san
    else {
        return None;
    };
    let other = San::Normal {
        role,
        file,
        rank,
        capture: !capture,
        to,
        promotion,
    };
    other.to_move(position).ok()
}

/// The longest part of a text that an error quotes, in characters.
const LONGEST_QUOTE: usize = 80;

/// A text as errors quote it: not a megabyte of it, on one line, and with what cannot be seen as
/// the replacement character.
pub(crate) fn quote(text: &str) -> String {
    let mut characters = text.chars();
    let mut shown: String = (&mut characters)
        .take(LONGEST_QUOTE)
        .map(|c| {
            if c.is_control() {
                char::REPLACEMENT_CHARACTER
            } else {
                c
            }
        })
        .collect();
    if characters.next().is_some() {
        shown.push('…');
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;

    #[test]
    fn fens_and_moves_survive_a_round_trip() {
        random_games(40, |position| {
            let again = Position::from_fen(&position.fen(), position.castling_mode()).unwrap();
            assert_eq!(again.keys(), position.keys(), "{}", position.fen());
            assert_eq!(again.fen(), position.fen());
            for m in position.legal_moves() {
                assert_eq!(
                    position.parse_uci(&position.uci(m)),
                    Ok(m),
                    "{}",
                    position.fen()
                );
            }
        });
    }

    #[test]
    fn errors_say_what_is_wrong() {
        let standard = CastlingMode::Standard;
        let error = Position::from_fen("8/8/8/8", standard).unwrap_err();
        assert!(matches!(error, FenError::Syntax(_)), "{error}");
        let error = Position::from_fen("8/8/8/8/8/8/8/K7 w - - 0 1", standard).unwrap_err();
        assert!(error.to_string().contains("king"), "{error}");
        let start = Position::startpos();
        assert_eq!(
            start.parse_uci("e2e5"),
            Err(MoveError::Illegal("e2e5".into()))
        );
        assert_eq!(
            start.parse_uci("hello"),
            Err(MoveError::NotUci("hello".into()))
        );
        assert!(start.parse_uci("0000").is_err());
    }

    #[test]
    fn castling_is_read_both_ways() {
        let position =
            Position::from_fen("4k3/8/8/8/8/8/8/4K2R w K - 0 1", CastlingMode::Standard).unwrap();
        assert_eq!(position.parse_uci("e1g1"), position.parse_uci("e1h1"));
        assert_eq!(position.uci(position.parse_uci("e1h1").unwrap()), "e1g1");
    }

    #[test]
    fn castling_rights_are_never_dropped_in_silence() {
        let standard = CastlingMode::Standard;
        let fen = "bnrbkr1n/pppppp1p/8/6p1/8/8/PPPPPPPP/BNRBKRQN w FCfc - 0 1";
        let read = Position::from_fen(fen, standard).unwrap();
        assert_eq!(read.castling_mode(), CastlingMode::Chess960);
        assert!(read.fen().contains(" FCfc "), "{}", read.fen());
        assert!(read.in_mode(standard).is_err());
        let known = Position::from_fen("r3k2r/8/8/8/8/8/8/R3K2R w HAkq - 0 1", standard).unwrap();
        assert_eq!(known.castling_mode(), standard);
        let error = Position::from_fen("4k3/8/8/8/8/8/8/4K2R w KQ - 0 1", standard).unwrap_err();
        assert!(error.to_string().contains("castling"), "{error}");
    }

    #[test]
    fn half_move_clocks_are_clamped() {
        let fen = "4k3/8/8/8/8/8/8/4K2R w K - 4294967295 4294967295";
        let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
        assert_eq!(position.halfmoves(), 150);
        let child = position.play(position.parse_uci("h1h2").unwrap());
        assert_eq!(child.halfmoves(), 151);
    }

    #[test]
    fn quotes_are_short_and_show_what_cannot_be_seen() {
        assert_eq!(quote("e2\0e4\n"), "e2\u{fffd}e4\u{fffd}");
        let whole = "x".repeat(LONGEST_QUOTE);
        assert_eq!(quote(&whole), whole);
        assert_eq!(quote(&(whole.clone() + "y")), whole + "…");
    }
}
