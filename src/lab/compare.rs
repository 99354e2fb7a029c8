//! Algorithms compared on one tree: the values they find and the work they take.

use serde::Serialize;
use thiserror::Error;

use super::algorithm::{Algorithm, SolveOptions, Solved, solve};
use super::deepening::{DeepeningLimits, deepen};
use super::game::{GameTree, NodeValue, Signed};
use super::minimal::minimal_tree;
use super::order::Hints;
use super::walk::WorkCounts;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Contest {
    pub depth: u32,
    pub algorithms: Vec<Algorithm>,
    /// Deepen iteratively with these hints, counting the work of all iterations; `None` searches
    /// straight to the depth.
    pub deepening: Option<Hints>,
    /// Whether the result holds times, which differ from run to run.
    pub timed: bool,
}

/// One algorithm's line in the table.
#[derive(Clone, Debug, Serialize)]
pub struct CompareRow {
    pub algorithm: Algorithm,
    /// For the side to move at the root.
    pub value: NodeValue,
    pub best: Option<String>,
    #[serde(flatten)]
    pub counts: WorkCounts,
    /// Nodes visited, of the whole tree's; more than 1 when nodes are visited again and again.
    pub share: f64,
    /// The depth-th root of the leaves: the branching of a uniform tree with as many.
    pub effective_branching: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub milliseconds: Option<f64>,
}

impl CompareRow {
    /// The row as text, but for the time.
    fn line(&self) -> String {
        let first = match self.counts.cutoffs {
            0 => "-".to_owned(),
            all => format!(
                "{:.0}%",
                100.0 * self.counts.first_cutoffs as f64 / all as f64
            ),
        };
        format!(
            "{:<16}{:>7} {:<7}{:>10}{:>11}{:>8.2}%{:>10}{first:>7}{:>7.2}{:>8}",
            self.algorithm.name(),
            Signed(self.value),
            self.best.as_deref().unwrap_or("-"),
            self.counts.interior,
            self.counts.leaves,
            100.0 * self.share,
            self.counts.cutoffs,
            self.effective_branching,
            self.counts.known,
        )
    }
}

/// The finished table.
#[derive(Clone, Debug, Serialize)]
pub struct Comparison {
    pub game: String,
    pub depth: u32,
    /// The whole tree, as minimax visits it.
    pub tree: WorkCounts,
    /// Plies from the root to the deepest leaf.
    pub height: u32,
    /// The branching of a uniform tree with as many leaves.
    pub branching: f64,
    /// Leaves of the smallest tree that proves the value; see [`super::minimal`].
    pub minimal_leaves: u64,
    /// What they would be in a uniform tree with that branching, b^ceil(d/2) + b^floor(d/2) - 1.
    pub uniform_minimal_leaves: f64,
    pub rows: Vec<CompareRow>,
}

/// Two algorithms found different values: one of them is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name} finds {value}, minimax finds {truth}")]
pub struct Disagreement {
    pub name: &'static str,
    pub value: NodeValue,
    pub truth: NodeValue,
}

/// Runs the contest on `game`, whose description is `title`. Minimax always runs, for the true
/// value.
///
/// # Errors
/// [`Disagreement`] if an algorithm's value is not minimax's.
pub fn compare<G: GameTree>(
    game: &G,
    title: String,
    contest: &Contest,
) -> Result<Comparison, Disagreement> {
    let depth = contest.depth;
    let whole = straight(game, Algorithm::Minimax, depth);
    let start = game.start();
    let minimal = minimal_tree(game, depth, game.side(&start).view(whole.value))
        .expect("minimax's value has a proof");
    let branching = effective_branching(whole.counts.leaves, minimal.height);
    let mut rows = Vec::new();
    for algorithm in contest.algorithms.iter().copied() {
        let solved = match (algorithm, contest.deepening) {
            (Algorithm::Minimax, None) => whole.clone(),
            (_, None) => straight(game, algorithm, depth),
            (_, Some(hints)) => deepened(game, algorithm, depth, hints),
        };
        if solved.value != whole.value {
            return Err(Disagreement {
                name: algorithm.name(),
                value: solved.value,
                truth: whole.value,
            });
        }
        let nodes = solved.counts.interior + solved.counts.leaves;
        rows.push(CompareRow {
            algorithm,
            value: solved.value,
            best: solved.best.map(|best| game.label(&start, best.mv)),
            share: nodes as f64 / (whole.counts.interior + whole.counts.leaves) as f64,
            effective_branching: effective_branching(solved.counts.leaves, minimal.height),
            milliseconds: contest.timed.then_some(solved.time.as_secs_f64() * 1000.0),
            counts: solved.counts,
        });
    }
    Ok(Comparison {
        game: title,
        depth,
        tree: whole.counts,
        height: minimal.height,
        branching,
        minimal_leaves: minimal.leaves,
        uniform_minimal_leaves: uniform_minimal_leaves(branching, minimal.height),
        rows,
    })
}

