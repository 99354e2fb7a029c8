//! Scores for recorded games and positions from a teacher.

use std::sync::Arc;

use thiserror::Error;

use crate::board::{FenError, Position};
use crate::record::{GameRecord, NO_SCORE, PositionRecord, TeacherHints};

use super::{Teacher, TeacherNet};

/// Evaluations are limited to this: mate scores begin at 32,000 less a thousand plies.
pub const MAX_SCORE: i32 = 31_000;

/// A record that is not a legal game or position.
#[derive(Debug, Error)]
pub enum IllegalRecord {
    #[error(transparent)]
    Position(#[from] FenError),
    #[error("ply {ply} is no legal move")]
    Move { ply: usize },
}

/// A network on one thread. Positions in check get [`NO_SCORE`]: the engines that such networks
/// come from never evaluate them.
pub struct TeacherLabeller {
    teacher: Teacher,
    scaled: bool,
}

impl TeacherLabeller {
    /// Labels with this network; `scaled` adds its engine's material factor.
    #[must_use]
    pub fn new(net: Arc<TeacherNet>, scaled: bool) -> TeacherLabeller {
        TeacherLabeller {
            teacher: Teacher::new(net),
            scaled,
        }
    }

    /// Starts a line of moves.
    pub fn reset(&mut self, root: &Position) {
        self.teacher.reset(root);
    }

    /// White's score of the current position of the line, in centipawns.
    pub fn score(&mut self, position: &Position) -> i16 {
        self.label(position).0
    }

    /// The same with the hints of the teacher's first dense layer.
    pub fn label(&mut self, position: &Position) -> (i16, Option<TeacherHints>) {
        if position.in_check() {
            return (NO_SCORE, None);
        }
        let evaluation = self.teacher.evaluate(position);
        self.teacher.settle();
        let score = if self.scaled {
            evaluation.scaled_centipawns(position.board())
        } else {
            evaluation.centipawns()
        };
        let score = score.clamp(-MAX_SCORE, MAX_SCORE) as i16;
        let sign = if position.turn().is_white() { 1 } else { -1 };
        (sign * score, Some(evaluation.hints))
    }

    /// Rewrites the scores of a game.
    ///
    /// # Errors
    /// The game's start or a move is illegal.
    pub fn game(&mut self, game: &mut GameRecord) -> Result<(), IllegalRecord> {
        let mut position = game.start.unpack()?;
        self.reset(&position);
        for (index, ply) in game.plies.iter_mut().enumerate() {
            let m = position
                .unpack(ply.played)
                .ok_or(IllegalRecord::Move { ply: index + 1 })?;
            ply.score = self.score(&position);
            let dirty = position.dirty_pieces(m);
            self.teacher.push(&dirty);
            position = position.play_with_pieces(m, &dirty);
        }
        Ok(())
    }

    /// Rewrites the score and the hints of a position.
    ///
    /// # Errors
    /// The position is illegal.
    pub fn position(&mut self, record: &mut PositionRecord) -> Result<(), IllegalRecord> {
        let position = record.board.unpack()?;
        self.reset(&position);
        (record.score, record.hints) = self.label(&position);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::Random;
    use crate::record::PackedBoard;
    use crate::record::tests::random_game;
    use crate::teacher::tests::narrow_net;
    use crate::types::GameResult;

    #[test]
    fn a_game_s_labels_are_those_of_its_positions() {
        let net = narrow_net();
        let mut labeller = TeacherLabeller::new(Arc::clone(&net), false);
        let mut fresh = TeacherLabeller::new(Arc::clone(&net), false);
        let mut scaled = TeacherLabeller::new(net, true);
        for seed in 0..10 {
            let (mut game, positions) =
                random_game(&mut Random(seed), Position::startpos(), 120, |_, _| 0);
            labeller.game(&mut game).expect("legal");
            let plain = game.clone();
            scaled.game(&mut game).expect("legal");
            for ((ply, more), position) in plain.plies.iter().zip(&game.plies).zip(&positions) {
                let mut record = PositionRecord {
                    board: PackedBoard::pack(position),
                    score: 0,
                    result: GameResult::Draw,
                    hints: None,
                };
                fresh.position(&mut record).expect("legal");
                assert_eq!(record.hints.is_none(), position.in_check());
                assert_eq!(record.score, ply.score, "{}", position.fen());
                assert_eq!(ply.score == NO_SCORE, position.in_check());
                assert!(more.score.abs() >= ply.score.abs());
            }
        }
    }
}
