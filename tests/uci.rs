//! UCI sessions on the real binary: what `book/src/uci.md` promises to clients.

mod common;

use std::collections::BTreeSet;
use std::io::Write as _;
use std::process::Stdio;
use std::time::{Duration, Instant};

use common::{Client, best_move, engine, field, last_score};
use pleach::board::Position;
use pleach::types::CastlingMode;

/// The engine is told to stop or has a few milliseconds: it must answer within this even on a
/// starved machine; how quickly it does otherwise, `latency.py` measures.
const PROMPT: Duration = Duration::from_secs(120);
/// Long enough to catch an answer that comes too early.
const A_WHILE: Duration = Duration::from_millis(400);

const STALEMATE: &str = "7k/5Q2/6K1/8/8/8/8/8 b - - 0 1";
const MATED: &str = "rnb1kbnr/pppp1ppp/8/4p3/6Pq/5P2/PPPPP2P/RNBQKBNR w KQkq - 1 3";

fn assert_legal(fen: &str, mode: CastlingMode, moves: &[&str]) {
    let mut position = Position::from_fen(fen, mode).expect("a position");
    for text in moves {
        let m = position
            .parse_uci(text)
            .unwrap_or_else(|error| panic!("{error} in {moves:?}"));
        position = position.play(m);
    }
}

#[test]
fn the_greeting_is_complete_and_first() {
    let mut client = Client::start();
    client.send("uci");
    let lines = client.expect("uciok");
    assert!(lines[0].starts_with("id name Pleach"), "{}", lines[0]);
    assert!(lines[1].starts_with("id author "), "{}", lines[1]);
    let (options, end) = lines[2..].split_at(lines.len() - 3);
    assert!(
        options.iter().all(|line| line.starts_with("option name ")),
        "{options:#?}"
    );
    assert_eq!(end, ["uciok"]);
    for name in [
        "Hash type spin",
        "Threads type spin",
        "Move Overhead type spin",
        "Clear Hash type button",
    ] {
        assert!(options.iter().any(|line| line.contains(name)), "{name}");
    }
}

#[test]
fn every_search_ends_with_a_score_and_one_legal_move() {
    let mut client = Client::greeted();
    for limits in [
        "depth 1",
        "depth 6",
        "nodes 1",
        "nodes 5000",
        "movetime 1",
        "movetime 100",
        "wtime 100",
        "btime 100",
        "wtime 1 btime 1",
        "wtime 0 btime 0",
        "wtime -100 btime -100 winc -5 binc 0",
        "wtime 500 btime 500 winc 5 binc 5 movestogo 1",
        "wtime 1000 btime 1000 movestogo 0",
        "mate 1 nodes 20000",
        "depth 0",
        "depth 3 nodes 100000 movetime 60000 wtime 600000",
        "searchmoves a2a3 h2h4 depth 4",
    ] {
        client.send("position startpos moves e2e4 c7c5");
        let lines = client.go(limits);
        let best = best_move(&lines).to_owned();
        assert_legal(
            &Position::startpos().fen(),
            CastlingMode::Standard,
            &["e2e4", "c7c5", &best],
        );
        let score = last_score(&lines);
        assert!(!score.contains("bound"), "{limits}: {score}");
        assert_eq!(field(score, "pv"), Some(best.as_str()), "{limits}: {score}");
        assert!(!score.contains('.'), "{limits}: {score}");
    }
    let lines = client.sync();
    assert_eq!(lines, ["readyok"], "one bestmove for each go");
}

#[test]
fn chosen_and_excluded_moves_are_respected() {
    let mut client = Client::greeted();
    assert_eq!(best_move(&client.go("depth 4 searchmoves a2a3")), "a2a3");
    let all_but_one: Vec<String> = Position::startpos()
        .legal_moves()
        .into_iter()
        .map(|m| Position::startpos().uci(m))
        .filter(|text| text != "h2h4")
        .collect();
    let lines = client.go(&format!("depth 4 excludemoves {}", all_but_one.join(" ")));
    assert_eq!(best_move(&lines), "h2h4");
    let lines = client.go("depth 2 searchmoves 0000");
    assert!(
        lines.iter().any(|line| line.starts_with("info string")),
        "{lines:#?}"
    );
}

