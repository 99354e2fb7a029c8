//! Algorithms side by side on one tree: what they find and what it costs them.

use serde::Serialize;
use thiserror::Error;

use super::algorithm::{Algorithm, Solved, Task, solve};
use super::deepening::{Limits, deepen};
use super::game::{Game, Signed, Value};
use super::order::Hints;
use super::walk::Counts;

/// What to compare.
#[derive(Clone, Debug)]
pub struct Contest {
    pub depth: u32,
    pub algorithms: Vec<Algorithm>,
    /// Deepen iteratively with these hints, counting the work of all iterations; `None` searches
    /// straight to the depth.
    pub deepening: Option<Hints>,
}

/// One algorithm's line in the table.
#[derive(Clone, Debug, Serialize)]
pub struct Row {
    pub algorithm: Algorithm,
    /// For the side to move at the root.
    pub value: Value,
    pub best: Option<String>,
    #[serde(flatten)]
    pub counts: Counts,
    /// Nodes visited, of the whole tree's; more than 1 when nodes are visited again and again.
    pub share: f64,
    /// The depth-th root of the leaves: the branching of a uniform tree with as many.
    pub effective_branching: f64,
    pub milliseconds: f64,
}

impl Row {
    /// Nodes visited.
    #[must_use]
    pub fn nodes(&self) -> u64 {
        self.counts.interior + self.counts.leaves
    }

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
    pub tree: Counts,
    /// The branching of a uniform tree with as many leaves.
    pub branching: f64,
    /// Leaves of the minimal tree with that branching, b^ceil(d/2) + b^floor(d/2) - 1: what
    /// alpha-beta must visit even with perfect ordering.
    pub minimal_leaves: f64,
    pub rows: Vec<Row>,
}

/// Two algorithms found different values: one of them is wrong.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
#[error("{name} finds {value}, minimax finds {truth}")]
pub struct Disagreement {
    pub name: &'static str,
    pub value: Value,
    pub truth: Value,
}

/// Runs the contest on `game`, whose description is `title`. Minimax always runs, for the truth.
///
/// # Errors
/// [`Disagreement`] if an algorithm's value is not minimax's.
pub fn compare<G: Game>(
    game: &G,
    title: String,
    contest: &Contest,
) -> Result<Comparison, Disagreement> {
    let depth = contest.depth;
    let whole = solve(
        game,
        Algorithm::Minimax,
        Task {
            depth,
            ..Task::default()
        },
    );
    let branching = effective_branching(whole.counts.leaves, depth);
    let mut rows = Vec::new();
    for algorithm in contest.algorithms.iter().copied() {
        let solved = match (algorithm, contest.deepening) {
            (Algorithm::Minimax, None) => whole.clone(),
            (_, None) => solve(
                game,
                algorithm,
                Task {
                    depth,
                    ..Task::default()
                },
            ),
            (_, Some(hints)) => {
                let deepening = deepen(game, algorithm, Limits { depth, time: None }, hints);
                let time = deepening.iterations.iter().map(|solved| solved.time).sum();
                Solved {
                    counts: deepening.total(),
                    time,
                    ..deepening.last().clone()
                }
            }
        };
        if solved.value != whole.value {
            let name = algorithm.name();
            return Err(Disagreement {
                name,
                value: solved.value,
                truth: whole.value,
            });
        }
        let nodes = solved.counts.interior + solved.counts.leaves;
        rows.push(Row {
            algorithm,
            value: solved.value,
            best: solved.best.map(|best| game.label(&game.start(), best.mv)),
            share: nodes as f64 / (whole.counts.interior + whole.counts.leaves) as f64,
            effective_branching: effective_branching(solved.counts.leaves, depth),
            milliseconds: solved.time.as_secs_f64() * 1000.0,
            counts: solved.counts,
        });
    }
    Ok(Comparison {
        game: title,
        depth,
        tree: whole.counts,
        branching,
        minimal_leaves: minimal_leaves(branching, depth),
        rows,
    })
}

/// Nodes visited at each depth from 1 to `contest.depth`, one series an algorithm.
#[must_use]
pub fn nodes_by_depth<G: Game>(game: &G, contest: &Contest) -> Vec<(Algorithm, Vec<u64>)> {
    let count = |algorithm, depth| {
        let counts = match contest.deepening {
            None => {
                solve(
                    game,
                    algorithm,
                    Task {
                        depth,
                        ..Task::default()
                    },
                )
                .counts
            }
            Some(hints) => deepen(game, algorithm, Limits { depth, time: None }, hints).total(),
        };
        counts.interior + counts.leaves
    };
    let series = |algorithm| {
        (1..=contest.depth)
            .map(|depth| count(algorithm, depth))
            .collect()
    };
    contest
        .algorithms
        .iter()
        .map(|algorithm| (*algorithm, series(*algorithm)))
        .collect()
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
fn minimal_leaves(branching: f64, depth: u32) -> f64 {
    let power = |exponent: u32| branching.powf(f64::from(exponent));
    power(depth.div_ceil(2)) + power(depth / 2) - 1.0
}

impl Comparison {
    /// The table as text, for a terminal at least 110 columns wide. Without `timed` it is the
    /// same on every machine.
    #[must_use]
    pub fn table(&self, timed: bool) -> String {
        let nodes = self.tree.interior + self.tree.leaves;
        let mut text = format!(
            "{}, depth {}\nwhole tree {nodes} nodes, {} leaves, branching {:.2} (square root {:.2})\n\
             minimal tree {:.0} leaves\n\n",
            self.game,
            self.depth,
            self.tree.leaves,
            self.branching,
            self.branching.sqrt(),
            self.minimal_leaves
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
        text += if timed { "        ms\n" } else { "\n" };
        for row in &self.rows {
            text += &row.line();
            if timed {
                text += &format!("{:>10.1}", row.milliseconds);
            }
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::games::{RandomTree, TicTacToe};

    fn contest(depth: u32, deepening: Option<Hints>) -> Contest {
        Contest {
            depth,
            algorithms: Algorithm::every().to_vec(),
            deepening,
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
        assert!((table.minimal_leaves - (64.0 + 16.0 - 1.0)).abs() < 1e-6);
        let soft = table
            .rows
            .iter()
            .find(|row| row.algorithm == Algorithm::FailSoft)
            .unwrap();
        assert_eq!(soft.counts.leaves, 79);
        assert!(table.table(false).contains("SSS*"));
    }

    #[test]
    fn deepening_counts_every_iteration() {
        let hints = Hints {
            presort: true,
            killers: true,
            refutations: true,
        };
        let deep = compare(&TicTacToe, String::new(), &contest(4, Some(hints))).unwrap();
        let flat = compare(&TicTacToe, String::new(), &contest(4, None)).unwrap();
        assert!(deep.rows[0].counts.leaves > flat.rows[0].counts.leaves);
        let series = nodes_by_depth(&TicTacToe, &contest(4, None));
        assert_eq!(series[0].1, [1 + 9, 10 + 72, 82 + 504, 586 + 3024]);
    }
}
