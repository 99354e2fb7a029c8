//! A whole game tree with what a search has done to it so far: what the drawings draw.

use clap::ValueEnum;
use thiserror::Error;

use crate::lab::algorithm::Algorithm;
use crate::lab::game::{GameTree, NodeValue, TreePlayer};
use crate::lab::kinds::NodeKind;
use crate::lab::trace::SearchStep;
use crate::lab::window::{Criterion, ValueWindow};
use crate::types::Bound;

/// Trees with more nodes are not drawn.
const MOST_NODES: usize = 2000;

/// The tree is too large to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the tree has more than {MOST_NODES} nodes, too many to draw: choose a smaller depth")]
pub struct TooLarge;

/// Whose point of view the numbers take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum PointOfView {
    /// The side to move at each node (negamax)
    #[default]
    Mover,
    /// Max at every node (minimax)
    Max,
}

/// The state of a node in the search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum NodeState {
    /// Not reached: pruned, if the search is over.
    #[default]
    Unseen,
    /// Being searched.
    Open,
    /// Finished.
    Done,
}

/// A node in the drawing.
#[derive(Clone, Debug)]
pub struct Drawn {
    /// The move that leads here, or the node's name.
    pub label: String,
    pub side: TreePlayer,
    pub state: NodeState,
    /// Place in the tree, counted line by line from the root's 0.
    pub id: usize,
    /// As the mover sees it.
    pub window: Option<ValueWindow>,
    /// What the mover is sure of by now: the window's alpha or the best successor's value.
    pub alpha: NodeValue,
    /// As the mover sees it.
    pub value: Option<NodeValue>,
    pub kind: Option<NodeKind>,
    pub predicted: Option<NodeKind>,
    pub bound: Option<Bound>,
    /// A best-first search's bound on the node, as Max sees it.
    pub merit: Option<NodeValue>,
    /// Visits by the search.
    pub visits: u32,
    /// Whether a successor caused a cutoff.
    pub cut: bool,
    pub successors: Vec<Drawn>,
}

/// The words that go with a drawing.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Caption {
    /// What happened.
    pub what: String,
    /// Why, and what follows; empty where there is nothing to add.
    pub why: String,
}

impl Caption {
    /// A caption of these words.
    #[must_use]
    pub fn new(what: String, why: String) -> Caption {
        Caption { what, why }
    }
}

/// A tree with its caption.
#[derive(Clone, Debug)]
pub struct Picture {
    pub root: Drawn,
    pub view: PointOfView,
    /// Whether windows are worth showing.
    pub windows: bool,
    /// Which ends of windows are exact.
    pub criterion: Criterion,
    /// What the last step did, and why.
    pub caption: Caption,
}

impl Picture {
    /// The game's tree down to `depth`, not searched yet, for a search by `algorithm`.
    ///
    /// # Errors
    /// [`TooLarge`] if it has too many nodes to draw.
    pub fn new<G: GameTree>(
        game: &G,
        depth: u32,
        view: PointOfView,
        algorithm: Algorithm,
    ) -> Result<Picture, TooLarge> {
        let mut nodes = 0;
        let start = game.start();
        let root = grow(game, &start, game.root_label(), depth, &mut nodes)?;
        Ok(Picture {
            root,
            view,
            windows: algorithm.has_windows(),
            criterion: algorithm.criterion(),
            caption: Caption::default(),
        })
    }

    /// Takes one step of a search; the caption stays as it is.
    pub fn apply(&mut self, step: &SearchStep) {
        match step {
            SearchStep::Enter {
                path,
                window,
                predicted,
            } => {
                self.change(path, |node| {
                    node.state = NodeState::Open;
                    node.window = Some(*window);
                    node.alpha = window.alpha;
                    node.predicted = Some(*predicted);
                    node.visits += 1;
                    node.cut = false;
                });
                // A value that only answered a question did not raise the predecessor's alpha.
                if let Some((_, alpha)) = self.above(path, window.beta) {
                    self.change_above(path, |above| above.alpha = alpha);
                }
            }
            SearchStep::Cutoff { path } => {
                self.change_above(path, |node| node.cut = true);
            }
            SearchStep::Leave {
                path,
                value,
                kind,
                bound,
            } => {
                self.change(path, |node| {
                    node.state = NodeState::Done;
                    node.value = Some(*value);
                    node.kind = Some(*kind);
                    node.bound = *bound;
                });
                self.hand_up(path, *value);
            }
            SearchStep::Known { path, value } => {
                self.change(path, |node| {
                    node.value = Some(*value);
                    node.visits += 1;
                });
                self.hand_up(path, *value);
            }
            SearchStep::Merit {
                path,
                value,
                solved,
            } => self.change(path, |node| {
                node.merit = Some(*value);
                if *solved {
                    node.state = NodeState::Done;
                    node.value = Some(node.side.view(*value));
                }
            }),
            SearchStep::Pass { .. } => {}
        }
    }

