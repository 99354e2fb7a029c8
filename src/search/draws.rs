//! The end of the game: mate, draws by rule, and repetitions one move ahead.

use std::ops::ControlFlow;

use super::window::Window;
use super::worker::SearchWorker;
use crate::board::Position;
use crate::params as p;
use crate::types::{FIFTY_MOVES, MAX_PLY, Ply, Score};

/// The score of a position in which the side to move has no legal move: mate or stalemate.
pub(crate) fn score_without_moves(position: &Position, ply: Ply) -> Score {
    if position.in_check() {
        Score::mated_in(ply)
    } else {
        Score::DRAW
    }
}

impl SearchWorker {
    /// A draw by rule, or the end of the stack.
    pub(super) fn terminal(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        if self.keys.is_repetition(position) || position.is_insufficient_material() {
            return Some(self.draw());
        }
        // Mate on the hundredth ply still counts.
        if position.halfmoves() >= FIFTY_MOVES
            && self.fifty_move_rule()
            && (!position.in_check() || position.has_legal_move())
        {
            return Some(self.draw());
        }
        if ply.index() >= MAX_PLY {
            return Some(if position.in_check() {
                Score::DRAW
            } else {
                crate::eval::adjust(self.evaluator.evaluate(position), position.halfmoves(), 0)
            });
        }
        None
    }

    /// Draws are a centipawn above or below 0 from node to node, so that the search keeps looking
    /// for other ways instead of taking the first repetition; reports show all of them as 0.
    pub(super) fn draw(&self) -> Score {
        if self.selective() {
            Score::DRAW + (self.nodes as i32 & 2) - 1
        } else {
            Score::DRAW
        }
    }

    /// What the rules say of a node before anything is searched: its score, or the window, whose
    /// alpha an upcoming repetition may have raised.
    pub(super) fn draws(
        &mut self,
        position: &Position,
        ply: Ply,
        window: Window,
    ) -> ControlFlow<Score, Window> {
        let window = self.upcoming_repetition(position, window);
        if window.is_empty() {
            return ControlFlow::Break(window.alpha);
        }
        match self.terminal(position, ply) {
            Some(score) => ControlFlow::Break(score),
            None => ControlFlow::Continue(window),
        }
    }

    /// If the side to move can repeat a position of the line, it has at least a draw. Only alpha
    /// says so: in an open window the moves' own score, if it is lower, is what is returned.
    pub(super) fn upcoming_repetition(&self, position: &Position, window: Window) -> Window {
        if self.uses(p::use_upcoming_repetition())
            && window.alpha < Score::DRAW
            && self.keys.can_repeat(position)
        {
            Window {
                alpha: self.draw(),
                ..window
            }
        } else {
            window
        }
    }
}
