//! Records against the crate that defines the format, the board, and damage.

use std::io::BufReader;
use std::path::Path;

use super::packed_board::CASTLING_ROOK;
use super::*;
use crate::board::Position;
use crate::board::tests::{Random, cases, random_games};
use crate::types::{CastlingMode, GameResult, PackedMove};

/// A drawn game of random moves, of `longest` plies unless it ends before, and the position before
/// each ply, which gets the score that `score` gives the position.
pub fn random_game(
    random: &mut Random,
    start: Position,
    longest: usize,
    mut score: impl FnMut(&mut Random, &Position) -> i16,
) -> (GameRecord, Vec<Position>) {
    let mut game = GameRecord {
        start: PackedBoard::pack(&start),
        result: GameResult::Draw,
        plies: Vec::new(),
    };
    let (mut position, mut line) = (start, Vec::new());
    while line.len() < longest && position.has_legal_move() {
        let moves = position.legal_moves();
        let m = moves[random.below(moves.len())];
        game.plies.push(PlyRecord {
            played: PackedMove::new(m),
            score: score(random, &position),
        });
        let next = position.play(m);
        line.push(std::mem::replace(&mut position, next));
    }
    (game, line)
}

/// Writes a file of games.
pub fn write_games<'a>(path: &Path, games: impl IntoIterator<Item = &'a GameRecord>) {
    let mut writer = GameWriter::create(path).expect("a new file");
    for game in games {
        writer.write(game).expect("a writable file");
    }
    writer.finish().expect("a writable file");
}

/// Random games from standard and Chess960 starts (taken from the positions of other random
/// games, so that castling rights, en passant and checks occur at the start too).
fn games(count: u64) -> Vec<(GameRecord, Vec<Position>)> {
    const LONGEST: usize = cases(120, 20) as usize;
    const LARGEST_SCORE: usize = 2000;
    let mut starts = Vec::new();
    random_games(count, |position| starts.push(position.clone()));
    let mut random = Random(99);
    let results = [
        GameResult::BlackWins,
        GameResult::Draw,
        GameResult::WhiteWins,
    ];
    let mut games = Vec::new();
    for _ in 0..cases(count, count.min(3)) {
        let start = starts[random.below(starts.len())].clone();
        let (mut game, line) = random_game(&mut random, start, LONGEST, |random, _| {
            random.below(2 * LARGEST_SCORE) as i16 - LARGEST_SCORE as i16
        });
        game.result = results[random.below(results.len())];
        games.push((game, line));
    }
    games
}

fn bytes_of(games: &[(GameRecord, Vec<Position>)]) -> Vec<u8> {
    let mut bytes = Vec::new();
    games.iter().for_each(|(game, _)| game.encode(&mut bytes));
    bytes
}

#[test]
fn the_crate_reads_what_we_write_and_the_other_way_round() {
    let games = games(60);
    let bytes = bytes_of(&games);
    let mut input = BufReader::new(&bytes[..]);
    let mut again = Vec::new();
    for (game, line) in &games {
        // In debug builds the crate checks board and moves, too.
        let theirs =
            viriformat::dataformat::Game::deserialise_from(&mut input, Vec::new()).expect("valid");
        let mut index = 0;
        theirs.visit_positions(|board, score| {
            let position = &line[index];
            assert_eq!(score, i32::from(game.plies[index].score));
            let (board, fen) = (board.to_string(), position.fen());
            assert_eq!(board.split(' ').next(), fen.split(' ').next());
            assert_eq!(board.split(' ').nth(1), fen.split(' ').nth(1));
            index += 1;
        });
        assert_eq!(index, line.len());
        theirs.serialise_into(&mut again).expect("memory");
    }
    assert_eq!(again, bytes);
    let read: Vec<GameRecord> = GameReader::new(&bytes[..])
        .collect::<Result<_, _>>()
        .expect("our own bytes");
    assert!(read.iter().eq(games.iter().map(|(game, _)| game)));
}

#[test]
fn positions_survive_packing() {
    random_games(40, |position| {
        let unpacked = PackedBoard::pack(position)
            .unpack()
            .expect("a legal position");
        let chess960 = Position::from_fen(&position.fen(), CastlingMode::Chess960);
        assert_eq!(unpacked.fen(), chess960.expect("a legal position").fen());
    });
}

/// A rook that may castle is a code of its own, wherever it stands.
#[test]
fn castling_rooks_must_be_where_castling_is_possible() {
    let unpack = |fen: &str| {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("legal");
        let mut packed = PackedBoard::pack(&position);
        // The king is the first piece of either position, the rook the second.
        packed.pieces[0] = packed.pieces[0] & 0x0f | CASTLING_ROOK << 4;
        packed.unpack()
    };
    let position = unpack("4k3/8/8/8/8/8/8/4K2R w - - 0 1").expect("legal");
    assert_eq!(position.fen(), "4k3/8/8/8/8/8/8/4K2R w H - 0 1");
    let refused = unpack("4k3/8/8/8/8/7R/8/4K3 w - - 0 1").expect_err("rook on h3");
    assert!(refused.to_string().contains("castling"), "{refused}");
}

