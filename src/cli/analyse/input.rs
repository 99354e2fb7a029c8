//! The position to analyse, in any usual form: a FEN, moves, an EPD line, or a game of a file.

use std::io::{self, Read};
use std::path::Path;

use anyhow::{Context as _, bail, ensure};

use crate::board::{Epd, Game, PgnReader, Position, Start, decompress, open_input};
use crate::cli::with_causes;
use crate::types::{CastlingMode, Color};

/// Standard input, on the command line.
const STDIN: &str = "-";
/// Fields of a FEN without and with its clocks.
const FEN_FIELDS: std::ops::RangeInclusive<usize> = 4..=6;
/// Files that hold one position a line.
const EPD_SUFFIX: &str = ".epd";

/// Which position of a file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Choice {
    /// The game of a PGN file or the line of an EPD file, from 1.
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
            Ok(number) if number > 0 => Ok(MoveNumber { number, side }),
            _ => Err("a move number from 1, such as 23w or 23b".to_owned()),
        }
    }
}

/// The game that the words of the command line name, up to the position to analyse.
///
/// # Errors
/// Says which part cannot be read.
pub fn game(words: &[String], choice: &Choice, chess960: bool) -> anyhow::Result<Game> {
    let mode = if chess960 {
        CastlingMode::Chess960
    } else {
        CastlingMode::Standard
    };
    let one = match words {
        [one] => Some(one.as_str()),
        _ => None,
    };
    match one {
        Some(STDIN) => {
            let mut text = String::new();
            decompress(io::stdin())?.read_to_string(&mut text)?;
            of_text(&text, choice, mode)
        }
        Some(name) if Path::new(name).is_file() => {
            of_file(Path::new(name), choice, mode).with_context(|| format!("in {name}"))
        }
        Some(name) if is_file_name(name) => bail!("there is no file {name}"),
        _ => {
            no_choice(choice)?;
            of_words(&words.join(" "), mode)
        }
    }
}

/// Whether a word can only be meant as the name of a file: it ends in a point and letters, which
/// neither a FEN nor a move (also with its number, as 1.e4) does.
fn is_file_name(word: &str) -> bool {
    let extension = Path::new(word).extension();
    extension.is_some_and(|letters| {
        letters.len() > 1
            && letters
                .as_encoded_bytes()
                .iter()
                .all(u8::is_ascii_alphabetic)
    })
}

fn no_choice(choice: &Choice) -> anyhow::Result<()> {
    ensure!(
        *choice == Choice::default(),
        "--game and --move choose from a file, and there is none"
    );
    Ok(())
}

fn of_file(path: &Path, choice: &Choice, mode: CastlingMode) -> anyhow::Result<Game> {
    let name = path.to_string_lossy().to_lowercase();
    let input = open_input(path)?;
    if name.ends_with(EPD_SUFFIX) {
        let text = io::read_to_string(input)?;
        return of_epd_lines(&text, choice);
    }
    match of_pgn(input, choice) {
        // A file may just as well hold a FEN.
        Err(_) if *choice == Choice::default() => {
            of_text(&io::read_to_string(open_input(path)?)?, choice, mode)
        }
        game => game,
    }
}

fn of_text(text: &str, choice: &Choice, mode: CastlingMode) -> anyhow::Result<Game> {
    let first = text.lines().map(str::trim).find(|line| !line.is_empty());
    let first = first.context("nothing to read")?;
    if first.starts_with('[') || first.starts_with("1.") {
        return of_pgn(io::Cursor::new(text.to_owned()), choice);
    }
    if choice.game.is_some() {
        return of_epd_lines(text, choice);
    }
    no_choice(choice)?;
    of_words(first, mode)
}

fn of_epd_lines(text: &str, choice: &Choice) -> anyhow::Result<Game> {
    ensure!(
        choice.before.is_none(),
        "an EPD line has no moves for --move"
    );
    let number = choice.game.unwrap_or(1);
    let index = usize::try_from(number - 1)?;
    let line = text
        .lines()
        .filter(|line| !line.trim().is_empty())
        .nth(index);
    let line = line.with_context(|| format!("there is no position {number}"))?;
    Ok(Game::from(Epd::parse(line)?.position))
}

