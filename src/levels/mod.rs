//! Playing below full strength.
//!
//! A level searches fewer nodes with a weaker evaluation and reproducible errors of it
//! ([`Misjudgement`]), prefers moves that people find natural (`natural`), and waits before it
//! moves ([`Level::thinking_time`]). It always sees a mate in one, for and against itself. Once the
//! opponent has only the king it evaluates without errors, but for evaluations that the hash table
//! keeps from earlier moves.

mod natural;

use std::time::Duration;

use crate::board::Position;
use crate::eval::Misjudgement;
use crate::time::TimeBounds;
use crate::types::{Move, Score};

/// The range of the option `UCI_Elo` and its default.
pub const ELO_MIN: i32 = 500;
pub const ELO_MAX: i32 = 3000;
pub const ELO_DEFAULT: i32 = 1500;
/// The range of `Skill Level`; the highest is full strength.
pub const SKILL_MAX: i32 = 20;

/// Rating of skill level 0, and what each skill level adds.
const SKILL_BASE: i32 = ELO_MIN;
const SKILL_STEP: i32 = 125;

/// Nodes with which a level plays against a bare king, at least: enough to mate with K+R.
const NODES_TO_MATE: u64 = 20_000;
/// How many root moves a level compares.
const LINES: usize = 4;

/// What a rating means for the search.
#[derive(Clone, Copy, Debug, PartialEq)]
struct LevelRow {
    elo: i32,
    nodes: u64,
    /// Standard deviation of the errors of judgement, in centipawns.
    spread: i32,
    /// Share of plain material in the evaluation, in 256ths.
    plainness: i32,
    /// How much more a natural move may lose than an unnatural one, in centipawns.
    natural: i32,
}

/// A strength below full.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Level {
    row: LevelRow,
}

/// How a level searches one position.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    pub nodes: u64,
    /// How many of the best moves need a score for [`Level::choose`].
    pub lines: usize,
    /// `None` where the level evaluates without errors.
    pub misjudgement: Option<Misjudgement>,
    /// The moves to search; never empty if there is a legal move.
    pub moves: Vec<Move>,
}

impl Level {
    /// The level of a rating, which is brought into range.
    #[must_use]
    pub fn from_elo(elo: i32) -> Level {
        let elo = elo.clamp(ELO_MIN, ELO_MAX);
        let upper = CURVE
            .iter()
            .position(|row| row.elo >= elo)
            .unwrap_or(CURVE.len() - 1)
            .max(1);
        Level {
            row: between(&CURVE[upper - 1], &CURVE[upper], elo),
        }
    }

    /// The level of a skill from 0 to 20 on the same scale; `None` is full strength.
    #[must_use]
    pub fn from_skill(skill: i32) -> Option<Level> {
        (skill < SKILL_MAX).then(|| Level::from_elo(SKILL_BASE + SKILL_STEP * skill.max(0)))
    }

    /// How to search a position, among `moves`. `seed` identifies the game.
    #[must_use]
    pub fn plan(self, position: &Position, moves: &[Move], seed: u64) -> Plan {
        let sound = Plan {
            nodes: self.row.nodes.max(NODES_TO_MATE),
            lines: 1,
            misjudgement: None,
            moves: moves.to_vec(),
        };
        if let Some(&mate) = moves.iter().find(|&&m| is_mate(&position.play(m))) {
            return Plan {
                moves: vec![mate],
                ..sound
            };
        }
        if has_bare_king(position) {
            return sound;
        }
        Plan {
            nodes: self.row.nodes,
            lines: LINES,
            misjudgement: Some(Misjudgement {
                seed,
                spread: self.row.spread,
                plainness: self.row.plainness,
            }),
            moves: without_mate_in_one(position, moves),
        }
    }

