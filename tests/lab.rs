//! `pleach lab` from outside: what it prints, writes and refuses.

mod common;

use std::fs;
use std::process::{Command, Output};

use common::fields;

fn lab(words: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_pleach"))
        .arg("lab")
        .args(words)
        .output()
        .expect("the binary runs")
}

fn stdout(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).expect("UTF-8")
}

#[test]
fn compare_prints_json_in_which_all_agree() {
    let output = lab(&["compare", "--game", "kalah", "--depth", "4", "--json"]);
    let table: serde_json::Value = serde_json::from_str(&stdout(&output)).expect("JSON");
    let rows = table["rows"].as_array().expect("rows");
    assert_eq!(rows.len(), 14);
    assert!(rows.iter().all(|row| row["value"] == rows[0]["value"]));
    assert_eq!(rows[0]["algorithm"], "minimax");
    assert_eq!(rows[0]["share"], 1.0);
    assert_eq!(
        fields(&table),
        [
            "branching",
            "depth",
            "game",
            "height",
            "minimal_leaves",
            "rows",
            "tree",
            "uniform_minimal_leaves"
        ]
    );
    assert_eq!(
        fields(&rows[0]),
        [
            "algorithm",
            "best",
            "cutoffs",
            "effective_branching",
            "first_cutoffs",
            "interior",
            "known",
            "leaves",
            "milliseconds",
            "share",
            "value"
        ]
    );
}

#[test]
fn kinds_and_shape_print_json() {
    let kinds = lab(&["kinds", "--tree", "book/trees/first.tree", "--json"]);
    let kinds: serde_json::Value = serde_json::from_str(&stdout(&kinds)).expect("JSON");
    assert_eq!(
        fields(&kinds),
        [
            "cut_by_first",
            "interior",
            "leaves",
            "pv_first_best",
            "table"
        ]
    );
    let shape = lab(&["shape", "--depth", "2", "--json"]);
    let shape: serde_json::Value = serde_json::from_str(&stdout(&shape)).expect("JSON");
    assert_eq!(shape.as_array().map(Vec::len), Some(2));
    assert_eq!(
        fields(&shape[0]),
        [
            "all_nodes",
            "cut_by_first",
            "cut_nodes",
            "depth",
            "growth",
            "interior",
            "leaf_share",
            "plies",
            "pv_first_best",
            "pv_nodes",
            "quiescence"
        ]
    );
}

#[test]
fn compare_takes_a_position_and_plots() {
    let plot = std::env::temp_dir().join(format!("pleach-lab-{}.svg", std::process::id()));
    let fen = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
    let path = plot.to_str().expect("UTF-8");
    let words = [
        "compare",
        "--fen",
        fen,
        "--depth",
        "2",
        "-a",
        "pvs",
        "-a",
        "fail-soft",
        "--plot",
        path,
    ];
    let text = stdout(&lab(&words));
    assert!(text.contains("PVS") && text.contains("fail-soft") && !text.contains("SSS*"));
    let chart = fs::read_to_string(&plot).expect("the chart");
    fs::remove_file(&plot).expect("it was there");
    assert!(chart.starts_with("<svg") && chart.matches("<polyline").count() == 2);
}

#[test]
fn every_tree_of_the_book_is_drawn() {
    let mut drawn = 0;
    for entry in fs::read_dir("book/trees").expect("the book's trees") {
        let path = entry.expect("an entry").path();
        let text = stdout(&lab(&["tree", path.to_str().expect("UTF-8")]));
        assert!(text.contains("leaves evaluated"), "{}", path.display());
        drawn += 1;
    }
    assert!(drawn > 5);
}

#[test]
fn steps_show_the_search_as_it_goes() {
    let text = stdout(&lab(&["tree", "book/trees/low.tree", "--steps"]));
    assert!(text.contains("1. search x with (−3, +7)"), "{text}");
    assert!(
        text.contains("y z is a leaf worth −5 (for y it is +5, which reaches beta +3)"),
        "{text}"
    );
    assert!(text.contains("y z cuts off"), "{text}");
    assert!(text.contains("x returns −5 (all node)"), "{text}");
}

#[test]
fn a_page_walks_through_the_search() {
    let page = std::env::temp_dir().join(format!("pleach-lab-{}.html", std::process::id()));
    let path = page.to_str().expect("UTF-8");
    stdout(&lab(&["tree", "book/trees/cut.tree", "--html", path]));
    let text = fs::read_to_string(&page).expect("the page");
    fs::remove_file(&page).expect("it was there");
    assert!(text.starts_with("<!DOCTYPE html>") && text.contains("x returns +5 (cut node)"));
}

#[test]
fn every_kind_of_subject_works_everywhere() {
    let fen = "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1";
    let subjects: [&[&str]; 7] = [
        &["--game", "chess", "--fen", fen],
        &["--fen", "startpos"],
        &[
            "--fen",
            "bqnb1rkr/pp3ppp/3ppn2/2p5/5P2/P2P4/NPP1P1PP/BQ1BNRKR w HFhf - 2 9",
            "--chess960",
        ],
        &["--game", "kalah", "--seeds", "3"],
        &["--game", "tictactoe"],
        &["--game", "random", "--branching", "2", "--seed", "3"],
        &["--tree", "book/trees/first.tree"],
    ];
    for experiment in ["compare", "tree", "deepen", "kinds"] {
        for subject in subjects {
            let words = [&[experiment][..], subject, &["--depth", "1"]].concat();
            stdout(&lab(&words));
        }
    }
}

