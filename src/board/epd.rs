//! EPD: a position a line, followed by operations such as the best move (section 16.2 of the PGN
//! standard).

use std::io::{self, BufRead};

use thiserror::Error;

use super::notation::{FenError, MoveError};
use super::position::Position;
use crate::types::{CastlingMode, Move};

/// Fields of a position: board, side to move, castling, en passant.
const POSITION_FIELDS: usize = 4;

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
    #[error("line {line}: {reason}")]
    Line { line: u64, reason: Box<EpdError> },
    /// Nothing more can be read.
    #[error("cannot read line {line}: {source}")]
    Input { line: u64, source: io::Error },
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
    /// `acn`: nodes of an analysis.
    pub nodes: Option<u64>,
    /// `acs`: seconds of an analysis.
    pub seconds: Option<u64>,
    /// `id`: what the position is called.
    pub id: Option<String>,
    /// All operations, those above included, in order.
    pub operations: Vec<EpdOperation>,
}

impl Epd {
    /// Reads a line. Moves may be in standard algebraic or UCI notation; opcodes that nobody
    /// knows are kept and not looked into.
    ///
    /// # Errors
    /// If the position or a move is not legal, or a number is none.
    pub fn parse(line: &str) -> Result<Epd, EpdError> {
        let (mut fen, rest) = position_fields(line);
        let operations = operations(rest)?;
        let operand = |opcode: &str| first_operand(&operations, opcode);
        if operand("hmvc").is_some() || operand("fmvn").is_some() {
            fen.truncate(POSITION_FIELDS);
            fen.push(operand("hmvc").unwrap_or("0"));
            fen.push(operand("fmvn").unwrap_or("1"));
        }
        let position = Position::from_fen(&fen.join(" "), CastlingMode::Standard)?;
        Ok(Epd {
            best_moves: moves(&position, &operations, "bm")?,
            avoid_moves: moves(&position, &operations, "am")?,
            mate_in: number(&operations, "dm")?,
            depth: number(&operations, "acd")?,
            nodes: number(&operations, "acn")?,
            seconds: number(&operations, "acs")?,
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

/// Reads positions from the lines of a text. Empty lines and lines that begin with `#` are
/// passed over; a line that cannot be read is an error with its number, and reading may go on
/// unless the input itself failed.
pub struct EpdReader<R> {
    input: R,
    line: u64,
    failed: bool,
}

impl<R: BufRead> EpdReader<R> {
    #[must_use]
    pub const fn new(input: R) -> EpdReader<R> {
        EpdReader {
            input,
            line: 0,
            failed: false,
        }
    }
}

impl<R: BufRead> Iterator for EpdReader<R> {
    type Item = Result<Epd, EpdError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed {
            self.line += 1;
            let line = self.line;
            let mut bytes = Vec::new();
            match self.input.read_until(b'\n', &mut bytes) {
                Ok(0) => return None,
                Ok(_) => {}
                Err(source) => {
                    self.failed = true;
                    return Some(Err(EpdError::Input { line, source }));
                }
            }
            let text = String::from_utf8_lossy(&bytes);
            let text = text.trim().trim_start_matches('\u{FEFF}');
            if !text.is_empty() && !text.starts_with('#') {
                return Some(Epd::parse(text).map_err(|reason| EpdError::Line {
                    line,
                    reason: Box::new(reason),
                }));
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn san(epd: &Epd, moves: &[Move]) -> Vec<String> {
        moves.iter().map(|&m| epd.position.san(m)).collect()
    }

    #[test]
    fn operations_are_read() {
        let line = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - bm O-O Rxa8+; am Rh7; dm 3; acd 12; \
                    hmvc 7; fmvn 30; acn 12345678901; id \"castles; both\"; c0 \"O-O=10, Ra7=3\";";
        let epd = Epd::parse(line).expect("an EPD");
        assert_eq!(san(&epd, &epd.best_moves), ["O-O", "Rxa8+"]);
        assert_eq!(san(&epd, &epd.avoid_moves), ["Rh7"]);
        assert_eq!((epd.mate_in, epd.depth), (Some(3), Some(12)));
        assert_eq!((epd.nodes, epd.seconds), (Some(12_345_678_901), None));
        assert_eq!(epd.id.as_deref(), Some("castles; both"));
        assert_eq!(epd.operands("c0"), Some(&["O-O=10, Ra7=3".to_owned()][..]));
        assert!(epd.position.fen().ends_with(" 7 30"));
    }

    #[test]
    fn sloppy_lines_are_understood() {
        let fen = "1nbqkbnr/P1pp1ppp/8/4p3/8/8/1PPPPPPP/RNBQKBNR w KQk - 3 9";
        let epd = Epd::parse(&format!("{fen} bm axb8=Q! a7b8n a8Q+ ab8R Nf3")).expect("an EPD");
        assert_eq!(
            san(&epd, &epd.best_moves),
            ["axb8=Q", "axb8=N", "a8=Q", "axb8=R", "Nf3"]
        );
        assert_eq!(epd.position.fen(), fen);
        let bare = Epd::parse("8/8/8/8/8/5kq1/8/7K b - -").expect("an EPD");
        assert!(bare.operations.is_empty());
    }

    #[test]
    fn errors_name_the_line_and_the_reason() {
        let text = "# a suite\n\n8/8/8/8/8/5kq1/8/7K b - - bm Qh1;\r\n\
                    8/8/8/8/8/5kq1/8/7K b - - dm x;\n8/8/8 w - -\n\
                    8/8/8/8/8/5kq1/8/7K b - - id \"open;\n8/8/8/8/8/5kq1/8/7K b - - bm Qh2+;\n";
        let read: Vec<String> = EpdReader::new(text.as_bytes())
            .map(|epd| epd.map_or_else(|error| error.to_string(), |epd| epd.position.fen()))
            .collect();
        assert_eq!(read.len(), 5, "{read:?}");
        assert_eq!(read[0], "line 3: bm: 'Qh1' is not legal here");
        assert_eq!(read[1], "line 4: dm: 'x' is not a number from 0");
        assert!(read[2].starts_with("line 5: not a FEN"), "{}", read[2]);
        assert!(read[3].starts_with("line 6: "), "{}", read[3]);
        assert_eq!(read[4], "8/8/8/8/8/5kq1/8/7K b - - 0 1");
    }
}
