//! Tests: every algorithm against minimax on random trees, the claims about bounds, kinds and
//! visited leaves, and the book's worked examples.

use std::collections::HashSet;
use std::time::Duration;

use proptest::prelude::*;
use proptest::test_runner::RngSeed;

use super::algorithm::Solved;
use super::alphabeta::fail_soft;
use super::deepening::Ended;
use super::game::INFINITY;
use super::games::{Explicit, Kalah, RandomTree, TicTacToe};
use super::minimal::minimal_tree;
use super::order::{MoveOrdering, OrderedMove};
use super::trace::NodePath;
use super::trace::SearchStep;
use super::walk::Walk;
use super::window::Criterion;
use super::with_bound::with_bound;
use super::*;
use crate::types::Bound;

/// Trees of up to five plies, irregular, with few distinct values so that ties are common.
fn trees() -> impl Strategy<Value = Explicit> {
    let leaf = (-9..=9).prop_map(|value: i32| value.to_string());
    let text = leaf.prop_recursive(5, 250, 4, |below| {
        prop::collection::vec(below, 1..=4).prop_map(|nodes| format!("({})", nodes.join(" ")))
    });
    (text, any::<bool>()).prop_map(|(text, max)| {
        let first = if max { "max" } else { "min" };
        Explicit::parse(&format!("{first} {text}")).expect("a tree")
    })
}

fn windows() -> impl Strategy<Value = ValueWindow> {
    (-11..=10, 1..=12).prop_map(|(alpha, width)| ValueWindow::new(alpha, alpha + width))
}

fn whole(tree: &Explicit) -> SolveOptions {
    SolveOptions {
        depth: tree.height(),
        ..SolveOptions::default()
    }
}

fn score(tree: &Explicit) -> i32 {
    solve(tree, Algorithm::Minimax, whole(tree)).value
}

fn walk(tree: &Explicit) -> Walk<'_, Explicit> {
    Walk::new(tree, MoveOrdering::new(Hints::default()))
}

/// The leaves that an algorithm evaluates.
fn leaves(tree: &Explicit, algorithm: Algorithm) -> HashSet<NodePath> {
    let solved = solve(
        tree,
        algorithm,
        SolveOptions {
            trace: true,
            ..whole(tree)
        },
    );
    let mut inner = HashSet::new();
    let mut entered = HashSet::new();
    for event in solved.trace.unwrap().events {
        if let SearchStep::Enter { path, .. } = event {
            if let Some((_, above)) = path.split_last() {
                inner.insert(above.to_vec());
            }
            entered.insert(path);
        }
    }
    entered.difference(&inner).cloned().collect()
}

/// Whether a fail-soft answer brackets the score as it should.
fn brackets(value: i32, score: i32, window: ValueWindow) -> bool {
    if value <= window.alpha {
        score <= value
    } else if value >= window.beta {
        score >= value
    } else {
        score == value
    }
}

