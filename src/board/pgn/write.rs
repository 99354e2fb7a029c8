//! Writing PGN, as its standard's export format: seven headers first, lines below 80 columns.

use std::fmt;
use std::io;

use shakmaty::san::SanPlus;
use shakmaty::{CastlingMode, Chess, Position as _};

use super::{PgnGame, PgnLine, PgnMove};
use crate::board::position::Position;

/// The longest line of moves.
const COLUMNS: usize = 79;
/// The headers that every game has, and their values if nothing is known.
const ROSTER: [(&str, &str); 6] = [
    ("Event", "?"),
    ("Site", "?"),
    ("Date", "????.??.??"),
    ("Round", "?"),
    ("White", "?"),
    ("Black", "?"),
];
const RESULT: &str = "Result";
const VARIANT: &str = "Variant";
/// No result yet.
const NO_RESULT: &str = "*";
/// Headers that are made from the game itself.
const MADE: [&str; 3] = [RESULT, "SetUp", "FEN"];

impl PgnGame {
    /// Writes the game and an empty line after it.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write(&self, out: &mut impl io::Write) -> io::Result<()> {
        write!(out, "{self}")
    }

    fn result_text(&self) -> String {
        self.result
            .map_or_else(|| NO_RESULT.to_owned(), |result| result.to_string())
    }

    /// The result for the header, where one that is no result of a game, such as `0-0`, stays.
    #[must_use]
    pub fn result_header(&self) -> String {
        let old = self.headers.get(RESULT).filter(|old| !old.is_empty());
        match (self.result, old) {
            (None, Some(old)) => old.to_owned(),
            _ => self.result_text(),
        }
    }

    fn write_headers(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (name, unknown) in ROSTER {
            write_header(f, name, self.headers.get(name).unwrap_or(unknown))?;
        }
        write_header(f, RESULT, &self.result_header())?;
        let chess960 = self.start.castling_mode() == CastlingMode::Chess960;
        if chess960 {
            write_header(f, VARIANT, "Chess960")?;
        }
        let fen = self.start.fen();
        if chess960 || fen != Position::startpos().fen() {
            write_header(f, "SetUp", "1")?;
            write_header(f, "FEN", &fen)?;
        }
        let written = |name: &str| {
            MADE.contains(&name)
                || chess960 && name == VARIANT
                || ROSTER.iter().any(|&(other, _)| other == name)
        };
        for (name, value) in self.headers.iter().filter(|(name, _)| !written(name)) {
            write_header(f, name, value)?;
        }
        writeln!(f)
    }
}

impl fmt::Display for PgnGame {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write_headers(f)?;
        let mut text = Wrapped::default();
        write_line(&mut text, &self.main_line, self.start.chess().clone());
        text.word(&self.result_text());
        writeln!(f, "{}\n", text.finish())
    }
}

fn write_header(f: &mut fmt::Formatter<'_>, name: &str, value: &str) -> fmt::Result {
    let value: String = value.split_whitespace().collect::<Vec<_>>().join(" ");
    let value = value.replace('\\', "\\\\").replace('"', "\\\"");
    writeln!(f, "[{name} \"{value}\"]")
}

fn write_line(text: &mut Wrapped, line: &PgnLine, mut position: Chess) {
    text.comment(&line.comment);
    let mut numbered = false;
    for m in &line.moves {
        let before = position.clone();
        let number = position.fullmoves();
        if position.turn().is_white() {
            text.word(&format!("{number}."));
        } else if !numbered {
            text.word(&format!("{number}..."));
        }
        let san = SanPlus::from_move_and_play_unchecked(&mut position, m.played);
        text.word(&san.to_string());
        write_remarks(text, m, &before);
        // After remarks, the move number shows again whose move it is.
        numbered = m.comment.is_empty() && m.variations.is_empty();
    }
}

fn write_remarks(text: &mut Wrapped, m: &PgnMove, before: &Chess) {
    for nag in &m.nags {
        text.word(&format!("${nag}"));
    }
    text.comment(&m.comment);
    for variation in &m.variations {
        text.open("(");
        write_line(text, variation, before.clone());
        text.close(")");
    }
}

/// Words in lines of limited length.
#[derive(Default)]
struct Wrapped {
    text: String,
    /// How long the last line of the text is.
    columns: usize,
    /// What the next word begins with.
    opening: String,
    /// A word that may yet get a closing bracket.
    last: String,
}

impl Wrapped {
    fn word(&mut self, word: &str) {
        self.flush();
        self.last = std::mem::take(&mut self.opening) + word;
    }

    /// Puts a bracket before the next word.
    fn open(&mut self, bracket: &str) {
        self.opening.push_str(bracket);
    }

    /// Puts a bracket behind the last word.
    fn close(&mut self, bracket: &str) {
        self.last.push_str(bracket);
    }

    /// A comment, if there is any. Braces cannot be written inside one, and commands such as
    /// `[%eval 0.25,20]` stay on one line, for some readers look for them there. A line that
    /// begins like a header would be taken for the next game's.
    fn comment(&mut self, comment: &str) {
        let comment = comment.replace('{', "(").replace('}', ")");
        let mut words = comment.split_whitespace().map(|word| match word {
            "[Event" => "(Event",
            _ => word,
        });
        let Some(first) = words.next() else {
            return;
        };
        self.open("{");
        let mut word = first.to_owned();
        for next in words {
            if word.starts_with("[%") && !word.contains(']') {
                word.push(' ');
                word.push_str(next);
            } else {
                self.word(&word);
                next.clone_into(&mut word);
            }
        }
        self.word(&word);
        self.close("}");
    }

    fn flush(&mut self) {
        if self.last.is_empty() {
            return;
        }
        let length = self.last.chars().count();
        if self.columns > 0 && self.columns + 1 + length > COLUMNS {
            self.text.push('\n');
            self.columns = 0;
        } else if self.columns > 0 {
            self.text.push(' ');
            self.columns += 1;
        }
        self.text.push_str(&self.last);
        self.columns += length;
        self.last.clear();
    }

    fn finish(mut self) -> String {
        self.flush();
        self.text
    }
}
