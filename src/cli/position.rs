//! A position as people write it on a command line: a FEN, an EPD line, `startpos`, or moves.

use anyhow::ensure;

use crate::board::{Epd, Game, Position, Start, is_opcode};
use crate::cli::with_causes;
use crate::types::CastlingMode;

/// Words that UCI has before a position.
pub const PREFIXES: [&str; 2] = ["position", "fen"];
/// The initial position.
pub const INITIAL: &str = "startpos";
/// How a game in PGN ends.
const RESULTS: [&str; 4] = ["1-0", "0-1", "1/2-1/2", "*"];
/// Fields of a FEN without and with its clocks.
const FEN_FIELDS: std::ops::RangeInclusive<usize> = 4..=6;
/// Which texts are positions, behind an error.
const FORMS: &str = "A position is a FEN, an EPD line, startpos, or moves (1. e4 e5 or e2e4 e7e5).";

/// How castling is read and written, by the option of a subcommand.
pub const fn mode(chess960: bool) -> CastlingMode {
    if chess960 {
        CastlingMode::Chess960
    } else {
        CastlingMode::Standard
    }
}

/// Whether a word is how a game in PGN ends.
pub fn is_result(word: &str) -> bool {
    RESULTS.contains(&word)
}

/// The words of a position on the command line, joined. No words stand for the initial position.
pub fn joined(words: &[String]) -> String {
    if words.is_empty() {
        INITIAL.to_owned()
    } else {
        words.join(" ")
    }
}

/// The position that a text names, at the end of its moves.
///
/// # Errors
/// As [`game`].
pub fn position(text: &str, chess960: bool) -> anyhow::Result<Position> {
    Ok(game(text, mode(chess960))?.position().clone())
}

/// The game that a text names: an EPD line, a FEN or `startpos`, the latter two perhaps with moves
/// behind it, or moves from the initial position. Quotes around it and UCI's words before it count
/// for nothing.
///
/// # Errors
/// Says which part cannot be read, and which forms can.
pub fn game(text: &str, mode: CastlingMode) -> anyhow::Result<Game> {
    let text = unquoted(text.trim());
    let words: Vec<&str> = text.split_whitespace().collect();
    let prefix = words.iter().take_while(|word| PREFIXES.contains(word));
    let words = &words[prefix.count()..];
    // As an empty variable of a shell gives.
    ensure!(!words.is_empty(), "the position is empty\n{FORMS}");
    let is_fen = words.first().is_some_and(|word| word.contains('/'));
    if !is_fen {
        let moves = words.strip_prefix(&[INITIAL]).unwrap_or(words);
        return play(&Start::Initial, moves, mode);
    }
    let epd = || Epd::parse(&words.join(" "), mode);
    if text.contains(';') {
        return Ok(Game::from(epd()?.position));
    }
    let is_clock = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
    let placed = words.len().min(*FEN_FIELDS.start());
    let clocks = words[placed..].iter().take(2).take_while(is_clock).count();
    let (fen, rest) = words.split_at(placed + clocks);
    let start = Start::Fen(fen.join(" "));
    if is_operation(&start, rest, mode) {
        return Ok(Game::from(epd()?.position));
    }
    play(&start, rest, mode)
}

/// Whether words behind a FEN are an operation of EPD without its semicolon. Some opcodes, such as
/// `c4`, may also be moves; their operand is in quotation marks.
fn is_operation(start: &Start, words: &[&str], mode: CastlingMode) -> bool {
    let Some(first) = words.first().filter(|word| is_opcode(word)) else {
        return false;
    };
    words.iter().any(|word| word.contains('"')) || play(start, &[first], mode).is_err()
}

/// A text without the quotes around it. One at the end alone may close an operand of EPD.
fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|&quote| text.strip_prefix(quote)?.strip_suffix(quote))
        .unwrap_or(text)
}

