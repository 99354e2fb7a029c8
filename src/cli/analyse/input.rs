//! The position to analyse, in any usual form: a FEN, moves, an EPD line, or a game of a file.

use std::io::{self, BufRead, BufReader, Read, Write as _};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

use crate::board::{Game, PgnGame, PgnReader, Position, STDIN, decode, open_input, read_text};
use crate::cli::position::{self, INITIAL, PREFIXES};
use crate::types::{CastlingMode, Color};

/// The highest move number, far beyond any game's.
const HIGHEST_NUMBER: u32 = 1 << 30;
/// Slashes in a FEN's placement of the pieces.
const RANK_SEPARATORS: usize = 7;

/// Which position of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The game of a PGN file or the position of a file that has one a line, from 1.
    pub game: Option<u64>,
    /// Before this move.
    pub before: Option<MoveNumber>,
}

/// A move of a game by its number and side: `23w`, `23b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveNumber {
    pub number: u32,
    pub side: Color,
}

impl MoveNumber {
    /// Moves of both sides before this one in a game from the initial position.
    fn game_ply(self) -> u32 {
        (self.number - 1) * 2 + u32::from(self.side.is_black())
    }
}

impl std::str::FromStr for MoveNumber {
    type Err = String;

    /// Reads `23`, `23w`, `23.` (White's move) and `23b`, `23...` (Black's).
    fn from_str(text: &str) -> Result<MoveNumber, String> {
        let digits = text.trim_end_matches(|c: char| !c.is_ascii_digit());
        let side = match &text[digits.len()..] {
            "" | "w" | "." => Color::White,
            "b" | "..." => Color::Black,
            _ => return Err("a move number and a side, such as 23w or 23b".to_owned()),
        };
        match digits.parse() {
            Ok(number) if (1..=HIGHEST_NUMBER).contains(&number) => Ok(MoveNumber { number, side }),
            _ => Err("a move number from 1, such as 23w or 23b".to_owned()),
        }
    }
}

/// The game that the words of the command line name, up to the position to analyse.
///
/// # Errors
/// Says which part cannot be read.
pub fn game(words: &[String], choice: &Choice, chess960: bool) -> anyhow::Result<Game> {
    let mode = position::mode(chess960);
    let one = match words {
        [one] => Some(one.as_str()),
        _ => None,
    };
    match one {
        Some(STDIN) => of_input(open_input(Path::new(STDIN))?, choice, mode),
        Some(name) if Path::new(name).is_dir() => bail!("{name} is a folder"),
        // A pipe as well.
        Some(name) if Path::new(name).exists() => open_input(Path::new(name))
            .map_err(anyhow::Error::from)
            .and_then(|input| of_input(input, choice, mode))
            .with_context(|| format!("in {name}")),
        Some(name) if is_file_name(name) => bail!("there is no file {name}"),
        _ => {
            no_choice(choice)?;
            position::game(&position::joined(words), mode)
        }
    }
}

/// Whether a word can only be meant as the name of a file: it ends in a point and letters, or
/// in `.bz2`, which neither a FEN nor a move (also with its number, as 1.e4) does.
fn is_file_name(word: &str) -> bool {
    let extension = Path::new(word).extension();
    extension.is_some_and(|letters| {
        letters.len() > 1
            && letters
                .as_encoded_bytes()
                .iter()
                .all(u8::is_ascii_alphabetic)
            || letters == "bz2"
    })
}

fn no_choice(choice: &Choice) -> anyhow::Result<()> {
    ensure!(
        *choice == Choice::default(),
        "--game and --move choose from a file, and there is none"
    );
    Ok(())
}

/// The game of a file or of standard input, whose first line shows what it is.
fn of_input(input: impl Read, choice: &Choice, mode: CastlingMode) -> anyhow::Result<Game> {
    let mut input = BufReader::new(input);
    let mut head = Vec::new();
    let first = loop {
        let start = head.len();
        let ended = input.read_until(b'\n', &mut head)? == 0;
        let line = decode(&head[start..]).trim().to_owned();
        if ended || !is_skipped(&line) {
            break line;
        }
    };
    ensure!(!first.is_empty(), "nothing to read");
    let input = io::Cursor::new(head).chain(input);
    match TextKind::of(&first) {
        TextKind::Pgn => of_pgn(input, choice),
        TextKind::Positions => of_positions(input, choice, mode),
        TextKind::Unknown if *choice == Choice::default() => {
            let text = read_text(input)?;
            let game = position::game(first_game(&text), mode);
            // Lines of any kind may stand before the first game, and comments among moves.
            game.or_else(|error| match chosen_game(io::Cursor::new(text), 1) {
                Ok(pgn) if !pgn.headers.is_empty() || pgn.warnings.is_empty() => {
                    before_move(&pgn, 1, None)
                }
                _ => Err(error),
            })
        }
        TextKind::Unknown => of_pgn(input, choice),
    }
}

/// Whether a line of a file of positions holds none: it is empty or a remark.
fn is_skipped(line: &str) -> bool {
    line.is_empty() || line.starts_with('#')
}

