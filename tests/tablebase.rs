//! Endgames played and analysed with the tables in `tests/data/syzygy`.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use pleach::board::{Game, GameEnd, Position};
use pleach::engine::{Analysis, Engine, Request};
use pleach::tablebase::{Probing, Tablebases};
use pleach::types::{CastlingMode, Color, Depth, Move, Score};

fn path() -> String {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("tests/data/syzygy")
        .to_string_lossy()
        .into_owned()
}

fn engine() -> Engine {
    let mut engine = Engine::new();
    let remarks = engine.set_tablebases(Some(&path()));
    assert_eq!(
        remarks,
        ["Found 7 WDL and 6 DTZ tablebase files (up to 4-man)."]
    );
    engine
}

fn game(fen: &str) -> Game {
    Game::from(Position::from_fen(fen, CastlingMode::Standard).expect("legal"))
}

fn nodes(nodes: u64) -> Request {
    Request {
        nodes: Some(nodes),
        ..Request::default()
    }
}

fn analyse(engine: &mut Engine, game: &Game, request: &Request) -> Analysis {
    engine
        .analyse(game, request, |_| ControlFlow::Continue(()))
        .expect("a search")
}

/// Positions of White's pieces against Black's, the same on every run, that White to move wins.
fn won_starts(white: &str, black: &str, count: usize) -> Vec<Game> {
    let (tables, _) = Tablebases::load(&path());
    let mut random = fastrand::Rng::with_seed(51);
    let mut starts = Vec::new();
    let pieces: Vec<char> = white
        .chars()
        .chain(black.to_ascii_lowercase().chars())
        .collect();
    while starts.len() < count {
        let mut squares = vec![' '; 64 - pieces.len()];
        squares.extend(&pieces);
        random.shuffle(&mut squares);
        let Ok(position) = Position::from_fen(&fen(&squares), CastlingMode::Standard) else {
            continue;
        };
        if tables.wdl(&position) == Some(pleach::tablebase::Wdl::Win) {
            starts.push(Game::from(position));
        }
    }
    starts
}

/// White to move on a board of 64 squares, blank where empty.
fn fen(squares: &[char]) -> String {
    let rank = |squares: &[char]| -> String {
        let text: String = squares.iter().collect();
        let mut packed = text;
        for empty in (1..=8).rev() {
            packed = packed.replace(&" ".repeat(empty), &empty.to_string());
        }
        packed
    };
    let ranks: Vec<String> = squares.chunks(8).map(rank).collect();
    format!("{} w - - 0 1", ranks.join("/"))
}

fn legal(game: &Game) -> Vec<Move> {
    game.position().legal_moves().to_vec()
}

/// Plays each start to its end, both sides with tables, and holds every move of White's to be as
/// fast as the tables allow, or on the way to a mate that the search has proven.
fn wins_by_distance(white: &str, black: &str, starts: usize) {
    let mut engine = engine();
    let (tables, _) = Tablebases::load(&path());
    let probing = Probing {
        tables: Arc::new(tables),
        depth: Depth(1),
        pieces: 7,
        fifty_move_rule: true,
    };
    for start in won_starts(white, black, starts) {
        let fen = start.position().fen();
        let mut game = start;
        while game.end().is_none() {
            let analysis = analyse(&mut engine, &game, &nodes(300));
            let best = analysis.best.expect("a move");
            if game.position().turn() == Color::White {
                let score = analysis.score.expect("a score");
                assert!(score.is_win(), "{score} in {}", game.position().fen());
                let ranking = probing
                    .rank_root(game.position(), game.history(), &legal(&game))
                    .expect("covered");
                let winning = ranking
                    .moves
                    .iter()
                    .filter_map(|r| r.dtz)
                    .filter(|&d| d > 0);
                let fastest = winning.min();
                let own = ranking.get(best).and_then(|ranked| ranked.dtz);
                assert!(
                    score.is_mate() || own == fastest,
                    "{own:?} instead of {fastest:?} in {}",
                    game.position().fen()
                );
            }
            game.play(best);
        }
        let winner = Color::White;
        assert_eq!(game.end(), Some(GameEnd::Checkmate { winner }), "{fen}");
    }
}

#[test]
fn queen_and_rook_mate() {
    wins_by_distance("KQ", "K", 10);
    wins_by_distance("KR", "K", 10);
}

#[test]
fn the_pawn_is_queened() {
    wins_by_distance("KP", "K", 10);
}

#[test]
fn queen_beats_rook() {
    wins_by_distance("KQ", "KR", 10);
}

#[test]
fn scores_are_exact_and_hits_are_counted() {
    let mut engine = engine();
    let cases = [
        ("8/8/8/3qk3/8/8/8/R3K3 b - - 0 1", 1),
        ("8/8/8/3qk3/8/8/8/R3K3 w - - 0 1", -1),
        ("8/4k3/8/4K3/4P3/8/8/8 w - - 0 1", 0),
        ("8/4k3/8/4K3/4P3/8/8/8 b - - 0 1", -1),
    ];
    for (fen, sign) in cases {
        let analysis = analyse(&mut engine, &game(fen), &nodes(300));
        let score = analysis.score.expect("a score");
        match sign {
            1 => assert!(score.is_win(), "{fen} {score}"),
            -1 => assert!(score.is_loss(), "{fen} {score}"),
            _ => assert_eq!(score, Score::DRAW, "{fen}"),
        }
        assert!(analysis.lines[0].info.tb_hits > 0, "{fen}");
    }
}

#[test]
fn the_search_probes_where_captures_lead_into_the_tables() {
    // Five pieces: not covered at the root. Taking the pawn leads into K+Q v K+R, a win.
    let root = game("8/8/2p5/3qk3/8/8/8/R3K3 b - - 3 20");
    let mut engine = engine();
    let analysis = analyse(&mut engine, &root, &nodes(4000));
    assert!(analysis.lines[0].info.tb_hits > 0);
    let mut without = Engine::new();
    let analysis = analyse(&mut without, &root, &nodes(4000));
    assert_eq!(analysis.lines[0].info.tb_hits, 0);
}

#[test]
fn several_lines_keep_the_ranks() {
    // One queen move mates, others win, and others stalemate.
    let root = game("7k/5K2/8/8/8/8/8/6Q1 w - - 0 1");
    let mut engine = engine();
    engine.settings.multi_pv = 50;
    let analysis = analyse(&mut engine, &root, &nodes(5000));
    assert_eq!(analysis.lines.len(), legal(&root).len());
    let scores: Vec<Score> = analysis.lines.iter().map(|line| line.info.score).collect();
    assert!(
        scores.windows(2).all(|pair| pair[0] >= pair[1]),
        "{scores:?}"
    );
    assert!(scores[0].is_mate() && scores[scores.len() - 1] == Score::DRAW);
}

#[test]
fn only_the_moves_asked_for_are_searched() {
    let root = game("7k/8/6K1/8/8/8/8/R7 w - - 0 1");
    let mut engine = engine();
    let request = Request {
        search_moves: vec!["a1a2".to_owned()],
        ..nodes(300)
    };
    let analysis = analyse(&mut engine, &root, &request);
    assert_eq!(analysis.best, root.position().parse_uci("a1a2").ok());
}
