//! What is fuzzed: each target takes any bytes, hands them to one of the program's readers, and
//! checks what must hold of everything that the reader accepts. A panic is a failure.
//!
//! The ordinary test beside this file runs every target on mutations of a small corpus; `fuzz/`
//! runs the same functions under libFuzzer.

use std::fs;
use std::io::Cursor;
use std::sync::Arc;

use crossbeam_channel::unbounded;
use pleach::board::{Epd, Game, PgnGame, PgnReader, Position, Start};
use pleach::nnue::QuantisedNet;
use pleach::nnue::format::{FLAG_PACKED, HEADER_BYTES, Header};
use pleach::nnue::single_layer::Shape;
use pleach::opening_book::{OpeningBook, choose, merge};
use pleach::record::{GameReader, GameRecord, PositionReader, PositionRecord};
use pleach::tablebase::{Probing, Tablebases};
use pleach::types::{CastlingMode, Depth};
use pleach::uci::{Command, Session};

/// A fuzzing target: its name, which is its corpus' folder, and what it does with bytes.
pub struct Target {
    pub name: &'static str,
    pub run: fn(&[u8]),
}

/// How a Syzygy table of distances to zeroing begins.
const DTZ_MAGIC: [u8; 4] = [0xD7, 0x66, 0x0C, 0xA5];
/// The tables of queen against bare king, as they should be.
const SOUND_WDL: &[u8] = include_bytes!("../data/syzygy/KQvK.rtbw");
const SOUND_DTZ: &[u8] = include_bytes!("../data/syzygy/KQvK.rtbz");

/// All targets.
pub const TARGETS: &[Target] = &[
    Target {
        name: "fen",
        run: fen,
    },
    Target {
        name: "moves",
        run: moves,
    },
    Target {
        name: "pgn",
        run: pgn,
    },
    Target {
        name: "epd",
        run: epd,
    },
    Target {
        name: "command",
        run: command,
    },
    Target {
        name: "session",
        run: session,
    },
    Target {
        name: "record",
        run: record,
    },
    Target {
        name: "positions",
        run: positions,
    },
    Target {
        name: "network",
        run: network,
    },
    Target {
        name: "book",
        run: book,
    },
    Target {
        name: "tablebase",
        run: tablebase,
    },
];

/// Most lines of a session: each search costs time.
const SESSION_LINES: usize = 30;
/// Numbers in a session with more digits would ask for more memory or time than a test has.
const SESSION_DIGITS: usize = 2;
/// Most games read from one input.
const MOST_GAMES: usize = 20;
/// Most positions read from one input.
const MOST_POSITIONS: usize = 200;
/// Most plies played from a book.
const MOST_BOOK_PLIES: usize = 20;
/// Most bytes of numbers that are made up for a network.
const MOST_NUMBERS: usize = 1 << 20;

/// A FEN is refused, or gives a position whose own FEN gives the same position, and whose legal
/// moves can be written, read, compared and played.
pub fn fen(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    for mode in [CastlingMode::Standard, CastlingMode::Chess960] {
        let Ok(position) = Position::from_fen(&text, mode) else {
            continue;
        };
        let again = Position::from_fen(&position.fen(), mode).expect("own FEN is read");
        assert_eq!(again.fen(), position.fen());
        assert_eq!(again.key(), position.key(), "{}", position.fen());
        for &m in &position.legal_moves() {
            assert_eq!(position.parse_uci(&position.uci(m)).ok(), Some(m));
            assert!(!position.san(m).is_empty());
            let _ = position.see_ge(m, 0);
            let child = position.play(m);
            assert_ne!(child.turn(), position.turn());
        }
    }
}

/// A list of moves from the initial position is refused, or every move of it was legal.
pub fn moves(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
    if let Ok(game) = Game::new(&Start::Initial, &words, CastlingMode::Standard) {
        assert_eq!(game.moves().len(), words.len());
        let mut position = game.start().clone();
        for &m in game.moves() {
            assert!(position.legal_moves().contains(&m));
            position = position.play(m);
        }
        assert_eq!(position.key(), game.position().key());
    }
}

