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
    pub(super) fn tt_cutoff(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        window: Window,
        cut_node: bool,
        tt_entry: &TtEntry,
    ) -> Option<Score> {
        /// Deep enough to cut whatever kind of node was expected.
        const CERTAIN_DEPTH: i32 = 5;
        let beta = window.beta;
        // A refutation must rest on one ply more than the node is worth.
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

    /// A quiet move of the table that fails high again gains in the histories of quiet moves.
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
