//! The move to play if the running search could not end.

use std::sync::{Arc, Mutex, PoisonError};

use crate::types::Move;

/// The best move by the best line that the running search reported last; before any, the first of
/// the moves that the request names, if it names any. Clones share the move.
#[derive(Clone, Debug, Default)]
pub struct BestSoFar(Arc<Mutex<Option<Move>>>);

impl BestSoFar {
    /// The move, if there is one.
    #[must_use]
    pub fn get(&self) -> Option<Move> {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn set(&self, best: Option<Move>) {
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = best;
    }
}
