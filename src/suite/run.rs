//! Searches the problems of a suite, several at once.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread::Builder;

use crossbeam_channel::bounded;

use super::problem::{Goal, Problem};
use super::score::{Attempt, Found};
use crate::board::Game;
use crate::engine::{AnalysisLine, Engine, EngineError, Event, PoolError, Request};
use crate::types::{Move, Score};

/// How to search a suite.
pub struct SuiteSettings {
    /// Problems searched at once, each by one thread with a hash table of its own.
    pub at_once: usize,
    /// Stop a search once its solution has held for this many iterations; 0: never.
    pub hold: u32,
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuiteEnd {
    /// Every problem was searched.
    Complete,
    /// It was interrupted; searches that had not ended were not shown.
    Interrupted,
}

/// Searches all problems and shows each attempt as it ends. Every problem starts from an empty
/// hash table, so that under limits of nodes or depth nothing depends on which thread searches
/// it. Once `interrupted` is true the running searches end, and their attempts count for nothing.
///
/// # Errors
/// If an engine could not be set up.
pub fn run(
    problems: &[Problem],
    settings: &SuiteSettings,
    interrupted: &AtomicBool,
    request: impl Fn(&Problem) -> Request + Sync,
    new_engine: impl Fn() -> Result<Engine, EngineError> + Sync,
    mut on_attempt: impl FnMut(usize, Attempt),
) -> Result<SuiteEnd, EngineError> {
    let queue = ProblemQueue {
        problems,
        next: AtomicUsize::new(0),
    };
    let (attempts, finished) = bounded(settings.at_once);
    std::thread::scope(|scope| {
        for number in 1..=settings.at_once.min(problems.len()) {
            let (attempts, queue) = (attempts.clone(), &queue);
            let (request, new_engine) = (&request, &new_engine);
            let solver = move || {
                let solve = |engine: &mut Engine, problem: &Problem| {
                    let request = request(problem);
                    attempt(engine, problem, &request, settings.hold, interrupted)
                };
                let show = |index, made| attempts.send(Ok((index, made))).is_ok();
                if let Err(error) = work(queue, interrupted, new_engine, solve, show) {
                    let _ = attempts.send(Err(error));
                }
            };
            Builder::new()
                .spawn_scoped(scope, solver)
                .map_err(|error| PoolError::Thread { number, error })?;
        }
        drop(attempts);
        let mut shown = 0;
        // After an error the other threads end when their next attempt finds no receiver.
        for attempt in finished {
            let (index, made) = attempt?;
            on_attempt(index, made);
            shown += 1;
        }
        Ok(if shown == problems.len() {
            SuiteEnd::Complete
        } else {
            SuiteEnd::Interrupted
        })
    })
}

/// The problems that no thread has taken yet.
struct ProblemQueue<'a> {
    problems: &'a [Problem],
    next: AtomicUsize,
}

impl<'a> ProblemQueue<'a> {
    fn take(&self) -> Option<(usize, &'a Problem)> {
        let index = self.next.fetch_add(1, Ordering::Relaxed);
        Some((index, self.problems.get(index)?))
    }
}

/// What one thread does: it solves problem after problem, until there is none, `interrupted` is
/// true, or `show` says that nobody listens.
fn work(
    queue: &ProblemQueue<'_>,
    interrupted: &AtomicBool,
    new_engine: impl Fn() -> Result<Engine, EngineError>,
    solve: impl Fn(&mut Engine, &Problem) -> Result<Attempt, EngineError>,
    show: impl Fn(usize, Attempt) -> bool,
) -> Result<(), EngineError> {
    let mut engine = new_engine()?;
    while let Some((index, problem)) = queue.take() {
        let made = solve(&mut engine, problem)?;
        if interrupted.load(Ordering::Relaxed) || !show(index, made) {
            break;
        }
    }
    Ok(())
}