    /// The node at the end of `path`, if it is drawn.
    #[must_use]
    pub fn node(&self, path: &[usize]) -> Option<&Drawn> {
        path.iter()
            .try_fold(&self.root, |node, step| node.successors.get(*step))
    }

    /// The predecessor of the node at the end of `path`, and `value` as its side to move sees it.
    #[must_use]
    pub fn above(&self, path: &[usize], value: NodeValue) -> Option<(&Drawn, NodeValue)> {
        let (_, above) = path.split_last()?;
        let (node, above) = (self.node(path)?, self.node(above)?);
        Some((above, above.side.view(node.side.view(value))))
    }

    /// A window in the drawing's point of view, for a node of `side`.
    #[must_use]
    pub fn written(&self, window: ValueWindow, side: TreePlayer) -> String {
        let turned = self.view == PointOfView::Max && side == TreePlayer::Min;
        let window = if turned { -window } else { window };
        window.written(self.criterion)
    }

    /// The node at the end of `path` returned `value`: its predecessor's best value may rise.
    fn hand_up(&mut self, path: &[usize], value: NodeValue) {
        if let Some((_, value)) = self.above(path, value) {
            self.change_above(path, |above| above.alpha = above.alpha.max(value));
        }
    }

    /// Changes the predecessor of the node at the end of `path`.
    fn change_above(&mut self, path: &[usize], change: impl FnOnce(&mut Drawn)) {
        if let Some((_, above)) = path.split_last() {
            self.change(above, change);
        }
    }

    fn change(&mut self, path: &[usize], change: impl FnOnce(&mut Drawn)) {
        let mut node = &mut self.root;
        for step in path {
            match node.successors.get_mut(*step) {
                Some(below) => node = below,
                None => return,
            }
        }
        change(node);
    }
}

impl Drawn {
    /// A number seen by the mover, in the point of view asked for.
    #[must_use]
    pub fn seen(&self, value: NodeValue, view: PointOfView) -> NodeValue {
        match view {
            PointOfView::Mover => value,
            PointOfView::Max => self.side.view(value),
        }
    }

    /// How far the value can be trusted: `≥` or `≤` in front of a bound, if the search knows.
    #[must_use]
    pub fn relation(&self, view: PointOfView) -> &'static str {
        let turned = view == PointOfView::Max && self.side == TreePlayer::Min;
        match (self.bound, turned) {
            (Some(Bound::Lower), false) | (Some(Bound::Upper), true) => "≥",
            (Some(Bound::Upper), false) | (Some(Bound::Lower), true) => "≤",
            _ => "",
        }
    }

    /// Nodes in this subtree.
    #[must_use]
    pub fn size(&self) -> usize {
        1 + self.successors.iter().map(Drawn::size).sum::<usize>()
    }

    /// Leaves of this subtree, as far as it is drawn.
    #[must_use]
    pub fn leaves(&self) -> usize {
        match self.successors.as_slice() {
            [] => 1,
            below => below.iter().map(Drawn::leaves).sum(),
        }
    }
}

fn grow<G: GameTree>(
    game: &G,
    position: &G::Position,
    label: String,
    depth: u32,
    nodes: &mut usize,
) -> Result<Drawn, TooLarge> {
    let id = *nodes;
    if id == MOST_NODES {
        return Err(TooLarge);
    }
    *nodes += 1;
    let mut successors = Vec::new();
    if depth > 0 {
        for mv in game.moves(position) {
            let label = game.label(position, mv);
            successors.push(grow(
                game,
                &game.play(position, mv),
                label,
                depth - 1,
                nodes,
            )?);
        }
    }
    Ok(Drawn {
        label,
        side: game.side(position),
        state: NodeState::Unseen,
        id,
        window: None,
        alpha: 0,
        value: None,
        kind: None,
        predicted: None,
        bound: None,
        merit: None,
        visits: 0,
        cut: false,
        successors,
    })
}
