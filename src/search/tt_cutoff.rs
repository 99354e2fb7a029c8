//! Transposition table cutoffs.

use super::window::Window;
use super::worker::SearchWorker;
use crate::board::Position;
use crate::history::{PieceTo, bonus};
use crate::params as p;
use crate::tt::TtEntry;
use crate::types::{Depth, PackedMove, Ply, Score};

/// Beyond this many plies without progress a stored score may rest on a line that the 50-move
/// rule cuts short.
const HALFMOVES_TRUSTED: u32 = 90;

impl SearchWorker {
    /// The score of the table's entry if it decides the node: deep enough, a bound on the right
    /// side, and of the kind of node expected here. A quiet move that fails high again is rewarded.
    #[inline(always)]
    pub(super) fn tt_cutoff(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut_node: bool,
        tt_entry: &TtEntry,
    ) -> Option<Score> {
        /// Deeper nodes are cut whatever kind of node was expected.
        const CERTAIN_DEPTH: i32 = 5;
        let beta = window.beta;
        // A score above beta must rest on one ply more than the node is worth.
        let needed = depth + i32::from(tt_entry.score > beta);
        let expected = (tt_entry.score >= beta) == cut_node || depth.plies() > CERTAIN_DEPTH;
        let cuts = self.uses(p::use_tt_cutoffs())
            && tt_entry.depth >= needed
            && tt_entry.decides(beta)
            && expected
            && position.halfmoves() < HALFMOVES_TRUSTED;
        if !cuts {
            return None;
        }
        self.stats.tt_cutoffs += 1;
        if tt_entry.score >= beta && tt_entry.best.is_some() {
            self.reward_tt_move(position, ply, depth, tt_entry.best);
        }
        Some(tt_entry.score)
    }

    /// A quiet move of the table that fails high again gains in the histories of quiet moves. Pawn
    /// history takes the whole bonus here; to give it the share `update_pawn` gained nothing in games.
    fn reward_tt_move(&mut self, position: &Position, ply: Ply, depth: Depth, best: PackedMove) {
        let Some(piece) = position.board().piece_at(best.from()) else {
            return;
        };
        let quiet = best.promotion().is_none()
            && !best.is_en_passant()
            && (best.is_castle() || position.board().role_at(best.to()).is_none());
        if quiet && piece.color == position.turn() {
            let (now, bonus) = (PieceTo::new(piece, best.to()), bonus(depth));
            let threats = position.legality().threats;
            self.histories
                .butterfly
                .update(piece.color, threats, best, bonus);
            self.histories
                .pawn
                .update(position.keys().pawns, now, bonus);
            self.update_continuations(ply, now, bonus);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::search::tests::{position, worker};
    use crate::types::Bound;

    const BETA: Score = Score::cp(50);

    /// Whether a lower bound of this depth cuts a node of depth 5, the deepest whose kind counts.
    fn cuts(score: Score, depth: i32, cut_node: bool) -> bool {
        let entry = lower(score, depth);
        let (window, position) = (Window::at_least(BETA), Position::startpos());
        worker()
            .tt_cutoff(&position, Ply(1), Depth(5), window, cut_node, &entry)
            .is_some()
    }

    fn lower(score: Score, depth: i32) -> TtEntry {
        TtEntry {
            best: PackedMove::NONE,
            score,
            bound: Some(Bound::Lower),
            depth: Depth(depth),
            pv: false,
            eval: None,
        }
    }

    #[test]
    fn entries_cut_from_the_depth_needed_on() {
        assert!(cuts(BETA, 5, true));
        assert!(!cuts(BETA, 4, true));
        assert!(!cuts(BETA + 1, 5, true), "a refutation needs one ply more");
        assert!(cuts(BETA + 1, 6, true));
        assert!(!cuts(BETA - 1, 9, true), "a lower bound below beta");
        assert!(!cuts(BETA, 9, false), "not the kind of node expected");
    }

    #[test]
    fn late_before_the_fifty_move_rule_nothing_cuts() {
        let cut = |halfmoves: u32| {
            let at = position(&format!("4k3/8/8/8/8/8/3R4/4K3 w - - {halfmoves} 80"));
            let (window, entry) = (Window::at_least(BETA), lower(BETA, 9));
            let score = worker().tt_cutoff(&at, Ply(1), Depth(5), window, true, &entry);
            score.is_some()
        };
        assert!(cut(HALFMOVES_TRUSTED - 1) && !cut(HALFMOVES_TRUSTED));
    }

    #[test]
    fn a_quiet_move_that_cuts_again_gains() {
        let position = Position::startpos();
        let mut worker = worker();
        let m = PackedMove::new(position.parse_uci("e2e4").expect("legal"));
        let entry = TtEntry {
            best: m,
            ..lower(BETA, 5)
        };
        let window = Window::at_least(BETA);
        let score = worker.tt_cutoff(&position, Ply(1), Depth(5), window, true, &entry);
        assert_eq!(score, Some(BETA));
        let threats = position.legality().threats;
        let gained = worker.histories.butterfly.get(position.turn(), threats, m);
        assert!(gained > 0);
    }
}
