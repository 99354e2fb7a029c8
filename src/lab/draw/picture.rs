//! A whole game tree with what a search has done to it so far: what the drawings draw.

use clap::ValueEnum;
use thiserror::Error;

use crate::lab::game::{Game, Side, Value, Window};
use crate::lab::kinds::Kind;
use crate::lab::trace::Event;
use crate::types::Bound;

/// More nodes than this are no picture any more.
const MOST_NODES: usize = 2000;

/// The tree is too large to draw.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("the tree has more than {MOST_NODES} nodes, too many to draw: choose a smaller depth")]
pub struct TooLarge;

/// Whose point of view the numbers take.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub enum View {
    /// The side to move at each node (negamax)
    #[default]
    Mover,
    /// Max at every node (minimax)
    Max,
}

/// How far the search has come with a node.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum State {
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
    pub side: Side,
    pub state: State,
    /// As the mover sees it.
    pub window: Option<Window>,
    /// As the mover sees it.
    pub value: Option<Value>,
    pub kind: Option<Kind>,
    pub predicted: Option<Kind>,
    pub bound: Option<Bound>,
    /// A best-first search's bound on the node, as Max sees it.
    pub merit: Option<Value>,
    /// Times the search came here.
    pub visits: u32,
    /// Whether a successor caused a cutoff.
    pub cut: bool,
    pub successors: Vec<Drawn>,
}

/// A tree with its caption.
#[derive(Clone, Debug)]
pub struct Picture {
    pub root: Drawn,
    pub view: View,
    /// Whether windows are worth showing.
    pub windows: bool,
    /// What the last step did.
    pub caption: String,
}

impl Picture {
    /// The game's tree down to `depth`, untouched.
    ///
    /// # Errors
    /// [`TooLarge`] if nobody could read it.
    pub fn new<G: Game>(
        game: &G,
        depth: u32,
        view: View,
        windows: bool,
    ) -> Result<Picture, TooLarge> {
        let mut left = MOST_NODES;
        let start = game.start();
        let root = grow(game, &start, game.root_label(), depth, &mut left)?;
        Ok(Picture {
            root,
            view,
            windows,
            caption: String::new(),
        })
    }

    /// Takes one step of a search.
    pub fn apply(&mut self, event: &Event) {
        let name = |path: &[usize]| self.root.name(path);
        self.caption = match event {
            Event::Enter { path, window, .. } => {
                format!("search {} with {window}", name(path))
            }
            Event::Cutoff { path } => format!("{} cuts off", name(path)),
            Event::Leave {
                path, value, kind, ..
            } => {
                format!("{} returns {value:+} ({} node)", name(path), kind.name())
            }
            Event::Known { path, value } => format!("{} is known: {value:+}", name(path)),
            Event::Merit { path, solved, .. } => {
                format!(
                    "{} is {}",
                    name(path),
                    if *solved { "solved" } else { "live" }
                )
            }
            Event::Pass { why } => why.clone(),
        };
        match event {
            Event::Enter {
                path,
                window,
                predicted,
            } => self.change(path, |node| {
                node.state = State::Open;
                node.window = Some(*window);
                node.predicted = Some(*predicted);
                node.visits += 1;
                node.cut = false;
            }),
            Event::Cutoff { path } => {
                let above = path.len().saturating_sub(1);
                self.change(&path[..above], |node| node.cut = true);
            }
            Event::Leave {
                path,
                value,
                kind,
                bound,
            } => self.change(path, |node| {
                node.state = State::Done;
                node.value = Some(*value);
                node.kind = Some(*kind);
                node.bound = *bound;
            }),
            Event::Known { path, value } => self.change(path, |node| {
                node.value = Some(*value);
                node.visits += 1;
            }),
            Event::Merit {
                path,
                value,
                solved,
            } => self.change(path, |node| {
                node.merit = Some(*value);
                if *solved {
                    node.state = State::Done;
                    node.value = Some(node.side.view(*value));
                }
            }),
            Event::Pass { .. } => {}
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
    /// A number of the mover's in the view asked for.
    #[must_use]
    pub fn seen(&self, value: Value, view: View) -> Value {
        match view {
            View::Mover => value,
            View::Max => self.side.view(value),
        }
    }

    /// How far the value can be trusted: `≥` or `≤` in front of a bound, if the search knows.
    #[must_use]
    pub fn relation(&self, view: View) -> &'static str {
        let turned = view == View::Max && self.side == Side::Min;
        match (self.bound, turned) {
            (Some(Bound::Lower), false) | (Some(Bound::Upper), true) => "≥",
            (Some(Bound::Upper), false) | (Some(Bound::Lower), true) => "≤",
            _ => "",
        }
    }

    /// The window in the view asked for.
    #[must_use]
    pub fn seen_window(&self, view: View) -> Option<Window> {
        let window = self.window?;
        Some(if view == View::Max && self.side == Side::Min {
            -window
        } else {
            window
        })
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

    /// The name of the node at the end of `path`: the moves that lead there.
    fn name(&self, path: &[usize]) -> String {
        if path.is_empty() {
            return self.label.clone();
        }
        let mut node = self;
        let mut names = Vec::new();
        for step in path {
            match node.successors.get(*step) {
                Some(below) => node = below,
                None => break,
            }
            names.push(node.label.as_str());
        }
        names.join(" ")
    }
}

fn grow<G: Game>(
    game: &G,
    position: &G::Position,
    label: String,
    depth: u32,
    left: &mut usize,
) -> Result<Drawn, TooLarge> {
    *left = left.checked_sub(1).ok_or(TooLarge)?;
    let mut successors = Vec::new();
    if depth > 0 {
        for mv in game.moves(position) {
            let label = game.label(position, mv);
            successors.push(grow(
                game,
                &game.play(position, mv),
                label,
                depth - 1,
                left,
            )?);
        }
    }
    Ok(Drawn {
        label,
        side: game.side(position),
        state: State::Unseen,
        window: None,
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
