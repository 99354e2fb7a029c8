//! The engine's events as UCI text.

use std::fmt::Write as _;

use crate::chances::chances;
use crate::engine::{Analysis, AnalysisLine, Event};
use crate::types::Bound;

/// How to write, as far as options decide.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Style {
    /// Add the chances of winning, drawing and losing to every score (`UCI_ShowWDL`).
    pub show_wdl: bool,
    /// After every line, say how much of the search went into its first move (`Show Effort`).
    pub show_effort: bool,
}

/// An event as one line without its end; nothing for some.
#[must_use]
pub fn event(event: &Event, style: Style) -> Option<String> {
    Some(match event {
        Event::Idle => return None,
        Event::Line(line) => info(line, style),
        Event::CurrentMove {
            root,
            depth,
            m,
            number,
        } => {
            format!(
                "info depth {depth} currmove {} currmovenumber {number}",
                root.uci(*m)
            )
        }
        Event::Note(text) => note(text),
        Event::Finished(analysis) => best_move(analysis),
    })
}

/// A remark; whatever the text, it stays one line.
#[must_use]
pub fn note(text: &str) -> String {
    let text: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .collect();
    format!("info string {text}")
}

/// How much of the search went into a line's first move, as a remark, if that is wanted.
#[must_use]
pub fn effort(line: &AnalysisLine, style: Style) -> Option<String> {
    const PERCENT: f64 = 100.0;
    let share = line.effort().filter(|_| style.show_effort)?;
    let first = line.root.uci(*line.pv.first()?);
    let text = format!(
        "effort multipv {} move {first} percent {:.1}",
        line.info.multi_pv,
        share * PERCENT
    );
    Some(note(&text))
}

/// An `info` line with a score.
#[must_use]
pub fn info(line: &AnalysisLine, style: Style) -> String {
    let mut text = format!(
        "info depth {} seldepth {} multipv {} score {}",
        line.info.depth, line.info.seldepth, line.info.multi_pv, line.info.score
    );
    match line.info.bound {
        Some(Bound::Lower) => text.push_str(" lowerbound"),
        Some(Bound::Upper) => text.push_str(" upperbound"),
        Some(Bound::Exact) | None => {}
    }
    // Writing to a string cannot fail.
    if style.show_wdl {
        let [win, draw, loss] = chances(line.info.score, &line.root).wdl();
        let _ = write!(text, " wdl {win} {draw} {loss}");
    }
    let _ = write!(
        text,
        " nodes {} nps {} hashfull {} tbhits {} time {}",
        line.info.nodes,
        line.nps(),
        line.info.hashfull,
        line.info.tb_hits,
        line.info.time.as_millis()
    );
    if !line.pv.is_empty() {
        text.push_str(" pv");
        for &m in &line.pv {
            let _ = write!(text, " {}", line.root.uci(m));
        }
    }
    text
}

/// The `bestmove` line.
#[must_use]
pub fn best_move(analysis: &Analysis) -> String {
    let uci = |m| analysis.root.uci(m);
    match (analysis.best, analysis.ponder) {
        (Some(best), Some(ponder)) => format!("bestmove {} ponder {}", uci(best), uci(ponder)),
        (Some(best), None) => format!("bestmove {}", uci(best)),
        (None, _) => NO_MOVE.to_owned(),
    }
}

/// The answer to a `go` where there is no legal move, or no position.
pub const NO_MOVE: &str = "bestmove (none)";

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::Info;
    use crate::types::{Depth, EVEN_CHANCE, Move, Score};
    use std::sync::Arc;
    use std::time::Duration;

    fn line(moves: &[&str]) -> AnalysisLine {
        let root = Position::startpos();
        let mut position = root.clone();
        let mut pv: Vec<Move> = Vec::new();
        for text in moves {
            let m = position.parse_uci(text).expect("legal");
            position = position.play(m);
            pv.push(m);
        }
        AnalysisLine {
            root: Arc::new(root),
            info: Info {
                depth: Depth(3),
                seldepth: 5,
                multi_pv: 1,
                // Shown as -15.
                score: Score::cp(-EVEN_CHANCE * 3 / 20),
                bound: None,
                nodes: 1000,
                time: Duration::from_millis(20),
                hashfull: 7,
                tb_hits: 0,
            },
            efforts: Arc::new([]),
            pv,
        }
    }

    #[test]
    fn an_info_line_has_everything() {
        assert_eq!(
            info(&line(&["e2e4", "e7e5"]), Style::default()),
            "info depth 3 seldepth 5 multipv 1 score cp -15 nodes 1000 nps 50000 hashfull 7 \
             tbhits 0 time 20 pv e2e4 e7e5"
        );
    }

    #[test]
    fn bounds_and_chances_follow_the_score() {
        let mut line = line(&[]);
        line.info.bound = Some(Bound::Lower);
        let text = info(
            &line,
            Style {
                show_wdl: true,
                ..Style::default()
            },
        );
        assert!(text.contains("score cp -15 lowerbound wdl "), "{text}");
        assert!(!text.contains(" pv"), "{text}");
    }

    #[test]
    fn effort_is_a_remark_and_off_by_default() {
        let mut line = line(&["e2e4"]);
        let m = |text| line.root.parse_uci(text).expect("legal");
        let effort = |text, nodes| crate::search::RootEffort { m: m(text), nodes };
        line.efforts = Arc::new([effort("d2d4", 250), effort("e2e4", 750)]);
        assert_eq!(super::effort(&line, Style::default()), None);
        let style = Style {
            show_effort: true,
            ..Style::default()
        };
        assert_eq!(
            super::effort(&line, style).as_deref(),
            Some("info string effort multipv 1 move e2e4 percent 75.0")
        );
    }

    #[test]
    fn notes_stay_one_line() {
        assert_eq!(note("a\nbestmove e2e4\r"), "info string a bestmove e2e4 ");
    }
}
