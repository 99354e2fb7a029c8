//! What the steps of one node share.

use super::node_type::NodeType;
use super::window::Window;
use crate::board::{Legality, Position, is_noisy};
use crate::params as p;
use crate::tt::TtEntry;
use crate::types::{Depth, Move, PackedMove, Ply, Score};

/// What the steps of one node know of it.
pub(super) struct Node<'a> {
    pub position: &'a Position,
    pub legality: Legality,
    pub ply: Ply,
    pub depth: Depth,
    /// The window after the steps that narrow it; the move loop raises its own alpha.
    pub window: Window,
    /// Where the tablebases say that the score lies.
    pub known: Window,
    /// Expected to be a cut node.
    pub cut_node: bool,
    /// The move that a singular search leaves out, or none.
    pub excluded: PackedMove,
    pub tt_entry: Option<TtEntry>,
    /// The table's move, if it is legal here.
    pub tt_move: Option<Move>,
    /// On a principal variation now or in an earlier search.
    pub tt_pv: bool,
    /// The bare evaluation, as the table keeps it; `None` in check and in singular searches.
    pub raw_eval: Option<Score>,
    /// What the correction histories add to it, in centipawns.
    pub correction: i32,
    /// The corrected evaluation.
    pub static_eval: Score,
    /// The static evaluation, or the table's score where that is nearer the truth.
    pub eval: Score,
    /// By how much the evaluation has risen since our last move, in centipawns.
    pub improvement: i32,
}

impl Node<'_> {
    pub fn in_check(&self) -> bool {
        self.position.in_check()
    }

    pub fn improving(&self) -> bool {
        self.improvement > 0
    }

    /// The table's move captures or promotes.
    pub fn tt_noisy(&self) -> bool {
        self.tt_move.is_some_and(is_noisy)
    }

    /// Whole-node pruning is allowed: not on a principal variation, whose exact score matters;
    /// not in check, where the evaluation is unreliable; not in a singular search, which is about
    /// the other moves only.
    pub fn prunable<T: NodeType>(&self) -> bool {
        !T::PV && !self.in_check() && self.excluded.is_none()
    }
}

/// The table's move as a legal move of the position, or `None` if it is none.
pub(super) fn legal_tt_move(
    position: &Position,
    best: PackedMove,
    legality: &Legality,
) -> Option<Move> {
    if p::use_tt_move() {
        position.unpack_with(best, legality)
    } else {
        None
    }
}
