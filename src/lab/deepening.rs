//! Iterative deepening: search to depth 1, then 2, then 3. It looks wasteful, but there is always
//! a move to play when the time runs out, and each iteration tells the next which moves to try
//! first, which more than pays for the shallow searches.

use std::fmt;
use std::time::{Duration, Instant};

use serde::Serialize;

use super::algorithm::{Algorithm, Solved};
use super::game::GameTree;
use super::order::{Hints, MoveOrdering};
use super::walk::{Walk, WorkCounts};

/// When to stop deepening. The first iteration is always finished, whatever the limits.
#[derive(Clone, Copy, Debug)]
pub struct DeepeningLimits {
    /// The deepest iteration.
    pub depth: u32,
    /// Time for all iterations together.
    pub time: Option<Duration>,
}

/// Why deepening ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Ended {
    /// The deepest iteration allowed is finished.
    DepthReached,
    /// The last iteration met no horizon: every line ended with the game, so that a deeper
    /// search would find the same.
    WholeTree,
    /// The time is up; the last finished iteration's result stands.
    Time,
}

impl fmt::Display for Ended {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Ended::DepthReached => "depth reached",
            Ended::WholeTree => "whole tree searched",
            Ended::Time => "out of time",
        })
    }
}

/// The iterations that were finished, at least one, and why there are no more.
#[derive(Clone, Debug)]
pub struct Deepening<M> {
    /// Results by depth, from depth 1.
    pub iterations: Vec<Solved<M>>,
    pub ended: Ended,
}

impl<M> Deepening<M> {
    /// The deepest finished iteration.
    #[must_use]
    pub fn last(&self) -> &Solved<M> {
        self.iterations
            .last()
            .expect("the first iteration is always finished")
    }

    /// The work of all finished iterations together.
    #[must_use]
    pub fn total(&self) -> WorkCounts {
        self.iterations
            .iter()
            .fold(WorkCounts::default(), |sum, solved| WorkCounts {
                interior: sum.interior + solved.counts.interior,
                leaves: sum.leaves + solved.counts.leaves,
                cutoffs: sum.cutoffs + solved.counts.cutoffs,
                first_cutoffs: sum.first_cutoffs + solved.counts.first_cutoffs,
                known: sum.known + solved.counts.known,
            })
    }
}

/// Runs `algorithm` at depth 1, 2, ... until a limit is met or the whole tree is searched. Each
/// iteration's value is the next one's first guess, and its hints order the next one's moves.
///
/// "The whole tree" is only what the algorithm had to look at: lines that were pruned may go on
/// beyond the horizon, but they can't change the value.
pub fn deepen<G: GameTree>(
    game: &G,
    algorithm: Algorithm,
    limits: DeepeningLimits,
    hints: Hints,
) -> Deepening<G::Move> {
    let start = Instant::now();
    let mut walk = Walk::new(game, MoveOrdering::new(hints));
    let mut iterations: Vec<Solved<G::Move>> = Vec::new();
    let mut depth = 1;
    let ended = loop {
        // Depth 1 runs without a clock, so that there is always a move.
        walk.deadline = limits.time.filter(|_| depth > 1).map(|time| start + time);
        walk.counts = WorkCounts::default();
        walk.kinds = Default::default();
        walk.met_horizon = false;
        walk.order.next_iteration();

        let root = walk.root(depth);
        let guess = match iterations.last() {
            Some(solved) => solved.value,
            None => root.side.view(game.value(&root.position)),
        };
        let before = Instant::now();
        let Ok(value) = algorithm.run(&mut walk, &root, guess) else {
            break Ended::Time;
        };
        iterations.push(Solved {
            value,
            best: walk.best(),
            counts: walk.counts.clone(),
            kinds: walk.kinds.clone(),
            time: before.elapsed(),
            trace: None,
        });
        if !walk.met_horizon {
            break Ended::WholeTree;
        }
        if depth >= limits.depth {
            break Ended::DepthReached;
        }
        if limits.time.is_some_and(|time| start.elapsed() >= time) {
            break Ended::Time;
        }
        depth += 1;
    };
    Deepening { iterations, ended }
}