/// A search straight to `depth`.
fn straight<G: GameTree>(game: &G, algorithm: Algorithm, depth: u32) -> Solved<G::Move> {
    let options = SolveOptions {
        depth,
        ..SolveOptions::default()
    };
    solve(game, algorithm, options)
}

/// The last of the searches to depth 1, 2 and so on, with the work and time of all.
fn deepened<G: GameTree>(
    game: &G,
    algorithm: Algorithm,
    depth: u32,
    hints: Hints,
) -> Solved<G::Move> {
    let limits = DeepeningLimits { depth, time: None };
    let deepening = deepen(game, algorithm, limits, hints);
    Solved {
        counts: deepening.total(),
        time: deepening.iterations.iter().map(|solved| solved.time).sum(),
        ..deepening.last().clone()
    }
}

/// Leaves at each depth from 1 to `contest.depth`, for each leaf of the minimal tree of that
/// depth: one series an algorithm, but one for all algorithms whose numbers are the same.
/// Algorithms that visit everything are left out, as they would flatten all others.
///
/// # Panics
/// Never: a value that minimax found has a proof.
#[must_use]
pub fn leaves_by_depth<G: GameTree>(game: &G, contest: &Contest) -> Vec<(String, Vec<f64>)> {
    let minimal: Vec<_> = (1..=contest.depth)
        .map(|depth| {
            let options = SolveOptions {
                depth,
                ..SolveOptions::default()
            };
            let value = solve(game, Algorithm::FailSoft, options).value;
            let value = game.side(&game.start()).view(value);
            let tree = minimal_tree(game, depth, value).expect("the value has a proof");
            tree.leaves as f64
        })
        .collect();
    let leaves = |algorithm, depth| {
        let counts = match contest.deepening {
            None => {
                let options = SolveOptions {
                    depth,
                    ..SolveOptions::default()
                };
                solve(game, algorithm, options).counts
            }
            Some(hints) => deepen(
                game,
                algorithm,
                DeepeningLimits { depth, time: None },
                hints,
            )
            .total(),
        };
        counts.leaves as f64
    };
    let mut all: Vec<(String, Vec<f64>)> = Vec::new();
    for algorithm in &contest.algorithms {
        if algorithm.is_exhaustive() {
            continue;
        }
        let values: Vec<f64> = (1..=contest.depth)
            .zip(&minimal)
            .map(|(depth, minimal)| leaves(*algorithm, depth) / minimal)
            .collect();
        match all.iter_mut().find(|(_, same)| *same == values) {
            Some((name, _)) => {
                name.push_str(", ");
                name.push_str(algorithm.name());
            }
            None => all.push((algorithm.name().to_owned(), values)),
        }
    }
    all
}

/// The `depth`-th root of the number of leaves.
fn effective_branching(leaves: u64, depth: u32) -> f64 {
    if depth == 0 {
        1.0
    } else {
        (leaves as f64).powf(1.0 / f64::from(depth))
    }
}

