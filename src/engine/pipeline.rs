//! The stages that a `go` passes, in their order:
//!
//! 1. [`Place::OpeningBook`]: answers without a search while the game is in the book.
//! 2. [`Place::RootTablebases`]: keeps the root moves that keep the result.
//! 3. the search, which is not a stage;
//! 4. [`Place::StrengthLimit`]: narrows the limits before the search and may choose a weaker move
//!    after it.
//!
//! A stage is something that implements [`Stage`], put into its place by `Engine::set_stage`. Each
//! stage sees the request before the search, in the order above, and may answer instead of the
//! search; changes of the result are returned as [`Step::Revise`]. The clock runs from before the
//! first stage, and an answer of a stage is held back like a search's while the engine ponders or
//! the search is infinite.

use std::sync::Arc;

use super::analysis::Analysis;
use super::conclusion::Conclusion;
use crate::search::SearchRequest;

/// Changes the result of a search before it is reported.
pub type Revision = Box<dyn FnOnce(&mut Analysis) + Send>;

/// What a stage does with a request.
pub enum Step {
    /// Goes on to the next stage; the request may have been changed.
    Continue,
    /// As `Continue`, and changes the result after the search.
    Revise(Revision),
    /// Answers: there is no search. The line must be legal.
    Answer(Conclusion),
}

/// A stage of a `go`. A note for the listener goes through `note`.
pub trait Stage: Send + Sync {
    /// Gets a request before the search, and may change its limits.
    fn before_search(&self, request: &mut SearchRequest, note: &mut dyn FnMut(String)) -> Step;
}

/// The places of stages, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    OpeningBook,
    RootTablebases,
    StrengthLimit,
}

const PLACES: usize = 3;

/// The stages that are in use.
#[derive(Clone, Default)]
pub struct Pipeline {
    stages: [Option<Arc<dyn Stage>>; PLACES],
}

/// What the stages before the search concluded from a request.
#[derive(Default)]
pub struct Prepared {
    /// A stage has answered; nothing is to be searched.
    pub answer: Option<Conclusion>,
    /// To be applied to the result, in this order.
    pub revisions: Vec<Revision>,
}

impl Pipeline {
    /// Puts a stage into its place, or leaves the place empty.
    pub fn set(&mut self, place: Place, stage: Option<Arc<dyn Stage>>) {
        self.stages[place as usize] = stage;
    }

    /// Passes a request through the stages, up to the first that answers.
    pub fn prepare(&self, request: &mut SearchRequest, mut note: impl FnMut(String)) -> Prepared {
        let mut prepared = Prepared::default();
        for stage in self.stages.iter().flatten() {
            match stage.before_search(request, &mut note) {
                Step::Continue => {}
                Step::Revise(revision) => prepared.revisions.push(revision),
                Step::Answer(answer) => {
                    prepared.answer = Some(answer);
                    break;
                }
            }
        }
        prepared
    }
}