#[test]
fn a_finished_game_has_no_move_but_a_score() {
    let mut client = Client::greeted();
    for (fen, score) in [(MATED, "score mate 0"), (STALEMATE, "score cp 0")] {
        client.send(&format!("position fen {fen}"));
        let lines = client.go("depth 5");
        assert!(last_score(&lines).contains(score), "{lines:#?}");
        assert_eq!(lines.last().map(String::as_str), Some("bestmove (none)"));
    }
    client.send("go infinite");
    client.expect_silence("bestmove", A_WHILE);
    client.send("stop");
    client.expect_within("bestmove (none)", PROMPT);
}

#[test]
fn bestmove_is_held_back_until_it_may_be_told() {
    let mut client = Client::greeted();
    // A mate in one: the search itself is over at once.
    client.send("position fen 6k1/5ppp/8/8/8/8/8/R3K3 w - - 0 1");
    client.send("go infinite depth 3");
    client.expect_silence("bestmove", A_WHILE);
    client.send("stop");
    assert_eq!(best_move(&client.expect_within("bestmove", PROMPT)), "a1a8");
    client.send("go ponder movetime 50 depth 3");
    client.expect_silence("bestmove", A_WHILE);
    client.send("ponderhit");
    client.expect_within("bestmove a1a8", PROMPT);
    assert_eq!(client.sync(), ["readyok"]);
}

#[test]
fn movetime_counts_from_ponderhit() {
    let mut client = Client::greeted();
    client.send("position startpos\ngo ponder movetime 500");
    client.expect_silence("bestmove", Duration::from_millis(700));
    let hit = Instant::now();
    client.send("ponderhit");
    client.expect_within("bestmove", PROMPT);
    assert!(
        hit.elapsed() >= Duration::from_millis(450),
        "{:?}",
        hit.elapsed()
    );
}

#[test]
fn an_instant_ponderhit_does_not_overtake_go() {
    let mut client = Client::greeted();
    for threads in ["1", "2"] {
        client.send(&format!("setoption name Threads value {threads}"));
        for _ in 0..10 {
            client.send("position startpos\ngo ponder wtime 200 btime 200\nponderhit");
            client.expect_within("bestmove", PROMPT);
            client.send("go ponder wtime 200 btime 200\nstop\ngo movetime 5");
            client.expect_within("bestmove", PROMPT);
            client.expect_within("bestmove", PROMPT);
        }
    }
    assert_eq!(client.sync(), ["readyok"]);
}

#[test]
fn isready_is_answered_during_a_search_and_is_a_barrier_outside() {
    let mut client = Client::greeted();
    client.send("go infinite");
    client.send("isready");
    client.expect_within("readyok", PROMPT);
    client.send("stop");
    client.expect_within("bestmove", PROMPT);
    client.send("setoption name Threads value 0\nsetoption name Nothing value 1");
    let lines = client.sync();
    assert_eq!(
        lines.len(),
        3,
        "both complaints come before readyok: {lines:#?}"
    );
}

#[test]
fn a_search_on_top_of_a_search_hangs_nobody() {
    let mut client = Client::greeted();
    client.send("go infinite\ngo infinite\nsetoption name Hash value 2\ngo depth 3\nstop");
    for _ in 0..3 {
        client.expect_within("bestmove", PROMPT);
    }
    assert_eq!(client.sync(), ["readyok"]);
    client.send("go infinite\nucinewgame");
    client.expect_within("bestmove", PROMPT);
    assert_eq!(client.sync(), ["readyok"]);
}

#[test]
fn options_may_come_during_a_search() {
    let mut client = Client::greeted();
    client.send("go infinite\nsetoption name MultiPV value 2\nisready");
    client.expect_within("readyok", PROMPT);
    client.send("stop");
    client.expect_within("bestmove", PROMPT);
    let lines = client.go("depth 3");
    assert!(
        lines.iter().any(|line| field(line, "multipv") == Some("2")),
        "{lines:#?}"
    );
}

