//! Principal variations, collected while the search returns (a triangular table). Reading them
//! from the transposition table instead would show lines that other searches overwrote.

use crate::types::{MAX_PLY, Move, Ply};

/// The best line found below each ply of the current one.
#[derive(Clone, Debug)]
pub(super) struct PvTable(Vec<Vec<Move>>);

impl Default for PvTable {
    fn default() -> PvTable {
        let line = |_| Vec::with_capacity(MAX_PLY);
        PvTable((0..MAX_PLY + 2).map(line).collect())
    }
}

impl PvTable {
    /// A node begins: no line yet.
    pub fn clear(&mut self, ply: Ply) {
        self.0[ply.index()].clear();
    }

    /// A move became best: the line is the move and its child's line.
    #[inline(always)]
    pub fn extend(&mut self, ply: Ply, m: Move) {
        let (lines, children) = self.0.split_at_mut(ply.index() + 1);
        let line = &mut lines[ply.index()];
        line.clear();
        line.push(m);
        line.extend_from_slice(&children[0]);
    }

    pub fn line(&self, ply: Ply) -> &[Move] {
        &self.0[ply.index()]
    }
}
