//! One position of a suite and what solves it.

use thiserror::Error;

use crate::board::{MoveError, Position};
use crate::types::{Move, Score};

/// What a search must come to.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Goal {
    /// One of these moves is chosen (`bm`).
    Best(Vec<Move>),
    /// None of these moves is chosen (`am`).
    Avoid(Vec<Move>),
    /// A mate in at most so many full moves is found (`dm`).
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

    /// The goal as the file has it, its moves in SAN: `bm Qg6 Rd1`.
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
    #[error("no bm, am or dm: nothing says what solves it")]
    NoGoal,
    #[error("{opcode}: {error}")]
    Move { opcode: String, error: MoveError },
    #[error("{opcode} needs a number of at least 1")]
    Number { opcode: String },
}

impl Problem {
    /// Makes a problem of an EPD line's operations; `operands` gives those of an opcode.
    ///
    /// # Errors
    /// If no operation says what solves the position, or one that does is wrong.
    pub fn new<'a>(
        position: Position,
        operands: impl Fn(&str) -> Option<&'a [String]>,
    ) -> Result<Problem, ProblemError> {
        let moves = |opcode: &str| -> Result<Option<Vec<Move>>, ProblemError> {
            let Some(texts) = operands(opcode) else {
                return Ok(None);
            };
            let read: Result<Vec<Move>, MoveError> = texts
                .iter()
                .map(|text| position.parse_move(text.trim_matches(',')))
                .collect();
            let read = read.map_err(|error| ProblemError::Move {
                opcode: opcode.to_owned(),
                error,
            })?;
            Ok(Some(read).filter(|moves| !moves.is_empty()))
        };
        let number = |opcode: &str| -> Result<Option<u32>, ProblemError> {
            let Some(text) = operands(opcode).and_then(<[String]>::first) else {
                return Ok(None);
            };
            match text.parse() {
                Ok(number) if number > 0 => Ok(Some(number)),
                _ => Err(ProblemError::Number {
                    opcode: opcode.to_owned(),
                }),
            }
        };
        let goal = match (moves("bm")?, moves("am")?, number("dm")?) {
            (Some(best), _, _) => Goal::Best(best),
            (None, Some(avoid), _) => Goal::Avoid(avoid),
            (None, None, Some(mate)) => Goal::Mate(mate),
            (None, None, None) => return Err(ProblemError::NoGoal),
        };
        let points = operands("c0")
            .and_then(<[String]>::first)
            .map_or_else(Vec::new, |text| points(&position, text));
        let id = operands("id")
            .map(|words| words.join(" "))
            .unwrap_or_default();
        let depth = number("acd")?.and_then(|depth| i32::try_from(depth).ok());
        Ok(Problem {
            id,
            goal,
            depth,
            points,
            position,
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

    fn problem(operations: &[(&str, &[&str])]) -> Result<Problem, ProblemError> {
        let owned: Vec<(String, Vec<String>)> = operations
            .iter()
            .map(|(opcode, words)| {
                let words = words.iter().map(|&word| word.to_owned()).collect();
                ((*opcode).to_owned(), words)
            })
            .collect();
        Problem::new(Position::startpos(), |wanted| {
            owned
                .iter()
                .find(|(opcode, _)| opcode == wanted)
                .map(|(_, words)| words.as_slice())
        })
    }

    #[test]
    fn the_first_goal_counts() {
        let both = problem(&[("am", &["e4"]), ("bm", &["Nf3", "d4"])]).expect("a problem");
        assert_eq!(both.goal.text(&both.position), "bm Nf3 d4");
        let avoid = problem(&[("am", &["e4"]), ("dm", &["3"])]).expect("a problem");
        assert_eq!(avoid.goal.text(&avoid.position), "am e4");
        let mate = problem(&[("dm", &["3"]), ("id", &["a", "b"])]).expect("a problem");
        assert_eq!((mate.goal, mate.id.as_str()), (Goal::Mate(3), "a b"));
    }

    #[test]
    fn what_is_wrong_is_named() {
        assert_eq!(problem(&[]).unwrap_err(), ProblemError::NoGoal);
        let error = problem(&[("bm", &["Qh5"])]).unwrap_err().to_string();
        assert!(
            error.starts_with("bm: ") && error.contains("Qh5"),
            "{error}"
        );
        assert!(matches!(
            problem(&[("dm", &["soon"])]),
            Err(ProblemError::Number { .. })
        ));
    }

    #[test]
    fn an_own_depth_is_read() {
        let own = problem(&[("bm", &["e4"]), ("acd", &["7"])]).expect("a problem");
        assert_eq!(own.depth, Some(7));
        assert!(problem(&[("bm", &["e4"]), ("acd", &["0"])]).is_err());
    }

    #[test]
    fn comments_may_give_points() {
        let sts = problem(&[("bm", &["e4"]), ("c0", &["e4=10, d4=7"])]).expect("a problem");
        let m = |text| sts.position.parse_uci(text).expect("legal");
        assert_eq!(sts.points_possible(), 10);
        assert_eq!((sts.points_of(m("d2d4")), sts.points_of(m("a2a3"))), (7, 0));
        let plain = problem(&[("bm", &["e4"]), ("c0", &["a comment"])]).expect("a problem");
        assert_eq!(plain.points_possible(), 0);
    }
}