#[test]
fn the_mailbox_follows_the_board() {
    for (game, line) in games(60) {
        let mut mailbox = Mailbox::unpack(&game.start).expect("a legal position");
        for (ply, position) in game.plies.iter().zip(&line) {
            let expected = Mailbox::unpack(&PackedBoard::pack(position)).expect("legal");
            assert_eq!(mailbox.squares, expected.squares, "{}", position.fen());
            assert_eq!(mailbox.occupied, expected.occupied);
            assert_eq!(mailbox.kings, expected.kings);
            assert_eq!(mailbox.turn, position.turn());
            assert_eq!(
                mailbox.in_check(),
                position.in_check(),
                "{}",
                position.fen()
            );
            let m = position.unpack(ply.played).expect("a legal move");
            let tactical = m.capture().is_some() || ply.played.promotion().is_some();
            assert_eq!(
                mailbox.is_tactical(ply.played),
                tactical,
                "{}",
                position.fen()
            );
            mailbox.play(ply.played).expect("a legal move");
        }
    }
}

#[test]
fn every_truncation_is_noticed() {
    let games = games(3);
    let bytes = bytes_of(&games);
    let mut ends = vec![0];
    for index in 1..=games.len() {
        ends.push(bytes_of(&games[..index]).len());
    }
    for length in 0..bytes.len() {
        let read: Result<Vec<GameRecord>, _> = GameReader::new(&bytes[..length]).collect();
        assert_eq!(read.is_ok(), ends.contains(&length), "{length}");
    }
}

#[test]
fn a_reader_ends_after_its_first_error() {
    let games = games(3);
    let mut bytes = bytes_of(&games);
    // An unknown result in the second game's head.
    let second = bytes_of(&games[..1]).len();
    bytes[second + 30] = 7;
    let mut reader = GameReader::new(&bytes[..]);
    assert!(reader.next().is_some_and(|game| game.is_ok()));
    assert!(reader.next().is_some_and(|game| game.is_err()));
    assert!(reader.next().is_none());
}

/// The file holds these games and no others.
fn assert_holds(path: &Path, games: &[(GameRecord, Vec<Position>)]) {
    let read: Result<Vec<GameRecord>, _> = GameReader::open(path).expect("a file").collect();
    let wanted = games.iter().map(|(game, _)| game);
    assert!(read.expect("sound").iter().eq(wanted));
}

#[test]
#[cfg_attr(miri, ignore = "compressed by C code")]
fn a_file_takes_its_name_when_it_is_complete() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.vf.zst");
    let games = games(2);
    let mut writers = [(); 2].map(|()| GameWriter::create(&path).expect("a file"));
    for (game, _) in &games {
        for writer in &mut writers {
            writer.write(game).expect("written");
        }
    }
    assert!(!path.exists());
    for writer in writers {
        writer.finish().expect("written");
    }
    assert_holds(&path, &games);
}

/// Files that pzstd has compressed: one frame tells the length of the next.
#[test]
#[cfg_attr(miri, ignore = "compressed by C code")]
fn a_file_may_begin_with_a_frame_that_is_skipped() {
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join("games.vf.zst");
    let games = games(2);
    let skipped = [0x50, 0x2A, 0x4D, 0x18, 4, 0, 0, 0, 1, 2, 3, 4];
    let frames = games.iter().flat_map(|game| {
        let bytes = bytes_of(std::slice::from_ref(game));
        let packed = zstd::encode_all(&bytes[..], 0).expect("memory");
        [&skipped[..], &packed].concat()
    });
    std::fs::write(&path, frames.collect::<Vec<u8>>()).expect("written");
    assert!(!holds_positions(&path).expect("readable"));
    assert_holds(&path, &games);
}

#[test]
fn damage_is_an_error_and_no_crash() {
    let bytes = bytes_of(&games(4));
    let mut random = Random(5);
    for _ in 0..cases(20_000, 50) {
        let mut damaged = bytes.clone();
        for _ in 0..1 + random.below(4) {
            let bit = random.below(8 * damaged.len());
            damaged[bit / 8] ^= 1 << (bit % 8);
        }
        let mut reader = GameReader::new(&damaged[..]);
        let mut game = GameRecord::empty();
        while let Ok(true) = reader.read_into(&mut game) {
            let Ok(mut board) = Mailbox::unpack(&game.start) else {
                continue;
            };
            let _ = game.start.unpack();
            for ply in &game.plies {
                let _ = (board.in_check(), board.is_tactical(ply.played));
                if board.play(ply.played).is_err() {
                    break;
                }
            }
        }
    }
}

/// It could not be read a second time.
#[cfg(unix)]
#[test]
fn a_device_is_not_looked_into() {
    let refused = holds_positions(Path::new("/dev/zero")).expect_err("a device");
    assert!(refused.to_string().contains("not a regular file"));
}