#[test]
fn bad_input_is_reported_and_survived() {
    let mut client = Client::greeted();
    for line in [
        "position fen 8/8/8/8/8/8/8/8 w - - 0 1",
        "position fen rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP w KQkq - 0 1",
        "position startpos moves e2e4 e2e4",
        "position startpos moves hello",
        "position nowhere",
        "setoption name Nonsense value 3",
        "setoption name Hash value lots",
        "setoption Hash",
        "nonsense",
        "debug maybe",
    ] {
        client.send(line);
        let lines = client.sync();
        assert_eq!(lines.len(), 2, "{line}: {lines:#?}");
        assert!(lines[0].starts_with("info string "), "{line}: {lines:#?}");
    }
    client.send_bytes(b"position \xff\xfe\nsetoption name SyzygyPath value /caf\xe9\n");
    client.send(&"x".repeat(1 << 20));
    client.send(&format!(
        "position startpos moves {}",
        "e2e4 ".repeat(1 << 18)
    ));
    client.send("\n \t \nposition\ngo\nstop");
    client.expect_within("bestmove", PROMPT);
    client.send("position startpos");
    assert_legal(
        &Position::startpos().fen(),
        CastlingMode::Standard,
        &[best_move(&client.go("depth 2"))],
    );
}

#[test]
fn a_refused_position_is_not_played_from() {
    let mut client = Client::greeted();
    client.send("position startpos moves e2e4");
    client.send("position startpos moves e2e4 e7e5 e1e8");
    client.sync();
    let lines = client.go("depth 4");
    assert!(lines[0].starts_with("info string"), "{lines:#?}");
    assert_eq!(lines.last().map(String::as_str), Some("bestmove (none)"));
    client.send("position startpos moves e2e4 e7e5");
    assert_ne!(best_move(&client.go("depth 4")), "(none)");
}

#[test]
fn the_end_of_input_ends_the_program() {
    for said in [
        "",
        "uci\n",
        "uci\nposition startpos\ngo infinite\n",
        "isready\ngo ponder\n",
    ] {
        let mut client = Client::start();
        client.send_bytes(said.as_bytes());
        assert!(client.close().success());
        let searched = said.contains("go");
        assert_eq!(
            client.heard.iter().any(|line| line.starts_with("bestmove")),
            searched,
            "{said}"
        );
    }
    let mut client = Client::greeted();
    client.send("go infinite\nquit");
    assert!(client.wait().success());
}

#[test]
fn castling_is_written_as_the_variant_has_it() {
    let fen = "r3k2r/8/8/8/8/8/8/R3K2R w KQkq - 0 1";
    let mut client = Client::greeted();
    client.send(&format!("position fen {fen}"));
    assert_eq!(best_move(&client.go("depth 2 searchmoves e1g1")), "e1g1");
    client.send("setoption name UCI_Chess960 value true");
    client.send(&format!("position fen {fen}"));
    assert_eq!(best_move(&client.go("depth 2 searchmoves e1h1")), "e1h1");
    let fen = "bqnbrkrn/pppppppp/8/8/8/8/PPPPPPPP/BQNBRKRN w GEge - 0 1";
    client.send(&format!("position fen {fen}"));
    let lines = client.go("depth 5");
    assert_legal(fen, CastlingMode::Chess960, &[best_move(&lines)]);
    // The old position cannot be written in the other way; the next one is.
    client.send("setoption name UCI_Chess960 value false");
    assert_eq!(client.sync(), ["readyok"]);
}

#[test]
fn dead_draws_are_exactly_zero() {
    let mut client = Client::greeted();
    for fen in [
        "8/8/4k3/8/8/3NK3/8/8 w - - 0 1",
        "8/8/4k3/8/8/3RK3/8/5r2 w - - 98 80",
    ] {
        client.send(&format!("position fen {fen}"));
        let lines = client.go("depth 8");
        assert!(last_score(&lines).contains(" score cp 0 "), "{lines:#?}");
    }
}

#[test]
fn several_lines_are_told_in_order() {
    let mut client = Client::greeted();
    client.send("setoption name MultiPV value 4\nposition startpos");
    let lines = client.go("depth 6");
    let last: Vec<&String> = lines
        .iter()
        .filter(|line| line.contains(" pv "))
        .rev()
        .take(4)
        .collect();
    let numbers: Vec<_> = last
        .iter()
        .filter_map(|line| field(line, "multipv"))
        .collect();
    assert_eq!(numbers, ["4", "3", "2", "1"]);
    let mut firsts: Vec<_> = last.iter().filter_map(|line| field(line, "pv")).collect();
    assert_eq!(firsts.last(), Some(&best_move(&lines)));
    firsts.sort_unstable();
    firsts.dedup();
    assert_eq!(firsts.len(), 4, "different moves");
    client.send("setoption name MultiPV value 256\nposition fen 7k/8/8/8/8/8/8/K7 w - - 0 1");
    let lines = client.go("depth 3");
    let numbers: BTreeSet<_> = lines
        .iter()
        .filter_map(|line| field(line, "multipv"))
        .collect();
    assert!(numbers.into_iter().eq(["1", "2", "3"]), "{lines:#?}");
}

