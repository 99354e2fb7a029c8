//! Games chosen by evaluation alone, one ply ahead: thousands of plies where a search plays one.
//!
//! Of the moves that lose no material, all captures and promotions are tried and as many quiet moves
//! as asked for, drawn at random; in check, and where every move loses material, all moves. After
//! each the captures are played out, and some noise decides between moves of about the same score;
//! some moves are random. Such games are realistic enough to learn an evaluation from, if there are
//! many. Their results mean little.

use fastrand::Rng;
use serde::Serialize;

use crate::board::{DirtyPieces, Game, GameEnd, MoveSet, Position};
use crate::eval::Evaluator;
use crate::teacher::Teacher;
use crate::types::{Move, MoveList, Role, Score};

use super::adjudicator::Adjudication;
use super::opening::{MAX_TRIES, NothingEven, OpeningSettings, random_opening};
use super::play::Played;
use super::recorded_game::recorded_game;

/// How quick games are played.
#[derive(Clone, Debug, Serialize)]
pub struct QuickSettings {
    pub opening: OpeningSettings,
    pub adjudication: Adjudication,
    /// Share of moves that are random.
    pub random_share: f64,
    /// Largest error, in centipawns, that is added to a move's score.
    pub noise: i32,
    /// How many quiet moves are tried at each turn, drawn at random. Fewer make the games faster,
    /// and more varied.
    pub quiet_moves: usize,
}

impl Default for QuickSettings {
    fn default() -> QuickSettings {
        QuickSettings {
            opening: OpeningSettings::default(),
            adjudication: Adjudication {
                win_plies: 8,
                max_plies: 300,
                ..Adjudication::default()
            },
            random_share: 0.03,
            noise: 15,
            quiet_moves: usize::MAX,
        }
    }
}

/// The evaluation used.
pub enum QuickEvaluator {
    /// The engine's own evaluation.
    Own(Box<Evaluator>),
    /// A teacher's network.
    Teacher(Box<Teacher>),
}

impl QuickEvaluator {
    fn reset(&mut self, root: &Position) {
        match self {
            QuickEvaluator::Own(own) => own.reset(root),
            QuickEvaluator::Teacher(teacher) => teacher.reset(root),
        }
    }

    fn push(&mut self, dirty: &DirtyPieces) {
        match self {
            QuickEvaluator::Own(own) => own.push(dirty),
            QuickEvaluator::Teacher(teacher) => teacher.push(dirty),
        }
    }

    fn pop(&mut self) {
        match self {
            QuickEvaluator::Own(own) => own.pop(),
            QuickEvaluator::Teacher(teacher) => teacher.pop(),
        }
    }

    /// Centipawns for the side to move.
    fn evaluate(&mut self, position: &Position) -> i32 {
        match self {
            QuickEvaluator::Own(own) => own.evaluate(position).raw(),
            QuickEvaluator::Teacher(teacher) => teacher.evaluate(position).centipawns(),
        }
    }
}

/// Plays quick games.
pub struct QuickPlayer {
    settings: QuickSettings,
    evaluator: QuickEvaluator,
    nodes: u64,
}

/// Captures are played out no further than this.
const CAPTURE_PLIES: u32 = 6;
/// The score of a mate, larger than all but the most extreme evaluations.
const MATE: i32 = 20_000;

impl QuickPlayer {
    #[must_use]
    pub const fn new(settings: QuickSettings, evaluator: QuickEvaluator) -> QuickPlayer {
        QuickPlayer {
            settings,
            evaluator,
            nodes: 0,
        }
    }

    /// Plays a game from a random opening. The result depends only on the state of `rng`.
    ///
    /// # Errors
    /// The settings allow no opening, or hardly any.
    pub fn play(&mut self, rng: &mut Rng) -> Result<Played, NothingEven> {
        for _ in 0..MAX_TRIES {
            let Some(opening) = random_opening(rng, &self.settings.opening) else {
                continue;
            };
            self.evaluator.reset(&opening);
            let score = self.captures(&opening, -MATE, MATE, CAPTURE_PLIES);
            if score.abs() <= self.settings.opening.max_imbalance {
                return Ok(self.play_from(opening, rng));
            }
        }
        Err(NothingEven)
    }

    fn play_from(&mut self, start: Position, rng: &mut Rng) -> Played {
        self.nodes = 0;
        let adjudication = self.settings.adjudication.clone();
        let game = recorded_game(start, &adjudication, |game| {
            let (m, score) = self.choose(game, rng)?;
            Some((m, Score::cp(score)))
        });
        Played {
            game,
            nodes: self.nodes,
            evaluated: Vec::new(),
        }
    }

    /// A move and its estimated score for its side.
    fn choose(&mut self, line: &Game, rng: &mut Rng) -> Option<(Move, i32)> {
        let position = line.position();
        self.evaluator.reset(position);
        // The sums of all replies are derived from those of this evaluation.
        self.evaluator.evaluate(position);
        let moves = position.legal_moves();
        if rng.f64() < self.settings.random_share {
            let m = *moves.get(rng.usize(0..moves.len().max(1)))?;
            return Some((m, self.captures(position, -MATE, MATE, CAPTURE_PLIES)));
        }
        let noise = self.settings.noise;
        let mut best: Option<(Move, i32, i32)> = None;
        for m in candidates(position, &moves, self.settings.quiet_moves, rng) {
            let error = rng.i32(-noise..=noise);
            // A move with no higher score than this can't be chosen.
            let floor = best.map_or(-MATE, |(_, seen, _)| seen - error);
            let dirty = position.dirty_pieces(m);
            let child = position.play_with_pieces(m, &dirty);
            let is_drawn = line.history().contains(&child.key())
                || child.mate_or_stalemate() == Some(GameEnd::Stalemate);
            let value = if is_drawn {
                0
            } else {
                self.evaluator.push(&dirty);
                let value = -self.captures(&child, -MATE, -floor, CAPTURE_PLIES);
                self.evaluator.pop();
                value
            };
            if best.is_none_or(|(_, seen, _)| value + error > seen) {
                best = Some((m, value + error, value));
            }
        }
        best.map(|(m, _, value)| (m, value))
    }

