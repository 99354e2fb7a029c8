//! SSS* (Stockman 1979) and its dual: best-first instead of depth-first.
//!
//! A *solution tree* for Max is a strategy: one move at each of Max's nodes, all replies at each
//! of Min's. It is worth the smallest of its leaves, and the root is worth as much as the best
//! solution tree. SSS* keeps a list of unfinished solution trees, each with the smallest leaf seen
//! so far (its *merit*, an upper bound of what the finished tree can be worth), and always works
//! on the one with the largest merit; the first to be finished at the top of the list is worth
//! what the root is. The dual does the same with Min's strategies from below. Neither ever
//! evaluates a leaf that alpha-beta, with the same move order and cutting off at beta, would
//! skip; the price is the list.
//!
//! (Plaat and others, 1996, call the other shape, all of Max's moves and one reply to each, a *max
//! solution tree*: it bounds the root from above, and SSS* can be seen as lowering such bounds.)

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use super::game::{GameTree, INFINITY, NodeValue, TreePlayer};
use super::kinds::NodeKind;
use super::order::OrderedMove;
use super::trace::{NodePath, SearchStep};
use super::walk::{TimeUp, TreeNode, Walk};
use super::window::ValueWindow;

/// A node that the search has met.
struct Met<G: GameTree> {
    node: TreeNode<G::Position>,
    parent: Option<usize>,
    /// The move that led here.
    choice: Option<OrderedMove<G::Move>>,
    /// This node's place among the parent's successors in search order.
    order: usize,
    /// Moves to search, once expanded.
    choices: Vec<OrderedMove<G::Move>>,
    solved: bool,
}

/// An entry of the list. The largest merit comes first; among equals the leftmost node, which is
/// what the comparison with alpha-beta rests on.
#[derive(PartialEq, Eq, PartialOrd, Ord)]
struct ListEntry {
    merit: NodeValue,
    place: Reverse<Vec<usize>>,
    met: usize,
    solved: bool,
}

/// One run of the algorithm.
struct Sss<'w, 'g, G: GameTree> {
    walk: &'w mut Walk<'g, G>,
    /// The side whose solution trees are compared; merits are its view of values.
    owner: TreePlayer,
    met: Vec<Met<G>>,
    open: BinaryHeap<ListEntry>,
    /// The root's successors that were solved, with their merits, in that order.
    solved: Vec<(OrderedMove<G::Move>, usize, NodeValue)>,
}

/// The value of the root for its side to move. SSS* itself compares solution trees of the root's
/// mover; the dual those of the opponent.
///
/// # Errors
/// [`TimeUp`] when the time is up.
pub fn sss_star<G: GameTree>(
    walk: &mut Walk<G>,
    root: &TreeNode<G::Position>,
    dual: bool,
) -> Result<NodeValue, TimeUp> {
    let owner = if dual { root.side.other() } else { root.side };
    let mut search = Sss {
        walk,
        owner,
        met: Vec::new(),
        open: BinaryHeap::new(),
        solved: Vec::new(),
    };
    let value = search.run(root)?;
    // The owner reaches the value by any move solved with it; the first in search order is
    // chosen, as depth-first searches do.
    let best = search.solved.iter().filter(|(_, _, merit)| *merit == value);
    let best = best
        .min_by_key(|(_, order, _)| *order)
        .map(|(choice, _, _)| *choice);
    search.walk.set_best(best);
    Ok(root.side.view(owner.view(value)))
}

impl<G: GameTree> Sss<'_, '_, G> {
    /// The loop: take the most promising state, replace it by its successors in the list, until
    /// the root itself is solved. The value is the owner's.
    fn run(&mut self, root: &TreeNode<G::Position>) -> Result<NodeValue, TimeUp> {
        let root = self.meet(root.clone(), None, None, 0);
        self.push(root, INFINITY, false);
        while let Some(state) = self.open.pop() {
            self.walk.check_clock()?;
            if self.is_purged(state.met) {
                continue;
            }
            if !state.solved {
                self.develop(state.met, state.merit);
            } else if let Some(parent) = self.met[state.met].parent {
                self.back_up(state.met, parent, state.merit);
            } else {
                return Ok(state.merit);
            }
        }
        unreachable!("the list holds the root's solution until the root is solved")
    }

