//! How long to think: pure functions from a chess clock to two bounds.
//!
//! The *soft* bound is checked between iterations, scaled by [`BestMoveStability`]: past it no new
//! iteration begins. The *hard* bound is checked inside the tree: past it the search stops at once.
//! All clock arithmetic is in milliseconds and signed, because clients do send negative clocks to
//! an engine that is already too late.

use std::time::Duration;

use crate::params as p;
use crate::types::{Move, Score};

/// The reserve on the clock, as a multiple of the overhead of one move: on a busy machine some
/// moves lose it several times over, and a clock that lasts by its increment only has no more.
/// With half as many, 43 of 235 games at 0.2+0.002 were lost on time on a machine with ten busy
/// processes a core.
const OVERHEADS_KEPT: i64 = 10;
/// A clock shorter than the reserve still has to yield a move, but no more than one of so many
/// parts of it is used: with half of it, a clock of 0.2 s and 2 ms a move settled at 30 ms, and a busy
/// machine takes that much away at once.
const RESERVE_PARTS: i64 = 8;
/// The moves that a sudden-death clock is divided over at the start of a game, and the fewest
/// that it is ever divided over. Games that have lasted long tend to end sooner.
const MOVES_LEFT_AT_START: f64 = 26.0;
const MOVES_LEFT_AT_LEAST: f64 = 15.0;
/// Plies after which the lower number is reached.
const PLIES_TO_SETTLE: f64 = 120.0;
/// The share of the increment that a move may use on top of its share of the clock.
const INCREMENT_SHARE: f64 = 0.7;
/// With `movestogo`, no more moves than this are planned for.
const MOST_MOVES_TO_GO: u32 = 40;
/// The hard bound as a multiple of the soft one.
const HARD_OVER_SOFT: f64 = 5.0;
/// No move may use more than this share of the clock, unless it is the last before the control.
const HARD_SHARE: f64 = 0.65;
/// Unless one move is left before the control, no soft bound beyond this share of the clock.
const SOFT_SHARE: f64 = 0.45;
/// With one move to go before the control, nearly all the time may go: the next control is near.
const LAST_MOVE_SHARE: f64 = 0.85;
/// The shortest time for a move, whatever the clock: enough for a few iterations. A millisecond
/// would be half of an increment of two.
const SHORTEST: Duration = Duration::from_micros(200);

/// When a search ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TimeBounds {
    /// Begin no new iteration after this long, multiplied by [`BestMoveStability::factor`].
    pub soft: Duration,
    /// Stop searching after this long.
    pub hard: Duration,
    /// The time was named (`movetime`): all of it but the overhead is used, whatever is found. It
    /// then counts from `ponderhit` if the search began as a ponder search.
    pub fixed: bool,
}

/// The side to move's clock as `go` described it, in milliseconds. Negative numbers are accepted
/// and mean that the flag has fallen in the client's view: the shortest thinking time.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Clock {
    /// Time left (`wtime` or `btime`).
    pub remaining: Option<i64>,
    /// Time added after each move (`winc` or `binc`).
    pub increment: i64,
    /// Moves until the next time control (`movestogo`); `None` is sudden death.
    pub moves_to_go: Option<u32>,
    /// Exactly this long for the move (`movetime`).
    pub movetime: Option<i64>,
}

/// The bounds for one move, or `None` if the clock does not limit it.
///
/// `overhead_ms` is lost between the client's clock and ours on every move; `ply` is the number
/// of half-moves played in the game. `movetime` and a clock together obey both.
#[must_use]
pub fn bounds(clock: &Clock, overhead_ms: u64, ply: u32) -> Option<TimeBounds> {
    let overhead = i64::try_from(overhead_ms).unwrap_or(i64::MAX);
    let fixed = clock
        .movetime
        .map(|ms| millis(ms.saturating_sub(overhead.min(ms / 2))));
    let shared = clock
        .remaining
        .map(|remaining| share(remaining, clock, overhead, ply));
    match (shared, fixed) {
        (None, None) => None,
        (None, Some(time)) => Some(TimeBounds {
            soft: time,
            hard: time,
            fixed: true,
        }),
        (Some(bounds), None) => Some(bounds),
        (Some(bounds), Some(time)) if time <= bounds.soft => Some(TimeBounds {
            soft: time,
            hard: time,
            fixed: true,
        }),
        (Some(bounds), Some(time)) => Some(TimeBounds {
            hard: bounds.hard.min(time),
            ..bounds
        }),
    }
}

