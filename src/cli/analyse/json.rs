//! What `--json` prints, an object a line. The schema is part of the book (`analysis.md`): fields
//! may be added; `schema` is raised if one changes.

use std::io::{self, Write};

use serde::Serialize;

use crate::board::Position;
use crate::chances::chances;
use crate::engine::{Analysis, AnalysisLine};
use crate::types::{Bound, Score};

/// The version of the schema.
const SCHEMA: u32 = 1;

/// One line of output. Scores are the side to move's.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
pub enum JsonLine {
    Position {
        schema: u32,
        fen: String,
        turn: &'static str,
    },
    Line {
        depth: i32,
        seldepth: usize,
        multipv: usize,
        #[serde(flatten)]
        score: JsonScore,
        bound: Option<&'static str>,
        nodes: u64,
        nps: u64,
        time_ms: u128,
        hashfull: u32,
        tbhits: u64,
        /// The share of all nodes that went into the line's first move, from 0 to 1.
        effort: Option<f64>,
        pv: Vec<String>,
        san: Vec<String>,
    },
    Result {
        fen: String,
        best: Option<String>,
        san: Option<String>,
        ponder: Option<String>,
        depth: i32,
        #[serde(flatten)]
        score: JsonScore,
        nodes: u64,
        time_ms: u128,
        efforts: Vec<JsonEffort>,
    },
}

/// Centipawns, or full moves to mate, and the chances in permille.
#[derive(Serialize)]
pub struct JsonScore {
    cp: Option<i32>,
    mate: Option<i32>,
    wdl: Option<[u32; 3]>,
}

/// How much of the search went into a root move.
#[derive(Serialize)]
pub struct JsonEffort {
    #[serde(rename = "move")]
    uci: String,
    san: String,
    nodes: u64,
}

impl JsonScore {
    fn new(score: Option<Score>, root: &Position) -> JsonScore {
        let mate = score.and_then(Score::mate_moves);
        JsonScore {
            cp: score.filter(|_| mate.is_none()).map(Score::shown_cp),
            mate,
            wdl: score.map(|score| chances(score, root).wdl()),
        }
    }
}

impl JsonLine {
    /// The first line: what is analysed.
    #[must_use]
    pub fn of_position(position: &Position) -> JsonLine {
        JsonLine::Position {
            schema: SCHEMA,
            fen: position.fen(),
            turn: if position.turn().is_white() {
                "white"
            } else {
                "black"
            },
        }
    }

    /// A line of the running search.
    #[must_use]
    pub fn of_line(line: &AnalysisLine) -> JsonLine {
        JsonLine::Line {
            depth: line.info.depth.plies(),
            seldepth: line.info.seldepth,
            multipv: line.info.multi_pv,
            score: JsonScore::new(Some(line.info.score), &line.root),
            bound: match line.info.bound {
                Some(Bound::Lower) => Some("lower"),
                Some(Bound::Upper) => Some("upper"),
                _ => None,
            },
            nodes: line.info.nodes,
            nps: line.nps(),
            time_ms: line.info.time.as_millis(),
            hashfull: line.info.hashfull,
            tbhits: line.info.tb_hits,
            effort: line.effort(),
            pv: line.pv.iter().map(|&m| line.root.uci(m)).collect(),
            san: line.root.san_line(&line.pv),
        }
    }

    /// The last line: the result of the search.
    #[must_use]
    pub fn of_result(analysis: &Analysis) -> JsonLine {
        let root = &analysis.root;
        let mut efforts = analysis
            .lines
            .first()
            .map_or_else(Vec::new, |line| line.efforts.to_vec());
        efforts.sort_by_key(|effort| std::cmp::Reverse(effort.nodes));
        JsonLine::Result {
            fen: root.fen(),
            best: analysis.best.map(|m| root.uci(m)),
            san: analysis.best.map(|m| root.san(m)),
            ponder: analysis.ponder.map(|m| root.uci(m)),
            depth: analysis.depth.plies(),
            score: JsonScore::new(analysis.score, root),
            nodes: analysis.nodes,
            time_ms: analysis.time.as_millis(),
            efforts: efforts
                .iter()
                .map(|effort| JsonEffort {
                    uci: root.uci(effort.m),
                    san: root.san(effort.m),
                    nodes: effort.nodes,
                })
                .collect(),
        }
    }

    /// Writes the line at once.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        serde_json::to_writer(&mut *out, self)?;
        writeln!(out)?;
        out.flush()
    }
}
