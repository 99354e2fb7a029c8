//! `pleach analyse`: a search for a person to follow: the board, lines in SAN as they come, and
//! scores in pawns from White's side.

use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::time::Duration;

use clap::Args;
use serde::Serialize;

use super::Outcome;
use crate::board::Game;
use crate::engine::{Analysis, AnalysisLine, Engine, Event, Request, win_draw_loss};
use crate::types::{Bound, Color, Score};
use crate::uci::draw;

/// How long to think if nothing is said.
const DEFAULT_TIME: Duration = Duration::from_secs(5);
/// Plies of a line shown while the search runs; the last line is shown whole.
const PLIES_SHOWN: usize = 14;
const CENTIPAWNS: f64 = 100.0;

#[derive(Args)]
pub struct Arguments {
    /// The position: a FEN in quotes, or startpos
    #[arg(default_value = "startpos")]
    fen: String,
    /// Read the FEN as Chess960
    #[arg(long)]
    chess960: bool,
    /// Stop after this many plies
    #[arg(long, value_parser = clap::value_parser!(i32).range(1..))]
    depth: Option<i32>,
    /// Stop after this many nodes
    #[arg(long)]
    nodes: Option<u64>,
    /// Stop after this many milliseconds (5000 if no limit is given)
    #[arg(long)]
    movetime: Option<u32>,
    /// How many of the best moves to follow
    #[arg(long, default_value_t = 1)]
    multipv: usize,
    /// Search threads
    #[arg(long, default_value_t = 1)]
    threads: usize,
    /// Hash table in MiB
    #[arg(long, default_value_t = 64)]
    hash: usize,
    /// Evaluate with this network file
    #[arg(long)]
    network: Option<PathBuf>,
    /// One JSON object a line, for programs
    #[arg(long)]
    json: bool,
}

impl Arguments {
    fn request(&self) -> Request {
        let limited = self.depth.is_some() || self.nodes.is_some() || self.movetime.is_some();
        let mut request = match self.movetime {
            None if limited => Request::default(),
            None => Request::for_time(DEFAULT_TIME),
            Some(ms) => Request::for_time(Duration::from_millis(u64::from(ms))),
        };
        request.depth = self.depth;
        request.nodes = self.nodes;
        request
    }
}

pub fn run(arguments: &Arguments) -> Outcome {
    let position = super::position(&arguments.fen, arguments.chess960)?;
    let mut engine = Engine::new();
    engine.settings.multi_pv = arguments.multipv;
    engine.settings.move_overhead = 0;
    engine.set_hash(arguments.hash)?;
    engine.set_threads(arguments.threads)?;
    if let Some(path) = &arguments.network {
        engine.set_network(Some(path))?;
    }
    let game = Game::from(position);
    engine.set_game(game.clone());
    let mut out = io::stdout().lock();
    let mut written = Ok(());
    if !arguments.json {
        introduce(&mut out, &engine)?;
    }
    let analysis = engine.analyse(&game, &arguments.request(), |event| {
        if let Event::Line(line) = event {
            written = show_line(&mut out, line, arguments.json);
        }
        match written {
            Ok(()) => ControlFlow::Continue(()),
            Err(_) => ControlFlow::Break(()),
        }
    })?;
    written?;
    conclude(&mut out, &analysis, arguments.json)?;
    Ok(true)
}

fn introduce(out: &mut impl Write, engine: &Engine) -> io::Result<()> {
    for line in draw::board(engine.position()) {
        writeln!(out, "{line}")?;
    }
    writeln!(
        out,
        "\n{} to move. Scores in pawns, + is good for White.\n",
        draw::side(engine.position().turn())
    )?;
    writeln!(
        out,
        "{:>5}  {:>8}  {:>8}  {:>12}  line",
        "depth", "score", "time", "nodes"
    )
}

fn show_line(out: &mut impl Write, line: &AnalysisLine, json: bool) -> io::Result<()> {
    if json {
        return write_json(out, &Record::of_line(line));
    }
    let bound = match line.bound {
        Some(Bound::Lower) => "≥",
        Some(Bound::Upper) => "≤",
        _ => "",
    };
    let shown = line.pv.get(..PLIES_SHOWN).unwrap_or(&line.pv);
    writeln!(
        out,
        "{:>5}  {:>8}  {:>7.2}s  {:>12}  {}{}",
        line.depth.to_string(),
        format!("{bound}{}", pawns(line.score, line.root.turn())),
        line.time.as_secs_f64(),
        line.nodes,
        line.root.numbered_line(shown),
        if shown.len() < line.pv.len() {
            " …"
        } else {
            ""
        },
    )?;
    out.flush()
}