/// This move's share of a running clock.
fn share(remaining: i64, clock: &Clock, overhead: i64, ply: u32) -> TimeBounds {
    let kept = overhead.saturating_mul(OVERHEADS_KEPT);
    let usable = remaining
        .saturating_sub(kept)
        .max(remaining / RESERVE_PARTS)
        .max(0) as f64;
    let increment = clock.increment.max(0) as f64;
    let (soft, soft_share, hard_share) = match clock.moves_to_go {
        Some(1) => (usable, LAST_MOVE_SHARE, LAST_MOVE_SHARE),
        Some(moves) => {
            let moves = f64::from(moves.clamp(1, MOST_MOVES_TO_GO));
            (
                usable / moves + INCREMENT_SHARE * increment,
                SOFT_SHARE,
                HARD_SHARE,
            )
        }
        None => {
            let settled = (f64::from(ply) / PLIES_TO_SETTLE).min(1.0);
            let moves = MOVES_LEFT_AT_START - (MOVES_LEFT_AT_START - MOVES_LEFT_AT_LEAST) * settled;
            (
                usable / moves + INCREMENT_SHARE * increment,
                SOFT_SHARE,
                HARD_SHARE,
            )
        }
    };
    let soft = soft.min(soft_share * usable);
    let hard = (HARD_OVER_SOFT * soft).min(hard_share * usable);
    TimeBounds {
        soft: duration(soft),
        hard: duration(hard),
        fixed: false,
    }
}

fn duration(ms: f64) -> Duration {
    Duration::from_secs_f64(ms.max(0.0) / 1000.0).max(SHORTEST)
}

fn millis(ms: i64) -> Duration {
    Duration::from_millis(u64::try_from(ms).unwrap_or(0)).max(SHORTEST)
}

/// Iterations after which the best move's stability counts no more.
const MOST_STABLE: i32 = 8;
/// What the mean of the scores before counts in the running mean, where a new score counts once.
const MEAN_WEIGHT: i32 = 3;
/// Centipawns below the mean score at which a drop counts in full.
const FULL_DROP: i32 = 60;
/// A rise beyond this, in centipawns, counts no more.
const FULL_RISE: i32 = FULL_DROP / 2;
/// The parameters of the factor are percentages.
const PERCENT: f64 = 100.0;

/// How clear the choice of the best move has been, from one iteration to the next.
#[derive(Clone, Copy, Debug, Default)]
pub struct BestMoveStability {
    best: Option<Move>,
    /// Iterations for which the best move has stayed the same.
    unchanged: i32,
    /// A running mean of the iterations' scores.
    mean: Option<Score>,
}

impl BestMoveStability {
    /// Takes the result of an iteration.
    pub fn note(&mut self, best: Move, score: Score) {
        if self.best == Some(best) {
            self.unchanged = (self.unchanged + 1).min(MOST_STABLE);
        } else {
            self.best = Some(best);
            self.unchanged = 0;
        }
        self.mean = Some(match self.mean {
            Some(mean) if !score.is_decisive() => {
                Score::from_raw((MEAN_WEIGHT * mean.raw() + score.raw()) / (MEAN_WEIGHT + 1))
            }
            Some(mean) => mean,
            None => score,
        });
    }