/// A game is refused, or is written so that it is read again with the same moves and glyphs.
pub fn pgn(bytes: &[u8]) {
    for game in PgnReader::new(bytes).take(MOST_GAMES).flatten() {
        let mut written = Vec::new();
        game.write(&mut written).expect("a vector takes all");
        let again = PgnReader::new(&written[..]).next();
        let again = again.expect("a game").expect("own PGN is read");
        assert_eq!(glyphs(&again), glyphs(&game));
        assert_eq!(again.start.fen(), game.start.fen());
    }
}

/// The main line's moves with their glyphs.
fn glyphs(game: &PgnGame) -> Vec<(String, Vec<u8>)> {
    let mut position = game.start.clone();
    let mut found = Vec::new();
    for step in &game.main_line.moves {
        found.push((position.uci(step.played), step.nags.clone()));
        position = position.play(step.played);
    }
    found
}

/// A line of EPD is refused, or its moves are legal.
pub fn epd(bytes: &[u8]) {
    for line in String::from_utf8_lossy(bytes).lines() {
        if let Ok(epd) = Epd::parse(line, CastlingMode::Standard) {
            let legal = epd.position.legal_moves();
            let moves = epd.best_moves.iter().chain(&epd.avoid_moves);
            assert!(moves.into_iter().all(|m| legal.contains(m)));
        }
    }
}

/// Any line is a command or an error.
pub fn command(bytes: &[u8]) {
    let _ = Command::parse(&String::from_utf8_lossy(bytes));
}

/// A whole session ends by itself and has at most one `bestmove` for each `go`; that it has one for
/// each is what `tests/uci_orders.rs` sees to, which knows which of them are taken.
pub fn session(bytes: &[u8]) {
    let text = String::from_utf8_lossy(bytes);
    let (sender, lines) = unbounded();
    for line in text.lines().take(SESSION_LINES) {
        if is_modest(line) {
            sender.send(line.to_owned()).expect("a receiver");
        }
    }
    drop(sender);
    let mut out = Vec::new();
    Session::new(&mut out)
        .run(&lines)
        .expect("a vector takes all");
    let out = String::from_utf8(out).expect("UTF-8");
    let best = out.lines().filter(|line| line.starts_with("bestmove"));
    let searches = text
        .lines()
        .take(SESSION_LINES)
        .filter(|line| is_modest(line) && line.split_whitespace().any(|word| word == "go"));
    assert!(best.count() <= searches.count(), "{text}\n{out}");
}

/// Whether a line is one that a test may run: it touches no file and asks for little.
fn is_modest(line: &str) -> bool {
    const UNBOUNDED: [&str; 4] = ["file", "path", "bench", "perft"];
    let lower = line.to_lowercase();
    let mut digits = 0;
    let short_numbers = lower.chars().all(|c| {
        digits = if c.is_ascii_digit() { digits + 1 } else { 0 };
        digits <= SESSION_DIGITS
    });
    short_numbers && !UNBOUNDED.iter().any(|word| lower.contains(word))
}

/// A training record is refused, or its games are written so that the same ones are read again.
pub fn record(bytes: &[u8]) {
    let mut reader = GameReader::new(Cursor::new(bytes));
    let mut game = GameRecord::empty();
    let mut encoded = Vec::new();
    for _ in 0..MOST_GAMES {
        match reader.read_into(&mut game) {
            Ok(true) => {
                encoded.clear();
                game.encode(&mut encoded);
                let mut again = GameRecord::empty();
                let mut reader = GameReader::new(Cursor::new(&encoded[..]));
                assert!(matches!(reader.read_into(&mut again), Ok(true)));
                assert_eq!(again, game);
                if let Ok(position) = game.start.unpack() {
                    let _ = position.legal_moves();
                }
            }
            Ok(false) | Err(_) => break,
        }
    }
}

