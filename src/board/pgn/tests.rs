use super::*;
use crate::board::tests::{cases, random_games};
use crate::types::CastlingMode;

fn read(text: &str) -> Vec<Result<PgnGame, PgnError>> {
    PgnReader::new(text.as_bytes()).collect()
}

fn only(text: &str) -> PgnGame {
    let mut games = read(text);
    assert_eq!(games.len(), 1);
    games.remove(0).expect("a game")
}

fn sans(start: &Position, line: &PgnLine) -> Vec<String> {
    let moves: Vec<Move> = line.moves.iter().map(|m| m.played).collect();
    start.san_line(&moves)
}

const ANNOTATED: &str = r#"[Event "A \"quoted\" event"]
[White "Müller"]
[Result "1-0"]
[Annotator "me"]

{Before all.} 1. e4! {best by test} {and more} e5 $10 (1... c5 {the Sicilian} 2. Nf3
(2. c3 d5) 2... d6) (1... e6) 2. Nf3 Nc6 3. Bb5 {[%eval 0.25,20] [%clk 1:00:00]} 1-0
"#;

#[test]
fn comments_glyphs_and_variations_are_kept() {
    let game = only(ANNOTATED);
    assert_eq!(game.headers.get("Event"), Some("A \"quoted\" event"));
    assert_eq!(game.result, Some(GameResult::WhiteWins));
    assert_eq!(game.main_line.comment, "Before all.");
    let moves = &game.main_line.moves;
    assert_eq!(
        sans(&game.start, &game.main_line),
        ["e4", "e5", "Nf3", "Nc6", "Bb5"]
    );
    assert_eq!(moves[0].nags, [1]);
    assert_eq!(moves[0].comment, "best by test and more");
    assert_eq!(moves[1].nags, [10]);
    let after_e4 = game.start.play(moves[0].played);
    let sicilian = &moves[1].variations[0];
    assert_eq!(sans(&after_e4, sicilian), ["c5", "Nf3", "d6"]);
    assert_eq!(sicilian.moves[0].comment, "the Sicilian");
    assert_eq!(sicilian.moves[1].variations[0].moves.len(), 2);
    assert_eq!(sans(&after_e4, &moves[1].variations[1]), ["e6"]);
    assert_eq!(moves[4].comment, "[%eval 0.25,20] [%clk 1:00:00]");
    assert!(game.warnings.is_empty());
}

#[test]
fn what_is_written_is_read_again() {
    let game = only(ANNOTATED);
    let written = game.to_string();
    assert!(
        written.lines().all(|line| line.chars().count() < 80),
        "{written}"
    );
    assert!(written.contains("1. e4 $1 {best by test and more} 1... e5 $10 (1... c5"));
    assert!(written.contains("[%eval 0.25,20]"));
    let again = only(&written);
    assert_eq!(again.main_line, game.main_line);
    assert_eq!(again.headers.get("White"), Some("Müller"));
    assert_eq!(again.headers.get("Annotator"), Some("me"));
    assert_eq!(again.to_string(), written);
}

#[test]
fn comments_cannot_break_the_text() {
    let mut game = PgnGame::new(Position::startpos());
    let e4 = game.start.parse_san("e4").expect("legal");
    let mut m = PgnMove::from(e4);
    m.comment = format!(
        "a }} b {{ c ; % ( {} [%csl Ga4] {}",
        "word ".repeat(40),
        "x".repeat(200)
    );
    game.main_line.moves.push(m);
    game.headers.set("White", "a\n\"b\\");
    let again = only(&game.to_string());
    assert_eq!(again.main_line.moves.len(), 1);
    assert!(
        again.main_line.moves[0]
            .comment
            .starts_with("a ) b ( c ; % ( word word")
    );
    assert_eq!(again.headers.get("White"), Some("a \"b\\"));
}

