//! From a position to a score: the network, or the tapered evaluation that preceded it, and the
//! adjustments that come after either.

mod tapered;

use std::sync::Arc;

use crate::board::{Delta, Position};
use crate::nnue::{Accumulators, Network};
use crate::params;
use crate::types::{Bitboard, Score};

/// What judges positions.
#[derive(Clone)]
pub enum Judge {
    /// A network.
    Network(Arc<Network>),
    /// Material and piece-square values, tapered by phase: the classical yardstick.
    Tapered,
}

/// Evaluates the positions of a line that is played and taken back move by move.
pub struct Evaluator {
    accumulators: Option<Accumulators>,
}

impl Evaluator {
    #[must_use]
    pub fn new(judge: Judge) -> Evaluator {
        let accumulators = match judge {
            Judge::Network(network) => Some(Accumulators::new(network)),
            Judge::Tapered => None,
        };
        Evaluator { accumulators }
    }

    /// Starts a new line.
    pub fn reset(&mut self, root: &Position) {
        if let Some(accumulators) = &mut self.accumulators {
            accumulators.reset(root);
        }
    }

    /// A move is played.
    #[inline]
    pub fn push(&mut self, delta: &Delta) {
        if let Some(accumulators) = &mut self.accumulators {
            accumulators.push(delta);
        }
    }

    /// The last move is taken back.
    #[inline]
    pub fn pop(&mut self) {
        if let Some(accumulators) = &mut self.accumulators {
            accumulators.pop();
        }
    }

    /// The bare evaluation of the line's last position, from the side to move's point of view.
    #[must_use]
    pub fn evaluate(&mut self, position: &Position) -> Score {
        Score::cp(match &mut self.accumulators {
            Some(accumulators) => accumulators.evaluate(position),
            None => tapered::evaluate(position),
        })
    }
}

/// An evaluation fades as the 50-move rule comes nearer without progress and as pieces leave the
/// board, and is corrected by what the search has learnt about similar positions (`correction`,
/// in centipawns).
#[inline]
#[must_use]
pub fn adjust(raw: Score, position: &Position, correction: i32) -> Score {
    let scaled = raw.raw() * material_scale(position) / ONE;
    Score::cp(faded(scaled, position.halfmoves()) + correction)
}

/// 1.0 as a scale.
const ONE: i32 = 1024;

/// How much an advantage counts with the pieces that are on the board, in 1/[`ONE`]: more than
/// one with most of them, less towards the ending, where fewer advantages win.
fn material_scale(position: &Position) -> i32 {
    /// Half of what both sides' pieces are worth at the start, in pawns.
    const HALF: i32 = 31;
    let board = position.board();
    let count = |pieces: Bitboard| pieces.count() as i32;
    let pieces = 3 * count(board.knights() | board.bishops())
        + 5 * count(board.rooks())
        + 9 * count(board.queens());
    ONE + params::material_scale() * (pieces - HALF)
}

/// At the 50-move limit half of the evaluation is left.
fn faded(raw: i32, halfmoves: u32) -> i32 {
    const FADE: i32 = 200;
    let left = FADE - (halfmoves as i32).min(FADE);
    raw * left / FADE
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_fade_towards_the_fifty_move_rule() {
        assert_eq!(faded(100, 0), 100);
        assert_eq!(faded(100, 100), 50);
        assert_eq!(faded(-100, 60), -70);
    }
}
