//! Ends games that are decided.

use serde::Serialize;

use crate::types::{GameResult, Score};

/// When games are ended before the rules end them.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Adjudication {
    /// A side wins that is ahead by this many centipawns for [`Adjudication::win_plies`].
    pub win_score: i32,
    /// How many plies in a row, scored by both sides in turn, decide a win.
    pub win_plies: usize,
    /// A game is drawn whose scores are this close to even, in centipawns, for
    /// [`Adjudication::draw_plies`].
    pub draw_score: i32,
    /// How many plies in a row decide a draw.
    pub draw_plies: usize,
    /// Games are drawn from this ply on.
    pub draw_from: u32,
    /// A game longer than this is a draw.
    pub max_plies: usize,
}

impl Default for Adjudication {
    fn default() -> Adjudication {
        Adjudication {
            win_score: 1000,
            win_plies: 5,
            draw_score: 5,
            draw_plies: 10,
            draw_from: 80,
            max_plies: 400,
        }
    }
}

/// Counts plies in a row in which the outcome was clear.
pub struct Adjudicator {
    rules: Adjudication,
    winning: usize,
    losing: usize,
    level: usize,
}

impl Adjudicator {
    /// Counts by these rules.
    #[must_use]
    pub fn new(rules: Adjudication) -> Adjudicator {
        Adjudicator {
            rules,
            winning: 0,
            losing: 0,
            level: 0,
        }
    }

    /// The result, if White's score makes it clear at this ply of the game.
    pub fn result(&mut self, white: Score, game_ply: u32) -> Option<GameResult> {
        let cp = white.raw();
        let count = |counter: &mut usize, holds: bool| {
            *counter = if holds { *counter + 1 } else { 0 };
            *counter
        };
        let win = self.rules.win_plies;
        if count(&mut self.winning, cp >= self.rules.win_score) >= win || white.is_win() {
            return Some(GameResult::WhiteWins);
        }
        if count(&mut self.losing, cp <= -self.rules.win_score) >= win || white.is_loss() {
            return Some(GameResult::BlackWins);
        }
        let level = cp.abs() <= self.rules.draw_score && game_ply >= self.rules.draw_from;
        (count(&mut self.level, level) >= self.rules.draw_plies).then_some(GameResult::Draw)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn decisions_need_plies_in_a_row() {
        let rules = Adjudication::default();
        let mut adjudicator = Adjudicator::new(rules.clone());
        let high = Score::cp(rules.win_score);
        for _ in 0..rules.win_plies - 1 {
            assert_eq!(adjudicator.result(high, 30), None);
        }
        assert_eq!(adjudicator.result(Score::cp(0), 30), None);
        for _ in 0..rules.win_plies - 1 {
            assert_eq!(adjudicator.result(-high, 30), None);
        }
        assert_eq!(adjudicator.result(-high, 30), Some(GameResult::BlackWins));
        let mate = Score::mate_in(Ply(3));
        assert_eq!(
            Adjudicator::new(rules.clone()).result(mate, 9),
            Some(GameResult::WhiteWins)
        );
        let mut adjudicator = Adjudicator::new(rules.clone());
        for ply in 0..rules.draw_from + rules.draw_plies as u32 - 1 {
            assert_eq!(adjudicator.result(Score::DRAW, ply), None, "{ply}");
        }
        assert_eq!(adjudicator.result(Score::DRAW, 500), Some(GameResult::Draw));
    }
}