    /// What the soft bound is multiplied by, never negative: less than 1 where the best move is clear. `effort`
    /// is the share of all nodes that went into it, 0 to 1, and `score` its latest score.
    #[must_use]
    pub fn factor(&self, effort: f64, score: Score) -> f64 {
        if !p::use_time_scaling() {
            return 1.0;
        }
        let percent = |parameter: i32| f64::from(parameter) / PERCENT;
        let nodes = percent(p::time_node_base()) - percent(p::time_node_slope()) * effort;
        let stability =
            percent(p::time_stability_base() - p::time_stability_step() * self.unchanged);
        let drop = self
            .mean
            .map_or(0, |mean| (mean - score).clamp(-FULL_RISE, FULL_DROP));
        let falling = 1.0 + percent(p::time_drop() * drop) / f64::from(FULL_DROP);
        // With tuned parameters the first factor may be negative.
        (nodes * stability * falling).max(0.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;

    #[test]
    fn a_stable_best_move_takes_less_time_and_a_falling_score_more() {
        let moves = Position::startpos().legal_moves();
        let (score, effort) = (Score::cp(20), 0.5);
        let mut stability = BestMoveStability::default();
        stability.note(moves[0], score);
        let mut last = stability.factor(effort, score);
        for _ in 0..MOST_STABLE {
            stability.note(moves[0], score);
            assert!(stability.factor(effort, score) < last);
            last = stability.factor(effort, score);
        }
        stability.note(moves[0], score);
        assert!(
            stability.factor(effort, score) >= last,
            "stability counts no further"
        );
        assert!(
            stability.factor(0.9, score) < last,
            "all nodes in the best move"
        );
        assert!(stability.factor(effort, score - 100) > last, "a drop");
        assert!(stability.factor(effort, score + 100) < last, "a rise");
        stability.note(moves[1], score);
        assert!(stability.factor(effort, score) > last, "another best move");
    }

    #[test]
    fn the_factor_stays_positive_and_moderate() {
        let moves = Position::startpos().legal_moves();
        let mut stability = BestMoveStability::default();
        for round in 0..40 {
            stability.note(moves[round / 10 % 2], Score::cp(-50 * round as i32));
            for effort in [0.0, 0.5, 1.0] {
                for score in [-3000, 0, 3000] {
                    let factor = stability.factor(effort, Score::cp(score));
                    assert!((0.1..=5.0).contains(&factor), "{factor}");
                }
            }
        }
    }

    fn clock(remaining: i64, increment: i64) -> Clock {
        Clock {
            remaining: Some(remaining),
            increment,
            ..Clock::default()
        }
    }

    #[test]
    fn without_a_clock_there_is_no_bound() {
        assert_eq!(bounds(&Clock::default(), 10, 0), None);
        let only_increment = Clock {
            increment: 1000,
            ..Clock::default()
        };
        assert_eq!(bounds(&only_increment, 10, 0), None);
    }

    #[test]
    fn bounds_are_ordered_and_leave_time_on_the_clock() {
        for remaining in [1, 2, 5, 10, 50, 100, 500, 1000, 60_000, 3_600_000, 1 << 40] {
            for increment in [0, 1, 5, 100, 10_000, 1 << 40] {
                for moves_to_go in [None, Some(1), Some(2), Some(40), Some(u32::MAX)] {
                    for overhead in [0, 10, 100, 5000] {
                        for ply in [0, 40, 400] {
                            let clock = Clock {
                                moves_to_go,
                                ..clock(remaining, increment)
                            };
                            let b = bounds(&clock, overhead, ply).expect("a clock bounds");
                            assert!(b.soft <= b.hard, "{clock:?} {b:?}");
                            assert!(!b.fixed && b.soft >= SHORTEST);
                            let left = Duration::from_millis(remaining as u64);
                            assert!(b.hard <= left, "{clock:?} {b:?}");
                            assert!(b.hard < left || remaining == 1, "{clock:?} {b:?}");
                        }
                    }
                }
            }
        }
    }

    #[test]
    fn the_largest_numbers_are_bounds_too() {
        let b = bounds(&clock(i64::MAX, i64::MAX), u64::MAX, 0).expect("a clock bounds");
        assert!(b.soft <= b.hard && b.hard < Duration::from_millis(i64::MAX as u64));
        let b = bounds(&clock(i64::MAX, i64::MAX), 0, 0).expect("a clock bounds");
        assert!(b.soft <= b.hard && b.hard < Duration::from_millis(i64::MAX as u64));
    }

    #[test]
    fn late_and_empty_clocks_still_get_a_moment() {
        for remaining in [0, -1, -5000, i64::MIN] {
            let b = bounds(&clock(remaining, 0), 10, 30).expect("a clock bounds");
            assert_eq!((b.soft, b.hard), (SHORTEST, SHORTEST));
        }
        let b = bounds(&clock(-50, -3), 10, 30).expect("a clock bounds");
        assert_eq!(b.hard, SHORTEST);
    }

    #[test]
    fn movetime_is_used_whole_less_the_overhead() {
        let clock = Clock {
            movetime: Some(1000),
            ..Clock::default()
        };
        let b = bounds(&clock, 10, 0).expect("movetime bounds");
        assert_eq!(b.soft, Duration::from_millis(990));
        assert_eq!(b.hard, b.soft);
        assert!(b.fixed);
        let millisecond = Duration::from_millis(1);
        for (movetime, time) in [(0, SHORTEST), (1, millisecond), (-7, SHORTEST)] {
            let clock = Clock {
                movetime: Some(movetime),
                ..Clock::default()
            };
            assert_eq!(bounds(&clock, 10, 0).map(|b| b.hard), Some(time));
        }
    }

    #[test]
    fn movetime_and_clock_obey_both() {
        let both = Clock {
            movetime: Some(10_000),
            ..clock(1_000, 0)
        };
        let b = bounds(&both, 10, 0).expect("bounds");
        assert!(b.hard < Duration::from_secs(1) && !b.fixed);
        let both = Clock {
            movetime: Some(50),
            ..clock(60_000, 0)
        };
        let b = bounds(&both, 10, 0).expect("bounds");
        assert!(b.fixed && b.hard == Duration::from_millis(40));
    }

    /// A clock that is nearly run down and lives on its increment.
    #[test]
    fn a_low_clock_recovers() {
        const OVERHEAD: u64 = 10;
        /// By how much the search stretches the soft bound on an ordinary move.
        const STRETCH: f64 = 1.2;
        let (mut remaining, increment) = (40.0, 20.0);
        for ply in 100..200 {
            let b = bounds(&clock(remaining as i64, increment as i64), OVERHEAD, ply);
            let soft = b.expect("bounds").soft.as_secs_f64() * 1000.0;
            remaining += increment - STRETCH * soft;
        }
        assert!(remaining > 80.0, "{remaining} ms");
    }

    #[test]
    fn later_moves_get_a_larger_share() {
        let clock = clock(60_000, 600);
        let soft = |ply| bounds(&clock, 10, ply).expect("bounds").soft;
        assert!(soft(0) < soft(60) && soft(60) < soft(120) && soft(120) == soft(300));
    }
}
