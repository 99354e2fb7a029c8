//! A tree as SVG, drawn the way textbooks do: Max's nodes are triangles that point up, Min's point
//! down, colours show the kinds, pruned branches are grey and dashed.

use std::fmt::Write as _;

use super::picture::{Drawn, NodeState, Picture};
use crate::lab::game::{Signed, TreePlayer};
use crate::lab::kinds::NodeKind;

/// Distances in pixels.
const SLOT: f64 = 62.0;
/// Room for the legend and the caption.
const LEAST_WIDTH: f64 = 560.0;
const LEVEL: f64 = 92.0;
const MARGIN: f64 = 40.0;
/// Room above the root for its window and name.
const TOP: f64 = 64.0;
const RADIUS: f64 = 21.0;
/// How far a triangle's base is from its middle, and half the base, in radii.
const BASE: f64 = 0.75;
const HALF_BASE: f64 = 1.2;
const LEGEND: f64 = 34.0;
/// A best-first search and plain minimax show no windows and need less room.
const NARROW_SLOT: f64 = 48.0;
/// How far along an edge its label sits.
const LABEL_AT: f64 = 0.52;

/// The usual width of a letter of the small print.
const SMALL_LETTER: f64 = 5.4;

const PRUNED: &str = "#b4b4b4";
const PRUNED_INK: &str = "#7a7a7a";
const INK: &str = "#222222";
const PLAIN: &str = "#e9e4da";

/// The fill colour of a kind.
const fn fill(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Pv => "#f5c84b",
        NodeKind::Cut => "#8fbbe8",
        NodeKind::All => "#9fd49a",
    }
}

/// A node's place on the page, with its successors'.
struct Placed<'t> {
    node: &'t Drawn,
    x: f64,
    y: f64,
    below: Vec<Placed<'t>>,
}

impl Placed<'_> {
    /// From the middle of the node down to its lower edge: a tip or a base.
    fn foot(&self) -> f64 {
        match self.node.side {
            TreePlayer::Max => RADIUS * BASE,
            TreePlayer::Min => RADIUS,
        }
    }

    /// From the middle of the node up to its upper edge.
    fn head(&self) -> f64 {
        match self.node.side {
            TreePlayer::Max => RADIUS,
            TreePlayer::Min => RADIUS * BASE,
        }
    }
}

/// Draws the tree as a complete SVG document.
#[must_use]
pub fn svg(picture: &Picture) -> String {
    let slot = if picture.windows { SLOT } else { NARROW_SLOT };
    let tree = slot * picture.root.leaves() as f64;
    let width = (tree + 2.0 * MARGIN).max(LEAST_WIDTH);
    let mut next = (width - tree + slot) / 2.0;
    let root = place(&picture.root, TOP, slot, &mut next);
    let height = lowest(&root) + RADIUS + MARGIN + LEGEND;
    let mut page = String::new();
    let _ = writeln!(
        page,
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {width:.0} {height:.0}\" \
         width=\"{width:.0}\" height=\"{height:.0}\" font-family=\"sans-serif\" \
         font-size=\"12\" text-anchor=\"middle\">"
    );
    let _ = writeln!(
        page,
        "<rect width=\"100%\" height=\"100%\" fill=\"#ffffff\"/>"
    );
    let _ = writeln!(
        page,
        "<text x=\"{:.1}\" y=\"{:.1}\">{}</text>",
        root.x,
        root.y - RADIUS - 16.0,
        escape(&root.node.label)
    );
    edges(&root, &mut page);
    labels(&root, &mut page);
    nodes(picture, &root, &mut page);
    legend(picture, height - LEGEND / 2.0, &mut page);
    page.push_str("</svg>\n");
    page
}

