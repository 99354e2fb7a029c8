//! Tablebase cutoffs.

use super::window::Window;
use super::worker::SearchWorker;
use crate::board::Position;
use crate::tt::TtEntry;
use crate::types::{Bound, Depth, MAX_DEPTH, PackedMove, Ply, Score};

/// A table's result counts as a search this much deeper than asked for.
const DEEPER: i32 = 6;

/// What the tables decide about a node.
pub(super) enum FromTables {
    /// The score itself, or a bound that lies outside the window.
    Cutoff(Score),
    /// The score lies in here.
    Within(Window),
}

impl SearchWorker {
    /// The tablebases' result for a node, if they have one. A win is only a lower bound, because
    /// the search may find a mate; so a node on the principal variation is searched nevertheless,
    /// unless the result lies outside its window.
    #[inline(never)]
    pub(super) fn tablebase_cutoff(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        pv: bool,
    ) -> FromTables {
        let unknown = FromTables::Within(Window::OPEN);
        let Some(probed) = self
            .probing
            .as_ref()
            .and_then(|probing| probing.probe(position, ply, depth))
        else {
            return unknown;
        };
        self.shared.count_tablebase_hits(1);
        let (score, bound) = (probed.score, probed.bound);
        let outside = match bound {
            Bound::Exact => true,
            Bound::Lower => score >= window.beta,
            Bound::Upper => score <= window.alpha,
        };
        if outside {
            let entry = TtEntry {
                best: PackedMove::NONE,
                score,
                bound: Some(bound),
                depth: (depth + DEEPER).min(MAX_DEPTH),
                pv,
                eval: None,
            };
            self.shared.tt.store(position.key(), ply, &entry);
            return FromTables::Cutoff(score);
        }
        FromTables::Within(match bound {
            Bound::Lower => Window::new(score, Score::INFINITE),
            _ => Window::new(-Score::INFINITE, score),
        })
    }
}