#[test]
fn broken_games_are_reported_and_skipped() {
    let text = "\u{FEFF}[White \"A\"]\n\n1. e4 e5 2. Ke3 Nf6 *\n\n[White \"B\"]\n\n1. d4 *\n\n\
                [White \"C\"]\n[Variant \"Atomic\"]\n\n1. d4 *\n\n\
                [White \"D\"]\n[FEN \"8/8\"]\n\n1. d4 *\n\n[White \"E\n1. d4 *\n\n\
                [White \"F\"]\n\n1. e4 (1. Nf6 e5) (1. d4 Nf6 2. Nf5 g6) e5 1/2-1/2\n\n\
                [White \"G\"]\n\n1. e4 {never closed";
    let games = read(text);
    let errors: Vec<(u64, String)> = games
        .iter()
        .filter_map(|game| match game {
            Err(PgnError::Game { number, reason }) => Some((*number, reason.clone())),
            _ => None,
        })
        .collect();
    let reasons: Vec<&str> = errors.iter().map(|(_, reason)| reason.as_str()).collect();
    assert_eq!(
        errors[0],
        (1, "2. Ke3 is not legal".to_owned()),
        "{reasons:?}"
    );
    assert!(reasons.iter().any(|reason| reason.contains("atomic")));
    assert!(reasons.iter().any(|reason| reason.contains("FEN")));
    assert!(reasons.iter().any(|reason| reason.contains("comment")));
    let good: Vec<&PgnGame> = games.iter().filter_map(|game| game.as_ref().ok()).collect();
    let whites: Vec<&str> = good
        .iter()
        .filter_map(|game| game.headers.get("White"))
        .collect();
    assert!(whites.contains(&"B") && whites.contains(&"F"), "{whites:?}");
    let cut = good
        .iter()
        .find(|game| game.headers.get("White") == Some("F"))
        .expect("F");
    assert_eq!(cut.warnings.len(), 2, "{:?}", cut.warnings);
    assert_eq!(cut.main_line.moves.len(), 2);
    assert_eq!(cut.main_line.moves[0].variations.len(), 1);
    assert_eq!(cut.main_line.moves[0].variations[0].moves.len(), 2);
}

/// What programs and people write beside the standard.
#[test]
fn habits_of_other_programs_are_read() {
    let text = b"\xEF\xBB\xBF[Event \"bytes\"]\r\n[White \"M\xFCller\"]\r\n\r\n1. e4 {caf\xE9} c5 *\r\n\r\n\
        [Event \"zeros\"]\n\n1. e4 e5 2. Nf3 Nc6 3. Bc4 Bc5 4. 0-0 Nf6 5. d3 0-0 1/2-1/2\n\n\
        [Event \"glued\"]\n\n1.e4 e5 2.Nf3 Nc6 3.Bb5 a6 4.Bxc6 dxc6 5.O-O *\n\n\
        [Event \"passing\"]\n\n1. e4 a6 2. e5 d5 3. exd6e.p. exd6 *\n\n\
        [Event \"notes\"]\n\n1. e4 ; the king's\n% left out\ne5 2. Nf3 !? Nc6 ?! 3. Bb5 +/- *\n\n\
        [Event \"null\"]\n\n1. e4 e5 (1... -- 2. d4) 2. Nf3 *\n\n\
        [Event \"unfinished\"]\n\n1. e4 e5 2. Nf3";
    let games: Vec<PgnGame> = PgnReader::new(&text[..])
        .map(|game| game.expect("readable"))
        .collect();
    let plies: Vec<usize> = games
        .iter()
        .map(|game| game.main_line.moves.len())
        .collect();
    assert_eq!(plies, [2, 10, 9, 6, 5, 3, 3]);
    assert_eq!(games[0].headers.get("White"), Some("M\u{FC}ller"));
    assert_eq!(games[0].main_line.moves[0].comment, "caf\u{E9}");
    let nags: Vec<&[u8]> = games[4]
        .main_line
        .moves
        .iter()
        .map(|m| &m.nags[..])
        .collect();
    assert_eq!(nags, [&[][..], &[], &[5], &[6], &[16]]);
    assert_eq!(games[5].warnings, ["in a variation, 1... is a null move"]);
}

#[test]
fn moves_in_other_notations_are_read_or_break_the_game() {
    let castled = only("1. e2-e4 e7-e5 2. Ng1-f3 Nb8-c6 3. Bf1-b5 *");
    assert_eq!(castled.main_line.moves.len(), 5);
    let promoted = only("[FEN \"8/P7/8/8/8/8/2K5/k7 w - - 0 1\"]\n\n1. a8Q+ *\n");
    assert_eq!(promoted.main_line.moves.len(), 1);
    let castled = only("1. e4 e5 2. Nf3 Nc6 3. Bb5 Nf6 4.o-o Be7 5. d3 o-o+- *");
    assert_eq!(castled.main_line.moves.len(), 10);
}

