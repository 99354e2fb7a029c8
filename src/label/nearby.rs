//! Positions a few random moves away from recorded ones.
//!
//! A network that is asked about every position a search reaches must know more than the positions
//! of games. A random move, at least as often a capture as not, leads from a recorded position to one that a
//! search may well evaluate, and costs far less than a search. The score of the recorded position
//! says nothing about the new one, which needs a label of its own.

use fastrand::Rng;

use crate::board::Position;
use crate::record::{GameRecord, PackedBoard, PositionRecord};
use crate::teacher::IllegalRecord;
use crate::types::{Move, MoveList};

/// Share of the moves that are drawn from the captures alone, where there are any.
const CAPTURE_SHARE: f64 = 0.5;

/// How positions are left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Nearby {
    /// One to this many random moves are played.
    pub moves: u32,
    /// The moves follow from this and the record's number; within a game those from one position
    /// depend on what was drawn for the positions before.
    pub seed: u64,
    /// Recorded positions whose scores are further from 0 than this, in centipawns (at most 32,000),
    /// are passed over, and so are those without one: fewer labels are then made that a trainer
    /// which thins out decided positions drops again.
    pub max_score: Option<u16>,
}

impl Nearby {
    /// A generator for the record with this number.
    pub(super) fn rng(self, number: u64) -> Rng {
        let mut seeds = Rng::with_seed(self.seed);
        Rng::with_seed(seeds.u64(..) ^ number)
    }

    /// Whether a recorded position with this score is left at all.
    fn starts_from(self, score: i16) -> bool {
        self.max_score
            .is_none_or(|most| score.unsigned_abs() <= most)
    }

    /// A position near `position`; `None` if the moves end the game or give check, for positions in
    /// check get no label.
    pub(super) fn of(self, position: &Position, rng: &mut Rng) -> Option<Position> {
        let moves = rng.u32(1..=self.moves.max(1));
        let mut nearby = random_move(position, rng).map(|m| position.play(m))?;
        for _ in 1..moves {
            nearby = nearby.play(random_move(&nearby, rng)?);
        }
        (!nearby.in_check() && nearby.has_legal_move()).then_some(nearby)
    }

    /// The same of a record, without a score.
    ///
    /// # Errors
    /// The recorded position is illegal.
    pub(super) fn of_record(
        self,
        record: &PositionRecord,
        rng: &mut Rng,
    ) -> Result<Option<PositionRecord>, IllegalRecord> {
        if !self.starts_from(record.score) {
            return Ok(None);
        }
        let position = record.board.unpack()?;
        Ok(self.of(&position, rng).map(|nearby| PositionRecord {
            board: PackedBoard::pack(&nearby),
            score: 0,
            hints: None,
            ..*record
        }))
    }

    /// For each position of a game one near it, without a score.
    ///
    /// # Errors
    /// The game's start or a move is illegal.
    pub(super) fn of_game(
        self,
        game: &GameRecord,
        rng: &mut Rng,
    ) -> Result<Vec<PositionRecord>, IllegalRecord> {
        let mut position = game.start.unpack()?;
        let mut records = Vec::with_capacity(game.plies.len());
        for (index, ply) in game.plies.iter().enumerate() {
            if self.starts_from(ply.score) {
                records.extend(self.of(&position, rng).map(|nearby| PositionRecord {
                    board: PackedBoard::pack(&nearby),
                    score: 0,
                    result: game.result,
                    hints: None,
                }));
            }
            let m = position
                .unpack(ply.played)
                .ok_or(IllegalRecord::Move { ply: index + 1 })?;
            position = position.play(m);
        }
        Ok(records)
    }
}