#[test]
fn lines_are_legal_to_their_end() {
    let mut client = Client::greeted();
    for fen in [
        "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
        "8/8/8/8/5kp1/P7/8/1K1N4 w - - 95 1",
        "7k/8/5K2/6Q1/8/8/8/8 w - - 0 1",
    ] {
        client.send(&format!("position fen {fen}"));
        for line in client
            .go("depth 8")
            .iter()
            .filter(|line| line.contains(" pv "))
        {
            let (_, pv) = line.split_once(" pv ").expect("a line");
            assert_legal(
                fen,
                CastlingMode::Standard,
                &pv.split(' ').collect::<Vec<_>>(),
            );
        }
    }
}

#[test]
fn chances_are_shown_on_request() {
    let mut client = Client::greeted();
    assert!(!last_score(&client.go("depth 3")).contains("wdl"));
    client.send("setoption name uci_showwdl value true");
    let lines = client.go("depth 3");
    let (_, chances) = last_score(&lines).split_once(" wdl ").expect("chances");
    let sum: u32 = chances
        .split(' ')
        .take(3)
        .filter_map(|word| word.parse::<u32>().ok())
        .sum();
    assert_eq!(sum, 1000);
}

#[test]
fn memory_that_lacks_is_no_disaster() {
    let mut client = Client::greeted();
    client.send("setoption name Hash value 33554432");
    client.sync();
    assert_ne!(best_move(&client.go("depth 3")), "(none)");
}

#[test]
fn a_new_game_begins_with_an_empty_mind() {
    let mut client = Client::greeted();
    let mut nodes = Vec::new();
    for _ in 0..2 {
        client.send("ucinewgame\nposition startpos moves d2d4");
        let lines = client.go("depth 9");
        // When a search takes seconds, scores that are bounds and lines without a score appear.
        let is_exact = |line: &&String| {
            let is_whole = line.contains(" pv ") && !line.contains("bound");
            is_whole && line.starts_with("info depth 9 ")
        };
        let line = lines.iter().find(is_exact).expect("a line of depth 9");
        nodes.push(field(line, "nodes").map(str::to_owned));
        client.send("position startpos moves d2d4 d7d5 c2c4");
        client.go("depth 7");
    }
    assert!(nodes[0].is_some() && nodes[0] == nodes[1], "{nodes:?}");
}

#[test]
fn several_threads_play_and_stop() {
    let mut client = Client::greeted();
    client.send("setoption name Threads value 3\nposition startpos");
    for limits in [
        "movetime 100",
        "nodes 20000",
        "depth 5",
        "wtime 300 btime 300",
    ] {
        assert_legal(
            &Position::startpos().fen(),
            CastlingMode::Standard,
            &[best_move(&client.go(limits))],
        );
    }
}

#[test]
fn customary_commands_answer() {
    let mut client = Client::greeted();
    client.send("position startpos moves e2e4\nd");
    client.expect("Fen: rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1");
    client.send("go perft 3");
    client.expect("Nodes searched: 13160");
    client.send("perft 2");
    client.expect("Nodes searched: 600");
    client.send("eval");
    client.expect("Static evaluation: ");
    client.send("flip\nd");
    client.expect("Fen: rnbqkbnr/pppp1ppp/8/4p3/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1");
    client.send("bench 1");
    let lines = client.expect("Nodes/second");
    assert!(lines.iter().any(|line| line.starts_with("Nodes searched")));
    client.sync();
}

#[test]
fn the_log_file_has_both_sides() {
    let path = std::env::temp_dir().join(format!("pleach log {}.txt", std::process::id()));
    let mut client = Client::greeted();
    client.send(&format!(
        "setoption name Debug Log File value {}",
        path.display()
    ));
    client.sync();
    client.send("quit");
    client.wait();
    let log = std::fs::read_to_string(&path).expect("a log");
    let _ = std::fs::remove_file(&path);
    assert!(
        log.contains(">> isready") && log.contains("<< readyok"),
        "{log}"
    );
}

