//! `pleach lab` from outside: what it prints, writes and refuses.

use std::fs;
use std::process::{Command, Output};

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
    assert!(text.contains("1. search x with [−3, +7]"), "{text}");
    assert!(text.contains("y z cuts off"), "{text}");
    assert!(text.contains("x returns -5 (all node)"), "{text}");
}

#[test]
fn deepening_says_why_it_ended() {
    let text = stdout(&lab(&["deepen", "--game", "tictactoe", "--depth", "20"]));
    assert!(text.ends_with("ended: whole tree searched\n"), "{text}");
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
    refused(&["tree", "Cargo.toml"], "is no tree");
    refused(
        &["tree", "--game", "kalah", "--depth", "9"],
        "too many to draw",
    );
    refused(&["compare", "--fen", "nonsense"], "not a FEN");
    refused(
        &["tree", "book/trees/pv.tree", "--window", "3", "3"],
        "alpha must be below",
    );
}
