//! The tree walk that all algorithms share: it gives moves in order, counts nodes, finds their
//! kinds, records steps and checks the clock, so that an algorithm's own file holds nothing but
//! the algorithm.

use std::time::Instant;

use serde::Serialize;
use thiserror::Error;

use super::game::{GameTree, NodeValue, TreePlayer};
use super::kinds::{KindCounts, NodeKind};
use super::order::{MoveOrdering, OrderedMove};
use super::trace::{NodePath, SearchStep, Trace};
use super::window::{Criterion, ValueWindow};
use crate::types::Bound;

/// The clock is read once in so many nodes.
const NODES_PER_CLOCK: u64 = 256;

/// The time is up. The values of unfinished nodes mean nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the time is up")]
pub struct TimeUp;

/// A node of the game tree, cut off at a horizon.
#[derive(Clone, Debug)]
pub struct TreeNode<P> {
    pub position: P,
    /// The side to move.
    pub side: TreePlayer,
    /// Plies left to the horizon.
    pub depth: u32,
    /// Plies from the root.
    pub ply: usize,
    /// Whether the predecessor belongs to the other side; false at the root and after a move
    /// that grants another turn.
    turned: bool,
}

impl<P> TreeNode<P> {
    /// This node's value as the predecessor's side to move sees it: negated, in games where
    /// turns alternate.
    #[must_use]
    pub fn up(&self, value: NodeValue) -> NodeValue {
        if self.turned { -value } else { value }
    }

    /// The predecessor's window as this node's side to move sees it.
    #[must_use]
    pub fn down(&self, window: ValueWindow) -> ValueWindow {
        if self.turned { -window } else { window }
    }

    /// Whether the predecessor belongs to the other side.
    #[must_use]
    pub fn is_turned(&self) -> bool {
        self.turned
    }
}

/// What a search finds when it enters a node.
#[derive(Debug)]
pub enum Visit<M> {
    /// The game is over or the horizon is reached: the value for the side to move.
    Leaf(NodeValue),
    /// The moves in the order in which to search them; at least one.
    Interior(Vec<OrderedMove<M>>),
}

/// Work done.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct WorkCounts {
    /// Interior nodes entered, each visit counting.
    pub interior: u64,
    /// Leaves evaluated, each visit counting.
    pub leaves: u64,
    /// Interior nodes left early because the window closed.
    pub cutoffs: u64,
    /// Cutoffs by the first successor searched.
    pub first_cutoffs: u64,
    /// Visits answered by a table.
    pub known: u64,
}

/// An interior node on the way from the root to the node being searched.
#[derive(Debug)]
struct WalkFrame<M> {
    window: ValueWindow,
    predicted: NodeKind,
    key: u64,
    /// The successor being searched, and how many distinct ones have been.
    current: Option<OrderedMove<M>>,
    searched: usize,
    /// The best successor so far, its place in the search order, and its value.
    best: Option<(OrderedMove<M>, usize, NodeValue)>,
    /// The best play so far from here on, beginning with the best successor's move.
    line: Vec<M>,
    cutoff: bool,
}

/// A walk over a game tree; see the module's description.
pub struct Walk<'g, G: GameTree> {
    game: &'g G,
    /// What the algorithm takes for a cutoff; needed to name kinds.
    pub criterion: Criterion,
    pub counts: WorkCounts,
    pub kinds: KindCounts,
    pub order: MoveOrdering<G::Move>,
    /// Steps are recorded when this is set.
    pub trace: Option<Trace>,
    /// When to stop; `None` is never.
    pub deadline: Option<Instant>,
    /// Whether the horizon cut off any line before the game's end.
    pub met_horizon: bool,
    frames: Vec<WalkFrame<G::Move>>,
    best: Option<OrderedMove<G::Move>>,
    /// The best play below the node left last.
    line: Vec<G::Move>,
}

impl<'g, G: GameTree> Walk<'g, G> {
    /// A walk over `game` before its first node.
    #[must_use]
    pub fn new(game: &'g G, order: MoveOrdering<G::Move>) -> Walk<'g, G> {
        Walk {
            game,
            criterion: Criterion::AtLeast,
            counts: WorkCounts::default(),
            kinds: KindCounts::default(),
            order,
            trace: None,
            deadline: None,
            met_horizon: false,
            frames: Vec::new(),
            best: None,
            line: Vec::new(),
        }
    }

    /// The game.
    #[must_use]
    pub fn game(&self) -> &'g G {
        self.game
    }

