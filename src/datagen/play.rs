//! One game of the engine against itself.

use std::sync::Arc;

use fastrand::Rng;

use crate::board::{Game, Position};
use crate::eval::Judge;
use crate::record::{GameRecord, PackedBoard, PlyRecord};
use crate::search::{Job, Limits, Outcome, Shared, Silent, Worker};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::{GameResult, PackedMove, Score};

use super::opening::{MAX_TRIES, NothingEven, OpeningSettings, random_opening};

/// When games are ended before the rules end them.
#[derive(Clone, Debug, PartialEq)]
pub struct Adjudication {
    /// A side wins that is ahead by this many centipawns ...
    pub win_score: i32,
    /// ... in so many plies in a row, both sides agreeing.
    pub win_plies: usize,
    /// Scores this close to even, in centipawns, ...
    pub draw_score: i32,
    /// ... in so many plies in a row are a draw ...
    pub draw_plies: usize,
    /// ... from this ply of the game on.
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

/// How games are played.
#[derive(Clone, Debug, PartialEq)]
pub struct PlaySettings {
    /// No iteration is begun after this many nodes.
    pub soft_nodes: u64,
    /// A search is cut off after this many.
    pub hard_nodes: u64,
    /// Megabytes of each side's transposition table.
    pub hash: usize,
    pub opening: OpeningSettings,
    pub adjudication: Adjudication,
}

impl Default for PlaySettings {
    fn default() -> PlaySettings {
        const SOFT: u64 = 5000;
        const HARD_TO_SOFT: u64 = 8;
        PlaySettings {
            soft_nodes: SOFT,
            hard_nodes: HARD_TO_SOFT * SOFT,
            hash: 4,
            opening: OpeningSettings::default(),
            adjudication: Adjudication::default(),
        }
    }
}

/// Two sides that know nothing of each other's thoughts.
pub struct Player {
    settings: PlaySettings,
    sides: [Side; 2],
}

struct Side {
    shared: Arc<Shared>,
    worker: Worker,
}

impl Side {
    fn new(hash: usize, judge: Judge) -> Result<Side, AllocError> {
        let shared = Arc::new(Shared::new(TranspositionTable::new(hash)?, 1));
        let worker = Worker::new(0, Arc::clone(&shared), judge);
        Ok(Side { shared, worker })
    }

    fn clear(&mut self) {
        self.shared.tt.clear(1);
        self.worker.clear();
    }

    fn search(&mut self, line: &Game, limits: Limits) -> Option<Outcome> {
        let job = Job {
            history: line.history().to_vec(),
            ..Job::new(line.position().clone(), limits)
        };
        self.shared.begin(false);
        self.worker.search(&job, Box::new(Silent))
    }
}

/// A finished game and the search's work for it.
#[derive(Clone, Debug)]
pub struct Played {
    pub game: GameRecord,
    pub nodes: u64,
}

impl Player {
    /// Both sides evaluate with `judge`.
    ///
    /// # Errors
    /// If there is no memory for the tables.
    pub fn new(settings: PlaySettings, judge: &Judge) -> Result<Player, AllocError> {
        let side = || Side::new(settings.hash, judge.clone());
        Ok(Player {
            sides: [side()?, side()?],
            settings,
        })
    }

    /// Plays a game from a random opening. What comes out follows from the state of `rng` alone.
    ///
    /// # Errors
    /// The settings allow no opening, or hardly any.
    pub fn play(&mut self, rng: &mut Rng) -> Result<Played, NothingEven> {
        let mut nodes = 0;
        for _ in 0..MAX_TRIES {
            let Some(opening) = random_opening(rng, &self.settings.opening) else {
                continue;
            };
            self.sides.iter_mut().for_each(Side::clear);
            let check = Limits::to_nodes(self.settings.opening.check_nodes);
            let line = Game::from(opening.clone());
            let Some(outcome) = self.sides[0].search(&line, check) else {
                continue;
            };
            nodes += outcome.nodes;
            if outcome.score.raw().abs() <= self.settings.opening.max_imbalance {
                self.sides[0].clear();
                let played = self.play_from(opening);
                return Ok(Played {
                    nodes: nodes + played.nodes,
                    ..played
                });
            }
        }
        Err(NothingEven)
    }

