//! One game of the engine against itself.

use std::num::NonZero;
use std::sync::Arc;
use std::time::Instant;

use fastrand::Rng;
use serde::Serialize;

use crate::board::{Game, Position};
use crate::eval::EvalKind;
use crate::record::GameRecord;
use crate::search::{Limits, SearchRequest, SearchResult, SearchWorker, Shared, Silent};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::Depth;

use super::adjudicator::Adjudication;
use super::opening::{MAX_TRIES, NothingEven, OpeningSettings, random_opening};
use super::recorded_game::recorded_game;

/// The limit of the search for a move.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Budget {
    /// No iteration is begun after `soft` nodes, and a search is cut off after `hard`.
    Nodes { soft: u64, hard: u64 },
    /// This many iterations.
    Depth(Depth),
}

impl Budget {
    /// Nodes of the hard limit for each of the soft one (as Viridithas has it).
    const HARD_TO_SOFT: u64 = 8;

    /// The soft limit with a hard one that belongs to it.
    #[must_use]
    pub const fn soft_nodes(soft: u64) -> Budget {
        Budget::Nodes {
            soft,
            hard: soft.saturating_mul(Budget::HARD_TO_SOFT),
        }
    }

    fn limits(self) -> Limits {
        match self {
            Budget::Nodes { soft, hard } => Limits {
                soft_nodes: Some(soft),
                ..Limits::to_nodes(hard)
            },
            Budget::Depth(depth) => Limits::to_depth(depth),
        }
    }
}

/// How games are played.
#[derive(Clone, Debug, Serialize)]
pub struct PlaySettings {
    pub budget: Budget,
    /// Keep one in this many positions that the search evaluates; none if `None`.
    pub sample: Option<NonZero<u32>>,
    /// Megabytes of each side's transposition table.
    pub hash: usize,
    pub opening: OpeningSettings,
    pub adjudication: Adjudication,
}

impl Default for PlaySettings {
    fn default() -> PlaySettings {
        const SOFT: u64 = 5000;
        PlaySettings {
            budget: Budget::soft_nodes(SOFT),
            sample: None,
            hash: 4,
            opening: OpeningSettings::default(),
            adjudication: Adjudication::default(),
        }
    }
}

/// An opening is checked with one in this many of the nodes before all of them are spent on it.
const PRECHECK_NODES_DIVISOR: u64 = 10;
/// The score of that check may be this many times as far from 0 as is allowed in the end.
const PRECHECK_TOLERANCE: i32 = 2;

/// Two sides with separate searchers and tables.
pub struct Player {
    settings: PlaySettings,
    sides: [Side; 2],
}

struct Side {
    shared: Arc<Shared>,
    worker: SearchWorker,
}

impl Side {
    fn new(settings: &PlaySettings, eval_kind: EvalKind) -> Result<Side, AllocError> {
        let shared = Arc::new(Shared::new(TranspositionTable::new(settings.hash)?, 1));
        let mut worker = SearchWorker::new(0, Arc::clone(&shared), eval_kind);
        worker.sample_evaluations(settings.sample);
        Ok(Side { shared, worker })
    }

    fn clear(&mut self) {
        self.shared.tt.clear(1);
        self.worker.clear();
    }

    fn take_sample(&mut self) -> Vec<Position> {
        self.worker.take_sample()
    }

    fn search(&mut self, line: &Game, limits: Limits) -> Option<SearchResult> {
        let request = SearchRequest {
            history: line.history().to_vec(),
            ..SearchRequest::new(line.position().clone(), limits)
        };
        self.shared.begin(false, Instant::now());
        self.worker.search(&request, Box::new(Silent))
    }
}

/// A finished game and the search's work for it.
#[derive(Clone, Debug)]
pub struct Played {
    pub game: GameRecord,
    pub nodes: u64,
    /// The sample of positions that the search evaluated.
    pub evaluated: Vec<Position>,
}

impl Player {
    /// Both sides evaluate with `eval_kind`.
    ///
    /// # Errors
    /// If there is no memory for the tables.
    pub fn new(settings: PlaySettings, eval_kind: &EvalKind) -> Result<Player, AllocError> {
        let side = || Side::new(&settings, eval_kind.clone());
        Ok(Player {
            sides: [side()?, side()?],
            settings,
        })
    }

    /// Plays a game from a random opening. The result depends only on the state of `rng`.
    ///
    /// # Errors
    /// The settings allow no opening, or hardly any.
    pub fn play(&mut self, rng: &mut Rng) -> Result<Played, NothingEven> {
        let mut nodes = 0;
        for _ in 0..MAX_TRIES {
            let Some(opening) = random_opening(rng, &self.settings.opening) else {
                continue;
            };
            let line = Game::from(opening.clone());
            self.sides[0].clear();
            // A short search finds most openings that are far from even.
            let rules = &self.settings.opening;
            let precheck = (
                rules.check_nodes / PRECHECK_NODES_DIVISOR,
                rules.max_imbalance.saturating_mul(PRECHECK_TOLERANCE),
            );
            let check = (rules.check_nodes, rules.max_imbalance);
            let even = [precheck, check].into_iter().all(|(limit, furthest)| {
                let outcome = self.sides[0].search(&line, Limits::to_nodes(limit.max(1)));
                outcome.is_some_and(|outcome| {
                    nodes += outcome.nodes;
                    outcome.score.raw().abs() <= furthest
                })
            });
            // What was evaluated to judge the opening is no position of the game.
            self.sides[0].take_sample();
            if even {
                self.sides.iter_mut().for_each(Side::clear);
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
        let mut nodes = 0;
        let sides = &mut self.sides;
        let budget = &self.settings.budget;
        let game = recorded_game(start, &self.settings.adjudication, |game| {
            let turn = game.position().turn();
            let outcome = sides[usize::from(turn.is_black())].search(game, budget.limits())?;
            nodes += outcome.nodes;
            Some((outcome.best, outcome.score))
        });
        let evaluated = self.sides.iter_mut().flat_map(Side::take_sample).collect();
        Played {
            game,
            nodes,
            evaluated,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nnue::Network;
    use crate::record::{Mailbox, PlyRecord};
    use crate::types::{CastlingMode, GameResult};

    fn player() -> Player {
        let settings = PlaySettings {
            budget: Budget::Nodes {
                soft: 200,
                hard: 2000,
            },
            hash: 1,
            opening: OpeningSettings {
                dfrc_share: 0.5,
                check_nodes: 500,
                ..OpeningSettings::default()
            },
            ..PlaySettings::default()
        };
        Player::new(settings, &EvalKind::Network(Network::embedded())).expect("memory")
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
        player.settings.opening.max_imbalance = i32::MAX;
        assert!(player.play(&mut Rng::with_seed(1)).is_ok(), "all are even");
    }

    #[test]
    fn a_queen_wins_for_either_colour() {
        let mut player = player();
        // With so few nodes the search does not find the mate itself.
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
}