    /// The root of a tree of the given depth; discards any unfinished walk.
    pub fn root(&mut self, depth: u32) -> TreeNode<G::Position> {
        self.frames.clear();
        let position = self.game.start();
        let side = self.game.side(&position);
        TreeNode {
            position,
            side,
            depth,
            ply: 0,
            turned: false,
        }
    }

    /// The best move at the root by the last finished pass over it.
    #[must_use]
    pub fn best(&self) -> Option<OrderedMove<G::Move>> {
        self.best
    }

    /// Replaces [`Walk::best`]: for algorithms that find it in their own way.
    pub fn set_best(&mut self, best: Option<OrderedMove<G::Move>>) {
        self.best = best;
    }

    /// Enters a node. A leaf is left again at once.
    ///
    /// # Errors
    /// [`TimeUp`] when the deadline has passed.
    pub fn enter(
        &mut self,
        node: &TreeNode<G::Position>,
        window: ValueWindow,
    ) -> Result<Visit<G::Move>, TimeUp> {
        self.check_clock()?;
        let predicted = self.predict(node);
        self.record(|walk| SearchStep::Enter {
            path: walk.path(),
            window,
            predicted,
        });
        let choices = self.expand(node);
        if choices.is_empty() {
            let value = self.evaluate(node);
            let kind = NodeKind::found(value, window, self.criterion);
            self.kinds.leaves += 1;
            self.line.clear();
            self.conclude(node, value, kind, predicted, Some(Bound::Exact));
            return Ok(Visit::Leaf(value));
        }
        self.frames.push(WalkFrame {
            window,
            predicted,
            key: self.game.key(&node.position),
            current: None,
            searched: 0,
            best: None,
            line: Vec::new(),
            cutoff: false,
        });
        Ok(Visit::Interior(choices))
    }

    /// The node that `choice` leads to. It counts as the successor now being searched.
    pub fn child(
        &mut self,
        node: &TreeNode<G::Position>,
        choice: OrderedMove<G::Move>,
    ) -> TreeNode<G::Position> {
        if let Some(frame) = self.frames.last_mut() {
            if frame.current != Some(choice) {
                frame.searched += 1;
            }
            frame.current = Some(choice);
        }
        self.successor(node, choice)
    }

    /// The node that `choice` leads to, without going there.
    #[must_use]
    pub fn successor(
        &self,
        node: &TreeNode<G::Position>,
        choice: OrderedMove<G::Move>,
    ) -> TreeNode<G::Position> {
        let position = self.game.play(&node.position, choice.mv);
        let side = self.game.side(&position);
        let turned = side != node.side;
        TreeNode {
            position,
            side,
            depth: node.depth - 1,
            ply: node.ply + 1,
            turned,
        }
    }

    /// The successor being searched causes a cutoff.
    pub fn cutoff(&mut self, node: &TreeNode<G::Position>) {
        self.record(|walk| SearchStep::Cutoff { path: walk.path() });
        let last = self.last_move(1);
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        frame.cutoff = true;
        self.counts.cutoffs += 1;
        if frame.searched == 1 {
            self.counts.first_cutoffs += 1;
            self.kinds.cut_by_first += 1;
        }
        if let Some(choice) = frame.current {
            self.order.cutoff(choice.mv, node.ply, last);
        }
    }

    /// Leaves an interior node with `value` for its side to move; gives `value` back.
    pub fn leave(&mut self, node: &TreeNode<G::Position>, value: NodeValue) -> NodeValue {
        self.leave_with_bound(node, value, None)
    }

    /// Leaves an interior node whose algorithm also knows whether `value` is exact or a bound.
    pub fn leave_with_bound(
        &mut self,
        node: &TreeNode<G::Position>,
        value: NodeValue,
        bound: Option<Bound>,
    ) -> NodeValue {
        let Some(frame) = self.frames.pop() else {
            return value;
        };
        let best = frame.best.map_or(value, |(_, _, best)| best);
        let kind = if frame.cutoff {
            NodeKind::Cut
        } else {
            NodeKind::found(best, frame.window, self.criterion)
        };
        self.line = frame.line;
        self.kinds.interior[kind as usize] += 1;
        if kind == NodeKind::Pv && frame.best.is_some_and(|(_, order, _)| order == 1) {
            self.kinds.pv_first_best += 1;
        }
        if node.ply == 0 {
            self.best = frame.best.map(|(choice, _, _)| choice);
        }
        self.conclude(node, value, kind, frame.predicted, bound);
        value
    }

