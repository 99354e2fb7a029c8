use super::entry::encode;
use super::*;
use crate::board::PgnReader;
use crate::types::Color;

fn position(fen: &str) -> Position {
    Position::from_fen(fen, CastlingMode::Standard).expect("a position")
}

fn build(pgn: &str, settings: BuildSettings) -> Result<OpeningBook, BookError> {
    let mut builder = BookBuilder::new(settings);
    for game in PgnReader::main_lines(pgn.as_bytes()) {
        builder.add(&game.expect("a game"));
    }
    builder.finish()
}

fn all() -> BuildSettings {
    BuildSettings {
        min_games: 1,
        ..BuildSettings::default()
    }
}

fn listed(book: &OpeningBook, position: &Position) -> Vec<(String, u16)> {
    let moves = book.moves(position);
    moves
        .iter()
        .map(|m| (position.san(m.played), m.weight))
        .collect()
}

const GAMES: &str = "1. e4 e5 2. Nf3 1-0\n\n1. e4 c5 1/2-1/2\n\n1. e4 e5 0-1\n\n\
                     1. d4 d5 1-0\n\n1. h4 e5 0-1\n\n1. a3 e5 *\n\n";

/// The keys that the description of the format lists.
#[test]
fn keys_are_polyglots() {
    for (fen, key) in [
        (
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            0x463b_9618_1691_fc9c,
        ),
        (
            "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq e3 0 1",
            0x823c_9b50_fd11_4196,
        ),
        (
            "rnbqkbnr/ppp1pppp/8/3p4/4P3/8/PPPP1PPP/RNBQKBNR w KQkq d6 0 2",
            0x0756_b944_61c5_0fb0,
        ),
        (
            "rnbqkbnr/ppp1pppp/8/3pP3/8/8/PPPP1PPP/RNBQKBNR b KQkq - 0 2",
            0x662f_afb9_65db_29d4,
        ),
        (
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPP1PPP/RNBQKBNR w KQkq f6 0 3",
            0x22a4_8b5a_8e47_ff78,
        ),
        (
            "rnbqkbnr/ppp1p1pp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR b kq - 0 3",
            0x652a_607c_a3f2_42c1,
        ),
        (
            "rnbq1bnr/ppp1pkpp/8/3pPp2/8/8/PPPPKPPP/RNBQ1BNR w - - 0 4",
            0x00fd_d303_c946_bdd9,
        ),
        (
            "rnbqkbnr/p1pppppp/8/8/PpP4P/8/1P1PPPP1/RNBQKBNR b KQkq c3 0 3",
            0x3c81_23ea_7b06_7637,
        ),
        (
            "rnbqkbnr/p1pppppp/8/8/P6P/R1p5/1P1PPPP1/1NBQKBNR b Kkq - 0 4",
            0x5c3f_9b82_9b27_9560,
        ),
    ] {
        assert_eq!(key_of(&position(fen)), key, "{fen}");
    }
}

#[test]
fn weights_are_results() {
    let book = build(GAMES, all()).expect("a book");
    let start = Position::startpos();
    let e4 = start.play(start.parse_san("e4").expect("legal"));
    assert_eq!(
        listed(&book, &start),
        [("e4".to_owned(), 3), ("d4".to_owned(), 2)]
    );
    assert_eq!(
        listed(&book, &e4),
        [("e5".to_owned(), 2), ("c5".to_owned(), 1)]
    );
    let often = BuildSettings {
        min_games: 2,
        ..all()
    };
    let book = build(GAMES, often).expect("a book");
    assert_eq!(listed(&book, &start), [("e4".to_owned(), 3)]);
    assert_eq!(listed(&book, &e4), [("e5".to_owned(), 2)]);
    let short = BuildSettings {
        max_plies: 1,
        ..all()
    };
    assert_eq!(build(GAMES, short).expect("a book").positions(), 1);
    let black = BuildSettings {
        sides: Sides::Only(Color::Black),
        ..all()
    };
    let book = build(GAMES, black).expect("a book");
    assert!(book.moves(&start).is_empty() && !book.moves(&e4).is_empty());
    let none = BuildSettings {
        min_games: 9,
        ..all()
    };
    assert!(matches!(build(GAMES, none), Err(BookError::Empty)));
}

#[test]
fn a_repeated_move_counts_once_a_game() {
    let pgn = "1. Nf3 Nf6 2. Ng1 Ng8 3. Nf3 Nf6 4. Ng1 Ng8 1/2-1/2\n\n";
    let book = build(pgn, all()).expect("a book");
    let first = listed(&book, &Position::startpos());
    assert_eq!(first, [("Nf3".to_owned(), 1)]);
}