/// Leaves side by side in slots, every other node above the middle of its successors.
fn place<'t>(node: &'t Drawn, y: f64, slot: f64, next: &mut f64) -> Placed<'t> {
    let below: Vec<_> = node
        .successors
        .iter()
        .map(|node| place(node, y + LEVEL, slot, next))
        .collect();
    let x = match (below.first(), below.last()) {
        (Some(first), Some(last)) => f64::midpoint(first.x, last.x),
        _ => {
            *next += slot;
            *next - slot
        }
    };
    Placed { node, x, y, below }
}

fn lowest(placed: &Placed) -> f64 {
    placed.below.iter().map(lowest).fold(placed.y, f64::max)
}

fn edges(above: &Placed, page: &mut String) {
    for below in &above.below {
        let (stroke, dash) = if is_pruned(below.node) {
            (PRUNED, " stroke-dasharray=\"4 4\"")
        } else {
            (INK, "")
        };
        let _ = writeln!(
            page,
            "<line x1=\"{:.1}\" y1=\"{:.1}\" x2=\"{:.1}\" y2=\"{:.1}\" stroke=\"{stroke}\"{dash}/>",
            above.x,
            above.y + above.foot(),
            below.x,
            below.y - below.head(),
        );
        edges(below, page);
    }
}

/// The names of moves, drawn after all lines so that no line runs through them.
fn labels(above: &Placed, page: &mut String) {
    for below in &above.below {
        let colour = if is_pruned(below.node) {
            PRUNED_INK
        } else {
            INK
        };
        let (x, y) = along(above, below);
        let _ = writeln!(
            page,
            "<text x=\"{x:.1}\" y=\"{y:.1}\" fill=\"{colour}\" stroke=\"#ffffff\" \
             stroke-width=\"5\" paint-order=\"stroke\">{}</text>",
            escape(&below.node.label)
        );
        labels(below, page);
    }
    if above.node.cut {
        // Two strokes below the node, to its right.
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-size=\"16\" font-weight=\"bold\" \
             fill=\"#c0392b\">//</text>",
            above.x + RADIUS,
            above.y + RADIUS + 8.0
        );
    }
}

/// Whether a search never came to the node.
fn is_pruned(node: &Drawn) -> bool {
    node.state == NodeState::Unseen && node.merit.is_none()
}

fn along(above: &Placed, below: &Placed) -> (f64, f64) {
    let (top, bottom) = (above.y + above.foot(), below.y - below.head());
    (
        above.x + (below.x - above.x) * LABEL_AT,
        top + (bottom - top) * LABEL_AT,
    )
}

fn nodes(picture: &Picture, placed: &Placed, page: &mut String) {
    // The tip of the triangle, from the middle of the node.
    let tip = match placed.node.side {
        TreePlayer::Max => -RADIUS,
        TreePlayer::Min => RADIUS,
    };
    triangle(picture, placed, tip, page);
    value(picture, placed, tip, page);
    remarks(picture, placed, page);
    for below in &placed.below {
        nodes(picture, below, page);
    }
}

/// A node's shape, coloured by its kind.
fn triangle(picture: &Picture, placed: &Placed, tip: f64, page: &mut String) {
    let node = placed.node;
    let unseen = is_pruned(node);
    let colour = match (node.state, node.kind) {
        (NodeState::Done, Some(kind)) if picture.windows => fill(kind),
        _ if unseen => "#f4f4f4",
        _ => PLAIN,
    };
    let stroke = if unseen { PRUNED } else { INK };
    let weight = if node.state == NodeState::Open { 3 } else { 1 };
    let (x, y) = (placed.x, placed.y);
    let _ = writeln!(
        page,
        "<polygon points=\"{x:.1},{:.1} {:.1},{:.1} {:.1},{:.1}\" fill=\"{colour}\" \
         stroke=\"{stroke}\" stroke-width=\"{weight}\" stroke-linejoin=\"round\"/>",
        y + tip,
        x - RADIUS * HALF_BASE,
        y - tip * BASE,
        x + RADIUS * HALF_BASE,
        y - tip * BASE,
    );
}

