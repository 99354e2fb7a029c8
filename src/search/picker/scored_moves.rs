//! A list of moves with a score each, from which the best is taken first.

use arrayvec::ArrayVec;

use crate::types::{MAX_MOVES, Move, MoveList};

/// Bits of a key below the score, enough for the place of any move in the list.
const PLACE_BITS: u32 = 9;
const PLACES: i32 = 1 << PLACE_BITS;
const _: () = assert!(MAX_MOVES <= PLACES as usize);

/// Moves in the order they were added, each with a key.
#[derive(Default)]
pub struct ScoredMoves {
    moves: MoveList,
    /// Of each move its score and, below that, its place in the list: the best move is then the
    /// largest key, which takes no branches to find. Of equal scores the latest comes first.
    keys: ArrayVec<i32, MAX_MOVES>,
}

impl ScoredMoves {
    /// Adds a move; its score must be within 22 bits and the sign.
    #[inline(always)]
    pub fn push(&mut self, m: Move, score: i32) {
        self.keys.push(score * PLACES + self.keys.len() as i32);
        self.moves.push(m);
    }

    /// Takes the move with the highest score out (selection sort: most nodes want only a few).
    #[inline(always)]
    pub fn take_best(&mut self) -> Option<Move> {
        let largest = self.keys.iter().copied().max()?;
        let place = (largest & (PLACES - 1)) as usize;
        self.keys.swap_remove(place);
        if let Some(moved) = self.keys.get_mut(place) {
            *moved = *moved & !(PLACES - 1) | place as i32;
        }
        Some(self.moves.swap_remove(place))
    }
}
