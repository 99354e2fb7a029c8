//! On the small tables in `tests/data/syzygy`: all of three pieces, K+Q v K+R, and K+B+N v K
//! without its DTZ table.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;
use crate::types::{CastlingMode, Move};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/syzygy")
}

fn probing() -> Probing {
    let (tables, remarks) = Tablebases::load(&folder().to_string_lossy());
    assert_eq!(remarks, Vec::<String>::new());
    Probing {
        tables: Arc::new(tables),
        depth: Depth(DEPTH_DEFAULT),
        pieces: LIMIT_DEFAULT,
        fifty_move_rule: true,
    }
}

fn position(fen: &str) -> Position {
    Position::from_fen(fen, CastlingMode::Standard).expect("legal")
}

fn ranking(fen: &str) -> RootRanking {
    let root = position(fen);
    let moves: Vec<Move> = root.legal_moves().to_vec();
    probing().rank_root(&root, &[], &moves).expect("covered")
}

fn named(ranking: &RootRanking, root: &str, text: &str) -> RankedMove {
    let m = position(root).parse_uci(text).expect("legal");
    *ranking.get(m).expect("ranked")
}

#[test]
fn tables_are_counted() {
    let tables = probing().tables;
    assert_eq!(tables.files(), (7, 6));
    assert_eq!(tables.most_pieces(), 4);
}

#[test]
fn several_folders_missing_ones_and_spaces_are_fine() {
    let place = tempfile::tempdir().expect("a folder");
    let spaced = place.path().join("my tables");
    fs::create_dir(&spaced).expect("created");
    fs::copy(folder().join("KQvK.rtbw"), spaced.join("KQvK.rtbw")).expect("copied");
    let missing = place.path().join("missing");
    let path = std::env::join_paths([&spaced, &missing, &folder(), &PathBuf::new()])
        .expect("no separator within");
    let (tables, remarks) = Tablebases::load(&path.to_string_lossy());
    assert_eq!(tables.files(), (7, 6));
    assert_eq!(remarks.len(), 1, "{remarks:?}");
    assert!(remarks[0].contains("missing"), "{remarks:?}");
    let (none, remarks) = Tablebases::load(&missing.to_string_lossy());
    assert_eq!((none.files(), remarks.len()), ((0, 0), 1));
}

/// Loads the tests' tables with the bytes of one file changed; the files live as long as the
/// folder that comes with them.
fn with_changed(
    name: &str,
    change: impl FnOnce(&mut Vec<u8>),
) -> (tempfile::TempDir, Tablebases, Vec<String>) {
    let place = tempfile::tempdir().expect("a folder");
    for entry in fs::read_dir(folder()).expect("readable") {
        let path = entry.expect("an entry").path();
        let copy = place.path().join(path.file_name().expect("a name"));
        fs::copy(&path, &copy).expect("copied");
    }
    let file = place.path().join(name);
    let mut bytes = fs::read(&file).expect("readable");
    change(&mut bytes);
    fs::write(&file, bytes).expect("written");
    let (tables, remarks) = Tablebases::load(&place.path().to_string_lossy());
    (place, tables, remarks)
}

#[test]
fn damaged_tables_are_left_out() {
    // Of a length that no table has; not a table at all; cut at a length that a table may have.
    let cases: [fn(&mut Vec<u8>); 4] = [
        |bytes| bytes.truncate(bytes.len() - 1),
        |bytes| bytes[0] ^= 1,
        |bytes| bytes.truncate(64 * 20 + 16),
        |bytes| bytes.clear(),
    ];
    for change in cases {
        let (_place, tables, remarks) = with_changed("KQvKR.rtbw", change);
        assert_eq!(remarks.len(), 1, "{remarks:?}");
        assert!(remarks[0].contains("KQvKR.rtbw left out"), "{remarks:?}");
        assert_eq!(tables.files(), (6, 6));
        assert_eq!(
            tables.wdl(&position("8/8/8/3qk3/8/8/8/R3K3 b - - 0 1")),
            None
        );
        assert_eq!(
            tables.wdl(&position("8/8/8/3qk3/8/8/8/4K3 b - - 0 1")),
            Some(Wdl::Win)
        );
    }
}

/// A folder stands for whatever is no regular file: to open a named pipe would not end.
#[test]
fn what_is_no_file_is_left_out() {
    let place = tempfile::tempdir().expect("a folder");
    fs::create_dir(place.path().join("KQvKR.rtbw")).expect("created");
    let (none, remarks) = Tablebases::load(&place.path().to_string_lossy());
    assert_eq!(none.files(), (0, 0));
    assert!(remarks[0].ends_with("left out: not a file"), "{remarks:?}");
}

