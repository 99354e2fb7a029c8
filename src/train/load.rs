//! Reads recorded games and positions into memory as samples.

use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::nnue::material;
use crate::record::{
    FileHash, GameReader, GameRecord, Mailbox, NO_SCORE, PositionReader, PositionRecord,
    RecordError, holds_positions,
};

use super::sample::Sample;
use crate::hash::mix;

/// Which positions are left out.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Filter {
    /// Keep positions in check if they have a score.
    pub keep_checks: bool,
    /// Leave out positions in which a capture or promotion was played.
    pub skip_tactical: bool,
    /// Leave out scores of more centipawns than this, mates among them.
    pub max_score: u16,
    /// Leave out positions before this ply of the game.
    pub min_ply: u32,
    /// Leave out positions with fewer pieces.
    pub min_pieces: usize,
    /// Leave out scores of more centipawns than this for the side that lost.
    pub contradiction: Option<u16>,
    /// Of the positions with scores of more centipawns than this, keep one in eight, held out or
    /// not: a loss with a small scale learns next to nothing from the rest.
    pub thin_beyond: Option<u16>,
}

impl Filter {
    fn keeps(
        &self,
        board: &Mailbox,
        ply: &crate::record::PlyRecord,
        score: i16,
        half_points: u8,
    ) -> bool {
        !(self.skip_tactical && board.is_tactical(ply.played))
            && self.keeps_position(board, ply.score, score, half_points)
    }

    /// Whether a position is kept whatever was played in it; `recorded` is its score in the
    /// record, `score` that of the side to move.
    fn keeps_position(&self, board: &Mailbox, recorded: i16, score: i16, half_points: u8) -> bool {
        let lost_half_points = if score > 0 { 0 } else { 2 };
        let beyond = |limit: u16| score.unsigned_abs() > limit;
        let contradicted = |limit| beyond(limit) && half_points == lost_half_points;
        let thinned = |limit| beyond(limit) && !is_kept_of_many(board);
        recorded != NO_SCORE
            && !self.thin_beyond.is_some_and(thinned)
            && !beyond(self.max_score)
            && board.ply >= self.min_ply
            && board.occupied.count_ones() as usize >= self.min_pieces
            && !self.contradiction.is_some_and(contradicted)
            && (self.keep_checks || !board.in_check())
    }
}

/// Whether a position is the one in eight that [`Filter::thin_beyond`] keeps. Positions with the
/// same squares occupied are kept or left out together, whichever file they come from.
fn is_kept_of_many(board: &Mailbox) -> bool {
    const ONE_IN: u64 = 8;
    mix(board.occupied).is_multiple_of(ONE_IN)
}

/// A file of games or positions to learn from.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DataFile {
    pub path: PathBuf,
    /// Whether its scores carry the teacher's factor by material, to be divided out.
    pub scaled: bool,
    /// Whether all of its positions are held out, and none is learnt from.
    pub held_out: bool,
}

/// What a file held.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FileSummary {
    pub name: String,
    /// Whether its scores were divided by the factor of their material.
    pub scaled: bool,
    /// FNV-1a of the file's bytes, in hexadecimal.
    pub hash: String,
    /// Games, or blocks of positions that are held out or not together.
    pub games: u64,
    pub plies: u64,
    pub kept: u64,
    pub held_out: u64,
}

/// Positions in memory.
#[derive(Debug, Default)]
pub struct Dataset {
    pub train: Vec<Sample>,
    pub held_out: Vec<Sample>,
    pub files: Vec<FileSummary>,
}

/// Why data could not be loaded.
#[derive(Debug, Error)]
pub enum LoadError {
    #[error("{}: {source}", path.display())]
    Record { path: PathBuf, source: RecordError },
    #[error("{} holds no games", .0.display())]
    NoGames(PathBuf),
    #[error("no position is left after filtering")]
    Empty,
}

/// The share of games held out is given as a number in this many; see [`HoldOut`].
pub const PER_MILLE: u64 = 1000;

/// How many games in a thousand are held out, and the seed that picks them.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct HoldOut {
    pub per_mille: u64,
    pub seed: u64,
}

struct Part {
    train: Vec<Sample>,
    held_out: Vec<Sample>,
    summary: FileSummary,
}

impl Part {
    /// The positions held out, or those to learn from.
    fn samples(&mut self, held_out: bool) -> &mut Vec<Sample> {
        if held_out {
            &mut self.held_out
        } else {
            &mut self.train
        }
    }
}