fn of_pgn(input: impl Read, choice: &Choice) -> anyhow::Result<Game> {
    let number = choice.game.unwrap_or(1);
    let index = usize::try_from(number - 1)?;
    let found = PgnReader::main_lines(input).nth(index);
    let pgn = found.with_context(|| format!("there is no game {number}"))??;
    ensure!(
        !pgn.headers.is_empty() || !pgn.main_line.moves.is_empty(),
        "no game"
    );
    let whole = pgn.to_game();
    let Some(before) = choice.before else {
        return Ok(whole);
    };
    let wanted = (before.number - 1) * 2 + u32::from(before.side.is_black());
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

/// A FEN or EPD, `startpos`, either with moves behind it, or moves from the initial position.
fn of_words(text: &str, mode: CastlingMode) -> anyhow::Result<Game> {
    let text = text.trim().trim_matches(['"', '\'']);
    let words: Vec<&str> = text.split_whitespace().collect();
    let prefix = words
        .iter()
        .take_while(|&&word| word == "position" || word == "fen");
    let words = &words[prefix.count()..];
    let is_fen = words.first().is_some_and(|word| word.contains('/'));
    let (start, moves) = match words {
        [] | ["startpos"] => (Start::Initial, &[][..]),
        ["startpos", moves @ ..] => (Start::Initial, moves),
        _ if is_fen && text.contains(';') => {
            return Ok(Game::from(Epd::parse(&words.join(" "))?.position));
        }
        _ if is_fen => {
            let clock = |word: &&&str| word.bytes().all(|byte| byte.is_ascii_digit());
            let placed = words.len().min(*FEN_FIELDS.start());
            let clocks = words[placed..].iter().take(2).take_while(clock).count();
            let (fen, moves) = words.split_at(placed + clocks);
            (Start::Fen(fen.join(" ")), moves)
        }
        moves => (Start::Initial, moves),
    };
    let mut game = Game::new(&start, &[], mode).map_err(|error| with_hint(&error.into()))?;
    for word in moves {
        let Some(word) = move_word(word) else {
            continue;
        };
        let m = game.position().parse_move(word).map_err(|error| {
            with_hint(&anyhow::anyhow!(
                "after {} moves: {error}",
                game.moves().len()
            ))
        })?;
        game.play(m);
    }
    Ok(game)
}

/// An error with a hint at the accepted forms.
fn with_hint(error: &anyhow::Error) -> anyhow::Error {
    anyhow::anyhow!(
        "{}\nA position is a FEN, an EPD line, startpos, moves (1. e4 e5 or e2e4 e7e5), \
         or a file.",
        with_causes(error)
    )
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
    let is_noise =
        bare.is_empty() || bare == "moves" || ["1-0", "0-1", "1/2-1/2", "*"].contains(&bare);
    (!is_noise).then_some(bare)
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

    fn fen(text: &str) -> String {
        let words: Vec<String> = text.split(' ').map(str::to_owned).collect();
        let split = game(&words, &Choice::default(), false).expect(text);
        let whole = game(&[text.to_owned()], &Choice::default(), false).expect(text);
        assert_eq!(split.position().fen(), whole.position().fen());
        whole.position().fen()
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
        assert_eq!(fen("startpos"), Position::startpos().fen());
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
        assert!("b".parse::<MoveNumber>().is_err() && "0w".parse::<MoveNumber>().is_err());
    }

    #[test]
    fn file_names_are_told_from_moves() {
        for name in ["games.pgn", "./here.is/games.pgn.zst", "wac.EPD"] {
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

    #[test]
    fn errors_name_the_move() {
        let words = ["e4".to_owned(), "e5".to_owned(), "Ke3".to_owned()];
        let error = game(&words, &Choice::default(), false).expect_err("illegal");
        let text = format!("{error:#}");
        assert!(
            text.contains("Ke3") && text.contains("after 2 moves"),
            "{text}"
        );
    }
}
