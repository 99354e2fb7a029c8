//! The page of one game.

use askama::Template;
use serde::Serialize;

use super::chart::{self, ChartPoint};
use super::file_names::INDEX_FILE;
use super::index::IndexEntry;
use super::{PIECES, SCRIPT, STYLE};
use crate::annotate::analysis::GameAnalysis;
use crate::annotate::expectation::{CAP, Curve, capped};
use crate::annotate::marks::MoveMark;
use crate::annotate::verdict::{Fault, Verdict};
use crate::annotate::wording::{eval_text, tablebase_text};
use crate::types::Color;

const CENTIPAWNS: i32 = 100;
/// How PGN and the page write an unknown value.
const UNKNOWN: [&str; 3] = ["", "?", "????.??.??"];
/// Plies of a better line that the page shows.
const LINE_SHOWN: usize = 10;

/// What the page needs of a game besides its analysis.
#[derive(Clone, Debug, Default)]
pub struct GameInfo {
    /// The game's number in the input, from 1.
    pub number: u64,
    pub tags: Vec<(String, String)>,
    /// The clock after each move, as the game has it.
    pub clocks: Vec<Option<String>>,
    /// The comments to each move, without commands.
    pub comments: Vec<String>,
    /// The numeric glyphs of each move, as the game has them.
    pub nags: Vec<Vec<u8>>,
}

impl GameInfo {
    /// A tag's value, if it is known.
    fn tag(&self, name: &str) -> Option<&str> {
        let (_, value) = self.tags.iter().find(|(tag, _)| tag == name)?;
        let value = value.trim();
        (!UNKNOWN.contains(&value)).then_some(value)
    }

    /// How a move is marked: as in the annotated game.
    fn mark(&self, analysis: &GameAnalysis, ply: usize) -> MoveMark {
        let nags = self.nags.get(ply).map_or(&[][..], Vec::as_slice);
        MoveMark::new(nags, analysis, ply)
    }

    fn facts(&self) -> Vec<String> {
        [
            "Event",
            "Site",
            "Round",
            "Date",
            "ECO",
            "Opening",
            "TimeControl",
            "Variant",
        ]
        .iter()
        .filter_map(|name| self.tag(name))
        .map(str::to_owned)
        .collect()
    }
}

#[derive(Template)]
#[template(path = "game.html")]
struct GamePage<'a> {
    title: String,
    style: &'a str,
    pieces: &'a str,
    script: &'a str,
    players: [PlayerSummary; 2],
    result: &'a str,
    facts: Vec<String>,
    turning: Vec<TurningPoint>,
    chart: String,
    chart_pawns: i32,
    moves: Vec<MoveEntry>,
    method: &'a str,
    index: &'a str,
    plies: Vec<PlyData>,
}

struct PlayerSummary {
    name: String,
    rating: String,
    accuracy: String,
    centipawn_loss: String,
    /// Inaccuracies, mistakes, blunders.
    faults: [usize; 3],
}

struct TurningPoint {
    ply: usize,
    class: &'static str,
    label: String,
    text: String,
}

struct MoveEntry {
    ply: usize,
    class: &'static str,
    label: String,
}

/// The data of one position for the page's script.
#[derive(Serialize)]
struct PlyData {
    /// The pieces, as in a FEN.
    board: String,
    label: String,
    from: String,
    to: String,
    score: String,
    depth: i32,
    /// White's expected score in percent.
    white: f64,
    fault: &'static str,
    verdict: String,
    better: String,
    clock: Option<String>,
    comment: String,
}