#[test]
fn words_that_are_no_moves_are_named() {
    for (text, reason) in [
        ("1. e4 e5 2. Sf3 Sc6 *", "2. 'Sf3' is not a move in SAN"),
        ("1. Nf3Nf6 2. g3 *", "1. 'Nf3Nf6' is not a move in SAN"),
        ("Zz9 1. e4 *", "1. 'Zz9' is not a move in SAN"),
    ] {
        let error = read(text).remove(0).expect_err(text).to_string();
        assert!(error.ends_with(reason), "{error}");
    }
    let game = only("1. e4 (1. d4 Zz9 1... d5 Zz9) e5 2. Nf3 *");
    assert_eq!(game.main_line.moves.len(), 3);
    assert_eq!(game.main_line.moves[0].variations[0].moves.len(), 1);
    assert_eq!(
        game.warnings,
        ["in a variation, 1... 'Zz9' is not a move in SAN"]
    );
}

#[test]
fn prose_among_the_moves_is_left_out_and_named() {
    let game = only("1. e4 e5 (Or 1... c5) 2. Nf3 White resigns 0-1");
    assert_eq!(game.main_line.moves.len(), 3);
    assert_eq!(game.main_line.moves[1].variations.len(), 1);
    let words = ["1... 'Or'", "2... 'White'", "2... 'resigns'"];
    assert_eq!(
        game.warnings,
        words.map(|word| format!("{word} is left out"))
    );
}

#[test]
fn prose_outside_the_moves_is_passed_over() {
    let text = "Games of my club\n\n[White \"A\"]\n\n1. e4 e5 1-0 Black resigns\n\n\
                The second\n\n[White \"B\"]\n\n1. d4 d5 2. exd6 *\n";
    let games = read(text);
    assert_eq!(games.len(), 2, "{games:?}");
    let first = games[0].as_ref().expect("readable");
    assert_eq!(first.main_line.moves.len(), 2);
    assert!(games[1].is_err());
}

#[test]
fn comments_to_the_end_of_the_line_are_kept() {
    let unix = "; before first {move}\n1. e4 ; first\n e5 ; second\n; and more\n\
                (1... d6 ; in variation\n 2. d4) 2. Nf3 Nc6 ; last";
    for text in [
        unix.to_owned(),
        unix.replace('\n', "\r"),
        unix.replace('\n', "\r\n"),
        unix.replace('\n', "\r\r\n"),
    ] {
        let line = only(&text).main_line;
        assert_eq!(line.comment, "before first (move)");
        let comments: Vec<&str> = line.moves.iter().map(|m| m.comment.as_str()).collect();
        assert_eq!(comments, ["first", "second and more", "", "last"]);
        let variation = &line.moves[1].variations[0].moves;
        assert_eq!(variation.len(), 2);
        assert_eq!(variation[0].comment, "in variation");
    }
    let old_mac = "[White \"A\"]\r\r1. e4 ; first\re5 *\r\r[White \"B\"]\r\r1. d4 *\r";
    let plies: Vec<usize> = read(old_mac)
        .into_iter()
        .map(|game| game.expect("readable").main_line.moves.len())
        .collect();
    assert_eq!(plies, [2, 1]);
}

#[test]
fn a_comment_about_headers_is_read_again() {
    let mut game = PgnGame::new(Position::startpos());
    let mut m = PgnMove::from(game.start.parse_san("e4").expect("legal"));
    m.comment = "[Event one] ".repeat(40);
    game.main_line.moves.push(m);
    let again = only(&game.to_string());
    assert!(
        again.main_line.moves[0]
            .comment
            .starts_with("(Event one] (Event one]")
    );
}

#[test]
fn evaluation_signs_become_glyphs() {
    let game = only(
        "1. e4= e5 += 2. Nf3+/- Nc6 -/+ 3. Bb5\u{b1} a6! -+ 4. Bxc6 {taken} +- dxc6+= \
         5. O-O\u{221e} f6=/+ 6. d4 N exd4=+ *",
    );
    let nags: Vec<u8> = game
        .main_line
        .moves
        .iter()
        .flat_map(|m| m.nags.iter().copied())
        .collect();
    assert_eq!(nags, [10, 14, 16, 17, 16, 1, 19, 18, 14, 13, 15, 146, 15]);
    assert_eq!(game.main_line.moves.len(), 12);
}

