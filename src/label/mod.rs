//! New scores for recorded games, from any UCI engine.
//!
//! The engine runs as a process of its own, behind [`client`], and is asked position by position.

pub mod client;

use std::path::PathBuf;
use std::time::Duration;

use thiserror::Error;

use crate::board::{FenError, Position};
use crate::files;
use crate::record::{GameReader, GameRecord, GameWriter, NO_SCORE, RecordError};
use crate::types::Color;

use client::{ClientError, UciClient};

/// How the engine is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Question {
    /// Its command `eval`, which Stockfish and its kin have: the static evaluation of the
    /// position, without the game before it. Positions in check get [`NO_SCORE`].
    Static,
    /// A search of so many nodes, with the game before it.
    Nodes(u64),
}

/// Why labelling failed.
#[derive(Debug, Error)]
pub enum LabelError {
    #[error(transparent)]
    Client(#[from] ClientError),
    #[error("the engine gave no score for {0}")]
    NoScore(String),
    #[error("{} would be replaced by its own labels: name another output", .0.display())]
    InputIsOutput(PathBuf),
    #[error("{}: {source}", path.display())]
    Record { path: PathBuf, source: RecordError },
    #[error("{}: game {game}: {source}", path.display())]
    Start960 {
        path: PathBuf,
        game: u64,
        source: FenError,
    },
    #[error("{}: game {game}: ply {ply} is no legal move", path.display())]
    IllegalMove {
        path: PathBuf,
        game: u64,
        ply: usize,
    },
    #[error("a labelling thread broke off")]
    Thread,
}

/// White's score of the position after `moves` from `start`.
fn score(
    engine: &mut UciClient,
    question: Question,
    start: &str,
    moves: &[String],
    position: &Position,
) -> Result<i16, LabelError> {
    let mut found = None;
    match question {
        Question::Static if position.in_check() => return Ok(NO_SCORE),
        Question::Static => {
            let fen = fresh(&position.fen());
            let commands = format!("position fen {fen}\neval\nisready");
            engine.ask(&commands, "readyok", |line| {
                found = static_score(line).or(found)
            })?;
        }
        Question::Nodes(nodes) => {
            let moves = moves.join(" ");
            let commands = format!("position fen {start} moves {moves}\ngo nodes {nodes}");
            engine.ask(&commands, "bestmove", |line| {
                found = search_score(line).or(found)
            })?;
            if position.turn() == Color::Black {
                found = found.map(i16::saturating_neg);
            }
        }
    }
    found.ok_or_else(|| LabelError::NoScore(position.fen()))
}

/// The FEN with its clocks set back, so that no 50-move damping touches the evaluation.
fn fresh(fen: &str) -> String {
    const BOARD_FIELDS: usize = 4;
    let fields: Vec<&str> = fen.split(' ').take(BOARD_FIELDS).collect();
    format!("{} 0 1", fields.join(" "))
}

/// Centipawns for White in a line that `eval` prints, if it is the one with the sum.
fn static_score(line: &str) -> Option<i16> {
    let rest = line.strip_prefix("Final evaluation")?;
    let pawns = rest
        .split_whitespace()
        .find_map(|word| word.parse::<f64>().ok())?;
    Some(
        (100.0 * pawns)
            .round()
            .clamp(f64::from(-MATE), f64::from(MATE)) as i16,
    )
}

/// What a mate on the board is worth in records.
const MATE: i16 = 32_000;
/// Evaluations keep this far from mates.
const MAX_SCORE: i32 = 31_000;

/// The side to move's score in an `info` line; bounds do not count.
fn search_score(line: &str) -> Option<i16> {
    let words: Vec<&str> = line.split_whitespace().collect();
    if words.first() != Some(&"info")
        || words.contains(&"lowerbound")
        || words.contains(&"upperbound")
    {
        return None;
    }
    let place = words.iter().position(|word| *word == "score")?;
    let number: i32 = words.get(place + 2)?.parse().ok()?;
    match *words.get(place + 1)? {
        "cp" => Some(number.clamp(-MAX_SCORE, MAX_SCORE) as i16),
        "mate" => {
            let plies = (2 * number.unsigned_abs()).min(1000) as i16;
            Some(if number > 0 {
                MATE + 1 - plies
            } else {
                plies - MATE
            })
        }
        _ => None,
    }
}

/// What is to be labelled and how.
#[derive(Clone, Debug)]
pub struct LabelJob {
    pub games: PathBuf,
    pub output: PathBuf,
    pub engine: PathBuf,
    pub question: Question,
    /// Engine processes at once.
    pub processes: usize,
    /// The longest wait for the answer to one position.
    pub patience: Duration,
}

/// Labels all games in their order and returns how many there were; `progress` hears of games
/// and plies so far.
///
/// # Errors
/// The records or the engine fail.
pub fn run(job: &LabelJob, mut progress: impl FnMut(u64, u64)) -> Result<u64, LabelError> {
    const GAMES_A_PROCESS: usize = 16;
    let recorded = |source| LabelError::Record {
        path: job.games.clone(),
        source,
    };
    if files::are_same(&job.games, &job.output) {
        return Err(LabelError::InputIsOutput(job.output.clone()));
    }
    let mut reader = GameReader::open(&job.games).map_err(recorded)?;
    let mut engines = Vec::new();
    for _ in 0..job.processes.max(1) {
        engines.push(UciClient::start(&job.engine, job.patience)?);
    }
    let mut writer = GameWriter::create(&job.output).map_err(|source| LabelError::Record {
        path: job.output.clone(),
        source,
    })?;
    let (mut games, mut plies) = (0, 0);
    loop {
        let mut block = Vec::new();
        while block.len() < engines.len() * GAMES_A_PROCESS {
            match reader.next() {
                Some(game) => block.push(game.map_err(recorded)?),
                None => break,
            }
        }
        if block.is_empty() && games == 0 {
            return Err(recorded(RecordError::NoGames));
        }
        if block.is_empty() {
            writer.finish().map_err(|source| LabelError::Record {
                path: job.output.clone(),
                source,
            })?;
            return Ok(games);
        }
        label_block(job, &mut engines, games, &mut block)?;
        for game in &block {
            writer.write(game).map_err(|source| LabelError::Record {
                path: job.output.clone(),
                source,
            })?;
            games += 1;
            plies += game.plies.len() as u64;
        }
        progress(games, plies);
    }
}

/// Labels games, a share for each engine.
fn label_block(
    job: &LabelJob,
    engines: &mut [UciClient],
    before: u64,
    block: &mut [GameRecord],
) -> Result<(), LabelError> {
    let share = block.len().div_ceil(engines.len()).max(1);
    std::thread::scope(|scope| {
        let handles: Vec<_> = engines
            .iter_mut()
            .zip(block.chunks_mut(share))
            .enumerate()
            .map(|(index, (engine, games))| {
                scope.spawn(move || {
                    let first = before + (index * share) as u64 + 1;
                    (first..)
                        .zip(games)
                        .try_for_each(|(number, game)| label_game(job, engine, number, game))
                })
            })
            .collect();
        for handle in handles {
            handle.join().map_err(|_| LabelError::Thread)??;
        }
        Ok(())
    })
}

fn label_game(
    job: &LabelJob,
    engine: &mut UciClient,
    number: u64,
    game: &mut GameRecord,
) -> Result<(), LabelError> {
    let path = &job.games;
    let mut position = game.start.unpack().map_err(|source| LabelError::Start960 {
        path: path.clone(),
        game: number,
        source,
    })?;
    let start = position.fen();
    let mut moves = Vec::new();
    for (index, ply) in game.plies.iter_mut().enumerate() {
        let m = position
            .unpack(ply.played)
            .ok_or_else(|| LabelError::IllegalMove {
                path: path.clone(),
                game: number,
                ply: index + 1,
            })?;
        ply.score = score(engine, job.question, &start, &moves, &position)?;
        moves.push(position.uci(m));
        position = position.play(m);
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn evaluations_are_read_as_stockfish_prints_them() {
        let line = "Final evaluation       +0.25 (white side) [with scaled NNUE, hybrid, ...]";
        assert_eq!(static_score(line), Some(25));
        assert_eq!(
            static_score("Final evaluation       -12.07 (white side)"),
            Some(-1207)
        );
        assert_eq!(static_score("Final evaluation: none (in check)"), None);
        assert_eq!(
            static_score("NNUE evaluation        +0.25 (white side)"),
            None
        );
    }

    #[test]
    fn searches_are_read_without_bounds() {
        let line = "info depth 8 seldepth 9 multipv 1 score cp -31 nodes 700 nps 1 pv e7e5";
        assert_eq!(search_score(line), Some(-31));
        assert_eq!(
            search_score("info depth 9 score cp 55 lowerbound nodes 710"),
            None
        );
        assert_eq!(
            search_score("info depth 9 score mate 2 nodes 710"),
            Some(31_997)
        );
        assert_eq!(
            search_score("info depth 9 score mate -2 nodes 710"),
            Some(-31_996)
        );
        assert_eq!(search_score("info depth 0 score mate 0"), Some(-32_000));
        assert_eq!(search_score("info string score cp 3"), Some(3));
        assert_eq!(search_score("bestmove e2e4"), None);
    }

    /// A program for tests: a shell script that is there as long as this value.
    #[cfg(unix)]
    pub(super) struct Script {
        _folder: tempfile::TempDir,
        path: PathBuf,
    }

    #[cfg(unix)]
    impl Script {
        pub(super) fn new(text: &str) -> Script {
            use std::io::Write as _;
            use std::process::{Command, Stdio};

            let folder = tempfile::tempdir().expect("a folder");
            let path = folder.path().join("engine");
            // Written by another process: a file that this one had open for writing could not be
            // run while a process that another test just started still holds it.
            let mut shell = Command::new("sh")
                .args(["-c", "cat > \"$0\" && chmod +x \"$0\""])
                .arg(&path)
                .stdin(Stdio::piped())
                .spawn()
                .expect("a shell");
            let mut input = shell.stdin.take().expect("a pipe");
            write!(input, "#!/bin/sh\n{text}\n").expect("written");
            drop(input);
            assert!(shell.wait().expect("an end").success());
            Script {
                _folder: folder,
                path,
            }
        }

        pub(super) fn path(&self) -> &Path {
            &self.path
        }
    }

    /// A folder with a file of random games, and what to do with it.
    #[cfg(unix)]
    fn job(engine: &Script) -> (tempfile::TempDir, LabelJob) {
        use crate::board::tests::Random;
        use crate::record::{PackedBoard, PlyRecord};
        use crate::types::GameResult;
        use crate::types::PackedMove;

        let folder = tempfile::tempdir().expect("a folder");
        let games = folder.path().join("games.vf.zst");
        let mut writer = GameWriter::create(&games).expect("a file");
        for seed in 0..40 {
            let mut random = Random(seed);
            let mut position = Position::startpos();
            let mut game = GameRecord {
                start: PackedBoard::pack(&position),
                result: GameResult::Draw,
                plies: Vec::new(),
            };
            for _ in 0..10 + seed % 5 {
                let moves = position.legal_moves();
                let m = moves[random.below(moves.len())];
                game.plies.push(PlyRecord {
                    played: PackedMove::new(m),
                    score: 0,
                });
                position = position.play(m);
            }
            writer.write(&game).expect("a file");
        }
        writer.finish().expect("a file");
        let job = LabelJob {
            output: folder.path().join("labelled.vf.zst"),
            question: Question::Static,
            processes: 2,
            patience: Duration::from_secs(60),
            engine: engine.path().to_path_buf(),
            games,
        };
        (folder, job)
    }

    #[cfg(unix)]
    const ANSWERS: &str = "
while read -r word rest; do
  case $word in
    uci) echo uciok ;;
    isready) echo readyok ;;
    eval) echo 'Final evaluation +0.50 (white side)' ;;
    go) echo 'info depth 1 score cp 70 pv a2a3'; echo 'bestmove a2a3' ;;
    quit) exit ;;
  esac