#[test]
fn flipped_bits_never_end_the_process() {
    let mut random = fastrand::Rng::with_seed(15);
    for _ in 0..20 {
        let (_place, tables, _) = with_changed("KPvK.rtbw", |bytes| {
            let place = random.usize(4..bytes.len());
            bytes[place] ^= 1 << random.u32(..8);
        });
        for square in ["8/8/8/8/8/4P3/8/k3K3", "7k/8/8/8/4P3/8/8/4K3"] {
            let _ = tables.wdl(&position(&format!("{square} w - - 0 1")));
        }
    }
}

#[test]
fn results_become_bounds_on_the_right_side() {
    let ply = Ply(5);
    let score = |wdl, rule| probed(wdl, ply, rule);
    assert_eq!(score(Wdl::Win, true).score, Score::tablebase_win(ply));
    assert_eq!(score(Wdl::Win, true).bound, Bound::Lower);
    assert_eq!(score(Wdl::Loss, true).bound, Bound::Upper);
    assert_eq!(score(Wdl::Draw, true).bound, Bound::Exact);
    assert_eq!(score(Wdl::CursedWin, true).score, Score::cp(SPOILED_WIN));
    assert_eq!(score(Wdl::CursedWin, false), score(Wdl::Win, false));
    assert_eq!(score(Wdl::BlessedLoss, false), score(Wdl::Loss, false));
}

#[test]
fn nodes_are_probed_only_where_the_answer_holds() {
    let probing = probing();
    let at = |fen: &str, depth| probing.probe(&position(fen), Ply(1), Depth(depth));
    let queen = "8/8/8/3qk3/8/8/8/R3K3 b - - 0 1";
    assert_eq!(
        at(queen, 1).map(|probed| probed.score),
        Some(Score::tablebase_win(Ply(1)))
    );
    // As many pieces as the largest table, and too little depth; with fewer, any depth will do.
    assert_eq!(at(queen, 0), None);
    assert!(at("8/8/8/3qk3/8/8/8/4K3 b - - 0 1", 0).is_some());
    // The clock has run; castling is possible; too many pieces.
    assert_eq!(at("8/8/8/3qk3/8/8/8/R3K3 b - - 1 1", 1), None);
    assert_eq!(at("8/8/8/3qk3/8/8/8/R3K3 b Q - 0 1", 1), None);
    assert_eq!(at("8/8/8/3qk3/8/8/8/RN2K3 b - - 0 1", 1), None);
    let none = Probing {
        pieces: 3,
        ..probing.clone()
    };
    assert_eq!(none.probe(&position(queen), Ply(1), Depth(9)), None);
}

#[test]
fn the_clock_decides_what_a_win_is_worth() {
    // White mates in one with Qc8; Qc2 is slower.
    let fresh = "k7/8/1K6/8/8/8/8/2Q5 w - - 0 1";
    let ranked = ranking(fresh);
    assert_eq!(ranked.source, Source::Dtz);
    let fast = named(&ranked, fresh, "c1c8");
    assert_eq!((fast.dtz, fast.rank), (Some(1), CERTAIN_RANK));
    let slow = named(&ranked, fresh, "c1c2");
    assert!(slow.dtz > Some(1) && slow.rank == fast.rank);
    assert_eq!(
        ranked.converting(slow.m),
        position(fresh).parse_uci("c1c8").expect("legal")
    );
    // With 98 plies on the clock only the mate wins: the others are draws by the 50-move rule.
    let late = "k7/8/1K6/8/8/8/8/2Q5 w - - 98 90";
    let ranked = ranking(late);
    assert_eq!(ranked.score(), Score::tablebase_win(Ply::ROOT));
    assert_eq!(named(&ranked, late, "c1c8").rank, CERTAIN_RANK);
    let slow = named(&ranked, late, "c1c2");
    assert!(slow.rank < CERTAIN_RANK && !slow.score.is_decisive());
}

/// The rank of a certain win, seen from outside.
const CERTAIN_RANK: i32 = 1 << 18;

#[test]
fn without_the_clocks_rule_a_long_win_stays_a_win() {
    let late = position("k7/8/1K6/8/8/8/8/2Q5 w - - 98 90");
    let moves: Vec<Move> = late.legal_moves().to_vec();
    let probing = Probing {
        fifty_move_rule: false,
        ..probing()
    };
    let ranked = probing.rank_root(&late, &[], &moves).expect("covered");
    let slow = late.parse_uci("c1c2").expect("legal");
    assert_eq!(
        ranked.get(slow).map(|ranked| ranked.rank),
        Some(CERTAIN_RANK)
    );
}

#[test]
fn only_the_moves_asked_for_are_ranked() {
    let root = position("k7/8/1K6/8/8/8/8/2Q5 w - - 0 1");
    let wanted = [root.parse_uci("c1c2").expect("legal")];
    let ranked = probing().rank_root(&root, &[], &wanted).expect("covered");
    assert_eq!(ranked.moves.len(), 1);
    assert_eq!(ranked.converting(wanted[0]), wanted[0]);
    assert!(probing().rank_root(&root, &[], &[]).is_none());
}