#[test]
fn flip_does_not_lift_a_refusal() {
    let mut client = Client::greeted();
    client.send("position fen nonsense\nflip\ngo depth 1");
    client.expect("bestmove (none)");
    client.send("position startpos\nflip\ngo depth 1");
    let lines = client.expect("bestmove ");
    assert!(
        !lines.iter().any(|line| line.contains("(none)")),
        "{lines:?}"
    );
}

#[test]
fn a_wrong_value_sent_during_a_search_does_not_take_the_place_of_a_right_one() {
    let mut client = Client::greeted();
    client.send("position startpos\ngo infinite");
    client.send("setoption name MultiPV value 3\nsetoption name MultiPV value x\nstop");
    client.expect("bestmove ");
    let lines = client.go("depth 1");
    assert!(
        lines.iter().any(|line| line.contains(" multipv 3 ")),
        "{lines:#?}"
    );
}

#[test]
fn a_position_without_its_keyword_is_not_passed_over() {
    let mut client = Client::greeted();
    client.send("position startpos moves e2e4\nposition FEN nonsense\ngo depth 1");
    client.expect("bestmove (none)");
    let start = Position::startpos().fen();
    client.send(&format!(
        "position startpos moves e2e4\nposition {start}\nd"
    ));
    client.expect(&format!("Fen: {start}"));
}

/// A clock that cannot be read must not make the search endless once the pondered move is played.
#[test]
fn a_ponder_search_without_a_readable_limit_ends() {
    let mut client = Client::greeted();
    client.send("position startpos\ngo ponder wtime 300.000,5 btime 300.000,5\nponderhit");
    client.expect_within("bestmove", PROMPT);
}

#[test]
fn the_board_that_is_shown_is_the_one_set_up_before() {
    let mut client = Client::greeted();
    client.send("go infinite\nucinewgame\nposition startpos moves e2e4\nd");
    client.expect_within("bestmove", PROMPT);
    let shown = client.expect_within("Fen", PROMPT);
    assert!(
        shown.iter().any(|line| line.contains("/4P3/")),
        "{shown:#?}"
    );
}

#[test]
fn what_the_end_of_input_leaves_out_is_said() {
    let mut child = engine()
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("starts");
    let mut input = child.stdin.take().expect("piped");
    input
        .write_all(b"position startpos\ngo infinite\nperft 2\n")
        .expect("written");
    drop(input);
    let output = child.wait_with_output().expect("ends");
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(text.contains("bestmove "), "{text}");
    // The search may end before the end of the input is seen: then the sequences are counted.
    assert!(
        text.contains("perft and bench that still waited are left out")
            || text.contains("Nodes searched: 400"),
        "{text}"
    );
}

#[test]
fn all_threads_rest_once_the_nodes_are_searched() {
    const NODES: u64 = 1000;
    let mut client = Client::greeted();
    client.send(&format!(
        "setoption name Threads value 2\nposition startpos\ngo infinite nodes {NODES}"
    ));
    client.expect_silence("bestmove", Duration::from_millis(300));
    client.send("stop");
    client.expect_within("bestmove", PROMPT);
    let line = client.heard.iter().rfind(|line| line.contains(" nodes "));
    let nodes = line.and_then(|line| field(line, "nodes")?.parse::<u64>().ok());
    assert!(
        nodes.is_some_and(|nodes| nodes < 10 * NODES),
        "{:#?}",
        client.heard
    );
}

/// The built-in network from its file evaluates the same.
#[test]
fn a_network_file_is_used() {
    const NETWORK: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/nets/pleach.pnn");
    let mut client = Client::greeted();
    let nodes = |client: &mut Client| {
        client.send("ucinewgame");
        let lines = client.go("depth 6");
        let last = lines.iter().rev().find_map(|line| field(line, "nodes"));
        last.expect("nodes").to_owned()
    };
    let embedded = nodes(&mut client);
    client.send("setoption name EvalFile value <tapered>");
    assert_ne!(nodes(&mut client), embedded);
    client.send(&format!("setoption name EvalFile value {NETWORK}"));
    assert_eq!(nodes(&mut client), embedded);
    let remarks = |line: &&String| line.contains("EvalFile");
    assert_eq!(client.heard.iter().filter(remarks).count(), 1, "the option");
}