/// Reads all files with `threads` threads. The order of positions depends on the files alone.
///
/// # Errors
/// The first file that cannot be read, or no position at all.
pub fn load(
    paths: &[DataFile],
    filter: &Filter,
    hold_out: HoldOut,
    threads: usize,
) -> Result<Dataset, LoadError> {
    let next = AtomicUsize::new(0);
    let parts: Vec<Mutex<Option<Result<Part, LoadError>>>> =
        paths.iter().map(|_| Mutex::new(None)).collect();
    std::thread::scope(|scope| {
        for _ in 0..threads.max(1) {
            scope.spawn(|| {
                loop {
                    let index = next.fetch_add(1, Ordering::Relaxed);
                    let Some(file) = paths.get(index) else { return };
                    let part = match load_file(file, index, filter, hold_out) {
                        Ok(part) if part.summary.games == 0 => {
                            Err(LoadError::NoGames(file.path.clone()))
                        }
                        part => part.map_err(|source| LoadError::Record {
                            path: file.path.clone(),
                            source,
                        }),
                    };
                    *parts[index].lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
                }
            });
        }
    });
    let mut loaded = Vec::with_capacity(parts.len());
    for part in parts {
        if let Some(part) = part.into_inner().unwrap_or_else(PoisonError::into_inner) {
            loaded.push(part?);
        }
    }
    let data = joined(loaded);
    if data.train.is_empty() {
        Err(LoadError::Empty)
    } else {
        Ok(data)
    }
}

/// All parts as one. A part is freed once it is copied, and a single one is not copied at all, so
/// that memory never holds everything twice.
fn joined(parts: Vec<Part>) -> Dataset {
    let total = |count: fn(&Part) -> usize| -> usize { parts.iter().map(count).sum() };
    let totals = [
        total(|part| part.train.len()),
        total(|part| part.held_out.len()),
    ];
    let mut data = Dataset::default();
    for mut part in parts {
        append(&mut data.train, &mut part.train, totals[0]);
        append(&mut data.held_out, &mut part.held_out, totals[1]);
        data.files.push(part.summary);
    }
    data
}

/// Appends a part to what may become `total` positions.
fn append(into: &mut Vec<Sample>, part: &mut Vec<Sample>, total: usize) {
    if part.len() == total {
        std::mem::swap(into, part);
    } else {
        into.reserve_exact(total - into.len());
        into.append(part);
    }
}

fn load_file(
    file: &DataFile,
    index: usize,
    filter: &Filter,
    hold_out: HoldOut,
) -> Result<Part, RecordError> {
    let path = &file.path;
    let source = u16::try_from(index).unwrap_or(u16::MAX);
    let hash = FileHash::of(path)?;
    let name = path.file_name().unwrap_or(path.as_os_str());
    let mut part = Part {
        train: Vec::new(),
        held_out: Vec::new(),
        summary: FileSummary {
            name: name.to_string_lossy().into_owned(),
            scaled: file.scaled,
            hash: format!("{:016x}", hash.0),
            games: 0,
            plies: 0,
            kept: 0,
            held_out: 0,
        },
    };
    let is_held_out = |number: u64| {
        file.held_out
            || mix(hold_out.seed ^ mix(hash.0 ^ mix(number))) % PER_MILLE < hold_out.per_mille
    };
    if holds_positions(path)? {
        for (record, number) in PositionReader::open(path)?.zip(0..) {
            let block: u64 = number / HELD_OUT_TOGETHER;
            part.summary.games = block + 1;
            part.summary.plies += 1;
            let into = part.samples(is_held_out(block));
            collect_position(&record?, number + 1, source, file.scaled, filter, into)?;
        }
    } else {
        let mut reader = GameReader::open(path)?;
        let mut game = GameRecord::empty();
        while reader.read_into(&mut game)? {
            let number = reader.games();
            part.summary.games = number;
            part.summary.plies += game.plies.len() as u64;
            let into = part.samples(is_held_out(number));
            collect(&game, number, source, file.scaled, filter, into)?;
        }
    }
    part.summary.kept = part.train.len() as u64;
    part.summary.held_out = part.held_out.len() as u64;
    Ok(part)
}

/// Single positions are in the order of the search, and neighbours are similar: this many are held
/// out or kept together, so that held-out positions differ from those trained on.
const HELD_OUT_TOGETHER: u64 = 4096;

/// The score that is learnt, of the side to move.
fn learnt(board: &Mailbox, score: i16, scaled: bool) -> i16 {
    if scaled {
        material::unscale(score, board.counts())
    } else {
        score
    }
}