/// Makes a game's page and its entry in the index.
///
/// # Errors
/// If the template fails.
pub fn page(
    info: &GameInfo,
    analysis: &GameAnalysis,
    curve: Curve,
    method: &str,
) -> Result<(String, IndexEntry), askama::Error> {
    let white = player(info, analysis, Color::White);
    let black = player(info, analysis, Color::Black);
    let result = info.tag("Result").unwrap_or("*");
    let both = |one: &str, other: &str| format!("{one} / {other}");
    let faults = |player: &PlayerSummary| player.faults.map(|count| count.to_string()).join(", ");
    let entry = IndexEntry {
        number: info.number,
        white: white.name.clone(),
        black: black.name.clone(),
        result: result.to_owned(),
        facts: info.facts().join(" · "),
        accuracy: both(&white.accuracy, &black.accuracy),
        centipawn_loss: both(&white.centipawn_loss, &black.centipawn_loss),
        faults: both(&faults(&white), &faults(&black)),
    };
    let points: Vec<ChartPoint> = (0..analysis.positions.len())
        .map(|index| ChartPoint {
            white: curve.expected(analysis.white_score(index)),
            centipawns: capped(analysis.white_score(index)),
            fault: fault_before(info, analysis, index),
        })
        .collect();
    let plies = (0..analysis.positions.len())
        .map(|index| ply_data(info, analysis, curve, index))
        .collect();
    let html = GamePage {
        title: format!("{} – {}", white.name, black.name),
        style: STYLE,
        pieces: PIECES,
        script: SCRIPT,
        players: [white, black],
        result,
        facts: info.facts(),
        turning: turning_points(info, analysis, curve),
        chart: chart::draw(&points),
        chart_pawns: CAP / CENTIPAWNS,
        moves: move_entries(info, analysis),
        method,
        index: INDEX_FILE,
        plies,
    }
    .render()?;
    Ok((html, entry))
}

fn player(info: &GameInfo, analysis: &GameAnalysis, color: Color) -> PlayerSummary {
    let (name, rating) = match color {
        Color::White => ("White", "WhiteElo"),
        Color::Black => ("Black", "BlackElo"),
    };
    let quality = analysis.players[if color.is_white() { 0 } else { 1 }];
    let count = |fault: Fault| {
        let own = analysis.positions.iter().zip(&analysis.verdicts);
        own.filter(|(position, verdict)| position.turn() == color && verdict.fault == Some(fault))
            .count()
    };
    PlayerSummary {
        name: info.tag(name).unwrap_or(name).to_owned(),
        rating: info.tag(rating).unwrap_or_default().to_owned(),
        accuracy: quality.map_or_else(|| "–".to_owned(), |q| format!("{:.1} %", q.accuracy)),
        centipawn_loss: quality
            .map_or_else(|| "–".to_owned(), |q| format!("{:.0}", q.centipawn_loss)),
        faults: [
            count(Fault::Inaccuracy),
            count(Fault::Mistake),
            count(Fault::Blunder),
        ],
    }
}

/// The verdict on the move that led to a position, and that move's index.
fn verdict_before(analysis: &GameAnalysis, index: usize) -> Option<(usize, &Verdict)> {
    let ply = index.checked_sub(1)?;
    Some((ply, analysis.verdicts.get(ply)?))
}

/// The fault that the mark of the move before a position stands for.
fn fault_before(info: &GameInfo, analysis: &GameAnalysis, index: usize) -> Option<Fault> {
    let ply = index.checked_sub(1)?;
    info.mark(analysis, ply).fault()
}

fn label(info: &GameInfo, analysis: &GameAnalysis, ply: usize) -> String {
    format!(
        "{}{}",
        analysis.positions[ply].numbered(analysis.moves[ply]),
        info.mark(analysis, ply).text()
    )
}

/// Mistakes, blunders and missed wins, in the order of the game.
fn turning_points(info: &GameInfo, analysis: &GameAnalysis, curve: Curve) -> Vec<TurningPoint> {
    analysis
        .verdicts
        .iter()
        .enumerate()
        .filter(|(_, verdict)| verdict.fault >= Some(Fault::Mistake) || verdict.missed_win)
        .map(|(ply, _)| {
            let percent = |index| curve.expected(analysis.white_score(index));
            let mark = info.mark(analysis, ply);
            let text = format!(
                "{} White's expected score {:.0} % → {:.0} %.",
                mark.verdict_text(analysis, ply),
                percent(ply),
                percent(ply + 1)
            );
            TurningPoint {
                ply: ply + 1,
                class: chart::class(mark.fault()),
                label: label(info, analysis, ply),
                text: text.trim_start().to_owned(),
            }
        })
        .collect()
}

/// The score sheet: White's moves with their number, Black's without.
fn move_entries(info: &GameInfo, analysis: &GameAnalysis) -> Vec<MoveEntry> {
    (0..analysis.moves.len())
        .map(|ply| {
            let label = label(info, analysis, ply);
            let black = analysis.positions[ply].turn().is_black();
            let short = label.split_once(' ').map(|(_, san)| san.to_owned());
            MoveEntry {
                ply: ply + 1,
                class: chart::class(info.mark(analysis, ply).fault()),
                label: match short {
                    Some(san) if black && ply > 0 => san,
                    _ => label,
                },
            }
        })
        .collect()
}