fn conclude(out: &mut impl Write, analysis: &Analysis, json: bool) -> io::Result<()> {
    if json {
        return write_json(out, &Record::of_end(analysis));
    }
    let Some(best) = analysis.best else {
        let end = analysis.root.mate_or_stalemate();
        let end = end.map_or_else(|| "the search found none".to_owned(), |end| end.to_string());
        return writeln!(out, "\nNo legal move: {end}.");
    };
    if let Some(line) = analysis.lines.first() {
        writeln!(out, "\n{}", line.root.numbered_line(&line.pv))?;
    }
    if let Some(score) = analysis.score {
        let [win, draw, loss] = win_draw_loss(score);
        let percent = |permille: u32| f64::from(permille) / 10.0;
        writeln!(
            out,
            "For {}: win {:.1} %, draw {:.1} %, loss {:.1} %",
            draw::side(analysis.root.turn()),
            percent(win),
            percent(draw),
            percent(loss)
        )?;
    }
    let score = analysis.score.map_or("not searched".to_owned(), |score| {
        pawns(score, analysis.root.turn())
    });
    writeln!(out, "Best move: {} ({score})", analysis.root.san(best))
}

/// A score of the side to move, in pawns from White's side; mates as `#3` and `#-3`.
pub fn pawns(score: Score, turn: Color) -> String {
    let white = turn == Color::White;
    match score.mate_moves() {
        // The sign of "mated in 0" lies in who is to move.
        Some(0) => if white { "#-0" } else { "#0" }.to_owned(),
        Some(moves) => format!("#{}", if white { moves } else { -moves }),
        None => {
            let raw = if white { score.raw() } else { -score.raw() };
            format!("{:+.2}", f64::from(raw) / CENTIPAWNS)
        }
    }
}

/// What `--json` prints, a line each. Scores are the side to move's.
#[derive(Serialize)]
#[serde(tag = "type", rename_all = "lowercase")]
enum Record {
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
    },
}

/// Centipawns, or full moves to mate; neither if nothing was searched.
#[derive(Serialize)]
struct JsonScore {
    cp: Option<i32>,
    mate: Option<i32>,
}

impl From<Option<Score>> for JsonScore {
    fn from(score: Option<Score>) -> JsonScore {
        let mate = score.and_then(Score::mate_moves);
        JsonScore {
            cp: score.filter(|_| mate.is_none()).map(Score::raw),
            mate,
        }
    }
}

impl Record {
    fn of_line(line: &AnalysisLine) -> Record {
        Record::Line {
            depth: line.depth.plies(),
            seldepth: line.seldepth,
            multipv: line.multi_pv,
            score: Some(line.score).into(),
            bound: match line.bound {
                Some(Bound::Lower) => Some("lower"),
                Some(Bound::Upper) => Some("upper"),
                _ => None,
            },
            nodes: line.nodes,
            nps: line.nps(),
            time_ms: line.time.as_millis(),
            hashfull: line.hashfull,
            tbhits: line.tb_hits,
            pv: line.pv.iter().map(|&m| line.root.uci(m)).collect(),
            san: line.root.san_line(&line.pv),
        }
    }

    fn of_end(analysis: &Analysis) -> Record {
        Record::Result {
            fen: analysis.root.fen(),
            best: analysis.best.map(|m| analysis.root.uci(m)),
            san: analysis.best.map(|m| analysis.root.san(m)),
            ponder: analysis.ponder.map(|m| analysis.root.uci(m)),
            depth: analysis.depth.plies(),
            score: analysis.score.into(),
            nodes: analysis.nodes,
            time_ms: analysis.time.as_millis(),
        }
    }
}

fn write_json(out: &mut impl Write, record: &Record) -> io::Result<()> {
    serde_json::to_writer(&mut *out, record)?;
    writeln!(out)?;
    out.flush()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Ply;

    #[test]
    fn scores_are_white_s() {
        assert_eq!(pawns(Score::cp(135), Color::White), "+1.35");
        assert_eq!(pawns(Score::cp(135), Color::Black), "-1.35");
        assert_eq!(pawns(Score::mate_in(Ply(5)), Color::Black), "#-3");
        assert_eq!(pawns(Score::mated_in(Ply(0)), Color::White), "#-0");
    }
}
