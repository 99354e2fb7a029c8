//! Every algorithm: its name, and how to run it on a tree.

use std::time::{Duration, Instant};

use clap::ValueEnum;
use serde::Serialize;

use super::alphabeta::{alpha_beta, fail_hard, fail_soft};
use super::aspiration::aspiration;
use super::game::{GameTree, NodeValue};
use super::kinds::KindCounts;
use super::memory::{Memory, with_memory};
use super::minimax::minimax;
use super::mtdf::mtdf;
use super::negamax::negamax;
use super::negascout::negascout;
use super::order::{Hints, MoveOrdering, OrderedMove};
use super::pvs::pvs;
use super::sss::sss_star;
use super::trace::Trace;
use super::walk::{TimeUp, TreeNode, Walk, WorkCounts};
use super::window::{Criterion, ValueWindow};
use super::with_bound::with_bound;

/// Half the width of the first aspiration window.
pub const ASPIRATION_MARGIN: NodeValue = 25;

/// An algorithm of the laboratory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, ValueEnum, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Algorithm {
    /// Two functions that call each other; every node is visited
    Minimax,
    /// Minimax in one function
    Negamax,
    /// Alpha-beta as two functions
    AlphaBeta,
    /// Negamax alpha-beta whose answer stays in the window
    FailHard,
    /// Negamax alpha-beta whose answer is the best value seen
    FailSoft,
    /// Fail-soft, cutting off only above beta
    FailSoftAbove,
    /// Fail-soft that also returns whether its value is exact or a bound
    WithBound,
    /// Fail-soft with a table of bounds
    WithMemory,
    /// Principal variation search
    Pvs,
    /// NegaScout
    #[value(name = "negascout")]
    #[serde(rename = "negascout")]
    NegaScout,
    /// A narrow window around a guess, then wider ones
    Aspiration,
    /// One yes-no question after another, with a table
    #[value(name = "mtdf")]
    #[serde(rename = "mtdf")]
    MtdF,
    /// Stockman's best-first search
    SssStar,
    /// The same from the opponent's side
    DualSss,
}

