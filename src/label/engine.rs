//! Scores from any UCI engine, asked position by position.

use std::path::Path;
use std::time::Duration;

use crate::board::Position;
use crate::record::{GameRecord, NO_SCORE, PositionRecord};
use crate::teacher::{IllegalRecord, MAX_SCORE};
use crate::types::Color;

use super::client::{ClientError, UciClient};
use super::{Labeller, LineError};

/// How the engine is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LabelMode {
    /// Its command `eval`, which Stockfish and its derivatives have: the static evaluation of the
    /// position, without the game before it. Positions in check get [`NO_SCORE`].
    Static,
    /// A search of this many nodes, with the game before it.
    Nodes(u64),
}

/// One process of an engine.
pub struct EngineLabeller {
    client: UciClient,
    mode: LabelMode,
}

impl EngineLabeller {
    /// Starts the engine; `timeout` is the longest wait for the answer to one position.
    ///
    /// # Errors
    /// See [`UciClient::start`].
    pub fn start(
        path: &Path,
        mode: LabelMode,
        timeout: Duration,
    ) -> Result<EngineLabeller, ClientError> {
        let client = UciClient::start(path, timeout)?;
        Ok(EngineLabeller { client, mode })
    }

    /// White's score of the position after `moves` from `start`.
    fn score(
        &mut self,
        start: &str,
        moves: &[String],
        position: &Position,
    ) -> Result<i16, LineError> {
        let mut found = None;
        match self.mode {
            LabelMode::Static if position.in_check() => return Ok(NO_SCORE),
            LabelMode::Static => {
                let fen = fresh(&position.fen());
                let commands = format!("position fen {fen}\neval\nisready");
                self.client.ask(&commands, "readyok", |line| {
                    found = static_score(line).or(found)
                })?;
            }
            LabelMode::Nodes(nodes) => {
                let moves = moves.join(" ");
                let commands = format!("position fen {start} moves {moves}\ngo nodes {nodes}");
                self.client.ask(&commands, "bestmove", |line| {
                    found = search_score(line).or(found)
                })?;
                if position.turn() == Color::Black {
                    found = found.map(i16::saturating_neg);
                }
            }
        }
        found.ok_or_else(|| LineError::NoScore(position.fen()))
    }
}

impl Labeller for EngineLabeller {
    fn game(&mut self, game: &mut GameRecord) -> Result<(), LineError> {
        let mut position = game.start.unpack().map_err(IllegalRecord::from)?;
        let start = position.fen();
        let mut moves = Vec::new();
        for (index, ply) in game.plies.iter_mut().enumerate() {
            let m = position
                .unpack(ply.played)
                .ok_or(IllegalRecord::Move { ply: index + 1 })?;
            ply.score = self.score(&start, &moves, &position)?;
            moves.push(position.uci(m));
            position = position.play(m);
        }
        Ok(())
    }

    fn position(&mut self, record: &mut PositionRecord) -> Result<(), LineError> {
        let position = record.board.unpack().map_err(IllegalRecord::from)?;
        record.score = self.score(&position.fen(), &[], &position)?;
        Ok(())
    }
}

/// The FEN with its clocks reset, so that the 50-move counter does not scale the evaluation.
fn fresh(fen: &str) -> String {
    const BOARD_FIELDS: usize = 4;
    let fields: Vec<&str> = fen.split(' ').take(BOARD_FIELDS).collect();
    format!("{} 0 1", fields.join(" "))
}

/// Centipawns for White in a line that `eval` prints, if it is the one with the total.
fn static_score(line: &str) -> Option<i16> {
    let rest = line.strip_prefix("Final evaluation")?;
    let pawns = rest
        .split_whitespace()
        .find_map(|word| word.parse::<f64>().ok())?;
    let centipawns = (CENTIPAWNS * pawns).round();
    let most = f64::from(MAX_SCORE);
    centipawns
        .is_finite()
        .then(|| centipawns.clamp(-most, most) as i16)
}

const CENTIPAWNS: f64 = 100.0;

/// The score of a mate on the board in records.
const MATE: i16 = 32_000;
/// Mates count as no further away than this.
const FURTHEST_MATE: u32 = 1000;

/// The side to move's score in an `info` line; bounds and free text (`info string`) do not count.
fn search_score(line: &str) -> Option<i16> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() != Some(&"info")
        || words.get(1) == Some(&"string")
        || words.contains(&"lowerbound")
        || words.contains(&"upperbound")
    {
        return None;
    }
    let place = words.iter().position(|word| *word == "score")?;
    let number: i32 = words.get(place + 2)?.parse().ok()?;
    match *words.get(place + 1)? {
        "cp" => Some(number.clamp(-MAX_SCORE, MAX_SCORE) as i16),
        "mate" => {
            let plies = number.unsigned_abs().saturating_mul(2).min(FURTHEST_MATE) as i16;
            Some(if number > 0 {
                MATE + 1 - plies
            } else {
                plies - MATE
            })
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn evaluations_are_read_as_stockfish_prints_them() {
        let line = "Final evaluation       +0.25 (white side) [with scaled NNUE, hybrid, ...]";
        assert_eq!(static_score(line), Some(25));
        assert_eq!(
            static_score("Final evaluation       -12.07 (white side)"),
            Some(-1207)
        );
        assert_eq!(static_score("Final evaluation: none (in check)"), None);
        assert_eq!(static_score("Final evaluation nan (white side)"), None);
        assert_eq!(static_score("Final evaluation inf (white side)"), None);
        assert_eq!(
            static_score("Final evaluation +999.00 (white side)"),
            Some(MAX_SCORE as i16)
        );
        assert_eq!(
            static_score("NNUE evaluation        +0.25 (white side)"),
            None
        );
    }

    #[test]
    fn searches_are_read_without_bounds() {
        let line = "info depth 8 seldepth 9 multipv 1 score cp -31 nodes 700 nps 1 pv e7e5";
        assert_eq!(search_score(line), Some(-31));
        assert_eq!(
            search_score("info depth 9 score cp 55 lowerbound nodes 710"),
            None
        );
        assert_eq!(
            search_score("info depth 9 score mate 2 nodes 710"),
            Some(31_997)
        );
        assert_eq!(
            search_score("info depth 9 score mate -2 nodes 710"),
            Some(-31_996)
        );
        assert_eq!(search_score("info depth 0 score mate 0"), Some(-32_000));
        assert_eq!(search_score("info score mate 2147483647"), Some(31_001));
        assert_eq!(search_score("info string score cp 3"), None);
        assert_eq!(search_score("bestmove e2e4"), None);
    }
}