/// The same trees in every run.
const SEED: u64 = 1;

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 1000,
        rng_seed: RngSeed::Fixed(SEED),
        ..ProptestConfig::default()
    })]

    #[test]
    fn every_algorithm_returns_the_minimax_value(tree in trees()) {
        let score = score(&tree);
        for algorithm in Algorithm::every() {
            let solved = solve(&tree, *algorithm, whole(&tree));
            prop_assert_eq!(solved.value, score, "{}", algorithm.name());
            // The best move is worth as much.
            if let Some(best) = solved.best {
                let mut walk = walk(&tree);
                let root = walk.root(tree.height());
                let child = walk.successor(&root, best);
                let value = negamax::negamax(&mut walk, &child).unwrap();
                prop_assert_eq!(child.up(value), score, "{}'s move", algorithm.name());
            }
        }
    }

    #[test]
    fn fail_soft_answers_bracket_the_score(tree in trees(), window in windows()) {
        let score = score(&tree);
        for algorithm in [
            Algorithm::AlphaBeta, Algorithm::FailSoft, Algorithm::FailSoftAbove,
            Algorithm::WithBound, Algorithm::WithMemory, Algorithm::Pvs, Algorithm::NegaScout,
        ] {
            let task = SolveOptions { window: Some(window), ..whole(&tree) };
            let value = solve(&tree, algorithm, task).value;
            prop_assert!(
                brackets(value, score, window),
                "{} returns {value} in {window:?}, the score is {score}", algorithm.name()
            );
        }
    }

    #[test]
    fn failing_hard_is_failing_soft_clamped(tree in trees(), window in windows()) {
        let task = SolveOptions { window: Some(window), ..whole(&tree) };
        let hard = solve(&tree, Algorithm::FailHard, task);
        let soft = solve(&tree, Algorithm::FailSoft, task);
        prop_assert_eq!(hard.value, soft.value.clamp(window.alpha, window.beta));
        prop_assert!(soft.counts.leaves <= hard.counts.leaves);
    }

    /// Cutting off above beta only, a value on the window's edge is exact, even when the window
    /// holds a single value. Cutting off at beta it may be a bound.
    #[test]
    fn the_edges_are_exact_above(tree in trees(), alpha in -10..=10, width in 0..=4) {
        let window = ValueWindow::new(alpha, alpha + width);
        let mut walk = walk(&tree);
        walk.criterion = Criterion::Above;
        let root = walk.root(tree.height());
        let value = fail_soft(&mut walk, &root, window, Criterion::Above).unwrap();
        if window.alpha <= value && value <= window.beta {
            prop_assert_eq!(value, score(&tree));
        }
    }

    #[test]
    fn a_value_with_its_bound_tells_the_truth(tree in trees(), window in windows()) {
        let mut walk = walk(&tree);
        let root = walk.root(tree.height());
        let (value, bound) = with_bound(&mut walk, &root, window).unwrap();
        let score = score(&tree);
        match bound {
            Bound::Upper => prop_assert!(score <= value && value <= window.alpha),
            Bound::Exact => prop_assert_eq!(score, value),
            Bound::Lower => prop_assert!(score >= value && value >= window.beta),
        }
    }

    #[test]
    fn best_first_skips_what_alpha_beta_skips(tree in trees()) {
        let depth_first = leaves(&tree, Algorithm::FailSoft);
        for algorithm in [Algorithm::SssStar, Algorithm::DualSss] {
            let best_first = leaves(&tree, algorithm);
            prop_assert!(best_first.is_subset(&depth_first), "{}", algorithm.name());
        }
    }

    #[test]
    fn a_perfect_order_gives_the_minimal_tree(branching in 1u32..=5, depth in 0u32..=6, seed in any::<u64>()) {
        let tree = RandomTree { branching, depth, seed, quality: 1.0, range: 20, noise: 0 };
        let minimal = minimal_leaves(branching, depth);
        // Without noise the root's own leaf value is the true one.
        let root = SolveOptions { depth: 0, ..SolveOptions::default() };
        let value = solve(&tree, Algorithm::Minimax, root).value;
        prop_assert_eq!(minimal_tree(&tree, depth, value).map(|tree| tree.leaves), Some(minimal));
        for algorithm in [
            Algorithm::AlphaBeta, Algorithm::FailHard, Algorithm::FailSoft, Algorithm::WithBound,
            Algorithm::Pvs, Algorithm::NegaScout,
        ] {
            let solved = solve(&tree, algorithm, SolveOptions { depth, ..SolveOptions::default() });
            prop_assert_eq!(solved.counts.leaves, minimal, "{}", algorithm.name());
            prop_assert_eq!(solved.kinds.right(), solved.kinds.nodes(), "{}", algorithm.name());
            prop_assert_eq!(solved.counts.cutoffs, solved.counts.first_cutoffs);
        }
    }

    /// No algorithm without a table proves the value with fewer leaves than the minimal tree has,
    /// and alpha-beta needs no more on a uniform tree in the best order.
    #[test]
    fn nothing_beats_the_minimal_tree(tree in trees()) {
        let root = walk(&tree).root(tree.height());
        let value = root.side.view(score(&tree));
        let minimal = minimal_tree(&tree, tree.height(), value).unwrap();
        prop_assert!(minimal.height == tree.height());
        for algorithm in Algorithm::every() {
            let evaluated = leaves(&tree, *algorithm).len() as u64;
            prop_assert!(evaluated >= minimal.leaves, "{}", algorithm.name());
        }
    }

    #[test]
    fn hints_change_the_work_but_not_the_value(
        seed in any::<u64>(), presort in any::<bool>(), killers in any::<bool>(),
        countermoves in any::<bool>(), refutations in any::<bool>()
    ) {
        let tree = RandomTree { branching: 3, depth: 4, seed, quality: 0.3, range: 9, noise: 3 };
        let hints = Hints { presort, killers, countermoves, refutations };
        for algorithm in Algorithm::every() {
            let limits = DeepeningLimits { depth: 4, time: None };
            let found = deepen(&tree, *algorithm, limits, hints);
            for (depth, solved) in (1..).zip(&found.iterations) {
                let task = SolveOptions { depth, ..SolveOptions::default() };
                let score = solve(&tree, Algorithm::Minimax, task).value;
                prop_assert_eq!(solved.value, score, "{} at {}", algorithm.name(), depth);
            }
        }
    }
}

