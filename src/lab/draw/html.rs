//! A search as one self-contained page that shows it step by step: no other file, no network.

use std::collections::BTreeMap;

use serde::Serialize;

use super::caption::advance;
use super::picture::{Drawn, NodeState, Picture};
use super::svg::escape;
use crate::lab::game::{Signed, TreePlayer};
use crate::lab::trace::{NodePath, SearchStep};
use crate::lab::window::ValueWindow;

/// The page without its data.
const PAGE: &str = include_str!("step.html");

/// A node as the page needs it before the search.
#[derive(Serialize)]
struct PageNode<'t> {
    label: &'t str,
    max: bool,
    below: Vec<usize>,
}

/// What a step leaves at a node.
#[derive(Serialize)]
struct PageState {
    id: usize,
    /// `unseen`, `open` or `done`.
    state: &'static str,
    kind: Option<&'static str>,
    value: Option<String>,
    window: Option<String>,
    /// The window by now, narrowed by the successors searched, unless they closed it.
    now: Option<String>,
    visits: u32,
    cut: bool,
}

/// One step: its words and the nodes that it changes, the one that it is about first.
#[derive(Serialize)]
struct PageStep<'s> {
    what: &'s str,
    why: &'s str,
    set: Vec<PageState>,
}

/// The page for a search that took `steps` on the tree of `picture`.
///
/// # Panics
/// Never: the data have no keys that JSON lacks, and the page has both places.
#[must_use]
pub fn html(mut picture: Picture, steps: &[SearchStep], title: &str) -> String {
    let mut nodes = BTreeMap::new();
    list(&picture.root, &mut nodes);
    let nodes: Vec<_> = nodes.into_values().collect();
    let nodes = serde_json::to_string(&nodes).expect("plain data");
    let mut taken = Vec::new();
    for step in steps {
        advance(&mut picture, step);
        let page_step = PageStep {
            what: &picture.caption.what,
            why: &picture.caption.why,
            set: changed(&picture, step),
        };
        taken.push(serde_json::to_string(&page_step).expect("plain data"));
    }
    let steps = format!("[{}]", taken.join(",\n"));
    // Inside a script only `<` could end the data early.
    let safe = |data: &str| data.replace('<', "\\u003c");
    let (head, rest) = PAGE
        .split_once("NODES")
        .expect("the page's place for nodes");
    let (middle, tail) = rest
        .split_once("STEPS")
        .expect("the page's place for steps");
    [
        &head.replace("TITLE", &escape(title)),
        &safe(&nodes),
        middle,
        &safe(&steps),
        tail,
    ]
    .concat()
}

fn list<'t>(node: &'t Drawn, nodes: &mut BTreeMap<usize, PageNode<'t>>) {
    nodes.insert(
        node.id,
        PageNode {
            label: &node.label,
            max: node.side == TreePlayer::Max,
            below: node.successors.iter().map(|below| below.id).collect(),
        },
    );
    for below in &node.successors {
        list(below, nodes);
    }
}

/// The states of the nodes that a step changed, after it.
fn changed(picture: &Picture, step: &SearchStep) -> Vec<PageState> {
    let path: Option<&NodePath> = match step {
        SearchStep::Enter { path, .. }
        | SearchStep::Cutoff { path }
        | SearchStep::Leave { path, .. }
        | SearchStep::Known { path, .. }
        | SearchStep::Merit { path, .. } => Some(path),
        SearchStep::Pass { .. } => None,
    };
    let Some(path) = path else { return Vec::new() };
    let above = path.split_last().map(|(_, above)| above);
    let mut places = vec![path.as_slice()];
    places.extend(above);
    if matches!(step, SearchStep::Cutoff { .. }) {
        places.reverse();
    }
    places
        .into_iter()
        .filter_map(|path| picture.node(path))
        .map(|node| state(picture, node))
        .collect()
}

fn state(picture: &Picture, node: &Drawn) -> PageState {
    let merit = node.merit.map(|merit| format!("? {}", Signed(merit)));
    let value = node.value.map(|value| {
        format!(
            "{}{}",
            node.relation(picture.view),
            Signed(node.seen(value, picture.view))
        )
    });
    let window = node.window.filter(|_| picture.windows);
    // A successor that reaches beta leaves no window: the cutoff itself is the next step.
    let narrowed = window.filter(|window| {
        node.alpha > window.alpha && !picture.criterion.cuts(node.alpha, window.beta)
    });
    PageState {
        id: node.id,
        state: match node.state {
            NodeState::Unseen if node.merit.is_none() => "unseen",
            NodeState::Unseen | NodeState::Open => "open",
            NodeState::Done => "done",
        },
        kind: node
            .kind
            .filter(|_| picture.windows && node.state == NodeState::Done)
            .map(|kind| kind.name()),
        value: value.or(merit),
        window: window.map(|window| picture.written(window, node.side)),
        now: narrowed.map(|window| {
            let alpha = node.alpha;
            picture.written(ValueWindow { alpha, ..window }, node.side)
        }),
        visits: node.visits,
        cut: node.cut,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::draw::PointOfView;
    use crate::lab::games::Explicit;
    use crate::lab::{Algorithm, SolveOptions, solve};

    #[test]
    fn no_window_is_shown_with_its_ends_exchanged() {
        // At b the second successor is not searched: the first one reaches beta.
        let tree = Explicit::parse("r: (a: (3 5) b: (2 9))").unwrap();
        let options = SolveOptions {
            depth: 2,
            trace: true,
            ..SolveOptions::default()
        };
        for view in [PointOfView::Mover, PointOfView::Max] {
            let solved = solve(&tree, Algorithm::FailSoft, options);
            let picture = Picture::new(&tree, 2, view, Algorithm::FailSoft).unwrap();
            let page = html(picture, &solved.trace.unwrap().events, "t");
            // The root's window narrows when a is worth 3, and b's closes.
            assert!(page.contains("\"now\":\"(+3, +∞)\""), "{page}");
            assert!(!page.contains("\"now\":\"(−2, −3)\""));
            assert!(!page.contains("\"now\":\"(+3, +2)\""));
        }
    }

    #[test]
    fn the_page_holds_every_node_and_step() {
        let tree = Explicit::parse("w<b>: (v: 4 x: (5 9))").unwrap();
        let options = SolveOptions {
            depth: 2,
            trace: true,
            ..SolveOptions::default()
        };
        let steps = solve(&tree, Algorithm::FailSoft, options)
            .trace
            .unwrap()
            .events;
        let picture = Picture::new(&tree, 2, PointOfView::Mover, Algorithm::FailSoft).unwrap();
        let size = picture.root.size();
        let page = html(picture, &steps, "a & b");
        assert_eq!(page.matches("\"below\":").count(), size);
        assert_eq!(page.matches("\"what\":").count(), steps.len());
        assert!(page.contains("a &amp; b") && page.contains("w\\u003cb>"));
        assert!(!page.contains("NODES") && !page.contains("STEPS"));
        // Nothing is fetched from elsewhere.
        assert!(!page.contains("src=") && !page.contains("href=") && !page.contains("url("));
    }
}