    /// The move to play among those whose scores the search found, best first: a natural one if
    /// it loses little against the best. Proven results are not given up. `past` holds the moves of
    /// the game so far. `None` without lines.
    #[must_use]
    pub fn choose(
        self,
        position: &Position,
        past: &[Move],
        lines: &[(Move, Score)],
    ) -> Option<Move> {
        let &(best, best_score) = lines.first()?;
        if best_score.is_decisive() {
            return Some(best);
        }
        let worth = |&(m, score): &(Move, Score)| {
            score.raw() + natural::bonus(position, past, m) * self.row.natural / natural::FULL
        };
        let sound = lines.iter().filter(|(_, score)| !score.is_decisive());
        // The first of equals: it is the better one.
        let mut chosen = (best, best_score);
        for line in sound {
            if worth(line) > worth(&chosen) {
                chosen = *line;
            }
        }
        Some(chosen.0)
    }

    /// How long to think before the move is played: a part of what full strength would use,
    /// varying from position to position; short where the move is forced. The search itself is
    /// over much sooner. `None` without a clock.
    #[must_use]
    pub fn thinking_time(
        self,
        bounds: Option<TimeBounds>,
        choices: usize,
        position: &Position,
    ) -> Option<Duration> {
        /// No move takes longer: the client's user waits.
        const LONGEST: Duration = Duration::from_secs(8);
        /// Shares of the soft bound, in percent: of a forced move, and the least and the range of
        /// all others.
        const FORCED: u32 = 5;
        const LEAST: u32 = 20;
        const RANGE: u32 = 70;
        let soft = bounds?.soft;
        let percent = if choices <= 1 {
            FORCED
        } else {
            LEAST + (position.key() % u64::from(RANGE)) as u32
        };
        Some((soft * percent / 100).min(LONGEST))
    }
}

/// The row of a rating between two rows: nodes grow exponentially, all else linearly.
fn between(lower: &LevelRow, upper: &LevelRow, elo: i32) -> LevelRow {
    let whole = f64::from(upper.elo - lower.elo);
    let share = (f64::from(elo - lower.elo) / whole).clamp(0.0, 1.0);
    let linear = |from: i32, to: i32| from + (f64::from(to - from) * share).round() as i32;
    let growth = upper.nodes as f64 / lower.nodes as f64;
    LevelRow {
        elo,
        nodes: (lower.nodes as f64 * growth.powf(share)).round() as u64,
        spread: linear(lower.spread, upper.spread),
        plainness: linear(lower.plainness, upper.plainness),
        natural: linear(lower.natural, upper.natural),
    }
}

fn is_mate(position: &Position) -> bool {
    position.in_check() && !position.has_legal_move()
}

/// The side that is not to move has its king only.
fn has_bare_king(position: &Position) -> bool {
    let them = position.board().by_color(!position.turn());
    them.count() == 1
}

/// The moves that do not let the opponent mate at once; all of them if each does.
fn without_mate_in_one(position: &Position, moves: &[Move]) -> Vec<Move> {
    let lets_mate = |m: &Move| {
        let child = position.play(*m);
        let replies = child.legal_moves();
        replies.iter().any(|&reply| is_mate(&child.play(reply)))
    };
    let safe: Vec<Move> = moves.iter().filter(|m| !lets_mate(m)).copied().collect();
    if safe.is_empty() {
        moves.to_vec()
    } else {
        safe
    }
}

const fn row(elo: i32, nodes: u64, spread: i32, plainness: i32, natural: i32) -> LevelRow {
    LevelRow {
        elo,
        nodes,
        spread,
        plainness,
        natural,
    }
}

/// Ratings and what they mean, weakest first. Calibrated by matches: see the book's page on
/// levels for the scale, the games and the errors.
const CURVE: &[LevelRow] = &[
    row(500, 5, 900, 256, 60),
    row(750, 22, 425, 226, 58),
    row(1000, 82, 254, 168, 54),
    row(1250, 196, 183, 123, 47),
    row(1500, 420, 139, 90, 38),
    row(1750, 770, 111, 68, 30),
    row(2000, 1_180, 96, 56, 26),
    row(2250, 1_690, 82, 46, 23),
    row(2500, 2_420, 70, 37, 20),
    row(2750, 7_000, 38, 12, 12),
    row(3000, 30_000, 12, 1, 5),
];

#[cfg(test)]
mod tests;