/// Any legal move, or one of the captures; `None` at the end of a game.
fn random_move(position: &Position, rng: &mut Rng) -> Option<Move> {
    let moves = position.legal_moves();
    if rng.f64() < CAPTURE_SHARE
        && let captures = moves.iter().copied().filter(|m| m.is_capture())
        && let Some(capture) = rng.choice(captures.collect::<MoveList>())
    {
        return Some(capture);
    }
    rng.choice(moves)
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;
    use crate::board::tests::Random;
    use crate::label::{LabelJob, Labeller, LineError, run};
    use crate::record::tests::{random_game, write_games};
    use crate::record::{NO_SCORE, PositionFormat, PositionReader};
    use crate::types::GameResult;

    /// Gives each position the number of its pieces.
    struct Counter;

    impl Labeller for Counter {
        fn game(&mut self, _: &mut GameRecord) -> Result<(), LineError> {
            unreachable!("nearby positions are single ones");
        }

        fn position(&mut self, record: &mut PositionRecord) -> Result<(), LineError> {
            record.score = record.board.occupied.count_ones() as i16;
            Ok(())
        }
    }

    fn won_game(seed: u64) -> (GameRecord, Vec<Position>) {
        let (mut game, line) = random_game(&mut Random(seed), Position::startpos(), 60, |_, _| 77);
        game.result = GameResult::WhiteWins;
        (game, line)
    }

    fn read(path: &std::path::Path) -> Vec<PositionRecord> {
        let records = PositionReader::open(path).expect("positions");
        records.map(|record| record.expect("a position")).collect()
    }

    #[test]
    fn positions_near_games_are_a_move_away_and_follow_from_the_seed() {
        let folder = tempfile::tempdir().expect("a folder");
        let games: Vec<_> = (0..20).map(won_game).collect();
        let input = folder.path().join("games.vf.zst");
        write_games(&input, games.iter().map(|(game, _)| game));
        let near = |name: &str, input: &std::path::Path, moves, seed, threads| {
            let job = LabelJob {
                input: input.to_path_buf(),
                output: folder.path().join(name),
                nearby: Some(Nearby {
                    moves,
                    seed,
                    max_score: None,
                }),
                format: PositionFormat::Plain,
            };
            let mut labellers: Vec<Box<dyn Labeller>> = Vec::new();
            labellers.extend((0..threads).map(|_| -> Box<dyn Labeller> { Box::new(Counter) }));
            let done = run(&job, &mut labellers, |_| ()).expect("labels");
            let found = read(&job.output);
            assert_eq!(done.positions, found.len() as u64);
            (job.output, found)
        };
        let (file, found) = near("one", &input, 1, 5, 1);
        assert_eq!(near("three threads", &input, 1, 5, 3).1, found);
        assert_ne!(near("another seed", &input, 1, 6, 1).1, found);
        let children: HashSet<[u8; 32]> = games
            .iter()
            .flat_map(|(_, positions)| positions)
            .flat_map(|position| {
                let moves = position.legal_moves();
                let child =
                    |&m: &Move| PackedBoard::pack(&position.play(m)).to_bytes(GameResult::Draw);
                moves.iter().map(child).collect::<Vec<_>>()
            })
            .collect();
        let plies: usize = games.iter().map(|(game, _)| game.plies.len()).sum();
        assert!(found.len() > plies * 3 / 4, "{} of {plies}", found.len());
        for record in &found {
            assert!(children.contains(&record.board.to_bytes(GameResult::Draw)));
            assert_eq!(record.score, record.board.occupied.count_ones() as i16);
            assert_eq!(record.result, GameResult::WhiteWins);
            assert!(!record.board.unpack().expect("legal").in_check());
        }
        let (_, further) = near("from positions", &file, 3, 5, 2);
        assert!(further.len() > found.len() / 2);
        let pieces = |records: &[PositionRecord]| -> i32 {
            records.iter().map(|record| i32::from(record.score)).sum()
        };
        let mean = |records: &[PositionRecord]| f64::from(pieces(records)) / records.len() as f64;
        assert!(mean(&further) < mean(&found), "half of the moves capture");
    }

    #[test]
    fn decided_positions_are_passed_over() {
        let score = |random: &mut Random, _: &Position| [0, -300, 301, NO_SCORE][random.below(4)];
        let (game, _) = random_game(&mut Random(3), Position::startpos(), 60, score);
        let near = |max_score| {
            let nearby = Nearby {
                moves: 1,
                seed: 4,
                max_score,
            };
            let found = nearby.of_game(&game, &mut nearby.rng(0)).expect("legal");
            found.len()
        };
        let even = |score: i16| (-300..=300).contains(&score);
        let even = game.plies.iter().filter(|ply| even(ply.score)).count();
        assert!((1..=even).contains(&near(Some(300))));
        assert!(near(Some(299)) < near(Some(300)) && near(Some(300)) < near(None));

        let record = |score| PositionRecord {
            board: game.start,
            score,
            result: game.result,
            hints: None,
        };
        let nearby = Nearby {
            moves: 1,
            seed: 4,
            max_score: Some(300),
        };
        let found = |score| nearby.of_record(&record(score), &mut nearby.rng(0));
        assert!(found(-300).expect("legal").is_some());
        for score in [301, i16::MIN, NO_SCORE] {
            assert_eq!(found(score).expect("legal"), None, "{score}");
        }
    }
}