/// The leaves of the minimal tree: b^ceil(d/2) + b^floor(d/2) - 1 (Knuth and Moore 1975).
fn minimal_leaves(branching: u32, depth: u32) -> u64 {
    let power = |exponent| u64::from(branching).pow(exponent);
    power(depth.div_ceil(2)) + power(depth / 2) - 1
}

/// In Kalah a side may move twice, so signs must not flip at every ply.
#[test]
fn every_algorithm_agrees_where_a_side_moves_twice() {
    for seeds in 1..=4 {
        for depth in 0..=5 {
            let kalah = Kalah { seeds };
            let task = SolveOptions {
                depth,
                ..SolveOptions::default()
            };
            let score = solve(&kalah, Algorithm::Minimax, task).value;
            for algorithm in Algorithm::every() {
                let value = solve(&kalah, *algorithm, task).value;
                assert_eq!(value, score, "{} at {depth}", algorithm.name());
            }
        }
    }
}

/// Solves one of the book's trees in its own window, with the steps.
fn example(text: &str) -> (Explicit, Solved<usize>) {
    let tree = Explicit::parse(text).unwrap();
    let task = SolveOptions {
        window: tree.window(),
        trace: true,
        ..whole(&tree)
    };
    let solved = solve(&tree, Algorithm::FailSoft, task);
    (tree, solved)
}

/// What a node returned, and its kind; `None` if it was never left.
fn left(solved: &Solved<usize>, path: &[usize]) -> Option<(i32, NodeKind)> {
    solved
        .trace
        .as_ref()?
        .events
        .iter()
        .find_map(|event| match event {
            SearchStep::Leave {
                path: at,
                value,
                kind,
                ..
            } if at == path => Some((*value, *kind)),
            _ => None,
        })
}

/// The window with which a node was entered.
fn entered(solved: &Solved<usize>, path: &[usize]) -> Option<ValueWindow> {
    solved
        .trace
        .as_ref()?
        .events
        .iter()
        .find_map(|event| match event {
            SearchStep::Enter {
                path: at, window, ..
            } if at == path => Some(*window),
            _ => None,
        })
}

#[test]
fn example_of_a_pv_node() {
    let (_, solved) = example(include_str!("../../book/trees/pv.tree"));
    assert_eq!(left(&solved, &[]), Some((5, NodeKind::Pv)));
    assert_eq!(entered(&solved, &[1]), Some(ValueWindow::new(-7, 3)));
    assert_eq!(left(&solved, &[1]), Some((-5, NodeKind::Pv)));
    assert_eq!(entered(&solved, &[1, 0]), Some(ValueWindow::new(-3, 7)));
    assert_eq!(entered(&solved, &[1, 1]), Some(ValueWindow::new(-3, 5)));
    assert_eq!(entered(&solved, &[2]), Some(ValueWindow::new(-7, -5)));
}

#[test]
fn example_of_a_cut_node() {
    let (tree, solved) = example(include_str!("../../book/trees/cut.tree"));
    assert_eq!(entered(&solved, &[1]), Some(ValueWindow::new(-7, 3)));
    assert_eq!(left(&solved, &[1]), Some((5, NodeKind::Cut)));
    assert_eq!(left(&solved, &[1, 1]), None);
    // Unpruned, x is worth +9.
    let mut walk = walk(&tree);
    let root = walk.root(2);
    let x = walk.successor(&root, OrderedMove { mv: 1, index: 1 });
    assert_eq!(negamax::negamax(&mut walk, &x), Ok(9));
}

#[test]
fn example_of_an_all_node() {
    let (_, solved) = example(include_str!("../../book/trees/all.tree"));
    assert_eq!(left(&solved, &[1]), Some((-8, NodeKind::All)));
    assert_eq!(left(&solved, &[]), Some((8, NodeKind::Cut)));
    assert_eq!(entered(&solved, &[1, 1]), Some(ValueWindow::new(-3, 7)));
    assert_eq!(left(&solved, &[2]), None);
}

#[test]
fn example_of_failing_low() {
    let (tree, solved) = example(include_str!("../../book/trees/low.tree"));
    assert_eq!(left(&solved, &[]), Some((-5, NodeKind::All)));
    assert_eq!(left(&solved, &[0]), Some((5, NodeKind::Cut)));
    assert_eq!(left(&solved, &[0, 1]), None);
    assert_eq!(score(&tree), -9);
}

