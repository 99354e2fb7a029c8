//! Lines of moves as people write them.

use super::notation::MoveError;
use super::position::Position;
use crate::types::Move;

impl Position {
    /// Reads a legal move in standard algebraic notation (see [`Position::parse_san`]) or as in
    /// UCI.
    ///
    /// # Errors
    /// If the text is no move, or no legal one here.
    pub fn parse_move(&self, text: &str) -> Result<Move, MoveError> {
        self.parse_san(text)
            .or_else(|error| self.parse_uci(text).map_err(|_| error))
    }

    /// The legal moves of a line in standard algebraic notation.
    #[must_use]
    pub fn san_line(&self, line: &[Move]) -> Vec<String> {
        let mut position = self.clone();
        let mut texts = Vec::with_capacity(line.len());
        for &m in line {
            texts.push(position.san(m));
            position = position.play(m);
        }
        texts
    }

    /// A line with move numbers, as a score sheet has it: `12... Nf6 13. e5`.
    #[must_use]
    pub fn numbered_line(&self, line: &[Move]) -> String {
        let first = self.game_ply();
        let mut text = String::new();
        for (ply, san) in (first..).zip(self.san_line(line)) {
            if !text.is_empty() {
                text.push(' ');
            }
            if ply.is_multiple_of(2) || ply == first {
                text.push_str(&move_number(ply));
                text.push(' ');
            }
            text.push_str(&san);
        }
        text
    }

    /// One legal move with its number: `12... Nf6`.
    #[must_use]
    pub fn numbered(&self, m: Move) -> String {
        self.numbered_line(&[m])
    }
}

/// The number before a move made after so many plies: `12.` for White, `12...` for Black.
fn move_number(ply: u32) -> String {
    let dots = if ply.is_multiple_of(2) { "." } else { "..." };
    format!("{}{dots}", ply / 2 + 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_numbered_as_on_a_score_sheet() {
        let mut position = Position::startpos();
        let mut line = Vec::new();
        for text in ["e2e4", "e7e5", "g1f3"] {
            let m = position.parse_uci(text).expect("legal");
            position = position.play(m);
            line.push(m);
        }
        let start = Position::startpos();
        assert_eq!(start.numbered_line(&line), "1. e4 e5 2. Nf3");
        let black = start.play(line[0]);
        assert_eq!(black.numbered_line(&line[1..]), "1... e5 2. Nf3");
        assert_eq!(black.numbered(line[1]), "1... e5");
        assert_eq!(start.numbered_line(&[]), "");
    }
}
