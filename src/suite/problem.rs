//! One position of a suite and what solves it.

use thiserror::Error;

use crate::board::{Epd, Position};
use crate::types::{Move, Score};

/// What a search must find.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// One of these moves is chosen (`bm`).
    Best(Vec<Move>),
    /// None of these moves is chosen (`am`).
    Avoid(Vec<Move>),
    /// A mate in at most this many full moves is found (`dm`).
    Mate(u32),
}

impl Goal {
    /// Whether a search that chose `best`, with this score for the side to move, met the goal.
    #[must_use]
    pub fn is_met(&self, best: Option<Move>, score: Option<Score>) -> bool {
        match self {
            Goal::Best(moves) => best.is_some_and(|m| moves.contains(&m)),
            Goal::Avoid(moves) => best.is_some_and(|m| !moves.contains(&m)),
            Goal::Mate(most) => score
                .and_then(Score::mate_moves)
                .and_then(|moves| u32::try_from(moves).ok())
                .is_some_and(|moves| moves > 0 && moves <= *most),
        }
    }

    /// The goal as in the file, its moves in SAN: `bm Qg6 Rd1`.
    #[must_use]
    pub fn text(&self, position: &Position) -> String {
        let list = |moves: &[Move]| {
            let san: Vec<String> = moves.iter().map(|&m| position.san(m)).collect();
            san.join(" ")
        };
        match self {
            Goal::Best(moves) => format!("bm {}", list(moves)),
            Goal::Avoid(moves) => format!("am {}", list(moves)),
            Goal::Mate(moves) => format!("dm {moves}"),
        }
    }
}

/// A position to solve.
#[derive(Clone, Debug)]
pub struct Problem {
    /// What `id` calls it; empty if it has none.
    pub id: String,
    pub position: Position,
    pub goal: Goal,
    /// The depth of its analysis (`acd`), for a search without another limit.
    pub depth: Option<i32>,
    /// Moves that earn points.
    points: Vec<(Move, u32)>,
}

/// Why a position cannot be used as a problem.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum ProblemError {
    #[error("no bm, am or dm: nothing says what solves the position")]
    NoGoal,
    #[error("a depth (acd) of {0} is out of range")]
    Depth(u32),
}

impl Problem {
    /// Makes a problem from an EPD line.
    ///
    /// # Errors
    /// If no operation says what solves the position, or its depth is out of range.
    pub fn new(epd: &Epd) -> Result<Problem, ProblemError> {
        let goal = if !epd.best_moves.is_empty() {
            Goal::Best(epd.best_moves.clone())
        } else if !epd.avoid_moves.is_empty() {
            Goal::Avoid(epd.avoid_moves.clone())
        } else {
            Goal::Mate(epd.mate_in.ok_or(ProblemError::NoGoal)?)
        };
        let depth = epd.depth.map(|depth| match i32::try_from(depth) {
            Ok(plies) if plies > 0 => Ok(plies),
            _ => Err(ProblemError::Depth(depth)),
        });
        let points = epd
            .operands("c0")
            .and_then(<[String]>::first)
            .map_or_else(Vec::new, |text| points(&epd.position, text));
        Ok(Problem {
            id: epd.id.clone().unwrap_or_default(),
            position: epd.position.clone(),
            goal,
            depth: depth.transpose()?,
            points,
        })
    }

    /// The points that a move earns: 0 unless the problem gives it some.
    #[must_use]
    pub fn points_of(&self, m: Move) -> u32 {
        self.points
            .iter()
            .find(|(scored, _)| *scored == m)
            .map_or(0, |&(_, points)| points)
    }

    /// The points of the best move.
    #[must_use]
    pub fn points_possible(&self) -> u32 {
        self.points
            .iter()
            .map(|&(_, points)| points)
            .max()
            .unwrap_or(0)
    }
}

/// Reads `Qf4=10, Re2=3`. A comment of any other kind gives no points.
fn points(position: &Position, text: &str) -> Vec<(Move, u32)> {
    let pair = |pair: &str| -> Option<(Move, u32)> {
        let (m, points) = pair.trim().rsplit_once('=')?;
        Some((position.parse_move(m).ok()?, points.parse().ok()?))
    };
    let read: Option<Vec<(Move, u32)>> = text.split(',').map(pair).collect();
    read.unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::CastlingMode;

    fn problem(operations: &str) -> Result<Problem, ProblemError> {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        Problem::new(
            &Epd::parse(&format!("{start} {operations}"), CastlingMode::Standard)
                .expect("an EPD line"),
        )
    }

    #[test]
    fn the_first_goal_counts() {
        let both = problem("am e4; bm Nf3 d4;").expect("a problem");
        assert_eq!(both.goal.text(&both.position), "bm Nf3 d4");
        let avoid = problem("am e4; dm 3;").expect("a problem");
        assert_eq!(avoid.goal.text(&avoid.position), "am e4");
        let mate = problem("dm 3; id \"a b\";").expect("a problem");
        assert_eq!((mate.goal, mate.id.as_str()), (Goal::Mate(3), "a b"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(problem("id \"x\";").unwrap_err(), ProblemError::NoGoal);
        assert_eq!(
            problem("bm e4; acd 0;").unwrap_err(),
            ProblemError::Depth(0)
        );
        assert_eq!(problem("bm e4; acd 7;").expect("a problem").depth, Some(7));
    }

    #[test]
    fn comments_may_give_points() {
        let sts = problem("bm e4; c0 \"e4=10, d4=7\";").expect("a problem");
        let m = |text| sts.position.parse_uci(text).expect("legal");
        assert_eq!(sts.points_possible(), 10);
        assert_eq!((sts.points_of(m("d2d4")), sts.points_of(m("a2a3"))), (7, 0));
        let plain = problem("bm e4; c0 \"a comment\";").expect("a problem");
        assert_eq!(plain.points_possible(), 0);
    }
}
