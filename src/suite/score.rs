//! The result of searching a problem, and the totals of a suite.

use std::time::Duration;

use super::problem::Problem;
use crate::types::{Depth, Move, Score};

/// When a solution was found for good: no later iteration changed it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Found {
    pub time: Duration,
    pub nodes: u64,
    pub depth: Depth,
}

/// One search of one problem.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attempt {
    pub solved: bool,
    /// The move chosen; `None` where the position has none.
    pub played: Option<Move>,
    /// From the side to move; `None` if the search was stopped before it had one.
    pub score: Option<Score>,
    pub depth: Depth,
    pub nodes: u64,
    pub time: Duration,
    /// When the solution was found, if it was kept to the end.
    pub found: Option<Found>,
    /// Points earned, where the problem gives points.
    pub points: u32,
}

/// The sums over a suite.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct SuiteSummary {
    pub problems: usize,
    pub solved: usize,
    /// Points earned and points that could be earned; both 0 in a suite without points.
    pub points: u64,
    pub points_possible: u64,
    pub nodes: u64,
    /// Time of all searches together, as if they had run one after another.
    pub search_time: Duration,
    /// Times to solution of the solved problems.
    times: Vec<Duration>,
}

impl SuiteSummary {
    /// Adds an attempt.
    pub fn add(&mut self, problem: &Problem, attempt: &Attempt) {
        self.problems += 1;
        self.solved += usize::from(attempt.solved);
        self.points += u64::from(attempt.points);
        self.points_possible += u64::from(problem.points_possible());
        self.nodes += attempt.nodes;
        self.search_time += attempt.time;
        self.times
            .extend(attempt.found.iter().map(|found| found.time));
    }

    /// The solved share, in percent; 0 for an empty suite.
    #[must_use]
    pub fn percent(&self) -> f64 {
        const WHOLE: f64 = 100.0;
        WHOLE * self.solved as f64 / self.problems.max(1) as f64
    }

    /// The median time to solution over the solved problems.
    #[must_use]
    pub fn median_time(&self) -> Option<Duration> {
        median(self.times.clone())
    }
}

/// The middle value, or the mean of the two middle ones.
#[must_use]
pub fn median(mut times: Vec<Duration>) -> Option<Duration> {
    times.sort_unstable();
    let upper = *times.get(times.len() / 2)?;
    if times.len() % 2 == 1 {
        return Some(upper);
    }
    let lower = times[times.len() / 2 - 1];
    Some((lower + upper) / 2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Epd;
    use crate::types::CastlingMode;

    #[test]
    fn points_are_summed_without_overflow() {
        let start = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq -";
        let line = format!("{start} bm e4; c0 \"e4=4294967295\";");
        let epd = Epd::parse(&line, CastlingMode::Standard).expect("an EPD");
        let problem = Problem::new(&epd).expect("a problem");
        let attempt = Attempt {
            solved: true,
            played: None,
            score: None,
            depth: Depth::ZERO,
            nodes: 0,
            time: Duration::ZERO,
            found: None,
            points: u32::MAX,
        };
        let mut summary = SuiteSummary::default();
        summary.add(&problem, &attempt);
        summary.add(&problem, &attempt);
        assert_eq!(summary.points, 2 * u64::from(u32::MAX));
        assert_eq!(summary.points_possible, 2 * u64::from(u32::MAX));
    }

    #[test]
    fn medians() {
        let ms = |list: &[u64]| median(list.iter().map(|&ms| Duration::from_millis(ms)).collect());
        assert_eq!(ms(&[]), None);
        assert_eq!(ms(&[7]), Some(Duration::from_millis(7)));
        assert_eq!(ms(&[9, 1, 5]), Some(Duration::from_millis(5)));
        assert_eq!(ms(&[9, 1, 5, 7]), Some(Duration::from_millis(6)));
    }
}
