//! The move to play if the running search could not end.

use std::sync::{Arc, Mutex, PoisonError};

use crate::types::Move;

/// The best move of the last iteration that the running search has finished; before the first,
/// the first of the moves that the request names, if it names any. Clones share the move.
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