#[test]
fn large_weights_are_scaled_alike() {
    let mut pgn = "1. e4 e5 1-0\n\n".repeat(40_000);
    pgn.push_str("1. d4 d5 1-0\n\n1. d4 d5 1-0\n\n");
    let book = build(&pgn, all()).expect("a book");
    let start = Position::startpos();
    assert_eq!(
        listed(&book, &start),
        [("e4".to_owned(), 40_000), ("d4".to_owned(), 2)]
    );
}

#[test]
fn castling_promotion_and_en_passant_are_encoded() {
    let castles = position("r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1");
    let bits = |position: &Position, san: &str| encode(position.parse_san(san).expect("legal"));
    assert_eq!(bits(&castles, "O-O"), 4 << 6 | 7);
    assert_eq!(bits(&castles, "O-O-O"), 4 << 6);
    let promotes = position("8/P7/8/8/8/8/k7/4K3 w - - 0 1");
    assert_eq!(bits(&promotes, "a8=N"), 1 << 12 | 48 << 6 | 56);
    assert_eq!(bits(&promotes, "a8=Q"), 4 << 12 | 48 << 6 | 56);
    let two_steps = BookEntry {
        key: key_of(&castles),
        bits: 4 << 6 | 6,
        weight: 1,
        learn: 0,
    };
    let book = OpeningBook {
        entries: vec![two_steps],
    };
    assert_eq!(listed(&book, &castles), [("O-O".to_owned(), 1)]);
    // The same bits mean a rook's move where a rook stands on e1.
    let rook = position("3k4/8/8/8/8/8/8/K3R3 w - - 0 1");
    let entry = BookEntry {
        key: key_of(&rook),
        bits: 4 << 6 | 6,
        ..two_steps
    };
    let book = OpeningBook {
        entries: vec![entry],
    };
    assert_eq!(listed(&book, &rook), [("Rg1".to_owned(), 1)]);
}

#[test]
fn books_survive_writing_and_damage_is_named() {
    let book = build(GAMES, all()).expect("a book");
    let mut bytes = Vec::new();
    book.write(&mut bytes).expect("memory");
    assert_eq!(OpeningBook::from_bytes(&bytes).expect("a book"), book);
    let error = |bytes: &[u8]| OpeningBook::from_bytes(bytes).unwrap_err().to_string();
    assert!(error(&bytes[..bytes.len() - 1]).contains("whole number of entries"));
    assert!(error(&[]).contains("empty"));
    let mut swapped = bytes[ENTRY_BYTES * 3..].to_vec();
    swapped.extend_from_slice(&bytes[..ENTRY_BYTES]);
    assert!(error(&swapped).contains("out of order"));
    let mut no_move = bytes.clone();
    no_move[8..10].fill(0xFF);
    assert!(error(&no_move).contains("no move"));
    let mut null = bytes.clone();
    null[8..10].fill(0);
    assert!(OpeningBook::from_bytes(&null).is_ok());
    let header = [&[0; ENTRY_BYTES][..], &bytes].concat();
    assert!(OpeningBook::from_bytes(&header).is_ok());
}

#[test]
fn choice_follows_the_weights() {
    let book = build(GAMES, all()).expect("a book");
    let start = Position::startpos();
    let moves = book.moves(&start);
    let drawn: Vec<String> = (0..5)
        .map(|number| start.san(choose(&moves, |_| number).expect("a move")))
        .collect();
    assert_eq!(drawn, ["e4", "e4", "e4", "d4", "d4"]);
    assert_eq!(choose(&[], |_| 0), None);
    let deleted = BookMove {
        weight: 0,
        ..moves[0]
    };
    assert_eq!(choose(&[deleted], |_| 0), None);
}

#[test]
fn the_first_book_wins_in_a_merger() {
    let first = build("1. e4 e5 1-0\n\n", all()).expect("a book");
    let second = build("1. d4 d5 1/2-1/2\n\n", all()).expect("a book");
    let merged = merge(&[first, second]);
    let start = Position::startpos();
    assert_eq!(listed(&merged, &start), [("e4".to_owned(), 2)]);
    let d4 = start.play(start.parse_san("d4").expect("legal"));
    assert_eq!(listed(&merged, &d4), [("d5".to_owned(), 1)]);
    let mut bytes = Vec::new();
    merged.write(&mut bytes).expect("memory");
    assert!(OpeningBook::from_bytes(&bytes).is_ok());
}

#[test]
fn chess960_is_left_out() {
    let pgn = "[Variant \"Chess960\"]\n\n1. e4 e5 1-0\n\n";
    assert!(matches!(build(pgn, all()), Err(BookError::Empty)));
    let book = build(GAMES, all()).expect("a book");
    let chess960 = Position::startpos()
        .in_mode(CastlingMode::Chess960)
        .expect("legal");
    assert!(book.moves(&chess960).is_empty());
}