#[test]
fn a_comment_without_end_breaks_its_own_game_only() {
    let text = "[Event \"a\"]\n\n1. e4 {no end\n[Ev is not a header\n\n[Event \"b\"]\n\n1. d4 {ends} *\n\n\
                [Event \"c\"]\n\n1. e4 (1. d4 {no end\n\n[Event \"d\"]\n\n1. d4 *\n";
    for (reader, whole) in [
        (PgnReader::new(text.as_bytes()), true),
        (PgnReader::main_lines(text.as_bytes()), false),
    ] {
        let games: Vec<_> = reader.collect();
        assert_eq!(games.len(), 4, "{games:?}");
        let error = games[0].as_ref().expect_err("no end").to_string();
        assert!(error.contains("comment is not closed"), "{error}");
        assert_eq!(games[2].is_err(), whole);
        for index in [1, 3] {
            let game = games[index].as_ref().expect("readable");
            assert_eq!(game.main_line.moves.len(), 1);
        }
    }
}

#[test]
fn failing_input_ends_the_games() {
    struct Failing;
    impl std::io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
            Err(std::io::Error::new(
                std::io::ErrorKind::InvalidData,
                "bad sector",
            ))
        }
    }
    let input = std::io::Read::chain(&b"1. e4 *\n\n1. d4 d5\n"[..], Failing);
    let games: Vec<_> = PgnReader::new(input).take(9).collect();
    assert!(games.len() <= 2, "{games:?}");
    assert!(matches!(games.last(), Some(Err(PgnError::Input { .. }))));
}

#[test]
fn nesting_without_end_is_survived() {
    let depth = cases(100_000, 300) as usize;
    let text = format!(
        "1. e4 {}1. d4{} e5 *",
        "(1. e3 ".repeat(depth),
        ")".repeat(depth)
    );
    let game = only(&text);
    assert!(!game.warnings.is_empty());
    assert_eq!(game.main_line.moves.len(), 2);
    assert_eq!(
        only(&format!("1. e4 {}", ")".repeat(99)))
            .main_line
            .moves
            .len(),
        1
    );
}

#[test]
fn chess960_games_are_read_and_written() {
    let text = "[Variant \"Chess960\"]\n[SetUp \"1\"]\n\
                [FEN \"bnrbkr1q/pppppppp/4n3/8/8/4N3/PPPPPPPP/BNRBKR1Q w CFcf - 0 1\"]\n\n\
                1. O-O O-O 2. g3 *\n";
    let game = only(text);
    assert_eq!(game.start.castling_mode(), CastlingMode::Chess960);
    assert_eq!(game.main_line.moves.len(), 3);
    let again = only(&game.to_string());
    assert_eq!(again.main_line, game.main_line);
    assert_eq!(again.start.fen(), game.start.fen());
}

#[test]
fn main_lines_leave_the_rest_out() {
    let game = PgnReader::main_lines(ANNOTATED.as_bytes())
        .next()
        .expect("a game")
        .expect("readable");
    let full = only(ANNOTATED);
    assert_eq!(game.main_line.moves.len(), full.main_line.moves.len());
    for (bare, m) in game.main_line.moves.iter().zip(&full.main_line.moves) {
        assert_eq!(*bare, PgnMove::from(m.played));
    }
    assert_eq!(game.result, full.result);
}

#[test]
fn every_legal_move_survives_as_san() {
    random_games(30, |position| {
        for m in position.legal_moves() {
            let san = position.san(m);
            assert_eq!(
                position.parse_san(&san),
                Ok(m),
                "{san} in {}",
                position.fen()
            );
        }
    });
}

#[test]
fn games_become_pgn_and_come_back() {
    let moves: Vec<String> = ["f2f3", "e7e5", "g2g4", "d8h4"].map(str::to_owned).to_vec();
    let start = crate::board::Start::Initial;
    let game = Game::new(&start, &moves, CastlingMode::Standard).expect("legal");
    let pgn = PgnGame::from(&game);
    assert_eq!(pgn.result, Some(GameResult::BlackWins));
    let text = pgn.to_string();
    assert!(text.ends_with("1. f3 e5 2. g4 Qh4# 0-1\n\n"), "{text}");
    assert_eq!(only(&text).to_game().moves(), game.moves());
}

