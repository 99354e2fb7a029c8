//! EPD: a position a line, followed by operations such as the best move (section 16.2 of the PGN
//! standard).

use thiserror::Error;

use super::notation::{FenError, MoveError};
use super::position::Position;
use crate::types::{CastlingMode, Move};

/// Fields of a position: board, side to move, castling, en passant.
const POSITION_FIELDS: usize = 4;

/// The opcodes of the standard that have no number.
const OPCODES: [&str; 25] = [
    "acd",
    "acn",
    "acs",
    "am",
    "bm",
    "ce",
    "dm",
    "draw_accept",
    "draw_claim",
    "draw_offer",
    "draw_reject",
    "eco",
    "fmvn",
    "hmvc",
    "id",
    "nic",
    "noop",
    "pm",
    "pv",
    "rc",
    "resign",
    "sv",
    "tcgs",
    "tcri",
    "tcsi",
];
/// Those that have a digit behind them: comments and variations.
const NUMBERED_OPCODES: [&str; 2] = ["c", "v"];

/// Whether the standard has an opcode of this name.
#[must_use]
pub fn is_opcode(word: &str) -> bool {
    let letters = word.strip_suffix(|letter: char| letter.is_ascii_digit());
    OPCODES.contains(&word) || letters.is_some_and(|name| NUMBERED_OPCODES.contains(&name))
}

/// Why a line is no EPD.
#[derive(Debug, Error)]
pub enum EpdError {
    #[error(transparent)]
    Position(#[from] FenError),
    #[error("{opcode}: {error}")]
    Move { opcode: String, error: MoveError },
    #[error("{opcode}: '{operand}' is not a number from 0")]
    Number { opcode: String, operand: String },
    #[error("a quotation mark is not closed")]
    OpenString,
}

/// What is said about a position: a name and its operands, quotation marks taken off.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct EpdOperation {
    pub opcode: String,
    pub operands: Vec<String>,
}

/// A position and what is said about it.
#[derive(Clone, Debug)]
pub struct Epd {
    /// With the clocks of `hmvc` and `fmvn`, or of a whole FEN in front.
    pub position: Position,
    /// `bm`: any of these moves is right.
    pub best_moves: Vec<Move>,
    /// `am`: none of these moves is right.
    pub avoid_moves: Vec<Move>,
    /// `dm`: the side to move mates in so many moves.
    pub mate_in: Option<u32>,
    /// `acd`: plies of an analysis.
    pub depth: Option<u32>,
    /// `id`: what the position is called.
    pub id: Option<String>,
    /// All operations, those above included, in order.
    pub operations: Vec<EpdOperation>,
}

impl Epd {
    /// Reads a line. Moves may be in standard algebraic or UCI notation; unknown opcodes
    /// are kept as text.
    ///
    /// # Errors
    /// If the position or a move is not legal, or a number is none.
    pub fn parse(line: &str, mode: CastlingMode) -> Result<Epd, EpdError> {
        let (mut fen, rest) = position_fields(line);
        let operations = operations(rest)?;
        let operand = |opcode: &str| first_operand(&operations, opcode);
        if operand("hmvc").is_some() || operand("fmvn").is_some() {
            fen.truncate(POSITION_FIELDS);
            fen.push(operand("hmvc").unwrap_or("0"));
            fen.push(operand("fmvn").unwrap_or("1"));
        }
        let position = Position::from_fen(&fen.join(" "), mode)?;
        Ok(Epd {
            best_moves: moves(&position, &operations, "bm")?,
            avoid_moves: moves(&position, &operations, "am")?,
            mate_in: number(&operations, "dm")?,
            depth: number(&operations, "acd")?,
            id: operand("id").map(str::to_owned),
            position,
            operations,
        })
    }

    /// The operands of an operation, if the line has it.
    #[must_use]
    pub fn operands(&self, opcode: &str) -> Option<&[String]> {
        find(&self.operations, opcode).map(|operation| operation.operands.as_slice())
    }
}

fn find<'a>(operations: &'a [EpdOperation], opcode: &str) -> Option<&'a EpdOperation> {
    operations.iter().find(|found| found.opcode == opcode)
}

fn first_operand<'a>(operations: &'a [EpdOperation], opcode: &str) -> Option<&'a str> {
    find(operations, opcode)?
        .operands
        .first()
        .map(String::as_str)
}

/// The fields of the position, six if the line begins with a whole FEN, and the rest.
fn position_fields(line: &str) -> (Vec<&str>, &str) {
    let mut fields = Vec::new();
    let mut rest = line.trim();
    while let Some(field) = rest.split_whitespace().next() {
        let is_clock = field.bytes().all(|byte| byte.is_ascii_digit());
        if fields.len() >= POSITION_FIELDS + 2 || fields.len() >= POSITION_FIELDS && !is_clock {
            break;
        }
        fields.push(field);
        rest = rest[field.len()..].trim_start();
    }
    (fields, rest)
}

