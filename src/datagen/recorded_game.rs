//! A game from its start to its end, as it is recorded.

use crate::board::{Game, Position};
use crate::record::{GameRecord, PackedBoard, PlyRecord};
use crate::types::{GameResult, Move, PackedMove, Score};

use super::adjudicator::{Adjudication, Adjudicator};

/// Plays a game with the moves that `choose` takes, each with its score for the side to move,
/// until the rules or the adjudication end it. Without a move, or after the longest game, it is a
/// draw.
pub fn recorded_game(
    start: Position,
    adjudication: &Adjudication,
    mut choose: impl FnMut(&Game) -> Option<(Move, Score)>,
) -> GameRecord {
    let mut record = GameRecord {
        start: PackedBoard::pack(&start),
        result: GameResult::Draw,
        plies: Vec::new(),
    };
    let mut game = Game::from(start);
    let mut adjudicator = Adjudicator::new(adjudication.clone());
    loop {
        if let Some(end) = game.end() {
            record.result = end.result();
            break;
        }
        if record.plies.len() >= adjudication.max_plies {
            break;
        }
        let Some((m, score)) = choose(&game) else {
            break;
        };
        let position = game.position();
        let white = if position.turn().is_white() {
            score
        } else {
            -score
        };
        record.plies.push(PlyRecord {
            played: PackedMove::new(m),
            score: white.raw() as i16,
        });
        if let Some(result) = adjudicator.result(white, position.game_ply()) {
            record.result = result;
            break;
        }
        game.play(m);
    }
    record
}
