//! What a `go` ends with.

use crate::search::SearchResult;
use crate::types::{Depth, Move, Score};

/// The result of a search.
#[derive(Clone, Debug)]
pub struct Conclusion {
    /// The best line, beginning with the move to play; empty only if there is no legal move.
    pub pv: Vec<Move>,
    /// `None` if there are legal moves but none was searched.
    pub score: Option<Score>,
    /// The last complete iteration; 1 if the first was only begun, 0 if nothing was searched.
    pub depth: Depth,
}

impl From<SearchResult> for Conclusion {
    fn from(result: SearchResult) -> Conclusion {
        Conclusion {
            score: Some(result.score),
            depth: result.depth.max(Depth::ONE),
            pv: result.pv,
        }
    }
}