    /// A table answers instead of a search.
    pub fn known(&mut self, node: &TreeNode<G::Position>, value: NodeValue) -> NodeValue {
        self.counts.known += 1;
        self.line.clear();
        self.record(|walk| SearchStep::Known {
            path: walk.path(),
            value,
        });
        self.receive(node.up(value));
        value
    }

    /// Records that a new pass starts.
    pub fn pass(&mut self, why: impl FnOnce() -> String) {
        self.record(|_| SearchStep::Pass { why: why() });
    }

    /// Adds to the record, if one is kept.
    pub fn record(&mut self, event: impl FnOnce(&Self) -> SearchStep) {
        if self.trace.is_some() {
            let event = event(self);
            if let Some(trace) = &mut self.trace {
                trace.events.push(event);
            }
        }
    }

    /// The moves to search below a node, in order; none at a leaf. Counts an interior node.
    pub fn expand(&mut self, node: &TreeNode<G::Position>) -> Vec<OrderedMove<G::Move>> {
        if node.depth == 0 {
            return Vec::new();
        }
        let moves = self.game.moves(&node.position);
        if moves.is_empty() {
            return Vec::new();
        }
        self.counts.interior += 1;
        let key = self.game.key(&node.position);
        let path = if self.order.is_used() {
            self.path_moves()
        } else {
            Vec::new()
        };
        self.order.sort(moves, key, &path)
    }

    /// The value of a leaf for its side to move. Counts a leaf.
    pub fn evaluate(&mut self, node: &TreeNode<G::Position>) -> NodeValue {
        self.counts.leaves += 1;
        if node.depth == 0 && !self.met_horizon {
            self.met_horizon = !self.game.moves(&node.position).is_empty();
        }
        node.side.view(self.game.value(&node.position))
    }

    /// Checks the clock once in so many nodes.
    ///
    /// # Errors
    /// [`TimeUp`] when the deadline has passed.
    pub fn check_clock(&self) -> Result<(), TimeUp> {
        let nodes = self.counts.interior + self.counts.leaves;
        match self.deadline {
            Some(deadline)
                if nodes.is_multiple_of(NODES_PER_CLOCK) && Instant::now() >= deadline =>
            {
                Err(TimeUp)
            }
            _ => Ok(()),
        }
    }

    /// The way to the node being searched.
    fn path(&self) -> NodePath {
        self.frames
            .iter()
            .filter_map(|frame| frame.current.map(|choice| choice.index))
            .collect()
    }

    /// The moves that lead to the node being searched.
    fn path_moves(&self) -> Vec<G::Move> {
        let moves = self.frames.iter().filter_map(|frame| frame.current);
        moves.map(|choice| choice.mv).collect()
    }

    /// The move made at the interior node `back` places above the deepest one on the path.
    fn last_move(&self, back: usize) -> Option<G::Move> {
        let at = self.frames.len().checked_sub(back + 1)?;
        self.frames[at].current.map(|choice| choice.mv)
    }

    /// The kind to expect of a node that is about to be entered.
    fn predict(&self, node: &TreeNode<G::Position>) -> NodeKind {
        let Some(parent) = self.frames.last() else {
            return NodeKind::Pv;
        };
        let kind = parent
            .predicted
            .expected_successor(parent.searched.saturating_sub(1));
        if node.turned { kind } else { kind.turned() }
    }

    /// Notes a finished node and hands its value to the predecessor.
    fn conclude(
        &mut self,
        node: &TreeNode<G::Position>,
        value: NodeValue,
        kind: NodeKind,
        predicted: NodeKind,
        bound: Option<Bound>,
    ) {
        self.kinds.table[predicted as usize][kind as usize] += 1;
        self.record(|walk| SearchStep::Leave {
            path: walk.path(),
            value,
            kind,
            bound,
        });
        self.receive(node.up(value));
    }

    /// The successor being searched returned `value`, seen by the side to move above it.
    fn receive(&mut self, value: NodeValue) {
        let Some(frame) = self.frames.last_mut() else {
            return;
        };
        let Some(choice) = frame.current else { return };
        if frame.best.is_none_or(|(_, _, best)| value > best) {
            frame.best = Some((choice, frame.searched, value));
            frame.line.clear();
            frame.line.push(choice.mv);
            frame.line.extend_from_slice(&self.line);
        }
        if self.order.wants_values() {
            self.order.returned(frame.key, choice.index, value);
        }
        if self.frames.len() == 1 {
            self.order.root_line(choice.mv, &self.line);
        }
    }
}