fn ply_data(info: &GameInfo, analysis: &GameAnalysis, curve: Curve, index: usize) -> PlyData {
    const PERCENT_STEPS: f64 = 10.0;
    let position = &analysis.positions[index];
    let fen = position.fen();
    let white = curve.expected(analysis.white_score(index));
    let led_here = verdict_before(analysis, index);
    let (from, to) = led_here.map_or_else(Default::default, |(ply, _)| {
        let (from, to) = squares(analysis, ply);
        (from, to)
    });
    let better = led_here
        .filter(|(_, verdict)| verdict.fault.is_some())
        .map(|(ply, _)| {
            let line = &analysis.assessments[ply].line;
            let shown = line.get(..LINE_SHOWN).unwrap_or(line);
            analysis.positions[ply].numbered_line(shown)
        });
    let ply = index.checked_sub(1);
    let (verdict, comment) = ply.map_or_else(Default::default, |ply| {
        verdict_and_comment(info, analysis, ply)
    });
    PlyData {
        board: fen.split(' ').next().unwrap_or_default().to_owned(),
        label: ply.map_or_else(|| "Start".to_owned(), |ply| label(info, analysis, ply)),
        from,
        to,
        score: eval_text(analysis.white_score(index), position),
        depth: analysis.assessments[index].depth,
        white: (white * PERCENT_STEPS).round() / PERCENT_STEPS,
        fault: chart::class(fault_before(info, analysis, index)),
        verdict,
        better: better.unwrap_or_default(),
        clock: ply.and_then(|ply| info.clocks.get(ply).cloned().flatten()),
        comment,
    }
}

/// What the engine says of a move, and the game's comment without what the engine says: a game
/// annotated before has the same sentences.
fn verdict_and_comment(info: &GameInfo, analysis: &GameAnalysis, ply: usize) -> (String, String) {
    let sentences = [
        info.mark(analysis, ply).verdict_text(analysis, ply),
        tablebase_text(analysis, ply),
    ];
    let mut comment = info.comments.get(ply).cloned().unwrap_or_default();
    for sentence in sentences.iter().filter(|sentence| !sentence.is_empty()) {
        comment = comment.replace(sentence, "");
    }
    let comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    (sentences.join(" ").trim().to_owned(), comment)
}

/// A move's origin and target squares; castling by the king's squares.
fn squares(analysis: &GameAnalysis, ply: usize) -> (String, String) {
    let (before, after) = (&analysis.positions[ply], &analysis.positions[ply + 1]);
    let m = analysis.moves[ply];
    let own_king = after.board().king_of(before.turn());
    let to = match own_king {
        Some(king) if m.is_castle() => king,
        _ => m.to(),
    };
    let from = m
        .from()
        .map_or_else(String::new, |square| square.to_string());
    (from, to.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The page of 1. e4, which the engine takes for a blunder, and its entry in the index.
    fn page_of(info: &GameInfo) -> (String, IndexEntry) {
        let analysis = GameAnalysis::with_fault("e4", "d4", Fault::Blunder);
        page(info, &analysis, Curve::Lichess, "").expect("a page")
    }

    #[test]
    fn a_game_annotated_before_does_not_say_the_same_twice() {
        let (page, _) = page_of(&GameInfo {
            comments: vec!["A plan. Blunder, missed win. d4 was best. A doubt.".to_owned()],
            ..GameInfo::default()
        });
        assert!(page.contains(r#""verdict":"Blunder, missed win. d4 was best.""#));
        assert!(page.contains(r#""comment":"A plan. A doubt.""#), "{page}");
    }

    #[test]
    fn a_mark_of_the_game_stays_and_no_word_contradicts_it() {
        let (own, _) = page_of(&GameInfo::default());
        assert!(own.contains("1. e4??") && own.contains("Blunder, missed win."));
        assert!(own.contains("<circle class=\"blunder\""));
        let (kept, _) = page_of(&GameInfo {
            nags: vec![vec![1]],
            ..GameInfo::default()
        });
        assert!(kept.contains("1. e4!") && kept.contains("Missed win. d4 was best."));
        for word in ["e4??", "Blunder,", "class=\"blunder\""] {
            assert!(!kept.contains(word), "{word} is in\n{kept}");
        }
    }
}