    /// A live node is evaluated (a leaf), opened to all its moves (the owner's) or to the first
    /// (the opponent's).
    fn develop(&mut self, met: usize, merit: NodeValue) {
        let node = self.met[met].node.clone();
        self.record(met, |path| SearchStep::Enter {
            path,
            window: ValueWindow::FULL,
            predicted: NodeKind::Pv,
        });
        let choices = self.walk.expand(&node);
        if choices.is_empty() {
            let mover = self.walk.evaluate(&node);
            let value = self.owner.view(node.side.view(mover));
            self.record(met, |path| SearchStep::Leave {
                path,
                value: mover,
                kind: NodeKind::Pv,
                bound: None,
            });
            self.push(met, merit.min(value), true);
            return;
        }
        self.met[met].choices = choices;
        let opened = if node.side == self.owner {
            self.met[met].choices.len()
        } else {
            1
        };
        for order in 0..opened {
            self.open_successor(met, order, merit);
        }
    }

    /// A solved node solves its parent if the parent's owner has seen enough; else the parent's
    /// next move is opened.
    fn back_up(&mut self, met: usize, parent: usize, merit: NodeValue) {
        let order = self.met[met].order;
        if let (None, Some(choice)) = (self.met[parent].parent, self.met[met].choice) {
            self.solved.push((choice, order, merit));
        }
        let owners = self.met[parent].node.side == self.owner;
        if owners || order + 1 == self.met[parent].choices.len() {
            // Everything else below an owner's node is no longer needed: the node is solved by
            // its best move. Those states are dropped when they reach the top of the list.
            self.met[parent].solved = true;
            self.push(parent, merit, true);
        } else {
            self.open_successor(parent, order + 1, merit);
        }
    }

    /// Puts a successor of `parent` on the list, live.
    fn open_successor(&mut self, parent: usize, order: usize, merit: NodeValue) {
        let choice = self.met[parent].choices[order];
        let node = self.walk.successor(&self.met[parent].node, choice);
        let met = self.meet(node, Some(parent), Some(choice), order);
        self.push(met, merit, false);
    }

    fn meet(
        &mut self,
        node: TreeNode<G::Position>,
        parent: Option<usize>,
        choice: Option<OrderedMove<G::Move>>,
        order: usize,
    ) -> usize {
        self.met.push(Met {
            node,
            parent,
            choice,
            order,
            choices: Vec::new(),
            solved: false,
        });
        self.met.len() - 1
    }

    fn push(&mut self, met: usize, merit: NodeValue, solved: bool) {
        let value = self.owner.view(merit);
        self.record(met, |path| SearchStep::Merit {
            path,
            value,
            solved,
        });
        let place = Reverse(self.path(met, |node| Some(node.order)));
        self.open.push(ListEntry {
            merit,
            place,
            met,
            solved,
        });
    }

    /// Whether some node above is solved already, so that this one no longer matters.
    fn is_purged(&self, met: usize) -> bool {
        let above = |at: &usize| self.met[*at].parent;
        std::iter::successors(above(&met), above).any(|at| self.met[at].solved)
    }

    /// The way from the root, one number a step.
    fn path(&self, met: usize, step: impl Fn(&Met<G>) -> Option<usize>) -> NodePath {
        let up = std::iter::successors(Some(met), |at| self.met[*at].parent);
        let mut path: NodePath = up
            .filter(|at| self.met[*at].parent.is_some())
            .filter_map(|at| step(&self.met[at]))
            .collect();
        path.reverse();
        path
    }

    fn record(&mut self, met: usize, event: impl FnOnce(NodePath) -> SearchStep) {
        if self.walk.trace.is_some() {
            let path = self.path(met, |node| node.choice.map(|choice| choice.index));
            self.walk.record(|_| event(path));
        }
    }
}