/// The text up to the first result of a game or the first empty line after its beginning.
fn first_game(text: &str) -> &str {
    let text = text.trim_start();
    let is_end = |word: &str| position::is_result(word.trim());
    let mut length = 0;
    for word in text.split_inclusive(char::is_whitespace) {
        // A line break after white space leaves a word without letters: the line is empty.
        let is_empty_line = word == "\n" && text[..length].trim_end_matches('\r').ends_with('\n');
        length += word.len();
        if is_end(word) || is_empty_line {
            break;
        }
    }
    &text[..length]
}

/// What a text holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum TextKind {
    /// Games.
    Pgn,
    /// A FEN, EPD or `startpos` a line.
    Positions,
    /// Moves, or games with something else before the first header or move number.
    Unknown,
}

impl TextKind {
    /// The kind by the first line.
    fn of(line: &str) -> TextKind {
        let mut words = line.trim_start_matches(['"', '\'']).split_whitespace();
        let word = words.find(|word| !PREFIXES.contains(word));
        let is_position =
            |word: &str| word == INITIAL || word.matches('/').count() == RANK_SEPARATORS;
        if line.starts_with(['[', '{', '%', ';']) || line.starts_with("1.") {
            TextKind::Pgn
        } else if word.is_some_and(is_position) {
            TextKind::Positions
        } else {
            TextKind::Unknown
        }
    }
}

/// A position of a text that has one a line, perhaps with moves behind it; the first if none is
/// chosen.
fn of_positions(
    mut input: impl BufRead,
    choice: &Choice,
    mode: CastlingMode,
) -> anyhow::Result<Game> {
    ensure!(
        choice.before.is_none(),
        "--move is for games; this file has a position a line"
    );
    let number = choice.game.unwrap_or(1);
    let (mut passed, mut line_number) = (0, 0);
    let mut bytes = Vec::new();
    loop {
        bytes.clear();
        let read = input.read_until(b'\n', &mut bytes)?;
        ensure!(read > 0, "there is no position {number}");
        line_number += 1;
        let line = decode(&bytes);
        let line = line.trim();
        passed += u64::from(!is_skipped(line));
        if passed == number {
            return position::game(line, mode).with_context(|| format!("line {line_number}"));
        }
    }
}

fn of_pgn(input: impl Read, choice: &Choice) -> anyhow::Result<Game> {
    let number = choice.game.unwrap_or(1);
    let pgn = chosen_game(input, number)?;
    if pgn.headers.is_empty()
        && let Some(warning) = pgn.warnings.first()
    {
        bail!("game {number}: {warning}");
    }
    before_move(&pgn, number, choice.before)
}

/// The game of this number, from 1.
fn chosen_game(input: impl Read, number: u64) -> anyhow::Result<PgnGame> {
    let index = usize::try_from(number - 1)?;
    let found = PgnReader::main_lines(input).nth(index);
    let pgn = found.with_context(|| format!("there is no game {number}"))??;
    ensure!(
        !pgn.headers.is_empty() || !pgn.main_line.moves.is_empty(),
        "no game"
    );
    Ok(pgn)
}

/// A game up to a move, or the whole of it. What its reader left out is said on stderr.
fn before_move(pgn: &PgnGame, number: u64, before: Option<MoveNumber>) -> anyhow::Result<Game> {
    for warning in &pgn.warnings {
        writeln!(io::stderr(), "game {number}: {warning}")?;
    }
    let whole = pgn.to_game();
    let Some(before) = before else {
        return Ok(whole);
    };
    let wanted = before.game_ply();
    let mut game = Game::from(pgn.start.clone());
    for &m in whole.moves() {
        if game.position().game_ply() >= wanted {
            break;
        }
        game.play(m);
    }
    ensure!(
        game.position().game_ply() == wanted,
        "game {number} has no such move: it goes from move {} to move {}",
        move_of(&pgn.start),
        move_of(whole.position())
    );
    Ok(game)
}

fn move_of(position: &Position) -> u32 {
    position.game_ply() / 2 + 1
}

