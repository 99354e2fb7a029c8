//! A tree in the terminal: one line a node, the root on top.

use std::fmt::Write as _;

use super::picture::{Drawn, NodeState, Picture};
use crate::lab::game::{Signed, TreePlayer};
use crate::lab::kinds::NodeKind;

const RESET: &str = "\x1b[0m";
const GREY: &str = "\x1b[90m";
const BOLD: &str = "\x1b[1m";

/// The colour of a kind: PV yellow, cut blue, all green.
const fn colour(kind: NodeKind) -> &'static str {
    match kind {
        NodeKind::Pv => "\x1b[33m",
        NodeKind::Cut => "\x1b[34m",
        NodeKind::All => "\x1b[32m",
    }
}

/// Draws the tree as indented text, with ANSI colours if `coloured`.
#[must_use]
pub fn terminal(picture: &Picture, coloured: bool) -> String {
    let mut text = String::new();
    line(picture, &picture.root, coloured, &mut text);
    below(picture, &picture.root, "", coloured, &mut text);
    text
}

fn below(picture: &Picture, node: &Drawn, indent: &str, coloured: bool, text: &mut String) {
    let last = node.successors.len().saturating_sub(1);
    for (index, successor) in node.successors.iter().enumerate() {
        let (branch, deeper) = if index == last {
            ("└─", "  ")
        } else {
            ("├─", "│ ")
        };
        let _ = write!(text, "{indent}{branch} ");
        line(picture, successor, coloured, text);
        // Of a pruned subtree only the root is shown.
        if successor.state != NodeState::Unseen {
            below(
                picture,
                successor,
                &format!("{indent}{deeper} "),
                coloured,
                text,
            );
        }
    }
}

/// `△ label [alpha, beta] → value kind`, with what is not known left out.
fn line(picture: &Picture, node: &Drawn, coloured: bool, text: &mut String) {
    let shape = match node.side {
        TreePlayer::Max => "△",
        TreePlayer::Min => "▽",
    };
    let mut words = format!("{shape} {}", node.label);
    if node.state == NodeState::Unseen {
        let _ = match node.size() - 1 {
            0 => write!(words, " ·"),
            more => write!(words, " · and {more} below"),
        };
    }
    if let (true, Some(window)) = (picture.windows, node.window) {
        let _ = write!(words, " {}", picture.written(window, node.side));
    }
    if let Some(merit) = node.merit {
        let _ = write!(words, " merit {}", Signed(merit));
    }
    match (node.state, node.value) {
        (NodeState::Open, _) => words.push_str(" …"),
        (_, Some(value)) => {
            let _ = write!(
                words,
                " → {}{}",
                node.relation(picture.view),
                Signed(node.seen(value, picture.view))
            );
        }
        _ => {}
    }
    if let (NodeState::Done, Some(kind), true) = (node.state, node.kind, picture.windows) {
        let _ = write!(words, " {}", kind.name());
    }
    if node.cut {
        words.push_str(" ✂");
    }
    if node.visits > 1 {
        let _ = write!(words, " ×{}", node.visits);
    }
    let style = match (node.state, node.kind) {
        (NodeState::Unseen, _) => GREY,
        (NodeState::Open, _) => BOLD,
        (NodeState::Done, Some(kind)) if picture.windows => colour(kind),
        (NodeState::Done, _) => "",
    };
    if coloured && !style.is_empty() {
        words = format!("{style}{words}{RESET}");
    }
    text.push_str(words.trim_end());
    text.push('\n');
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::draw::{PointOfView, advance};
    use crate::lab::games::Explicit;
    use crate::lab::{Algorithm, SolveOptions, solve};

    #[test]
    fn the_textbook_example_reads_as_it_should() {
        let tree = Explicit::parse(include_str!("../../../book/trees/cut.tree")).unwrap();
        let task = SolveOptions {
            depth: 2,
            window: tree.window(),
            trace: true,
        };
        let solved = solve(&tree, Algorithm::FailSoft, task);
        let mut picture = Picture::new(&tree, 2, PointOfView::Mover, Algorithm::FailSoft).unwrap();
        for event in &solved.trace.unwrap().events {
            advance(&mut picture, event);
        }
        let expected = "\
△ w (−3, +7) → −4 all
├─ ▽ v (−7, +3) → +4 cut
├─ ▽ x (−7, +3) → +5 cut ✂
│  ├─ △ y (−3, +7) → −5 all
│  └─ △ z ·
└─ ▽ u (−7, +3) → +6 cut
";
        // w keeps the best of -4, -5 and -6, all below its alpha.
        assert_eq!(terminal(&picture, false), expected);
        assert_eq!(picture.caption.what, "w returns −4 (all node)");
        assert_eq!(picture.caption.why, "an upper bound for its side to move");
        assert!(terminal(&picture, true).contains(GREY));
    }
}