impl Algorithm {
    /// Every algorithm, the plainest first.
    #[must_use]
    pub fn every() -> &'static [Algorithm] {
        Algorithm::value_variants()
    }

    /// The name used in tables.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Algorithm::Minimax => "minimax",
            Algorithm::Negamax => "negamax",
            Algorithm::AlphaBeta => "alpha-beta",
            Algorithm::FailHard => "fail-hard",
            Algorithm::FailSoft => "fail-soft",
            Algorithm::FailSoftAbove => "fail-soft (>)",
            Algorithm::WithBound => "value and bound",
            Algorithm::WithMemory => "with memory",
            Algorithm::Pvs => "PVS",
            Algorithm::NegaScout => "NegaScout",
            Algorithm::Aspiration => "aspiration",
            Algorithm::MtdF => "MTD(f)",
            Algorithm::SssStar => "SSS*",
            Algorithm::DualSss => "dual SSS*",
        }
    }

    /// Whether the algorithm visits every node of the tree.
    #[must_use]
    pub const fn is_exhaustive(self) -> bool {
        matches!(self, Algorithm::Minimax | Algorithm::Negamax)
    }

    /// Whether nodes have windows worth showing.
    #[must_use]
    pub const fn has_windows(self) -> bool {
        !self.is_exhaustive() && !self.is_best_first()
    }

    /// Whether the algorithm takes a window for the root. Of the others, aspiration and MTD(f)
    /// choose their own and the rest have none.
    #[must_use]
    pub const fn takes_window(self) -> bool {
        self.has_windows() && !matches!(self, Algorithm::Aspiration | Algorithm::MtdF)
    }

    /// Whether hints change the order of moves; best-first search has an order of its own.
    #[must_use]
    pub const fn takes_hints(self) -> bool {
        !self.is_best_first()
    }

    /// Whether the algorithm is best-first instead of depth-first.
    #[must_use]
    pub const fn is_best_first(self) -> bool {
        matches!(self, Algorithm::SssStar | Algorithm::DualSss)
    }

    /// What counts as a cutoff.
    #[must_use]
    pub const fn criterion(self) -> Criterion {
        match self {
            Algorithm::FailSoftAbove => Criterion::Above,
            _ => Criterion::AtLeast,
        }
    }

    /// Runs on one node with the full window (or around `guess`, for the two that need one) and
    /// returns the value for the side to move.
    ///
    /// # Errors
    /// [`TimeUp`] when the time is up.
    pub fn run<G: GameTree>(
        self,
        walk: &mut Walk<G>,
        root: &TreeNode<G::Position>,
        guess: NodeValue,
    ) -> Result<NodeValue, TimeUp> {
        walk.criterion = self.criterion();
        match self {
            Algorithm::Minimax => minimax(walk, root).map(|value| root.side.view(value)),
            Algorithm::Negamax => negamax(walk, root),
            Algorithm::AlphaBeta => {
                alpha_beta(walk, root, ValueWindow::FULL).map(|value| root.side.view(value))
            }
            Algorithm::FailHard => fail_hard(walk, root, ValueWindow::FULL),
            Algorithm::FailSoft | Algorithm::FailSoftAbove => {
                fail_soft(walk, root, ValueWindow::FULL, self.criterion())
            }
            Algorithm::WithBound => {
                with_bound(walk, root, ValueWindow::FULL).map(|(value, _)| value)
            }
            Algorithm::WithMemory => {
                with_memory(walk, root, ValueWindow::FULL, &mut Memory::default())
            }
            Algorithm::Pvs => pvs(walk, root, ValueWindow::FULL),
            Algorithm::NegaScout => negascout(walk, root, ValueWindow::FULL),
            Algorithm::Aspiration => aspiration(walk, root, guess, ASPIRATION_MARGIN),
            Algorithm::MtdF => mtdf(walk, root, guess, &mut Memory::default()),
            Algorithm::SssStar => sss_star(walk, root, false),
            Algorithm::DualSss => sss_star(walk, root, true),
        }
    }

    /// Runs inside a given window, for the algorithms that take one; the others run with the full
    /// window.
    ///
    /// # Errors
    /// [`TimeUp`] when the time is up.
    pub fn run_in_window<G: GameTree>(
        self,
        walk: &mut Walk<G>,
        root: &TreeNode<G::Position>,
        window: ValueWindow,
    ) -> Result<NodeValue, TimeUp> {
        walk.criterion = self.criterion();
        match self {
            Algorithm::AlphaBeta => {
                // Max's window, whoever is to move.
                let view = if root.side.view(1) == 1 {
                    window
                } else {
                    -window
                };
                alpha_beta(walk, root, view).map(|value| root.side.view(value))
            }
            Algorithm::FailHard => fail_hard(walk, root, window),
            Algorithm::FailSoft | Algorithm::FailSoftAbove => {
                fail_soft(walk, root, window, self.criterion())
            }
            Algorithm::WithBound => with_bound(walk, root, window).map(|(value, _)| value),
            Algorithm::WithMemory => with_memory(walk, root, window, &mut Memory::default()),
            Algorithm::Pvs => pvs(walk, root, window),
            Algorithm::NegaScout => negascout(walk, root, window),
            _ => self.run(walk, root, window.alpha),
        }
    }
}

/// What one search found and what it cost.
#[derive(Clone, Debug)]
pub struct Solved<M> {
    /// The value for the side to move at the root.
    pub value: NodeValue,
    /// The best move; `None` if the root is a leaf.
    pub best: Option<OrderedMove<M>>,
    pub counts: WorkCounts,
    pub kinds: KindCounts,
    pub time: Duration,
    /// The steps, if they were asked for.
    pub trace: Option<Trace>,
}

/// How to run an algorithm once, without iterative deepening.
#[derive(Clone, Copy, Debug, Default)]
pub struct SolveOptions {
    /// Plies to look ahead.
    pub depth: u32,
    /// The root window; `None` is the full one.
    pub window: Option<ValueWindow>,
    /// Whether to record every step.
    pub trace: bool,
}

/// Runs `algorithm` once on `game`, without hints or a time limit. The first guess of the
/// algorithms that need one is the root's own leaf value.
pub fn solve<G: GameTree>(game: &G, algorithm: Algorithm, task: SolveOptions) -> Solved<G::Move> {
    let mut walk = Walk::new(game, MoveOrdering::new(Hints::default()));
    walk.trace = task.trace.then(Trace::default);
    let root = walk.root(task.depth);
    let guess = root.side.view(game.value(&root.position));
    let start = Instant::now();
    let value = match task.window {
        None => algorithm.run(&mut walk, &root, guess),
        Some(window) => algorithm.run_in_window(&mut walk, &root, window),
    };
    // Without a deadline nothing stops a search.
    let value = value.unwrap_or_default();
    Solved {
        value,
        best: walk.best(),
        counts: walk.counts,
        kinds: walk.kinds,
        time: start.elapsed(),
        trace: walk.trace,
    }
}