/// Alpha equal to beta asks whether the score is this number, and a search that cuts off above
/// beta answers it.
#[test]
fn a_window_of_one_value_asks_whether_it_is_the_score() {
    let tree = Explicit::parse("((4 6) (2 9) (7 5))").unwrap();
    for asked in 0..=9 {
        let options = SolveOptions {
            window: Some(ValueWindow::new(asked, asked)),
            ..whole(&tree)
        };
        let value = solve(&tree, Algorithm::FailSoftAbove, options).value;
        assert_eq!(value == asked, asked == 5, "{asked}: {value}");
    }
}

/// A refutation table makes the second iteration begin where the first one ended.
#[test]
fn refutation_tables_save_nodes() {
    let tree = RandomTree {
        branching: 5,
        depth: 6,
        quality: 0.0,
        noise: 0,
        ..RandomTree::default()
    };
    let limits = DeepeningLimits {
        depth: 6,
        time: None,
    };
    let plain = deepen(&tree, Algorithm::FailSoft, limits, Hints::default());
    let hints = Hints {
        refutations: true,
        ..Hints::default()
    };
    let guided = deepen(&tree, Algorithm::FailSoft, limits, hints);
    assert_eq!(guided.last().value, plain.last().value);
    assert!(guided.last().counts.leaves < plain.last().counts.leaves);
}

#[test]
fn example_of_a_deep_cutoff() {
    let (tree, solved) = example(include_str!("../../book/trees/deep.tree"));
    assert_eq!(solved.value, score(&tree));
    assert_eq!(solved.value, 6);
    // Max's 6 is the beta of d, a node of Min's, three plies below.
    assert_eq!(
        entered(&solved, &[1, 0, 0]),
        Some(ValueWindow::new(-INFINITY, -6))
    );
    assert_eq!(left(&solved, &[1, 0, 0, 1]), None);
}

/// Sorted by the first iteration's values, the second one prunes all that can be pruned.
#[test]
fn example_of_presorting() {
    let tree = Explicit::parse(include_str!("../../book/trees/presort.tree")).unwrap();
    let limits = DeepeningLimits {
        depth: 2,
        time: None,
    };
    let plain = deepen(&tree, Algorithm::FailSoft, limits, Hints::default());
    let hints = Hints {
        presort: true,
        ..Hints::default()
    };
    let sorted = deepen(&tree, Algorithm::FailSoft, limits, hints);
    assert_eq!(sorted.iterations[0].value, 4);
    assert_eq!((sorted.last().value, plain.last().value), (3, 3));
    assert_eq!(sorted.last().counts.leaves, 6);
    assert_eq!(plain.last().counts.leaves, 7);
}

#[test]
fn out_of_time_the_last_finished_depth_stands() {
    let tree = RandomTree {
        branching: 30,
        depth: 40,
        ..RandomTree::default()
    };
    let at_once = DeepeningLimits {
        depth: 40,
        time: Some(Duration::ZERO),
    };
    let found = deepen(&tree, Algorithm::FailSoft, at_once, Hints::default());
    assert_eq!((found.iterations.len(), found.ended), (1, Ended::Time));
    assert!(found.last().best.is_some());

    let soon = DeepeningLimits {
        depth: 40,
        time: Some(Duration::from_millis(20)),
    };
    let found = deepen(&tree, Algorithm::Negamax, soon, Hints::default());
    assert_eq!(found.ended, Ended::Time);
    let depth = found.iterations.len() as u32;
    let task = SolveOptions {
        depth,
        ..SolveOptions::default()
    };
    assert_eq!(
        found.last().value,
        solve(&tree, Algorithm::FailSoft, task).value
    );

    let shallow = DeepeningLimits {
        depth: 2,
        time: None,
    };
    let found = deepen(&tree, Algorithm::Pvs, shallow, Hints::default());
    assert_eq!(
        (found.iterations.len(), found.ended),
        (2, Ended::DepthReached)
    );
}

/// A transposition table saves work where lines meet, as they do in tic-tac-toe.
#[test]
fn memory_saves_leaves() {
    let task = SolveOptions {
        depth: 9,
        ..SolveOptions::default()
    };
    let plain = solve(&TicTacToe, Algorithm::FailSoft, task);
    let memory = solve(&TicTacToe, Algorithm::WithMemory, task);
    assert_eq!(plain.value, memory.value);
    assert!(memory.counts.leaves < plain.counts.leaves / 2);
    assert!(memory.counts.known > 0);
}