    /// A position's score for the side to move when captures that lose nothing are played out.
    fn captures(&mut self, position: &Position, alpha: i32, beta: i32, plies: u32) -> i32 {
        self.nodes += 1;
        let in_check = position.in_check();
        let mut best = -MATE;
        let mut moves = MoveList::new();
        let legality = position.legality();
        if in_check && plies > 0 {
            position.generate(&legality, MoveSet::All, &mut moves);
        } else {
            best = self.evaluator.evaluate(position);
            if best >= beta || plies == 0 {
                return best;
            }
            position.generate(&legality, MoveSet::Noisy, &mut moves);
            moves.retain(|&mut m| position.see_ge(m, 0));
            moves.sort_unstable_by_key(|m| std::cmp::Reverse(m.capture().map(|role| role as u8)));
        }
        let mut alpha = alpha.max(best);
        for m in moves {
            let dirty = position.dirty_pieces(m);
            let child = position.play_with_pieces(m, &dirty);
            self.evaluator.push(&dirty);
            let value = -self.captures(&child, -beta, -alpha, plies - 1);
            self.evaluator.pop();
            best = best.max(value);
            alpha = alpha.max(value);
            if alpha >= beta {
                break;
            }
        }
        best
    }
}

/// The moves to evaluate: captures and promotions first, then at most `quiet_moves` others, drawn
/// at random if there are more. Moves that lose material are left out, unless all do or the side
/// is in check.
fn candidates(
    position: &Position,
    moves: &MoveList,
    quiet_moves: usize,
    rng: &mut Rng,
) -> MoveList {
    let is_noisy = |m: &Move| m.is_capture() || m.is_promotion();
    let sound = |m: &Move| m.role() == Role::King || position.see_ge(*m, 0);
    let (mut kept, mut quiet): (MoveList, MoveList) = moves.iter().copied().partition(is_noisy);
    if quiet.len() > quiet_moves {
        rng.shuffle(&mut quiet);
    }
    if position.in_check() {
        kept.extend(quiet);
        return kept;
    }
    kept.retain(|m| sound(m));
    kept.extend(quiet.into_iter().filter(sound).take(quiet_moves));
    if kept.is_empty() {
        kept.clone_from(moves);
        kept.sort_by_key(|m| !is_noisy(m));
    }
    kept
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::eval::EvalKind;
    use crate::nnue::Network;
    use crate::teacher::tests::narrow_net;
    use crate::types::CastlingMode;

    fn players() -> [QuickPlayer; 2] {
        let settings = QuickSettings {
            opening: OpeningSettings {
                dfrc_share: 0.5,
                // With the synthetic teacher hardly any opening is even.
                max_imbalance: MATE,
                ..OpeningSettings::default()
            },
            adjudication: Adjudication {
                max_plies: 60,
                ..Adjudication::default()
            },
            ..QuickSettings::default()
        };
        let own = Evaluator::new(EvalKind::Network(Network::embedded()));
        let teacher = Teacher::new(narrow_net());
        [
            QuickEvaluator::Own(Box::new(own)),
            QuickEvaluator::Teacher(Box::new(teacher)),
        ]
        .map(|evaluator| QuickPlayer::new(settings.clone(), evaluator))
    }

    #[test]
    fn games_replay_and_follow_from_their_seed() {
        for mut player in players() {
            for seed in 0..4 {
                let mut play = || player.play(&mut Rng::with_seed(seed)).expect("an opening");
                let first = play().game;
                assert_eq!(play().game, first);
                assert!(!first.plies.is_empty());
                let mut position = first.start.unpack().expect("a legal start");
                for ply in &first.plies {
                    let m = position.unpack(ply.played).expect("a legal move");
                    position = position.play(m);
                }
            }
        }
    }

    #[test]
    fn mates_and_hanging_pieces_are_seen() {
        let [mut player, _] = players();
        player.settings.random_share = 0.0;
        for (fen, expected) in [
            ("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "a1a8"),
            ("3q2k1/5ppp/8/8/8/8/5PPP/3Q2K1 w - - 0 1", "d1d8"),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
            let m = position.parse_uci(expected).expect("a move");
            let chosen = player.choose(&Game::from(position), &mut Rng::with_seed(1));
            assert_eq!(chosen.map(|(m, _)| m), Some(m), "{fen}");
        }
    }

    #[test]
    fn few_quiet_moves_are_drawn_and_every_sound_capture_is_kept() {
        // White's knight can take a pawn that is guarded, its pawn one that is not.
        let fen = "4k3/8/2p2p2/3p2p1/7P/2N5/8/4K3 w - - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let moves = position.legal_moves();
        let uci = |m: &Move| position.uci(*m);
        let mut drawn = std::collections::BTreeSet::new();
        for seed in 0..50 {
            let kept = candidates(&position, &moves, 2, &mut Rng::with_seed(seed));
            assert_eq!(kept.len(), 3);
            assert_eq!(uci(&kept[0]), "h4g5");
            drawn.extend(kept[1..].iter().map(uci));
        }
        assert!(!drawn.contains("c3d5"));
        let all = candidates(&position, &moves, usize::MAX, &mut Rng::with_seed(1));
        assert_eq!(drawn.len(), all.len() - 1);
    }
}