/// Reads a list of moves in UCI notation for a request.
///
/// # Errors
/// If one is no legal move of the position.
pub fn uci_moves(position: &Position, texts: &[String]) -> anyhow::Result<Vec<String>> {
    let mut moves = Vec::with_capacity(texts.len());
    for text in texts.iter().flat_map(|text| text.split([',', ' '])) {
        if text.is_empty() {
            continue;
        }
        let Ok(m) = position.parse_move(text) else {
            bail!("'{text}' is not a legal move in the position");
        };
        moves.push(position.uci(m));
    }
    Ok(moves)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_position_needs_no_quotes() {
        let text = "4k3/8/8/8/8/8/8/4K2R w K - 0 1";
        let split: Vec<String> = text.split(' ').map(str::to_owned).collect();
        for words in [split, vec![text.to_owned()]] {
            let game = game(&words, &Choice::default(), false).expect(text);
            assert_eq!(game.position().fen(), text);
        }
    }

    #[test]
    fn a_folder_is_not_taken_for_a_position() {
        for folder in [".", "..", "src"] {
            let error = game(&[folder.to_owned()], &Choice::default(), false);
            let error = error.expect_err(folder).to_string();
            assert_eq!(error, format!("{folder} is a folder"));
        }
    }

    #[test]
    fn games_of_a_file_are_chosen_by_number() {
        let games = "[White \"A\"]\n\n1. e4 e5 2. Nf3 *\n\n[White \"B\"]\n\n1. d4 d5 *\n";
        let chosen = |game, before: Option<&str>| {
            let before = before.map(|text| text.parse().expect("a move number"));
            let choice = Choice { game, before };
            of_pgn(io::Cursor::new(games), &choice).map(|game| game.moves().len())
        };
        assert_eq!(chosen(None, None).ok(), Some(3));
        assert_eq!(chosen(Some(2), None).ok(), Some(2));
        assert_eq!(chosen(None, Some("1")).ok(), Some(0));
        assert_eq!(chosen(None, Some("1b")).ok(), Some(1));
        assert_eq!(chosen(None, Some("2...")).ok(), Some(3));
        assert!(chosen(None, Some("3w")).is_err() && chosen(Some(3), None).is_err());
        for wrong in ["b", "0w", "2147483649", "4294967296"] {
            assert!(wrong.parse::<MoveNumber>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_first_line_tells_positions_from_games() {
        let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        let en_passant = "rnbqkbnr/ppp1pppp/8/8/3pP3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 3";
        let initial = Position::startpos().fen();
        let best_move = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4";
        let fen = |text: &str, game, mode| {
            let choice = Choice { game, before: None };
            of_input(io::Cursor::new(text.to_owned()), &choice, mode)
                .map(|game| game.position().fen())
                .map_err(|error| error.to_string())
        };
        let standard = |text: &str, game| fen(text, game, CastlingMode::Standard);
        for (text, game, expected) in [
            (en_passant.to_owned(), None, en_passant),
            (format!("{best_move};\n"), None, &initial),
            (format!("{best_move}\n"), None, &initial),
            (
                format!("# remark\n\n{best_move};\n# other\n{after_e4}\n"),
                Some(2),
                after_e4,
            ),
            ("e2e4".to_owned(), None, after_e4),
            ("\u{feff}{a comment} 1. e4 *".to_owned(), None, after_e4),
            (
                "My games\n\n[White \"A\"]\n\n1. e4 *\n".to_owned(),
                None,
                after_e4,
            ),
        ] {
            assert_eq!(standard(&text, game).as_deref(), Ok(expected), "{text}");
        }
        for text in [
            "My games\n\n[White \"A\"]\n\n1. e4 *\n",
            "https://example.org/games\n\n[White \"A\"]\n\n1. e4 *\n",
            "e4 *\n\nd5 d4 *\n",
            "e4\r\n\r\nd4 d5 *\n",
            "startpos moves e2e4\nstartpos moves d2d4",
            "startpos e4\ngo depth 10",
            &format!("position fen {after_e4}\nposition fen {en_passant}\n"),
        ] {
            assert_eq!(standard(text, None).as_deref(), Ok(after_e4), "{text}");
        }
        let missing = standard("My games\n\n[White \"A\"]\n\n1. e4 *\n", Some(9));
        assert_eq!(missing, Err("there is no game 9".to_owned()));
        for (text, word) in [
            ("e4 e5 Nf", "'Nf'"),
            ("e4 e5 Nf *\n", "'Nf'"),
            ("1. e4 e5 2. Nf", "'Nf'"),
            ("e4 {good} e5 Nf", "'{good}'"),
        ] {
            let error = standard(text, None).expect_err(text);
            assert!(error.contains(word), "{error}");
        }
        let commented = standard("e4 {good} *", None);
        assert_eq!(commented.as_deref(), Ok(after_e4));
        let wrapped = standard("e4 e5\nNf3\n", None).map(|fen| fen.contains("5N2"));
        assert_eq!(wrapped, Ok(true));
        assert_eq!(standard("\n \n", None), Err("nothing to read".to_owned()));
        assert!(standard(best_move, Some(2)).is_err());
        let chess960 = fen(&format!("{best_move};"), Some(1), CastlingMode::Chess960);
        assert!(chess960.is_ok_and(|fen| fen.contains(" HAha ")));
    }

    #[test]
    fn text_may_be_latin1() {
        let game = of_input(
            io::Cursor::new(b"[White \"Ren\xE9\"]\n\n1. e4 e5 *\n"),
            &Choice::default(),
            CastlingMode::Standard,
        );
        assert_eq!(game.expect("a game").moves().len(), 2);
    }

    #[test]
    fn file_names_are_told_from_moves() {
        for name in ["games.pgn", "./here.is/games.pgn.zst", "g.bz2", "wac.EPD"] {
            assert!(is_file_name(name), "{name}");
        }
        for word in [
            "1.e4",
            "e4",
            "1.Nf3+",
            "1...exd8=Q",
            "1.O-O",
            "startpos",
            "1.",
            "8/8/8/8",
        ] {
            assert!(!is_file_name(word), "{word}");
        }
        let error = game(&["missing.pgn".to_owned()], &Choice::default(), false);
        let text = error.expect_err("no such file").to_string();
        assert_eq!(text, "there is no file missing.pgn");
    }
}
