//! Tic-tac-toe: small enough to search to the end.

use crate::lab::game::{GameTree, NodeValue, TreePlayer};

/// The eight lines, as sets of squares numbered 0 to 8 by rows.
const LINES: [u16; 8] = [0o007, 0o070, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124];
const SQUARES: u8 = 9;
const FULL_BOARD: u16 = 0o777;
/// What a win is worth, less a point for every stone on the board: quick wins are better.
const WIN: NodeValue = 10;

/// The game from the empty board; X moves first and is Max.
#[derive(Clone, Copy, Debug, Default)]
pub struct TicTacToe;

/// The squares of the side to move and of the other side.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Grid {
    x: u16,
    o: u16,
}

impl Grid {
    fn occupied(self) -> u16 {
        self.x | self.o
    }

    fn stones(self) -> u32 {
        self.occupied().count_ones()
    }
}

fn has_line(squares: u16) -> bool {
    LINES.iter().any(|line| squares & line == *line)
}

impl GameTree for TicTacToe {
    type Position = Grid;
    /// A square, 0 to 8.
    type Move = u8;

    fn start(&self) -> Grid {
        Grid { x: 0, o: 0 }
    }

    fn side(&self, grid: &Grid) -> TreePlayer {
        if grid.stones().is_multiple_of(2) {
            TreePlayer::Max
        } else {
            TreePlayer::Min
        }
    }

    fn moves(&self, grid: &Grid) -> Vec<u8> {
        if has_line(grid.x) || has_line(grid.o) {
            return Vec::new();
        }
        let empty = FULL_BOARD & !grid.occupied();
        (0..SQUARES)
            .filter(|square| empty & (1 << square) != 0)
            .collect()
    }

    fn play(&self, grid: &Grid, square: u8) -> Grid {
        match self.side(grid) {
            TreePlayer::Max => Grid {
                x: grid.x | 1 << square,
                ..*grid
            },
            TreePlayer::Min => Grid {
                o: grid.o | 1 << square,
                ..*grid
            },
        }
    }

    fn value(&self, grid: &Grid) -> NodeValue {
        let worth = WIN - grid.stones() as NodeValue;
        if has_line(grid.x) {
            worth
        } else if has_line(grid.o) {
            -worth
        } else {
            0
        }
    }

    fn key(&self, grid: &Grid) -> u64 {
        u64::from(grid.x) << 16 | u64::from(grid.o)
    }

    /// Columns a to c, rows 1 to 3 from the top.
    fn label(&self, _: &Grid, square: u8) -> String {
        let column = char::from(b'a' + square % 3);
        format!("{column}{}", square / 3 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::deepening::{DeepeningLimits, Ended, deepen};
    use crate::lab::{Algorithm, Hints, SolveOptions, solve};

    /// All games of tic-tac-toe: 255,168 ways to the end.
    #[test]
    fn minimax_plays_every_game_to_a_draw() {
        let solved = solve(
            &TicTacToe,
            Algorithm::Minimax,
            SolveOptions {
                depth: 9,
                ..SolveOptions::default()
            },
        );
        assert_eq!(solved.value, 0);
        assert_eq!(solved.counts.leaves, 255_168);
    }

    #[test]
    fn deepening_ends_with_the_whole_tree() {
        let limits = DeepeningLimits {
            depth: 20,
            time: None,
        };
        let deepening = deepen(&TicTacToe, Algorithm::FailSoft, limits, Hints::default());
        assert_eq!(deepening.ended, Ended::WholeTree);
        assert_eq!(deepening.iterations.len(), 9);
        assert_eq!(deepening.last().value, 0);
    }
}
