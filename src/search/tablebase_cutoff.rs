//! Tablebase cutoffs.

use super::node_state::Node;
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

impl Node<'_> {
    /// What a node returns and stores: the score that its moves have and on which side of it the
    /// true one lies, unless the tables say otherwise. They prove a bound, where a search without
    /// them may not see so far.
    pub(super) fn bounded_by_tables(&self, score: Score, bound: Bound) -> (Score, Bound) {
        if score < self.known.alpha {
            (self.known.alpha, Bound::Lower)
        } else if score > self.known.beta {
            (self.known.beta, Bound::Upper)
        } else {
            (score, bound)
        }
    }
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
        self.shared.count_tablebase_hits(self.id, 1);
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

#[cfg(test)]
mod tests {
    use std::path::Path;
    use std::sync::Arc;

    use super::*;
    use crate::search::node_type::Pv;
    use crate::search::tests::{position, worker_at};
    use crate::tablebase::{Probing, Tablebases};

    /// The tables answer only right after a capture or a pawn's move, so the moves' own scores
    /// lie on the wrong side of what is known.
    #[test]
    fn what_is_known_is_stored() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/syzygy");
        let probing = Probing {
            tables: Arc::new(Tablebases::load(&folder.to_string_lossy()).0),
            depth: Depth::ONE,
            pieces: 7,
            fifty_move_rule: true,
        };
        let cases = [
            ("8/8/8/3qk3/8/8/8/R3K3 b - - 0 1", Bound::Lower),
            ("8/8/8/3qk3/8/8/8/R3K3 w - - 0 1", Bound::Upper),
        ];
        for (fen, bound) in cases {
            let position = position(fen);
            let mut worker = worker_at(&position);
            worker.probing = Some(probing.clone());
            let ply = Ply(1);
            let found = worker.node::<Pv>(&position, ply, Depth::ONE, Window::OPEN, false);
            let stored = worker.shared.tt.probe(position.key(), ply, 0);
            let stored = stored.map(|entry| (entry.score, entry.bound));
            let score = found.expect("not stopped");
            assert!(score.is_decisive(), "{fen}");
            assert_eq!(stored, Some((score, Some(bound))), "{fen}");
        }
    }
}