fn attempt(
    engine: &mut Engine,
    problem: &Problem,
    request: &Request,
    hold: u32,
    interrupted: &AtomicBool,
) -> Result<Attempt, EngineError> {
    engine.new_game()?;
    let mut watch = Watch::new(&problem.goal);
    let game = Game::from(problem.position.clone());
    let analysis = engine.analyse(&game, request, |event| {
        if let Event::Line(line) = event
            && line.info.multi_pv == 1
            && line.info.bound.is_none()
        {
            watch.note(line);
            if hold > 0 && watch.held >= hold {
                return ControlFlow::Break(());
            }
        }
        if interrupted.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        ControlFlow::Continue(())
    })?;
    let solved = problem.goal.is_met(analysis.best, analysis.score);
    let found = watch.found.unwrap_or(Found {
        time: analysis.time,
        nodes: analysis.nodes,
        depth: analysis.depth,
    });
    Ok(Attempt {
        solved,
        played: analysis.best,
        score: analysis.score,
        depth: analysis.depth,
        nodes: analysis.nodes,
        time: analysis.time,
        found: solved.then_some(found),
        points: analysis.best.map_or(0, |m| problem.points_of(m)),
    })
}

/// Reads a search's lines and records since when the goal has been met.
struct Watch<'a> {
    goal: &'a Goal,
    found: Option<Found>,
    /// Iterations for which the goal has been met without a break.
    held: u32,
}

impl Watch<'_> {
    fn new(goal: &Goal) -> Watch<'_> {
        Watch {
            goal,
            found: None,
            held: 0,
        }
    }

    fn note(&mut self, line: &AnalysisLine) {
        self.update(
            line.pv.first().copied(),
            Some(line.info.score),
            Found {
                time: line.info.time,
                nodes: line.info.nodes,
                depth: line.info.depth,
            },
        );
    }

    fn update(&mut self, best: Option<Move>, score: Option<Score>, at: Found) {
        if self.goal.is_met(best, score) {
            self.found.get_or_insert(at);
            self.held += 1;
        } else {
            self.found = None;
            self.held = 0;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    use crate::board::{Epd, Position};
    use crate::types::{CastlingMode, Depth, Ply};

    fn at(depth: i32) -> Found {
        Found {
            time: Duration::from_millis(depth as u64),
            nodes: 1,
            depth: Depth(depth),
        }
    }

    #[test]
    fn a_solution_counts_from_where_it_was_kept() {
        let position = Position::startpos();
        let m = |text| position.parse_uci(text).ok();
        let goal = Goal::Best(m("e2e4").into_iter().collect());
        let mut watch = Watch::new(&goal);
        for (depth, played) in ["e2e4", "d2d4", "e2e4", "e2e4"].into_iter().enumerate() {
            watch.update(m(played), Some(Score::cp(9)), at(depth as i32));
        }
        assert_eq!((watch.found, watch.held), (Some(at(2)), 2));
        watch.update(m("d2d4"), Some(Score::cp(9)), at(4));
        assert_eq!((watch.found, watch.held), (None, 0));
    }

    #[test]
    fn an_interrupted_run_shows_no_unfinished_search() {
        let epd = "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - bm e4;";
        let epd = Epd::parse(epd, CastlingMode::Standard).expect("a position");
        let problems = [Problem::new(&epd).expect("a problem")];
        let settings = SuiteSettings {
            at_once: 1,
            hold: 0,
        };
        for (interrupted, expected) in [
            (true, (SuiteEnd::Interrupted, 0)),
            (false, (SuiteEnd::Complete, 1)),
        ] {
            let mut shown = 0;
            let end = run(
                &problems,
                &settings,
                &AtomicBool::new(interrupted),
                |_| Request::to_depth(2),
                || Ok(Engine::new()),
                |_, _| shown += 1,
            );
            assert_eq!(end.ok().map(|end| (end, shown)), Some(expected));
        }
    }

    #[test]
    fn a_mate_must_be_short_enough() {
        let goal = Goal::Mate(3);
        let m = Position::startpos().parse_uci("e2e4").ok();
        assert!(goal.is_met(m, Some(Score::mate_in(Ply(5)))));
        assert!(!goal.is_met(m, Some(Score::mate_in(Ply(7)))));
        assert!(!goal.is_met(m, Some(Score::mated_in(Ply(4)))));
        assert!(!goal.is_met(m, Some(Score::cp(3000))));
    }
}
