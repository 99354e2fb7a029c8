//! What a step of a search did and why, in words.

use super::picture::{Caption, Drawn, Picture, PointOfView};
use crate::lab::game::{NodeValue, Signed, TreePlayer};
use crate::lab::kinds::NodeKind;
use crate::lab::trace::SearchStep;
use crate::lab::window::{Criterion, ValueWindow};
use crate::types::Bound;

/// Takes one step of a search and describes it.
pub fn advance(picture: &mut Picture, step: &SearchStep) {
    picture.caption = caption(picture, step);
    picture.apply(step);
}

/// Describes `step`, which is about to be applied to `picture`.
fn caption(picture: &Picture, step: &SearchStep) -> Caption {
    match step {
        SearchStep::Enter {
            path,
            window,
            predicted,
        } => enter(picture, path, *window, *predicted),
        SearchStep::Cutoff { path } => {
            let name = name(picture, path);
            Caption::new(format!("{name} cuts off"), cutoff(picture, path))
        }
        SearchStep::Leave {
            path,
            value,
            kind,
            bound,
        } => leave(picture, path, *value, *kind, *bound),
        SearchStep::Known { path, value } => Caption::new(
            format!(
                "{} is in the table: {}",
                name(picture, path),
                shown(picture, path, *value)
            ),
            effect(picture, path, *value),
        ),
        SearchStep::Merit {
            path,
            value,
            solved,
        } => {
            let (name, value) = (name(picture, path), Signed(*value));
            if *solved {
                Caption::new(
                    format!("{name} is solved with {value}"),
                    "the best solution tree through it is finished below it".to_owned(),
                )
            } else {
                Caption::new(
                    format!("{name} goes on the list with {value}"),
                    "the bound of the solution tree that it belongs to".to_owned(),
                )
            }
        }
        SearchStep::Pass { why } => Caption::new(why.clone(), String::new()),
    }
}

/// A node is searched with a window.
fn enter(picture: &Picture, path: &[usize], window: ValueWindow, predicted: NodeKind) -> Caption {
    let Some(node) = picture.node(path) else {
        return Caption::default();
    };
    let name = name(picture, path);
    if !picture.windows {
        return Caption::new(format!("search {name}"), String::new());
    }
    let written = picture.written(window, node.side);
    let why = match (path.is_empty(), node.visits) {
        (true, 0) => "the window of the whole search".to_owned(),
        (false, 0) => format!("expected: {} node", predicted.name()),
        (_, visits) => format!("visit {}, with this window", visits + 1),
    };
    Caption::new(format!("search {name} with {written}"), why)
}

/// A node is left with `value`.
fn leave(
    picture: &Picture,
    path: &[usize],
    value: NodeValue,
    kind: NodeKind,
    bound: Option<Bound>,
) -> Caption {
    let (name, text) = (name(picture, path), shown(picture, path, value));
    let is_leaf = picture
        .node(path)
        .is_some_and(|node| node.successors.is_empty());
    let follows = effect(picture, path, value);
    if is_leaf {
        return Caption::new(format!("{name} is a leaf worth {text}"), follows);
    }
    if !picture.windows {
        return Caption::new(format!("{name} returns {text}"), follows);
    }
    let meaning = match (bound, kind) {
        (Some(Bound::Exact), _) | (None, NodeKind::Pv) => "an exact value",
        (Some(Bound::Lower), _) | (None, NodeKind::Cut) => "a lower bound for its side to move",
        (Some(Bound::Upper), _) | (None, NodeKind::All) => "an upper bound for its side to move",
    };
    let why = if follows.is_empty() {
        meaning.to_owned()
    } else {
        format!("{meaning}; {follows}")
    };
    Caption::new(format!("{name} returns {text} ({} node)", kind.name()), why)
}

/// What the value of the node at `path` means to its predecessor.
fn effect(picture: &Picture, path: &[usize], value: NodeValue) -> String {
    let Some((above, value)) = picture.above(path, value) else {
        return String::new();
    };
    let ends = Ends::of(picture, above);
    let name = name(picture, &path[..path.len() - 1]);
    let text = Signed(above.seen(value, picture.view));
    let sure = Signed(above.seen(above.alpha, picture.view));
    let beta = above.window.map(|window| window.beta);
    if !picture.windows {
        return if value > above.alpha {
            format!("the best for {name} so far")
        } else {
            format!("no better for {name} than {sure}")
        };
    }
    match beta {
        Some(beta) if picture.criterion.cuts(value, beta) => {
            let end = Signed(above.seen(beta, picture.view));
            let verb = match picture.criterion {
                Criterion::AtLeast => "reaches",
                Criterion::Above => "is beyond",
            };
            format!("for {name} it is {text}, which {verb} {} {end}", ends.far)
        }
        Some(beta) if value > above.alpha && is_question(picture, path, beta) => format!(
            "for {name} it is {text}: {} than {} {sure}",
            ends.better, ends.near
        ),
        _ if value > above.alpha => format!(
            "for {name} it is {text}: {} {} from {sure} to {text}",
            ends.near, ends.moves
        ),
        _ => format!(
            "for {name} it is {text}, not {} than {} {sure}",
            ends.better, ends.near
        ),
    }
}

/// Whether the node at `path` was asked only if it is better than what its predecessor has, and not
/// for its value: with a window that ends before the predecessor's `beta`.
fn is_question(picture: &Picture, path: &[usize], beta: NodeValue) -> bool {
    let window = picture.node(path).and_then(|node| node.window);
    window
        .and_then(|window| picture.above(path, window.alpha))
        .is_some_and(|(_, end)| end < beta)
}

/// Why the predecessor of the node at `path` is left.
fn cutoff(picture: &Picture, path: &[usize]) -> String {
    let Some((_, above)) = path.split_last() else {
        return String::new();
    };
    let Some(node) = picture.node(above) else {
        return String::new();
    };
    let unseen = node
        .successors
        .iter()
        .filter(|below| below.visits == 0)
        .count();
    let name = name(picture, above);
    let rest = match unseen {
        0 => "there was nothing left to search".to_owned(),
        1 => "one successor is pruned".to_owned(),
        more => format!("{more} successors are pruned"),
    };
    if above.is_empty() {
        return format!("the value lies outside the window, and more is not asked; {rest}");
    }
    let opponent = match picture.view {
        PointOfView::Mover => "the opponent",
        PointOfView::Max => match node.side {
            TreePlayer::Max => "Min",
            TreePlayer::Min => "Max",
        },
    };
    format!("{name} is too good: {opponent} has something better earlier on; {rest}")
}

/// The names of a window's ends at a node, in the drawing's point of view.
struct Ends {
    near: &'static str,
    far: &'static str,
    better: &'static str,
    moves: &'static str,
}

impl Ends {
    fn of(picture: &Picture, node: &Drawn) -> Ends {
        if picture.view == PointOfView::Max && node.side == TreePlayer::Min {
            Ends {
                near: "beta",
                far: "alpha",
                better: "less",
                moves: "falls",
            }
        } else {
            Ends {
                near: "alpha",
                far: "beta",
                better: "more",
                moves: "rises",
            }
        }
    }
}

/// A value of the node at `path`, in the drawing's point of view.
fn shown(picture: &Picture, path: &[usize], value: NodeValue) -> Signed {
    let node = picture.node(path);
    Signed(node.map_or(value, |node| node.seen(value, picture.view)))
}

/// The name of the node at the end of `path`: the moves that lead there.
fn name(picture: &Picture, path: &[usize]) -> String {
    if path.is_empty() {
        return picture.root.label.clone();
    }
    let mut node = &picture.root;
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