#[test]
fn a_comment_between_games_is_no_game() {
    let text = "1. e4 *\n\n{stray}\n\n1. d4 d5 *\n";
    let plies = |games: PgnReader<&[u8]>| -> Vec<usize> {
        games
            .map(|game| game.expect("readable").main_line.moves.len())
            .collect()
    };
    assert_eq!(plies(PgnReader::new(text.as_bytes())), [1, 2]);
    assert_eq!(plies(PgnReader::main_lines(text.as_bytes())), [1, 2]);
}

#[test]
fn the_variant_of_standard_games_is_kept() {
    let fen = "4k3/8/8/8/8/8/4P3/4K3 w - - 0 1";
    for (variant, setup) in [
        ("Standard", String::new()),
        ("From Position", format!("[SetUp \"1\"]\n[FEN \"{fen}\"]\n")),
    ] {
        let variant = format!("[Variant \"{variant}\"]\n");
        let written = only(&format!("{variant}{setup}\n1. e4 *\n")).to_string();
        assert_eq!(written.matches("Variant").count(), 1, "{written}");
        assert!(
            written.contains(&variant) && written.contains(&setup),
            "{written}"
        );
    }
    let chess960 = only("[Variant \"Fischerandom\"]\n\n1. e4 *\n").to_string();
    assert_eq!(chess960.matches("Variant").count(), 1, "{chess960}");
    assert!(chess960.contains("[Variant \"Chess960\"]\n"), "{chess960}");
}

#[test]
fn games_without_headers_are_told_apart() {
    let games = read("1. e4 e5 1/2-1/2\n1. d4 d5 2. c4 1-0\n\nThe score: 1-0\n\n1. c4 *\n");
    let found: Vec<_> = games
        .iter()
        .flatten()
        .map(|game| (game.main_line.moves.len(), game.result))
        .collect();
    assert_eq!(
        found,
        [
            (2, Some(GameResult::Draw)),
            (3, Some(GameResult::WhiteWins)),
            (1, None)
        ]
    );
}

#[test]
fn moves_after_the_result_are_left_out_with_a_warning() {
    let game = only("1. e4 e5 1-0 White wins: 2. Nf3 Nc6\n");
    assert_eq!(game.main_line.moves.len(), 2);
    assert_eq!(game.warnings, ["what stands after the result is left out"]);
}

/// Headers and movetexts, and the two as they are written.
#[test]
fn a_result_is_taken_from_the_header_if_the_moves_have_none() {
    for (header, end, written_header, written_end) in [
        ("1-0", "*", "1-0", "1-0"),
        ("1-0", "", "1-0", "1-0"),
        ("1-0", "0-1", "0-1", "0-1"),
        ("1/2", "*", "1/2-1/2", "1/2-1/2"),
        ("\u{bd}-\u{bd}", "*", "1/2-1/2", "1/2-1/2"),
        ("*", "0-1", "0-1", "0-1"),
        ("0-0", "*", "0-0", "*"),
        ("adjourned", "", "adjourned", "*"),
        ("0-0", "1-0", "1-0", "1-0"),
        ("", "*", "*", "*"),
    ] {
        let written = only(&format!("[Result \"{header}\"]\n\n1. e4 {end}\n")).to_string();
        assert!(
            written.contains(&format!("[Result \"{written_header}\"]\n")),
            "{header} {end}: {written}"
        );
        assert!(
            written.ends_with(&format!("1. e4 {written_end}\n\n")),
            "{header} {end}: {written}"
        );
    }
}

#[test]
fn the_comment_of_a_variation_without_moves_is_kept() {
    let game = only("({first} ) 1. e4 {good} ({or d4}) e5 (1... c5 ({deep} )) 2. Nf3 *");
    assert_eq!(game.main_line.comment, "first");
    let moves = &game.main_line.moves;
    assert_eq!(moves[0].comment, "good or d4");
    assert!(moves[0].variations.is_empty());
    assert_eq!(moves[1].variations[0].moves[0].comment, "deep");
    assert_eq!(game.warnings, Vec::<String>::new());
}

#[test]
fn a_variation_before_the_first_move_is_named() {
    let text = "(1. d4 d5) 1. e4 e5 *";
    let game = only(text);
    assert_eq!(game.main_line.moves.len(), 2);
    assert_eq!(
        game.warnings,
        ["1. a variation before the first move is left out"]
    );
    let main = PgnReader::main_lines(text.as_bytes()).next();
    assert_eq!(main.expect("a game").expect("readable").warnings.len(), 0);
}
