//! The moves of a node that were searched without becoming the best so far.

use arrayvec::ArrayVec;

use crate::types::Move;

/// Moves that are remembered for a malus; more are hardly ever searched in one node.
const TRIED: usize = 32;

/// Moves that were searched without becoming the best so far.
#[derive(Default)]
pub(super) struct SearchedMoves {
    pub quiet: ArrayVec<Move, TRIED>,
    pub noisy: ArrayVec<Move, TRIED>,
}

impl SearchedMoves {
    pub fn push(&mut self, m: Move, noisy: bool) {
        let list = if noisy {
            &mut self.noisy
        } else {
            &mut self.quiet
        };
        // A full list drops the latest moves, which were the least promising.
        let _ = list.try_push(m);
    }
}
