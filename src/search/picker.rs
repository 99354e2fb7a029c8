//! Move ordering, in stages: each stage is generated and ordered only when the moves before it
//! caused no cutoff.

mod noisy;
mod quiets;
mod scored_moves;

use arrayvec::ArrayVec;

use noisy::list_noisy;
use quiets::list_quiets;
use scored_moves::ScoredMoves;

use super::stack::Stack;
use crate::board::{Legality, Position};
use crate::history::Histories;
use crate::params as p;
use crate::types::{MAX_MOVES, Move, Ply, Role};

#[derive(Clone, Copy, PartialEq, Eq)]
enum PickerStage {
    /// The transposition table's move, before anything is generated.
    TtMove,
    GenerateNoisy,
    /// Captures and promotions that do not lose the exchange, with some tolerance for the history.
    GoodNoisy,
    GenerateQuiet,
    Quiet,
    /// Captures that lose the exchange, last.
    BadNoisy,
}

/// Returns a node's moves one by one, most promising first.
pub(super) struct Picker {
    stage: PickerStage,
    tt_move: Option<Move>,
    /// The moves of the stage that are still to come.
    moves: ScoredMoves,
    bad: ArrayVec<Move, MAX_MOVES>,
    next_bad: usize,
    /// Whether quiet moves are handed out.
    quiets: bool,
    split: Split,
    /// The move handed out last is known to win at least so much in exchange.
    proven_see: i32,
}

/// Nothing is known of a move's exchange.
const UNPROVEN: i32 = i32::MIN;

/// How captures are judged before they are handed out.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Split {
    /// Good ones first, bad ones last.
    ByHistory,
    /// All in order: the quiescence search judges exchanges itself.
    None,
    /// Only those whose exchange wins at least so much.
    Wins(i32),
}

impl Picker {
    /// Every move.
    pub fn all(tt_move: Option<Move>) -> Picker {
        let split = if p::use_see_split() {
            Split::ByHistory
        } else {
            Split::None
        };
        Picker::new(tt_move, true, split)
    }

    /// Captures and promotions, for the quiescence search.
    pub fn noisy(tt_move: Option<Move>) -> Picker {
        Picker::new(tt_move, false, Split::None)
    }

    /// Captures and promotions that win at least `threshold` in exchange.
    pub fn captures(tt_move: Option<Move>, threshold: i32) -> Picker {
        Picker::new(tt_move, false, Split::Wins(threshold))
    }

    fn new(tt_move: Option<Move>, quiets: bool, split: Split) -> Picker {
        let stage = if tt_move.is_some() {
            PickerStage::TtMove
        } else {
            PickerStage::GenerateNoisy
        };
        Picker {
            stage,
            tt_move,
            moves: ScoredMoves::default(),
            bad: ArrayVec::new(),
            next_bad: 0,
            quiets,
            split,
            proven_see: UNPROVEN,
        }
    }

    /// Hands out no more quiet moves, except for the table's move.
    pub fn skip_quiets(&mut self) {
        self.quiets = false;
    }

    /// What the move handed out last is known to win at least in exchange, as for
    /// [`Position::see_ge`].
    pub fn proven_see(&self) -> i32 {
        self.proven_see
    }

    /// The next move, or `None` after the last.
    pub fn next(
        &mut self,
        histories: &Histories,
        stack: &Stack,
        position: &Position,
        legality: &Legality,
        ply: Ply,
    ) -> Option<Move> {
        loop {
            match self.stage {
                PickerStage::TtMove => {
                    self.stage = PickerStage::GenerateNoisy;
                    return self.tt_move;
                }
                PickerStage::GenerateNoisy => {
                    list_noisy(histories, position, legality, self.tt_move, &mut self.moves);
                    self.stage = PickerStage::GoodNoisy;
                }
                PickerStage::GoodNoisy => match self.moves.take_best() {
                    Some(m) if self.is_good(histories, position, m) => return Some(m),
                    Some(m) if self.split == Split::ByHistory => self.bad.push(m),
                    Some(_) => {}
                    None => {
                        self.proven_see = UNPROVEN;
                        self.stage = PickerStage::GenerateQuiet;
                    }
                },
                PickerStage::GenerateQuiet => {
                    if self.quiets {
                        list_quiets(
                            histories,
                            stack,
                            position,
                            legality,
                            ply,
                            self.tt_move,
                            &mut self.moves,
                        );
                    }
                    self.stage = PickerStage::Quiet;
                }
                PickerStage::Quiet => match self.moves.take_best().filter(|_| self.quiets) {
                    Some(m) => return Some(m),
                    None => self.stage = PickerStage::BadNoisy,
                },
                PickerStage::BadNoisy => {
                    let m = self.bad.get(self.next_bad).copied();
                    self.next_bad += 1;
                    return m;
                }
            }
        }
    }

    fn is_good(&mut self, histories: &Histories, position: &Position, m: Move) -> bool {
        let threshold = match self.split {
            Split::None => return true,
            Split::Wins(threshold) => threshold,
            Split::ByHistory if m.promotion().is_some_and(|role| role != Role::Queen) => {
                return false;
            }
            Split::ByHistory => {
                let history = histories.capture.get(position.moved_piece(m), m);
                -history * p::order_see_history() / p::HISTORY_UNIT
            }
        };
        let good = position.see_ge(m, threshold);
        if good {
            self.proven_see = threshold;
        }
        good
    }
}

#[cfg(test)]
mod tests;