/// A score of White's for the side to move.
fn mover_score(board: &Mailbox, score: i16) -> i16 {
    if board.turn.is_black() {
        score.saturating_neg()
    } else {
        score
    }
}

/// Appends a position if the filter keeps it.
fn collect_position(
    record: &PositionRecord,
    number: u64,
    source: u16,
    scaled: bool,
    filter: &Filter,
    into: &mut Vec<Sample>,
) -> Result<(), RecordError> {
    let board = Mailbox::unpack(&record.board).map_err(|reason| RecordError::BadBoard {
        record: number,
        reason,
    })?;
    let score = mover_score(&board, record.score);
    let half_points = record.result.half_points(board.turn);
    if filter.keeps_position(&board, record.score, score, half_points) {
        let score = learnt(&board, score, scaled);
        let sample = Sample::pack(&board, score, half_points, source);
        into.push(sample.with_hints(record.hints));
    }
    Ok(())
}

/// Replays a game and appends the positions that the filter keeps.
fn collect(
    game: &GameRecord,
    number: u64,
    source: u16,
    scaled: bool,
    filter: &Filter,
    into: &mut Vec<Sample>,
) -> Result<(), RecordError> {
    let mut board = Mailbox::unpack(&game.start).map_err(|reason| RecordError::BadBoard {
        record: number,
        reason,
    })?;
    for (index, ply) in game.plies.iter().enumerate() {
        let score = mover_score(&board, ply.score);
        let half_points = game.result.half_points(board.turn);
        if filter.keeps(&board, ply, score, half_points) {
            let score = learnt(&board, score, scaled);
            into.push(Sample::pack(&board, score, half_points, source));
        }
        board
            .play(ply.played)
            .map_err(|reason| RecordError::BadMove {
                game: number,
                ply: index + 1,
                reason,
            })?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::board::tests::random_games;
    use crate::record::{PackedBoard, PlyRecord, PositionFormat, PositionWriter};
    use crate::types::GameResult;
    use crate::types::{CastlingMode, PackedMove};

    fn filter() -> Filter {
        Filter {
            keep_checks: false,
            skip_tactical: false,
            max_score: 5000,
            min_ply: 0,
            min_pieces: 3,
            contradiction: None,
            thin_beyond: None,
        }
    }

    /// The samples of a game of the given moves, each scored as White sees it.
    fn samples(fen: &str, moves: &[&str], score: i16, result: GameResult) -> Vec<Sample> {
        let mut position = Position::from_fen(fen, CastlingMode::Chess960).expect("a position");
        let start = PackedBoard::pack(&position);
        let mut plies = Vec::new();
        for text in moves {
            let m = position.parse_uci(text).expect("a legal move");
            plies.push(PlyRecord {
                played: PackedMove::new(m),
                score,
            });
            position = position.play(m);
        }
        let mut samples = Vec::new();
        let game = GameRecord {
            start,
            result,
            plies,
        };
        collect(&game, 1, 0, false, &filter(), &mut samples).expect("a sound game");
        samples
    }

    #[test]
    fn labels_are_the_side_to_move_s_for_both_colours() {
        let white = samples(
            "8/8/4k3/8/8/3QK3/8/8 w - - 0 1",
            &["d3d4", "e6e7", "e3e4"],
            900,
            GameResult::WhiteWins,
        );
        let scores: Vec<_> = white.iter().map(|s| (s.score, s.half_points)).collect();
        assert_eq!(scores, [(900, 2), (-900, 0), (900, 2)]);
        let black = samples(
            "8/8/3qk3/8/8/4K3/8/8 b - - 0 1",
            &["d6d5", "e3e2", "e6e5"],
            -900,
            GameResult::BlackWins,
        );
        // The same game with the colours exchanged is the same to learn from.
        assert_eq!(white, black);
    }

    #[test]
    fn files_without_games_are_refused() {
        let name = format!("pleach-no-games-{}.vf", std::process::id());
        let path = std::env::temp_dir().join(name);
        std::fs::write(&path, b"").expect("written");
        let file = DataFile {
            path: path.clone(),
            scaled: false,
            held_out: false,
        };
        let hold_out = HoldOut {
            per_mille: 10,
            seed: 1,
        };
        let error = load(&[file], &filter(), hold_out, 1).expect_err("refused");
        assert!(error.to_string().contains("holds no games"), "{error}");
        std::fs::remove_file(&path).expect("removed");
    }

    #[test]
    fn checks_unscored_and_extreme_positions_are_left_out() {
        let fen = "4k3/8/8/8/8/8/4R3/4K3 b - - 0 1";
        assert!(samples(fen, &["e8d8"], 500, GameResult::Draw).is_empty());
        let quiet = "3k4/8/8/8/8/8/4R3/4K3 b - - 0 1";
        assert_eq!(samples(quiet, &["d8c8"], 500, GameResult::Draw).len(), 1);
        assert!(samples(quiet, &["d8c8"], NO_SCORE, GameResult::Draw).is_empty());
        assert!(samples(quiet, &["d8c8"], -31_990, GameResult::Draw).is_empty());
    }

    /// The smallest score has no absolute value of 16 bits.
    #[test]
    fn the_smallest_score_is_beyond_every_limit() {
        let white = "3k4/8/8/8/8/8/4R3/4K3 w - - 0 1";
        assert!(samples(white, &["e1d1"], i16::MIN, GameResult::Draw).is_empty());
        let position = Position::from_fen(white, CastlingMode::Chess960).expect("a position");
        let board = Mailbox::unpack(&PackedBoard::pack(&position)).expect("a board");
        let won = |contradiction| {
            let filter = Filter {
                max_score: u16::MAX,
                contradiction,
                ..filter()
            };
            filter.keeps_position(&board, i16::MIN, i16::MIN, 2)
        };
        assert!(won(None) && !won(Some(5000)));
    }

    /// A score of more than the limit for the side that lost, and for it alone.
    #[test]
    fn contradictions_are_left_out() {
        let board = Mailbox::unpack(&PackedBoard::pack(&Position::startpos())).expect("a board");
        let filter = Filter {
            contradiction: Some(300),
            ..filter()
        };
        let keeps = |score, half_points| filter.keeps_position(&board, score, score, half_points);
        for (score, lost) in [(301, 0), (-301, 2)] {
            let kept = [0, 1, 2].map(|half_points| keeps(score, half_points));
            assert_eq!(kept, [0, 1, 2].map(|half_points| half_points != lost));
        }
        assert!(keeps(300, 0) && keeps(-300, 2));
    }

    #[test]
    fn one_in_eight_of_the_decided_positions_is_kept() {
        const LIMIT: i16 = 400;
        let thin = Filter {
            thin_beyond: Some(LIMIT.unsigned_abs()),
            ..filter()
        };
        let (mut kept, mut boards) = (0, 0);
        random_games(20, |position| {
            let board = Mailbox::unpack(&PackedBoard::pack(position)).expect("a board");
            let keeps = |score: i16| thin.keeps_position(&board, score, score, 1);
            if !position.in_check() {
                assert!(keeps(LIMIT) && keeps(-LIMIT), "not decided");
                assert_eq!(keeps(LIMIT + 1), keeps(-2 * LIMIT), "the board decides");
                kept += u32::from(keeps(LIMIT + 1));
                boards += 1;
            }
        });
        assert!(
            (boards / 12..boards / 5).contains(&kept),
            "{kept} of {boards}"
        );
    }

    #[test]
    fn single_positions_are_learnt_from_too() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("some.pos.zst");
        let mut writer = PositionWriter::create(&path, PositionFormat::Plain).expect("a file");
        for (fen, score) in [
            ("8/8/4k3/8/8/3QK3/8/8 w - - 0 1", 900),
            ("8/8/4k3/8/8/3QK3/8/8 b - - 0 1", 900),
            ("8/8/4k3/8/8/3QK3/8/8 w - - 0 1", NO_SCORE),
            ("4k3/8/8/8/8/8/4R3/4K3 b - - 0 1", 500),
        ] {
            let position = Position::from_fen(fen, CastlingMode::Chess960).expect("a position");
            let record = PositionRecord {
                board: PackedBoard::pack(&position),
                score,
                result: GameResult::WhiteWins,
                hints: None,
            };
            writer.write(&record).expect("written");
        }
        writer.finish().expect("written");
        let file = DataFile {
            path,
            scaled: false,
            held_out: false,
        };
        let hold_out = HoldOut {
            per_mille: 0,
            seed: 0,
        };
        let loaded = load(&[file], &filter(), hold_out, 1);
        let loaded = loaded.expect("positions");
        // Unscored and in check: two are left, each as its mover sees it.
        let learnt: Vec<_> = loaded
            .train
            .iter()
            .map(|s| (s.score, s.half_points))
            .collect();
        assert_eq!(learnt, [(900, 2), (-900, 0)]);
        assert_eq!(loaded.files[0].plies, 4);
    }
}
