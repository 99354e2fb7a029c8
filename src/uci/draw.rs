//! A position drawn with letters.

use crate::board::Position;
use crate::types::{Color, File, Rank, Square};

/// The board with a side below, one rank a line, with its coordinates.
#[must_use]
pub fn board(position: &Position, below: Color) -> Vec<String> {
    const RULE: &str = "  +---+---+---+---+---+---+---+---+";
    let (mut ranks, mut files) = (Rank::ALL, File::ALL);
    match below {
        Color::White => ranks.reverse(),
        Color::Black => files.reverse(),
    }
    let mut lines = vec![RULE.to_owned()];
    for rank in ranks {
        let mut line = format!("{} |", rank.char());
        for file in files {
            let piece = position.board().piece_at(Square::from_coords(file, rank));
            line.push_str(&format!(" {} |", piece.map_or(' ', |piece| piece.char())));
        }
        lines.push(line);
        lines.push(RULE.to_owned());
    }
    let names = files.map(|file| file.char().to_string());
    lines.push(format!("    {}", names.join("   ")));
    lines
}

/// Everything that `d` shows: the board, its FEN and key, who gives check and who is to move.
#[must_use]
pub fn position(position: &Position) -> Vec<String> {
    let mut lines = board(position, Color::White);
    let checkers: Vec<String> = position
        .checkers()
        .into_iter()
        .map(|sq| sq.to_string())
        .collect();
    lines.push(String::new());
    lines.push(format!("Fen: {}", position.fen()));
    lines.push(format!("Key: {:016X}", position.key()));
    lines.push(format!("Checkers: {}", checkers.join(" ")));
    lines.push(format!("{} to move", side(position.turn())));
    lines
}

/// A colour's name.
#[must_use]
pub const fn side(color: Color) -> &'static str {
    match color {
        Color::White => "White",
        Color::Black => "Black",
    }
}