/// The value that the search of a node has returned, inside its triangle.
fn value(picture: &Picture, placed: &Placed, tip: f64, page: &mut String) {
    let node = placed.node;
    if let Some(value) = node.value {
        let relation = node.relation(picture.view);
        let text = format!("{relation}{}", Signed(node.seen(value, picture.view)));
        let _ = writeln!(
            page,
            "<text x=\"{:.1}\" y=\"{:.1}\" font-weight=\"bold\">{text}</text>",
            placed.x,
            placed.y + 4.0 - tip * 0.22
        );
    }
}

/// A node's window, merit and visits, above it, on a ground that hides the edge from above.
fn remarks(picture: &Picture, placed: &Placed, page: &mut String) {
    let node = placed.node;
    let (x, y) = (placed.x, placed.y);
    let mut texts = Vec::new();
    if let (true, Some(window)) = (picture.windows, node.window) {
        texts.push(picture.written(window, node.side));
    }
    if let (true, Some(merit)) = (node.value.is_none(), node.merit) {
        texts.push(format!("≤ {}", Signed(merit)));
    }
    if node.visits > 1 {
        texts.push(format!("×{}", node.visits));
    }
    if texts.is_empty() {
        return;
    }
    let text = texts.join(" ");
    let width = SMALL_LETTER * text.chars().count() as f64;
    let _ = writeln!(
        page,
        "<rect x=\"{:.1}\" y=\"{:.1}\" width=\"{width:.1}\" height=\"11\" fill=\"#ffffff\"/>\
         <text x=\"{x:.1}\" y=\"{:.1}\" font-size=\"10\" fill=\"#555555\">{}</text>",
        x - width / 2.0,
        y - RADIUS - 12.0,
        y - RADIUS - 3.0,
        escape(&text)
    );
}

fn legend(picture: &Picture, y: f64, page: &mut String) {
    let mut x = MARGIN;
    let mut item = |colour: &str, dashed: bool, text: &str| {
        let dash = if dashed {
            " stroke-dasharray=\"3 3\""
        } else {
            ""
        };
        let _ = writeln!(
            page,
            "<rect x=\"{x:.1}\" y=\"{:.1}\" width=\"14\" height=\"14\" fill=\"{colour}\" \
             stroke=\"{INK}\"{dash}/><text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"start\">{text}\
             </text>",
            y - 7.0,
            x + 20.0,
            y + 4.0
        );
        x += 72.0;
    };
    if picture.windows {
        for kind in NodeKind::EVERY {
            item(fill(kind), false, kind.name());
        }
    }
    item("#f4f4f4", true, "pruned");
    let _ = writeln!(
        page,
        "<text x=\"{:.1}\" y=\"{:.1}\" text-anchor=\"start\" fill=\"#555555\">{}</text>",
        x + 10.0,
        y + 4.0,
        escape(&picture.caption.what)
    );
}

/// Text that is safe inside XML.
pub(super) fn escape(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::draw::{PointOfView, advance};
    use crate::lab::games::Explicit;
    use crate::lab::{Algorithm, SolveOptions, solve};

    #[test]
    fn every_node_has_a_triangle_and_pruned_ones_are_dashed() {
        let tree = Explicit::parse(include_str!("../../../book/trees/presort.tree")).unwrap();
        let solved = solve(
            &tree,
            Algorithm::FailSoft,
            SolveOptions {
                depth: 2,
                trace: true,
                ..SolveOptions::default()
            },
        );
        let mut picture = Picture::new(&tree, 2, PointOfView::Mover, Algorithm::FailSoft).unwrap();
        for event in &solved.trace.unwrap().events {
            advance(&mut picture, event);
        }
        let page = svg(&picture);
        assert_eq!(page.matches("<polygon").count(), picture.root.size());
        let pruned = picture.root.size() as u64 - solved.counts.leaves - solved.counts.interior;
        // One dash more, in the legend.
        assert_eq!(page.matches("dasharray").count() as u64, pruned + 1);
    }
}
