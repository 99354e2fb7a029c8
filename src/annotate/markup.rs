//! Adds an analysis to its game.

use super::analysis::GameAnalysis;
use super::marks::MoveMark;
use super::wording::{eval_command, tablebase_text};
use crate::board::{PgnGame, PgnLine, PgnMove};
use crate::types::Move;

const EVAL: &str = "[%eval";
/// The header with the annotator's name, set if the game has none.
const ANNOTATOR: &str = "Annotator";

/// Adds evaluations, glyphs, sentences, better lines of at most `longest` plies, and the players'
/// figures. Comments, glyphs and variations of the game stay; evaluations are replaced.
pub fn annotate(game: &mut PgnGame, analysis: &GameAnalysis, longest: usize) {
    for ply in 0..analysis.moves.len() {
        annotate_move(&mut game.main_line.moves[ply], analysis, ply, longest);
    }
    for (color, quality) in ["White", "Black"].into_iter().zip(analysis.players) {
        if let Some(quality) = quality {
            let headers = &mut game.headers;
            headers.set(
                format!("{color}Accuracy"),
                format!("{:.1}", quality.accuracy),
            );
            headers.set(
                format!("{color}ACPL"),
                format!("{:.0}", quality.centipawn_loss),
            );
        }
    }
    if game.headers.get(ANNOTATOR).is_none() {
        game.headers
            .set(ANNOTATOR, concat!("Pleach ", env!("CARGO_PKG_VERSION")));
    }
}

fn annotate_move(m: &mut PgnMove, analysis: &GameAnalysis, ply: usize, longest: usize) {
    let verdict = &analysis.verdicts[ply];
    let after = ply + 1;
    let (white, depth) = (
        analysis.white_score(after),
        analysis.assessments[after].depth,
    );
    let evaluation = eval_command(white, depth, &analysis.positions[after])
        .map(|value| format!("{EVAL} {value}]"));
    let mark = MoveMark::new(&m.nags, analysis, ply);
    let sentences = [
        mark.verdict_text(analysis, ply),
        tablebase_text(analysis, ply),
    ];
    let kept = without_evaluation(&m.comment);
    let mut parts: Vec<&str> = evaluation.as_deref().into_iter().collect();
    parts.push(&kept);
    // A game annotated before has the sentences already.
    parts.extend(
        sentences
            .iter()
            .map(String::as_str)
            .filter(|text| !kept.contains(text)),
    );
    parts.retain(|part| !part.is_empty());
    m.comment = parts.join(" ");
    if !mark.is_kept {
        m.nags.extend(mark.nag);
    }
    if verdict.fault.is_some() || verdict.missed_win {
        add_better_line(m, analysis, ply, longest);
    }
}

fn add_better_line(m: &mut PgnMove, analysis: &GameAnalysis, ply: usize, longest: usize) {
    let found = &analysis.assessments[ply];
    let begins = |line: &PgnLine| line.moves.first().map(|first| first.played);
    let line: &[Move] = found.line.get(..longest).unwrap_or(&found.line);
    let Some(&best) = line.first() else { return };
    if best == m.played || m.variations.iter().any(|other| begins(other) == Some(best)) {
        return;
    }
    let mut moves: Vec<PgnMove> = line.iter().map(|&m| PgnMove::from(m)).collect();
    let before = &analysis.positions[ply];
    if let Some(value) = eval_command(analysis.white_score(ply), found.depth, before) {
        moves[0].comment = format!("{EVAL} {value}]");
    }
    m.variations.push(PgnLine {
        comment: String::new(),
        moves,
    });
}

/// The comment without `[%eval ...]` commands.
fn without_evaluation(comment: &str) -> String {
    without(comment, EVAL)
}

/// The text of a comment without any commands, for display.
#[must_use]
pub fn prose(comment: &str) -> String {
    without(comment, "[%")
}

/// A comment without the commands that begin with `beginning`.
fn without(comment: &str, beginning: &str) -> String {
    let mut left = String::with_capacity(comment.len());
    let mut rest = comment;
    while let Some(at) = rest.find(beginning)
        && let Some(length) = rest[at..].find(']')
    {
        left.push_str(&rest[..at]);
        rest = &rest[at + length + 1..];
    }
    left.push_str(rest);
    left.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// The value of a command such as `[%clk 0:05:00]` in a comment.
#[must_use]
pub fn command<'a>(comment: &'a str, name: &str) -> Option<&'a str> {
    let start = comment.find(&format!("[%{name} "))?;
    let inside = &comment[start..];
    let value = &inside[..inside.find(']')?];
    value.split_once(' ').map(|(_, value)| value.trim())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::annotate::verdict::Fault;
    use crate::board::PgnReader;

    /// The marks and words that 1. e4 gets in a game if it is a fault and 1. d4 is better.
    fn marked(game: &str, fault: Fault) -> (Vec<u8>, String) {
        let mut game = PgnReader::new(game.as_bytes())
            .next()
            .expect("a game")
            .expect("readable");
        annotate(&mut game, &GameAnalysis::with_fault("e4", "d4", fault), 1);
        let first = &game.main_line.moves[0];
        (first.nags.clone(), prose(&first.comment))
    }

    #[test]
    fn words_do_not_contradict_a_mark_that_stays() {
        let (nags, text) = marked("1. e4 *", Fault::Inaccuracy);
        assert_eq!(nags, [Fault::Inaccuracy.nag()]);
        assert_eq!(text, "Inaccuracy, missed win. d4 was best.");
        let (nags, text) = marked("1. e4?? *", Fault::Inaccuracy);
        assert_eq!(nags, [Fault::Blunder.nag()]);
        assert_eq!(text, "Missed win. d4 was best.");
        let (nags, text) = marked("1. e4?? *", Fault::Blunder);
        assert_eq!(nags, [Fault::Blunder.nag()]);
        assert_eq!(text, "Blunder, missed win. d4 was best.");
    }

    #[test]
    fn evaluations_leave_and_the_rest_stays() {
        let comment = "[%eval 0.3] [%clk 0:01:00] a [%eval #-2,5] plan";
        assert_eq!(without_evaluation(comment), "[%clk 0:01:00] a plan");
        assert_eq!(prose(comment), "a plan");
        assert_eq!(without_evaluation("open [%eval 3"), "open [%eval 3");
        assert_eq!(command(comment, "clk"), Some("0:01:00"));
        assert_eq!(command(comment, "emt"), None);
    }
}