    /// Plays a game from a position that has a legal move.
    pub fn play_from(&mut self, start: Position) -> Played {
        let mut game = GameRecord {
            start: PackedBoard::pack(&start),
            result: GameResult::Draw,
            plies: Vec::new(),
        };
        let mut line = Game::from(start);
        let mut referee = Referee::new(self.settings.adjudication.clone());
        let mut nodes = 0;
        loop {
            let position = line.position();
            let turn = position.turn();
            if let Some(end) = line.end() {
                game.result = end.result();
                break;
            }
            if game.plies.len() >= self.settings.adjudication.max_plies {
                break;
            }
            let limits = Limits {
                soft_nodes: Some(self.settings.soft_nodes),
                ..Limits::to_nodes(self.settings.hard_nodes)
            };
            let side = &mut self.sides[usize::from(turn.is_black())];
            let Some(outcome) = side.search(&line, limits) else {
                break;
            };
            nodes += outcome.nodes;
            let white = if turn.is_white() {
                outcome.score
            } else {
                -outcome.score
            };
            game.plies.push(PlyRecord {
                played: PackedMove::new(outcome.best),
                score: white.raw() as i16,
            });
            if let Some(result) = referee.judge(white, position.game_ply()) {
                game.result = result;
                break;
            }
            line.play(outcome.best);
        }
        Played { game, nodes }
    }
}

/// Counts plies in a row in which the outcome was clear.
struct Referee {
    rules: Adjudication,
    winning: usize,
    losing: usize,
    level: usize,
}

impl Referee {
    fn new(rules: Adjudication) -> Referee {
        Referee {
            rules,
            winning: 0,
            losing: 0,
            level: 0,
        }
    }

    /// The result, if White's score makes it clear at this ply of the game.
    fn judge(&mut self, white: Score, game_ply: u32) -> Option<GameResult> {
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
    use crate::nnue::Network;
    use crate::record::Mailbox;
    use crate::types::{CastlingMode, Ply};

    fn player() -> Player {
        let settings = PlaySettings {
            soft_nodes: 200,
            hard_nodes: 2000,
            hash: 1,
            opening: OpeningSettings {
                fischer_share: 0.5,
                check_nodes: 500,
                ..OpeningSettings::default()
            },
            ..PlaySettings::default()
        };
        Player::new(settings, &Judge::Network(Network::embedded())).expect("memory")
    }

    #[test]
    fn games_replay_and_follow_from_their_seed() {
        let mut player = player();
        for seed in 0..3 {
            let mut play = || {
                player
                    .play(&mut Rng::with_seed(seed))
                    .expect("openings")
                    .game
            };
            let first = play();
            assert_eq!(play(), first);
            assert!(!first.plies.is_empty());
            let mut position = first.start.unpack().expect("a legal start");
            let mut mailbox = Mailbox::unpack(&first.start).expect("a legal start");
            for ply in &first.plies {
                let m = position.unpack(ply.played).expect("a legal move");
                mailbox.play(ply.played).expect("a legal move");
                position = position.play(m);
            }
        }
    }

    #[test]
    fn impossible_openings_are_given_up() {
        let mut player = player();
        player.settings.opening.check_nodes = 1;
        player.settings.opening.max_imbalance = -1;
        let played = player.play(&mut Rng::with_seed(1));
        assert_eq!(played.map(|played| played.nodes), Err(NothingEven));
    }

    #[test]
    fn a_queen_wins_for_either_colour() {
        let mut player = player();
        // So few nodes do not find the mate itself.
        player.settings.adjudication.win_score = 300;
        for (fen, result) in [
            ("8/8/4k3/8/8/3QK3/8/8 w - - 0 1", GameResult::WhiteWins),
            ("8/8/4k3/8/8/3QK3/8/8 b - - 0 1", GameResult::WhiteWins),
            ("8/8/3qk3/8/8/4K3/8/8 w - - 0 1", GameResult::BlackWins),
            ("8/8/3qk3/8/8/4K3/8/8 b - - 0 1", GameResult::BlackWins),
        ] {
            let start = Position::from_fen(fen, CastlingMode::Chess960).expect("a position");
            let game = player.play_from(start).game;
            assert_eq!(game.result, result, "{fen}");
            let right = |ply: &PlyRecord| (ply.score > 0) == (result == GameResult::WhiteWins);
            assert!(game.plies.iter().all(right), "{fen}: {:?}", game.plies);
        }
    }

    #[test]
    fn the_referee_counts_in_a_row() {
        let rules = Adjudication::default();
        let mut referee = Referee::new(rules.clone());
        let high = Score::cp(rules.win_score);
        for _ in 0..rules.win_plies - 1 {
            assert_eq!(referee.judge(high, 30), None);
        }
        assert_eq!(referee.judge(Score::cp(0), 30), None);
        for _ in 0..rules.win_plies - 1 {
            assert_eq!(referee.judge(-high, 30), None);
        }
        assert_eq!(referee.judge(-high, 30), Some(GameResult::BlackWins));
        let mate = Score::mate_in(Ply(3));
        assert_eq!(
            Referee::new(rules.clone()).judge(mate, 9),
            Some(GameResult::WhiteWins)
        );
        let mut referee = Referee::new(rules.clone());
        for ply in 0..rules.draw_from + rules.draw_plies as u32 - 1 {
            assert_eq!(referee.judge(Score::DRAW, ply), None, "{ply}");
        }
        assert_eq!(referee.judge(Score::DRAW, 500), Some(GameResult::Draw));
    }
}
