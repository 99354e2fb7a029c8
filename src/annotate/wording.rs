//! Scores and verdicts as words and numbers.

use super::analysis::GameAnalysis;
use super::verdict::Fault;
use crate::board::Position;
use crate::tablebase::Wdl;
use crate::types::Score;

const CENTIPAWNS: f64 = 100.0;
/// The value of a tablebase win in `[%eval]`, in pawns: beyond any evaluation, and not a mate.
const TABLEBASE_PAWNS: f64 = 200.0;

/// A score from White's side for display: `+0.35`, `#-3`, or the end of the game.
#[must_use]
pub fn eval_text(white: Score, position: &Position) -> String {
    match tablebase_win(white) {
        Some(text) => text.to_owned(),
        None if !position.has_legal_move() => if position.in_check() {
            "checkmate"
        } else {
            "stalemate"
        }
        .to_owned(),
        None => white.pawns(crate::types::Color::White),
    }
}

/// The value of `[%eval]`: pawns with two decimals or `#` and moves to mate, from White's side,
/// then the depth. `None` where the game is over, as mate in 0 has no sign.
#[must_use]
pub fn eval_command(white: Score, depth: i32, position: &Position) -> Option<String> {
    if !position.has_legal_move() {
        return None;
    }
    let value = match white.mate_moves() {
        Some(moves) => format!("#{moves}"),
        None if white.is_decisive() => {
            format!("{:.2}", TABLEBASE_PAWNS.copysign(f64::from(white.raw())))
        }
        None => format!("{:.2}", f64::from(white.shown_cp()) / CENTIPAWNS),
    };
    Some(if depth > 0 {
        format!("{value},{depth}")
    } else {
        value
    })
}

/// A sentence on the tablebases' result after a move, if the move reached the tables or changed
/// the result; else empty.
#[must_use]
pub fn tablebase_text(analysis: &GameAnalysis, ply: usize) -> String {
    let after = analysis.white_tablebase(ply + 1);
    let Some(result) = after.filter(|_| after != analysis.white_tablebase(ply)) else {
        return String::new();
    };
    let text = match result {
        Wdl::Win => "win for White",
        Wdl::Loss => "win for Black",
        Wdl::Draw => "draw",
        Wdl::CursedWin | Wdl::BlessedLoss => "draw by the 50-move rule",
    };
    format!("Tablebase: {text}.")
}

/// A tablebase win that the search has found, from White's side.
fn tablebase_win(white: Score) -> Option<&'static str> {
    if white.is_mate() {
        None
    } else if white.is_win() {
        Some("tablebase win for White")
    } else if white.is_loss() {
        Some("tablebase win for Black")
    } else {
        None
    }
}

/// One or two sentences on a move, empty if there is nothing to say.
#[must_use]
pub fn verdict_text(analysis: &GameAnalysis, ply: usize) -> String {
    text_with_fault(analysis, ply, analysis.verdicts[ply].fault)
}

/// The same for a move with another mark than the engine's, which a word for its fault would
/// contradict.
#[must_use]
pub fn faultless_verdict_text(analysis: &GameAnalysis, ply: usize) -> String {
    text_with_fault(analysis, ply, None)
}

/// The sentences on a move, in which its fault is called `named`.
fn text_with_fault(analysis: &GameAnalysis, ply: usize, named: Option<Fault>) -> String {
    let verdict = &analysis.verdicts[ply];
    let best = analysis.assessments[ply].best();
    let better = best.filter(|&m| m != analysis.moves[ply]);
    let mut text = match (named, verdict.missed_win) {
        (Some(fault), true) => format!("{}, missed win.", fault.name()),
        (None, true) => "Missed win.".to_owned(),
        (Some(fault), false) => format!("{}.", fault.name()),
        (None, false) if verdict.fault.is_some() => String::new(),
        (None, false) if verdict.only_move && better.is_none() => return "Only move.".to_owned(),
        (None, false) => return String::new(),
    };
    if let Some(better) = better {
        let san = analysis.positions[ply].san(better);
        let how = if verdict.only_move && verdict.fault >= Some(Fault::Mistake) {
            "was the only move"
        } else {
            "was best"
        };
        text.push_str(&format!(" {san} {how}."));
    }
    text.trim_start().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EVEN_CHANCE, Ply};

    #[test]
    fn evaluations_are_written_as_readers_expect() {
        let start = Position::startpos();
        let of = |score| eval_command(score, 20, &start).expect("a game that goes on");
        assert_eq!(of(Score::cp(EVEN_CHANCE / 4)), "0.25,20");
        assert_eq!(of(Score::cp(-EVEN_CHANCE / 20)), "-0.05,20");
        assert_eq!(of(Score::cp(0)), "0.00,20");
        assert_eq!(of(Score::mated_in(Ply(6))), "#-3,20");
        assert_eq!(of(Score::mate_in(Ply(1))), "#1,20");
        // Black to move mates.
        assert_eq!(of(-Score::mate_in(Ply(1))), "#-1,20");
        assert_eq!(of(-Score::mate_in(Ply(3))), "#-2,20");
        assert_eq!(eval_text(-Score::mate_in(Ply(1)), &start), "#-1");
        assert_eq!(of(Score::tablebase_loss(Ply(8))), "-200.00,20");
        assert_eq!(
            eval_command(Score::cp(EVEN_CHANCE), 0, &start).as_deref(),
            Some("1.00")
        );
    }
}