/// A file's tree is searched whole, and measured by its own height.
#[test]
fn a_files_tree_is_measured_by_its_own_height() {
    let text = stdout(&lab(&[
        "compare",
        "--tree",
        "book/trees/first.tree",
        "--untimed",
    ]));
    assert!(text.contains("depth 2\n"), "{text}");
    assert!(text.contains("branching 2.45"), "{text}");
    let text = stdout(&lab(&["kinds", "--tree", "book/trees/first.tree"]));
    assert!(text.contains("depth 2,"), "{text}");
}

#[test]
fn alpha_may_equal_beta_where_that_is_a_question() {
    let words = ["tree", "book/trees/edge.tree", "--window", "3", "3"];
    let text = stdout(&lab(
        &[&words[..], &["--algorithm", "fail-soft-above"]].concat()
    ));
    assert!(text.contains("x [+3, +3] → +9 cut"), "{text}");
}

#[test]
fn deepening_says_why_it_ended() {
    let text = stdout(&lab(&["deepen", "--game", "tictactoe", "--depth", "20"]));
    assert!(text.ends_with("ended: whole tree searched\n"), "{text}");
}

#[test]
fn a_tree_is_not_written_over() {
    let folder = tempfile::tempdir().expect("a folder");
    let tree = folder.path().join("x.tree");
    let text = fs::read("book/trees/first.tree").expect("a tree");
    fs::write(&tree, &text).expect("a copy");
    let tree = tree.to_str().expect("UTF-8");
    for words in [
        ["tree", tree, "--svg", tree].as_slice(),
        &["tree", "--tree", tree, "--html", tree],
        &["compare", "--tree", tree, "--plot", tree],
    ] {
        let output = lab(words);
        assert!(!output.status.success(), "{words:?}");
        assert_eq!(fs::read(tree).expect("the tree"), text, "{words:?}");
    }
}

#[test]
fn mistakes_are_explained() {
    let refused = |words: &[&str], reason: &str| {
        let output = lab(words);
        let told = String::from_utf8_lossy(&output.stderr).into_owned();
        assert!(
            !output.status.success() && told.contains(reason),
            "{words:?}: {told}"
        );
    };
    refused(&["tree", "no-such.tree"], "can't read no-such.tree");
    refused(&["tree", "Cargo.toml"], "Cargo.toml does not hold a tree");
    refused(
        &["tree", "--game", "kalah", "--depth", "9"],
        "too many to draw",
    );
    refused(&["compare", "--fen", "nonsense"], "A position is a FEN");
    refused(
        &["tree", "book/trees/pv.tree", "--window", "3", "3"],
        "cuts off at beta, so alpha must be below it",
    );
    let pv = "book/trees/pv.tree";
    refused(&["tree", pv, "--window", "4", "3"], "must not exceed");
    refused(
        &["tree", pv, "-a", "mtdf", "--window", "3", "4"],
        "always searches the full window",
    );
    refused(
        &["tree", pv, "--game", "kalah"],
        "--game has no effect on a tree read from a file",
    );
    refused(
        &["compare", "--branching", "3"],
        "--branching only goes with --game random",
    );
    refused(
        &["kinds", "--game", "kalah", "--fen", "startpos"],
        "--fen only goes with --game chess",
    );
    refused(
        &["compare", "--depth", "0", "--deepening"],
        "iterative deepening begins at depth 1",
    );
    refused(&["deepen", "--depth", "0"], "not in 1..=64");
    refused(
        &[
            "compare",
            "--game",
            "random",
            "--branching",
            "1",
            "--depth",
            "65",
        ],
        "not in 0..=64",
    );
    refused(
        &["tree", pv, "--window", "-2147483648", "10"],
        "not in -999999..1000000",
    );
    refused(&["kinds", "--algorithm", "minimax"], "has no windows");
    refused(
        &["deepen", "-a", "sss-star", "--killers"],
        "does not use hints",
    );
}

/// The architecture page lists every module of the source.
#[test]
fn the_architecture_page_names_every_module() {
    let page = fs::read_to_string("book/src/architecture.md").expect("the page");
    for entry in fs::read_dir("src").expect("the source") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().expect("a name").to_string_lossy();
        let named = page.contains(&format!("| `{name}` |"));
        assert!(named || name == "lib" || name == "main", "{name}");
    }
}

#[test]
fn the_engines_tree_is_measured_by_depth_and_by_distance_from_the_root() {
    let text = stdout(&lab(&["shape", "--fen", "startpos", "--depth", "5"]));
    assert!(
        text.contains("growth") && text.contains("plies off"),
        "{text}"
    );
    assert!(text.contains("cut by first"), "{text}");
}