done";

    #[cfg(unix)]
    #[test]
    fn games_are_labelled_in_order_for_both_colours() {
        let engine = Script::new(ANSWERS);
        let (_folder, mut job) = job(&engine);
        let read = |path: &Path| -> Vec<GameRecord> {
            GameReader::open(path)
                .expect("a file")
                .map(|game| game.expect("a game"))
                .collect()
        };
        let before = read(&job.games);
        assert_eq!(run(&job, |_, _| ()).expect("labels"), 40);
        let mut after = read(&job.output);
        let scores: Vec<i16> = after
            .iter()
            .flat_map(|g| &g.plies)
            .map(|p| p.score)
            .collect();
        assert!(scores.iter().all(|&score| score == 50 || score == NO_SCORE));
        after
            .iter_mut()
            .flat_map(|game| &mut game.plies)
            .for_each(|ply| ply.score = 0);
        assert_eq!(after, before);
        job.question = Question::Nodes(100);
        run(&job, |_, _| ()).expect("labels");
        for game in read(&job.output) {
            let scores: Vec<i16> = game.plies.iter().map(|ply| ply.score).collect();
            assert!(
                scores.iter().step_by(2).all(|&score| score == 70),
                "White to move"
            );
            assert!(scores.iter().skip(1).step_by(2).all(|&score| score == -70));
        }
    }

    #[cfg(unix)]
    #[test]
    fn an_engine_that_fails_leaves_the_output_as_it_was() {
        for script in [
            "exit 1",
            "read l; echo uciok; read l; read l; echo readyok; read l; exit 1",
        ] {
            let engine = Script::new(script);
            let (folder, job) = job(&engine);
            std::fs::write(&job.output, "precious").expect("written");
            assert!(run(&job, |_, _| ()).is_err());
            assert_eq!(std::fs::read(&job.output).expect("the file"), b"precious");
            let left = std::fs::read_dir(folder.path()).expect("a folder").count();
            assert_eq!(left, 2, "no temporary file stays");
        }
    }

    #[cfg(unix)]
    #[test]
    fn games_are_not_replaced_by_their_labels() {
        let engine = Script::new(ANSWERS);
        let (_folder, mut job) = job(&engine);
        let before = std::fs::read(&job.games).expect("the games");
        job.output = job.games.clone();
        let result = run(&job, |_, _| ());
        assert!(
            matches!(result, Err(LabelError::InputIsOutput(_))),
            "{result:?}"
        );
        assert_eq!(std::fs::read(&job.games).expect("the games"), before);
    }
}
