//! Searches every position of a game and judges its moves.

use std::ops::ControlFlow;

use super::accuracy::{Quality, quality};
use super::expectation::Curve;
use super::verdict::{Evidence, Thresholds, Verdict, judge};
use crate::board::{Game, Position};
use crate::engine::{Engine, EngineError, Request};
use crate::tablebase::Wdl;
use crate::types::{Color, Move, Score};

/// How to analyse.
#[derive(Clone, Debug, PartialEq)]
pub struct Method {
    /// The limits of the search of each position.
    pub request: Request,
    /// Search the second-best move as well, with a quarter of the nodes and time, to know the
    /// only moves; not where the best move is obvious.
    pub only_moves: bool,
    /// From the last position to the first.
    pub backward: bool,
    pub curve: Curve,
    pub thresholds: Thresholds,
}

/// What the search found in one position. Scores are those of the side to move.
#[derive(Clone, Debug, PartialEq)]
pub struct Assessment {
    pub score: Score,
    pub depth: i32,
    /// The best line; empty where the game is over.
    pub line: Vec<Move>,
    /// The score of the second-best move, where it was searched.
    pub second: Option<Score>,
    /// The tablebases' result, where a table has the position.
    pub tablebase: Option<Wdl>,
}

impl Assessment {
    /// The best move; `None` where the game is over.
    #[must_use]
    pub fn best(&self) -> Option<Move> {
        self.line.first().copied()
    }

    /// The tablebases' result from White's side.
    #[must_use]
    pub fn white_tablebase(&self, turn: Color) -> Option<Wdl> {
        let white = |result: Wdl| if turn.is_white() { result } else { -result };
        self.tablebase.map(white)
    }

    /// The score from White's side.
    #[must_use]
    pub fn white_score(&self, turn: Color) -> Score {
        if turn.is_white() {
            self.score
        } else {
            -self.score
        }
    }
}

/// A game with what the search found: one more position than moves.
#[derive(Clone, Debug)]
pub struct GameAnalysis {
    pub positions: Vec<Position>,
    pub moves: Vec<Move>,
    pub assessments: Vec<Assessment>,
    pub verdicts: Vec<Verdict>,
    /// White's and Black's figures; `None` for a player without a move.
    pub players: [Option<Quality>; 2],
}

impl GameAnalysis {
    /// The tablebases' result of a position from White's side.
    #[must_use]
    pub fn white_tablebase(&self, index: usize) -> Option<Wdl> {
        self.assessments[index].white_tablebase(self.positions[index].turn())
    }

    /// The score of a position from White's side.
    #[must_use]
    pub fn white_score(&self, index: usize) -> Score {
        self.assessments[index].white_score(self.positions[index].turn())
    }
}

/// The search of the second-best move gets this part of the nodes and time.
const SECOND_SHARE: u32 = 4;

/// The game after some moves.
fn after(start: &Position, moves: &[Move]) -> Game {
    let mut game = Game::from(start.clone());
    for &m in moves {
        game.play(m);
    }
    game
}

/// Searches the positions of a game. The hash table is emptied first and then kept from position
/// to position: the same game gives the same analysis under limits of nodes or depth.
///
/// # Errors
/// If the engine cannot search.
pub fn analyse(
    engine: &mut Engine,
    start: &Position,
    moves: &[Move],
    method: &Method,
    mut on_position: impl FnMut(),
) -> Result<GameAnalysis, EngineError> {
    engine.new_game()?;
    let mut positions = vec![start.clone()];
    for &m in moves {
        positions.push(positions[positions.len() - 1].play(m));
    }
    let mut assessments = vec![None; positions.len()];
    let forward = 0..positions.len();
    let order: Vec<usize> = if method.backward {
        forward.rev().collect()
    } else {
        forward.collect()
    };
    for index in order {
        // Made anew each time: to keep them all takes memory that grows with the square of their
        // number, and games may be long.
        let game = after(start, &moves[..index]);
        assessments[index] = Some(assess(engine, &game, method)?);
        on_position();
    }
    let assessments: Vec<Assessment> = assessments.into_iter().flatten().collect();
    let verdicts = (0..moves.len())
        .map(|ply| {
            let (before, after) = (&assessments[ply], &assessments[ply + 1]);
            let evidence = Evidence {
                before: before.score,
                after: -after.score,
                second: before.second,
                played_best: before.best() == Some(moves[ply]),
            };
            judge(&evidence, method.curve, &method.thresholds)
        })
        .collect();
    let scores: Vec<Score> = positions
        .iter()
        .zip(&assessments)
        .map(|(position, found)| found.white_score(position.turn()))
        .collect();
    let of = |player| quality(&scores, start.turn(), player, method.curve);
    Ok(GameAnalysis {
        positions,
        moves: moves.to_vec(),
        assessments,
        verdicts,
        players: [of(Color::White), of(Color::Black)],
    })
}

fn assess(engine: &mut Engine, game: &Game, method: &Method) -> Result<Assessment, EngineError> {
    let mut found = search(engine, game, &method.request)?;
    if let Some(best) = found.best()
        && method.only_moves
        && !is_obvious(game, best)
    {
        let mut request = method.request.clone();
        request.exclude_moves = vec![game.position().uci(best)];
        request.nodes = request
            .nodes
            .map(|nodes| (nodes / u64::from(SECOND_SHARE)).max(1));
        request.movetime = request
            .movetime
            .map(|ms| (ms / i64::from(SECOND_SHARE)).max(1));
        found.second = Some(search(engine, game, &request)?.score);
    }
    Ok(found)
}

/// Whether a best move needs no comparison with others: it is the only legal one, or a recapture.
fn is_obvious(game: &Game, best: Move) -> bool {
    let taken_on = game
        .moves()
        .last()
        .filter(|m| m.is_capture())
        .map(|m| m.to());
    game.position().legal_moves().len() == 1 || best.is_capture() && taken_on == Some(best.to())
}

fn search(engine: &mut Engine, game: &Game, request: &Request) -> Result<Assessment, EngineError> {
    let found = engine.analyse(game, request, |_| ControlFlow::Continue(()))?;
    let line = match found.lines.into_iter().next() {
        Some(line) => line.pv,
        None => found.best.into_iter().collect(),
    };
    Ok(Assessment {
        // A search stopped before its first move has no score.
        score: found.score.unwrap_or_else(|| engine.static_eval()),
        depth: found.depth.plies(),
        line,
        second: None,
        tablebase: engine.tablebase_result(game.position()),
    })
}

#[cfg(test)]
impl GameAnalysis {
    /// A game of one move, `played`, which is a fault and misses a win: `better` was the move.
    pub fn with_fault(played: &str, better: &str, fault: super::verdict::Fault) -> GameAnalysis {
        let start = Position::startpos();
        let named = |san: &str| {
            let mut moves = start.legal_moves().into_iter();
            moves.find(|&m| start.san(m) == san).expect("a legal move")
        };
        let assessment = |line: Vec<Move>| Assessment {
            score: Score::DRAW,
            depth: 1,
            line,
            second: None,
            tablebase: None,
        };
        let (played, better) = (named(played), named(better));
        GameAnalysis {
            assessments: vec![assessment(vec![better]), assessment(Vec::new())],
            moves: vec![played],
            verdicts: vec![Verdict {
                fault: Some(fault),
                missed_win: true,
                ..Verdict::default()
            }],
            players: [None; 2],
            positions: vec![start.clone(), start.play(played)],
        }
    }
}