/// The game of a start and moves, which may have their numbers and a result.
fn play(start: &Start, moves: &[&str], mode: CastlingMode) -> anyhow::Result<Game> {
    let mut game = Game::new(start, &[], mode).map_err(|error| with_forms(&error.into()))?;
    for word in moves.iter().filter_map(|word| move_word(word)) {
        let m = game.position().parse_move(word).map_err(|error| {
            let error = anyhow::Error::from(error);
            with_forms(&match game.moves().len() {
                0 => error,
                played => error.context(format!("after {played} moves")),
            })
        })?;
        game.play(m);
    }
    Ok(game)
}

/// An error with the accepted forms.
fn with_forms(error: &anyhow::Error) -> anyhow::Error {
    anyhow::anyhow!("{}\n{FORMS}", with_causes(error))
}

/// A word of a line of moves without its move number; `None` if nothing else is left of it.
fn move_word(word: &str) -> Option<&str> {
    let numbered = word
        .find('.')
        .filter(|&at| word[..at].bytes().all(|b| b.is_ascii_digit()));
    let bare = match numbered {
        Some(at) => word[at..].trim_start_matches('.'),
        None => word,
    };
    let is_noise = bare.is_empty() || bare == "moves" || is_result(bare);
    (!is_noise).then_some(bare)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fen(text: &str) -> String {
        position(text, false).expect(text).fen()
    }

    #[test]
    fn positions_come_in_many_ways() {
        let after = "rnbqkbnr/pppp1ppp/8/4p3/4P3/8/PPPP1PPP/RNBQKBNR w KQkq - 0 2";
        for text in [
            "startpos moves e2e4 e7e5",
            "startpos e4 e5",
            "e4 e5",
            "1. e4 e5 *",
            "1.e4 1...e5",
            after,
            "position fen rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1 moves e7e5",
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - e5",
        ] {
            assert_eq!(fen(text), after, "{text}");
        }
        let kings = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        assert_eq!(fen("4k3/8/8/8/8/8/8/4K2R w K - bm O-O; id \"x\";"), kings);
        for rest in ["bm O-O", "bm O-O; id \"x\"", "id \"x\""] {
            assert_eq!(fen(&format!("4k3/8/8/8/8/8/8/4K2R w K - {rest}")), kings);
        }
        assert_eq!(fen(&format!("\"{kings}\"")), kings);
        assert_eq!(fen(&format!("'{kings}'")), kings);
        assert_eq!(fen("startpos"), Position::startpos().fen());
    }

    #[test]
    fn no_words_are_the_initial_position_and_blank_ones_none() {
        assert_eq!(fen(&joined(&[])), Position::startpos().fen());
        for blank in ["", " ", "\"\"", "position"] {
            let error = position(blank, false).expect_err("blank").to_string();
            assert!(error.starts_with("the position is empty"), "{error}");
        }
    }

    #[test]
    fn errors_name_the_move_and_the_forms() {
        let text = position("e4 e5 Ke3", false)
            .expect_err("illegal")
            .to_string();
        assert!(
            text.contains("Ke3") && text.contains("after 2 moves"),
            "{text}"
        );
        assert!(text.ends_with(FORMS), "{text}");
    }

    const BARE: &str = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";

    #[test]
    fn wrong_words_behind_a_fen_are_errors() {
        for (rest, word) in [
            ("0 1 moves e2e4 e7e6 e4e6", "e4e6"),
            ("0 1 depth 20", "depth"),
            ("0 1 c4 Nf9", "Nf9"),
            ("e2e5", "e2e5"),
            ("bm Ke3", "Ke3"),
        ] {
            let error = position(&format!("{BARE} {rest}"), false).expect_err(rest);
            assert!(error.to_string().contains(word), "{error}");
        }
    }

    #[test]
    fn an_operation_of_epd_needs_no_semicolon() {
        for rest in [
            "bm e4", "hmvc 0", "ce 12", "id x", "c0 \"a\"", "c4 \"a\"", "noop", "pv e4 e5",
        ] {
            assert_eq!(fen(&format!("{BARE} {rest}")), format!("{BARE} 0 1"));
        }
        assert!(fen(&format!("{BARE} hmvc 7")).ends_with(" 7 1"));
        // A legal move, though an opcode too.
        assert!(fen(&format!("{BARE} c4 e5")).ends_with(" w KQkq - 0 2"));
    }
}