/// Operations end with semicolons and are made of words and of strings in quotation marks.
fn operations(text: &str) -> Result<Vec<EpdOperation>, EpdError> {
    let mut operations = Vec::new();
    let mut words: Vec<String> = Vec::new();
    let mut finish = |words: &mut Vec<String>| {
        let mut words = std::mem::take(words).into_iter();
        if let Some(opcode) = words.next() {
            operations.push(EpdOperation {
                opcode,
                operands: words.collect(),
            });
        }
    };
    let mut rest = text.trim_start();
    while let Some(first) = rest.chars().next() {
        if first == ';' {
            finish(&mut words);
            rest = &rest[1..];
        } else if let Some(quoted) = rest.strip_prefix('"') {
            let (string, after) = quoted.split_once('"').ok_or(EpdError::OpenString)?;
            words.push(string.to_owned());
            rest = after;
        } else {
            let end = rest
                .find(|c: char| c.is_whitespace() || c == ';')
                .unwrap_or(rest.len());
            words.push(rest[..end].to_owned());
            rest = &rest[end..];
        }
        rest = rest.trim_start();
    }
    finish(&mut words);
    Ok(operations)
}

fn moves(
    position: &Position,
    operations: &[EpdOperation],
    opcode: &str,
) -> Result<Vec<Move>, EpdError> {
    let operands = find(operations, opcode).map_or(&[][..], |found| &found.operands);
    operands
        .iter()
        .map(|text| {
            position.parse_move(text).map_err(|error| EpdError::Move {
                opcode: opcode.to_owned(),
                error,
            })
        })
        .collect()
}

fn number<T: std::str::FromStr>(
    operations: &[EpdOperation],
    opcode: &str,
) -> Result<Option<T>, EpdError> {
    first_operand(operations, opcode)
        .map(|operand| {
            operand.parse().map_err(|_| EpdError::Number {
                opcode: opcode.to_owned(),
                operand: operand.to_owned(),
            })
        })
        .transpose()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(line: &str) -> Result<Epd, EpdError> {
        Epd::parse(line, CastlingMode::Standard)
    }

    fn san(epd: &Epd, moves: &[Move]) -> Vec<String> {
        moves.iter().map(|&m| epd.position.san(m)).collect()
    }

    #[test]
    fn operations_are_read() {
        let line = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - bm O-O Rxa8+; am Rh7; dm 3; acd 12; \
                    hmvc 7; fmvn 30; id \"castles; both\"; c0 \"O-O=10, Ra7=3\";";
        let epd = parse(line).expect("an EPD");
        assert_eq!(san(&epd, &epd.best_moves), ["O-O", "Rxa8+"]);
        assert_eq!(san(&epd, &epd.avoid_moves), ["Rh7"]);
        assert_eq!((epd.mate_in, epd.depth), (Some(3), Some(12)));
        assert_eq!(epd.id.as_deref(), Some("castles; both"));
        assert_eq!(epd.operands("c0"), Some(&["O-O=10, Ra7=3".to_owned()][..]));
        assert!(epd.position.fen().ends_with(" 7 30"));
    }

    #[test]
    fn sloppy_lines_are_understood() {
        let fen = "1nbqkbnr/P1pp1ppp/8/4p3/8/8/1PPPPPPP/RNBQKBNR w KQk - 3 9";
        let epd = parse(&format!("{fen} bm axb8=Q! a7b8n a8Q+ ab8R Nf3")).expect("an EPD");
        assert_eq!(
            san(&epd, &epd.best_moves),
            ["axb8=Q", "axb8=N", "a8=Q", "axb8=R", "Nf3"]
        );
        assert_eq!(epd.position.fen(), fen);
        let bare = parse("8/8/8/8/8/5kq1/8/7K b - -").expect("an EPD");
        assert!(bare.operations.is_empty());
    }

    #[test]
    fn errors_name_the_reason() {
        let error = |line: &str| parse(line).expect_err("no EPD").to_string();
        let position = "8/8/8/8/8/5kq1/8/7K b - -";
        assert_eq!(
            error(&format!("{position} bm Qh1;")),
            "bm: 'Qh1' is not legal here"
        );
        assert_eq!(
            error(&format!("{position} dm x;")),
            "dm: 'x' is not a number from 0"
        );
        assert_eq!(
            error(&format!("{position} id \"open;")),
            "a quotation mark is not closed"
        );
        assert!(error("8/8/8 w - -").starts_with("not a FEN"));
    }
}