/// A file of positions is refused, or its positions are written so that the same ones are read
/// again, and can be unpacked or are refused.
pub fn positions(bytes: &[u8]) {
    let Ok(reader) = PositionReader::new(Cursor::new(bytes)) else {
        return;
    };
    for record in reader.take(MOST_POSITIONS).flatten() {
        let plain = PositionRecord {
            hints: None,
            ..record
        };
        assert_eq!(PositionRecord::from_bytes(&record.to_bytes()), Some(plain));
        if let Ok(position) = record.board.unpack() {
            let _ = position.legal_moves();
        }
    }
}

/// A network is refused, or is written so that the same one is read again. The bytes are taken as
/// they are, then with the hash that fits them, which changed ones hardly have, and then with their
/// numbers repeated until they are as many as the header says, not compressed.
pub fn network(bytes: &[u8]) {
    read_network(bytes);
    let Ok(mut header) = Header::parse(bytes) else {
        return;
    };
    let numbers = &bytes[HEADER_BYTES..];
    read_network(&header.clone().seal(numbers));
    let Ok(shape) = Shape::of(&header) else {
        return;
    };
    let length = shape.payload_bytes_with(&header);
    if !numbers.is_empty() && length <= MOST_NUMBERS {
        header.flags &= !FLAG_PACKED;
        let numbers = numbers.iter().copied().cycle();
        let payload: Vec<u8> = numbers.take(length).collect();
        read_network(&header.seal(&payload));
    }
}

fn read_network(bytes: &[u8]) {
    if let Ok(net) = QuantisedNet::from_bytes(bytes) {
        let again = QuantisedNet::from_bytes(&net.to_bytes());
        assert_eq!(again.expect("its own file"), net);
    }
}

/// A book is refused, or is written as the same bytes, is what two copies of it merge to, and gives
/// legal moves only.
pub fn book(bytes: &[u8]) {
    let Ok(book) = OpeningBook::from_bytes(bytes) else {
        return;
    };
    let mut written = Vec::new();
    book.write(&mut written).expect("a vector takes all");
    assert_eq!(written, bytes);
    assert!(book.positions() <= book.entry_count());
    assert_eq!(merge(&[book.clone(), book.clone()]), book);
    let mut position = Position::startpos();
    for _ in 0..MOST_BOOK_PLIES {
        let moves = book.moves(&position);
        let Some(chosen) = choose(&moves, |total| total / 2) else {
            return;
        };
        assert!(position.legal_moves().contains(&chosen));
        position = position.play(chosen);
    }
}

/// A damaged table is left out or its positions are unknown; it ends nothing. Bytes that begin as a
/// table of distances stand beside the sound table of results that is read before them; all others
/// are taken for results.
pub fn tablebase(bytes: &[u8]) {
    let folder = tempfile::tempdir().expect("a folder");
    let (wdl, dtz) = if bytes.starts_with(&DTZ_MAGIC) {
        (SOUND_WDL, bytes)
    } else {
        (bytes, SOUND_DTZ)
    };
    fs::write(folder.path().join("KQvK.rtbw"), wdl).expect("written");
    fs::write(folder.path().join("KQvK.rtbz"), dtz).expect("written");
    let (tables, _remarks) = Tablebases::load(&folder.path().to_string_lossy());
    let probing = Probing {
        tables: Arc::new(tables),
        depth: Depth(1),
        pieces: 7,
        fifty_move_rule: true,
    };
    for fen in [
        "8/8/8/8/8/2k5/8/K6Q w - - 0 1",
        "8/8/8/8/8/2k5/8/K6Q b - - 3 1",
    ] {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let _ = probing.tables.wdl(&position);
        let ranking = probing.rank_root(&position, &[], &position.legal_moves());
        // Else the tables that this target damages would not be read at all.
        assert!(ranking.is_some() || ![SOUND_WDL, SOUND_DTZ].contains(&bytes));
    }
}
