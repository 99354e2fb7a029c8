//! What a run made, in numbers.

use serde::Serialize;

use super::play::Played;
use crate::record::{GameRecord, Mailbox};
use crate::types::{GameResult, Score};

/// The totals of a run.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct DatagenSummary {
    pub games: u64,
    pub plies: u64,
    /// Single positions written.
    pub positions: u64,
    /// Plies that a trainer would keep by the usual filter: not in check, no capture or promotion
    /// played, no mate score.
    pub quiet: u64,
    pub nodes: u64,
    pub white_wins: u64,
    pub draws: u64,
    pub black_wins: u64,
    pub seconds: f64,
}

impl DatagenSummary {
    pub(super) fn note(&mut self, played: &Played) {
        self.games += 1;
        self.plies += played.game.plies.len() as u64;
        self.quiet += quiet_plies(&played.game);
        self.nodes += played.nodes;
        match played.game.result {
            GameResult::WhiteWins => self.white_wins += 1,
            GameResult::Draw => self.draws += 1,
            GameResult::BlackWins => self.black_wins += 1,
        }
    }

    pub(super) fn add(&mut self, other: &DatagenSummary) {
        self.games += other.games;
        self.plies += other.plies;
        self.positions += other.positions;
        self.quiet += other.quiet;
        self.nodes += other.nodes;
        self.white_wins += other.white_wins;
        self.draws += other.draws;
        self.black_wins += other.black_wins;
    }

    /// The summary in words.
    #[must_use]
    pub fn text(&self) -> String {
        const SECONDS_AN_HOUR: f64 = 3600.0;
        let share = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        let speed = |count: u64| count as f64 / self.seconds.max(f64::MIN_POSITIVE);
        format!(
            "{} games, {} plies ({:.1} % quiet: {:.2} M an hour), {} single positions in {:.0} s, \
             {:.0} plies/s, {:.0} k nodes/s; White won {:.1} %, drawn {:.1} %, Black won {:.1} %",
            self.games,
            self.plies,
            share(self.quiet, self.plies),
            speed(self.quiet) * SECONDS_AN_HOUR / 1e6,
            self.positions,
            self.seconds,
            speed(self.plies),
            speed(self.nodes) / 1e3,
            share(self.white_wins, self.games),
            share(self.draws, self.games),
            share(self.black_wins, self.games),
        )
    }
}

fn quiet_plies(game: &GameRecord) -> u64 {
    let Ok(mut board) = Mailbox::unpack(&game.start) else {
        return 0;
    };
    let mut quiet = 0;
    for ply in &game.plies {
        let decisive = Score::from_raw(i32::from(ply.score)).is_decisive();
        quiet += u64::from(!decisive && !board.in_check() && !board.is_tactical(ply.played));
        if board.play(ply.played).is_err() {
            break;
        }
    }
    quiet
}