/// Knuth and Moore's count (1975), for a branching that needn't be whole.
fn uniform_minimal_leaves(branching: f64, depth: u32) -> f64 {
    let power = |exponent: u32| branching.powf(f64::from(exponent));
    power(depth.div_ceil(2)) + power(depth / 2) - 1.0
}

impl Comparison {
    /// The table as text, for a terminal at least 110 columns wide. Without times it is the same
    /// on every machine.
    #[must_use]
    pub fn table(&self) -> String {
        let nodes = self.tree.interior + self.tree.leaves;
        let mut text = format!(
            "{}, depth {}\nwhole tree {nodes} nodes, {} leaves, branching {:.2} (square root {:.2})\n\
             minimal tree {} leaves (a uniform tree of this branching: {:.0})\n\n",
            self.game,
            self.depth,
            self.tree.leaves,
            self.branching,
            self.branching.sqrt(),
            self.minimal_leaves,
            self.uniform_minimal_leaves
        );
        text += &format!(
            "{:<16}{:>7} {:<7}{:>10}{:>11}{:>9}{:>10}{:>7}{:>7}{:>8}",
            "algorithm",
            "value",
            "best",
            "interior",
            "leaves",
            "share",
            "cutoffs",
            "first",
            "b_eff",
            "table"
        );
        let timed = self.rows.iter().any(|row| row.milliseconds.is_some());
        text += if timed { "        ms\n" } else { "\n" };
        for row in &self.rows {
            text += &row.line();
            if let Some(milliseconds) = row.milliseconds {
                text += &format!("{milliseconds:>10.1}");
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::games::{Explicit, RandomTree, TicTacToe};

    fn contest(depth: u32, deepening: Option<Hints>) -> Contest {
        Contest {
            depth,
            algorithms: Algorithm::every().to_vec(),
            deepening,
            timed: false,
        }
    }

    #[test]
    fn the_table_has_a_row_each_and_all_agree() {
        let tree = RandomTree {
            branching: 4,
            depth: 5,
            quality: 1.0,
            ..RandomTree::default()
        };
        let table = compare(&tree, "random".to_owned(), &contest(5, None)).unwrap();
        assert_eq!(table.rows.len(), Algorithm::every().len());
        assert!((table.branching - 4.0).abs() < 1e-9);
        assert_eq!(table.minimal_leaves, 64 + 16 - 1);
        assert!((table.uniform_minimal_leaves - 79.0).abs() < 1e-6);
        let soft = table
            .rows
            .iter()
            .find(|row| row.algorithm == Algorithm::FailSoft)
            .unwrap();
        assert_eq!(soft.counts.leaves, 79);
        assert!(table.table().contains("SSS*") && !table.table().contains(" ms"));
    }

    #[test]
    fn deepening_counts_every_iteration() {
        let hints = Hints {
            presort: true,
            killers: true,
            countermoves: true,
            refutations: true,
        };
        let deep = compare(&TicTacToe, String::new(), &contest(4, Some(hints))).unwrap();
        let flat = compare(&TicTacToe, String::new(), &contest(4, None)).unwrap();
        assert!(deep.rows[0].counts.leaves > flat.rows[0].counts.leaves);
        let series = leaves_by_depth(&TicTacToe, &contest(4, None));
        // Minimax and negamax are left out, algorithms with the same numbers share a line.
        assert!(series.len() < Algorithm::every().len() - 2);
        assert!(series[0].0.starts_with("alpha-beta, fail-hard, fail-soft"));
        assert!(series[0].1.iter().all(|ratio| *ratio >= 1.0));
    }

    /// A tree in a file is searched no deeper than its leaves, whatever depth is asked for.
    #[test]
    fn branching_is_measured_by_the_trees_own_height() {
        let tree = Explicit::parse("((4 6) (2 9) (7 5))").unwrap();
        let table = compare(&tree, String::new(), &contest(4, None)).unwrap();
        assert_eq!(table.height, 2);
        assert!((table.branching - 6f64.sqrt()).abs() < 1e-9);
        assert_eq!(table.minimal_leaves, 4);
    }
}
