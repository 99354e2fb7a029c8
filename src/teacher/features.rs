//! The teacher's inputs, "HalfKAv2_hm": a piece on a square as the owner of a king sees it, for
//! each square of that king.
//!
//! Each side sees the board from its own back rank, and mirrored so that its king stands on files
//! e to h; the king's 32 squares each have a full set of inputs.

use crate::types::{Color, Piece, Role, Square};

/// Inputs for one square of the king: five roles of two colours and one for both kings, on 64
/// squares.
pub const INPUTS_A_KING: usize = 11 * SQUARES;
/// Squares that a king can stand on in its view.
pub const KINGS: usize = 32;
/// All inputs.
pub const INPUTS: usize = KINGS * INPUTS_A_KING;
/// Views of a side: the king's squares, mirrored or not.
pub const VIEWS: usize = 2 * KINGS;

const SQUARES: usize = 64;
/// XOR with this flips ranks.
const FLIP: u8 = 56;
/// XOR with this flips files.
const MIRROR: u8 = 7;
const FILES: u8 = 8;
/// Kings on files below this one (a to d) have their view mirrored.
const FIRST_UNMIRRORED_FILE: u8 = 4;
const LAST_RANK: u8 = 7;
/// The inputs of kings come after the ten sets of the other pieces.
const KING_SET: usize = 10;

/// How one side sees the board, its king standing where it does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TeacherView {
    color: Color,
    /// XOR with this turns a square into the view's.
    turn: u8,
    /// The king's square, numbered below [`KINGS`]: from the enemy's back rank and the h file.
    king: u8,
}

impl TeacherView {
    /// The view of the side `color` whose king stands on `king`.
    #[must_use]
    pub fn new(color: Color, king: Square) -> TeacherView {
        let square = king.to_u32() as u8;
        let mirror = if square % FILES < FIRST_UNMIRRORED_FILE {
            MIRROR
        } else {
            0
        };
        let turn = mirror | if color.is_black() { FLIP } else { 0 };
        let seen = square ^ turn;
        let (rank, file) = (seen / FILES, seen % FILES);
        TeacherView {
            color,
            turn,
            king: (LAST_RANK - rank) * (FILES / 2) + (MIRROR - file),
        }
    }

    /// Numbers the views of one side: below [`VIEWS`].
    #[must_use]
    pub const fn number(self) -> usize {
        2 * self.king as usize + (self.turn & MIRROR != 0) as usize
    }

    /// The input of a piece on a square: below [`INPUTS`].
    #[inline]
    #[must_use]
    pub fn input(self, piece: Piece, square: Square) -> usize {
        let set = match piece.role {
            Role::King => KING_SET,
            role => 2 * (role as usize - 1) + usize::from(piece.color != self.color),
        };
        let seen = square.to_u32() as u8 ^ self.turn;
        usize::from(self.king) * INPUTS_A_KING + set * SQUARES + usize::from(seen)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A table of kings' squares as the format's authors print it: White's view from a1 on.
    #[rustfmt::skip]
    const KINGS_OF_WHITE: [u8; 64] = [
        28, 29, 30, 31, 31, 30, 29, 28,
        24, 25, 26, 27, 27, 26, 25, 24,
        20, 21, 22, 23, 23, 22, 21, 20,
        16, 17, 18, 19, 19, 18, 17, 16,
        12, 13, 14, 15, 15, 14, 13, 12,
         8,  9, 10, 11, 11, 10,  9,  8,
         4,  5,  6,  7,  7,  6,  5,  4,
         0,  1,  2,  3,  3,  2,  1,  0,
    ];

    #[test]
    fn kings_are_numbered_by_the_table() {
        for square in Square::ALL {
            let white = TeacherView::new(Color::White, square);
            assert_eq!(white.king, KINGS_OF_WHITE[square as usize], "{square}");
            let black = TeacherView::new(Color::Black, square.flip_vertical());
            assert_eq!(black.king, white.king);
        }
    }

    #[test]
    fn views_and_inputs_do_not_collide() {
        let pieces = [Color::White, Color::Black]
            .into_iter()
            .flat_map(|color| Role::ALL.into_iter().map(move |role| Piece { color, role }));
        for color in Color::ALL {
            let mut numbers = std::collections::HashSet::new();
            let mut inputs = std::collections::HashSet::new();
            for king in Square::ALL {
                let view = TeacherView::new(color, king);
                assert!(view.number() < VIEWS && numbers.insert(view.number()));
                // A mirrored view and its mirror image share their inputs.
                if king.file() < crate::types::File::E {
                    continue;
                }
                for piece in pieces.clone().filter(|piece| piece.role != Role::King) {
                    for square in Square::ALL {
                        let input = view.input(piece, square);
                        assert!(input < INPUTS && inputs.insert(input));
                    }
                }
            }
        }
    }

    #[test]
    fn a_few_inputs_by_hand() {
        let white = TeacherView::new(Color::White, Square::E1);
        let pawn = |color| Piece {
            color,
            role: Role::Pawn,
        };
        let first = 31 * INPUTS_A_KING;
        assert_eq!(white.input(pawn(Color::White), Square::A2), first + 8);
        assert_eq!(white.input(pawn(Color::Black), Square::A2), first + 64 + 8);
        let black = TeacherView::new(Color::Black, Square::D8);
        // From the eighth rank and mirrored: h7 is a2.
        assert_eq!(black.input(pawn(Color::Black), Square::H7), first + 8);
        let king = Piece {
            color: Color::White,
            role: Role::King,
        };
        assert_eq!(white.input(king, Square::E1), first + 640 + 4);
    }
}