#[test]
fn a_third_occurrence_is_a_draw_and_a_second_ranks_by_distance() {
    let root = position("8/8/8/3k4/8/8/8/R3K3 w - - 8 10");
    let moves: Vec<Move> = root.legal_moves().to_vec();
    let shuffle = root.parse_uci("a1a2").expect("legal");
    let key = root.play(shuffle).key();
    let probing = probing();
    let rank = |history: &[u64]| probing.rank_root(&root, history, &moves).expect("covered");
    // Four plies ago and eight plies ago the same position stood on the board.
    let twice = [key, 1, 2, 3, key, 4, 5, 6];
    let ranked = rank(&twice);
    assert_eq!(ranked.get(shuffle).map(|r| r.score), Some(Score::DRAW));
    // A repetition: the ranks follow the distances, so that the game moves on.
    let best = ranked.moves[0];
    assert!(best.rank < CERTAIN_RANK && best.score.is_win());
    assert!(
        ranked
            .moves
            .iter()
            .all(|r| r.dtz >= best.dtz || r.dtz <= Some(0))
    );
    let ranked = rank(&[1, 2, 3, 4]);
    assert_eq!(ranked.get(shuffle).map(|r| r.rank), Some(CERTAIN_RANK));
    // Going back to a position that was there once ranks below the moves to new ones.
    let ranked = rank(&[1, 2, 3, 4, key, 5, 6, 7]);
    let back = ranked.get(shuffle).expect("ranked");
    assert!(back.rank < CERTAIN_RANK && back.score.is_win());
    assert_eq!(ranked.moves[0].rank, CERTAIN_RANK);
}

#[test]
fn the_conversion_takes_the_fastest_win_even_to_an_earlier_position() {
    let root = position("8/8/8/3k4/8/8/8/R3K3 w - - 40 30");
    let moves: Vec<Move> = root.legal_moves().to_vec();
    let ranked = |history: &[u64]| probing().rank_root(&root, history, &moves);
    let fresh = ranked(&[]).expect("covered");
    let wins = || fresh.moves.iter().filter(|r| r.score.is_win());
    let least = wins().filter_map(|r| r.dtz).min();
    let fastest = wins().filter(|r| r.dtz == least);
    let history: Vec<u64> = fastest.map(|r| root.play(r.m).key()).collect();
    let seen = ranked(&history).expect("covered");
    let chosen = seen.moves[0];
    assert!(chosen.rank == CERTAIN_RANK && chosen.dtz > least);
    let converted = seen.get(seen.converting(chosen.m)).expect("ranked");
    assert_eq!(converted.dtz, least);
}

#[test]
fn without_distances_results_still_rank() {
    // The knight hangs; the DTZ table of K+B+N v K is not there.
    let fen = "8/8/8/8/3k4/8/3N4/2B1K3 w - - 0 1";
    let ranked = ranking(fen);
    assert_eq!(ranked.source, Source::Wdl);
    assert!(ranked.keeps_probing());
    assert!(named(&ranked, fen, "d2f3").score.is_win());
    let lost = "8/8/8/8/8/3k4/8/2BNK3 w - - 0 1";
    let ranked = ranking(lost);
    assert!(
        ranked
            .moves
            .iter()
            .any(|r| r.score == Score::DRAW || r.score.is_win())
    );
    let chosen = ranked.moves[0].m;
    assert_eq!(ranked.converting(chosen), chosen);
}

#[test]
fn drawn_and_lost_roots_are_told_apart() {
    // Queen against rook; a king in front of the pawn that can take the opposition or lose it.
    let lost = ranking("8/8/8/3QK3/8/8/8/r3k3 b - - 0 1");
    assert!(lost.score().is_loss() && !lost.keeps_probing());
    let drawn = ranking("8/5k2/8/4K3/4P3/8/8/8 b - - 0 1");
    assert_eq!(drawn.source, Source::Dtz);
    assert_eq!(drawn.score(), Score::DRAW);
    assert!(drawn.moves.iter().any(|r| r.score.is_loss()));
}

/// What a client is shown of a result that the 50-move rule spoils.
#[test]
fn a_spoiled_result_is_shown_within_half_a_pawn_and_never_as_a_draw() {
    let late = "k7/8/1K6/8/8/8/8/2Q5 w - - 98 90";
    let slow = named(&ranking(late), late, "c1c2");
    assert!((2..=49).contains(&slow.score.shown_cp()), "{}", slow.score);
    let shown = |total| Score::cp(root::near_draw(total)).shown_cp();
    assert_eq!((shown(101), shown(300)), (49, 2));
    assert!((101..300).all(|total| shown(total) >= shown(total + 1)));
}
