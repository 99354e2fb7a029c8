//! `pleach analyse`: a search shown live in a terminal, as plain lines elsewhere, or as
//! JSON. Scores are in pawns from White's side.

mod input;
mod json;
mod view;

use std::io::{self, IsTerminal as _, Write};
use std::ops::ControlFlow;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use anyhow::{Context as _, ensure};
use clap::{Args, ValueEnum};
use crossterm::{ExecutableCommand as _, cursor};

use super::CommandResult;
use super::interruption::interruption_with;
use super::limits::{EngineArguments, LimitArguments, hash_range, in_range, threads_range};
use crate::board::{Game, Position};
use crate::chances::chances;
use crate::engine::{Analysis, AnalysisLine, Engine, Event, MULTI_PV_MAX, Request};
use crate::stdio::Stdout;
use crate::types::{Bound, Color};
use crate::uci::draw;
use input::{Choice, MoveNumber};
use json::JsonLine;
use view::{LinesSoFar, LiveView, Look, REDRAW_INTERVAL};

/// Time for the search if no limit is given.
const DEFAULT_TIME: Duration = Duration::from_secs(5);
const DEFAULT_HASH_MIB: usize = 64;
/// Plies of a line shown while the search runs; the last line is shown whole.
const PLIES_SHOWN: usize = 14;

#[derive(Args)]
pub struct Arguments {
    /// A FEN or EPD (quotes are optional), "startpos moves e2e4 ...", moves such as 1. e4 e5, a
    /// PGN or EPD file, or - for standard input [default: startpos]
    #[arg(value_name = "POSITION")]
    position: Vec<String>,
    /// Which game of a PGN file, or position of a file that has one a line, from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u64).range(1..))]
    game: Option<u64>,
    /// The position before this move of the game, such as 23w or 23b [default: the last position]
    #[arg(long = "move", value_name = "NUMBER")]
    before: Option<MoveNumber>,
    /// Read the position as Chess960
    #[arg(long)]
    chess960: bool,
    #[command(flatten)]
    limits: LimitArguments,
    /// Search until Ctrl-C (without any limit the search takes 5 seconds)
    #[arg(long, conflicts_with_all = ["depth", "nodes", "movetime"])]
    infinite: bool,
    /// How many of the best moves to show
    #[arg(long, default_value_t = 1, value_parser = in_range(1, MULTI_PV_MAX))]
    multipv: usize,
    /// Search these moves only
    #[arg(long, value_name = "MOVES", num_args = 1..)]
    searchmoves: Vec<String>,
    /// Search all moves but these
    #[arg(long, value_name = "MOVES", num_args = 1..)]
    excludemoves: Vec<String>,
    /// Search threads
    #[arg(short, long, default_value_t = 1, value_parser = threads_range())]
    threads: usize,
    /// Hash table in MiB
    #[arg(long, default_value_t = DEFAULT_HASH_MIB, value_parser = hash_range())]
    hash: usize,
    #[command(flatten)]
    engine: EngineArguments,
    /// Show the board from Black's side
    #[arg(long)]
    flip: bool,
    /// Letters instead of chess figures
    #[arg(long)]
    letters: bool,
    /// Colours
    #[arg(long, value_enum, default_value_t)]
    color: When,
    /// Plain lines even in a terminal
    #[arg(long)]
    plain: bool,
    /// One JSON object a line, for programs
    #[arg(long)]
    json: bool,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
enum When {
    /// In a terminal, unless NO_COLOR is set
    #[default]
    Auto,
    Always,
    Never,
}

impl Arguments {
    fn request(&self, position: &Position) -> anyhow::Result<Request> {
        let mut request = if self.limits.any() || self.infinite {
            self.limits.request()
        } else {
            Request::for_time(DEFAULT_TIME)
        };
        request.infinite = self.infinite;
        request.search_moves =
            input::uci_moves(position, &self.searchmoves).context("--searchmoves")?;
        request.exclude_moves =
            input::uci_moves(position, &self.excludemoves).context("--excludemoves")?;
        let wanted =
            |m: &String| request.search_moves.is_empty() || request.search_moves.contains(m);
        let legal = position.legal_moves();
        let mut left = legal.iter().map(|&m| position.uci(m)).filter(wanted);
        ensure!(
            legal.is_empty() || left.any(|m| !request.exclude_moves.contains(&m)),
            "no move is left to search"
        );
        Ok(request)
    }

    /// Whether the search is shown as a picture in a terminal.
    fn is_live(&self) -> bool {
        !self.json && !self.plain && can_draw()
    }

    /// Whose side of the board is below.
    const fn below(&self) -> Color {
        if self.flip {
            Color::Black
        } else {
            Color::White
        }
    }

    fn look(&self) -> Look {
        const OFF: &str = "NO_COLOR";
        const DUMB: &str = "dumb";
        let set = |name: &str| std::env::var(name).ok().filter(|value| !value.is_empty());
        let color = match self.color {
            When::Always => true,
            When::Never => false,
            When::Auto => set(OFF).is_none() && set("TERM").as_deref() != Some(DUMB),
        };
        let locale = ["LC_ALL", "LC_CTYPE", "LANG"].into_iter().find_map(set);
        let utf8 = |locale: String| locale.to_lowercase().replace('-', "").contains("utf8");
        Look {
            color,
            unicode: !self.letters && (cfg!(windows) || locale.is_some_and(utf8)),
            flip: self.flip,
        }
    }
}

pub fn run(arguments: &Arguments) -> CommandResult {
    let choice = Choice {
        game: arguments.game,
        before: arguments.before,
    };
    let game = input::game(&arguments.position, &choice, arguments.chess960)?;
    let request = arguments.request(game.position())?;
    let maker = arguments.engine.prepare()?;
    let mut engine = maker.engine(arguments.threads, arguments.hash)?;
    engine.settings.multi_pv = arguments.multipv;
    let live = arguments.is_live();
    let interrupted = interruption_with(move || {
        if live {
            show_cursor();
        }
    })?;
    let stdout = Stdout::new()?;
    let mut out = io::stdout().lock();
    let mut screen = Screen::new(arguments, &mut out, game.position())?;
    let mut written = Ok(());
    let analysis = analyse(&mut engine, &game, &request, |event| {
        written = screen.show(event);
        if written.is_ok() && stdout.is_closed() {
            written = Err(io::ErrorKind::BrokenPipe.into());
        }
        if written.is_err() || interrupted.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    })?;
    written?;
    screen.conclude(&analysis)?;
    Ok(true)
}

/// Searches, unless the game is over.
fn analyse(
    engine: &mut Engine,
    game: &Game,
    request: &Request,
    listen: impl FnMut(&Event) -> ControlFlow<()>,
) -> anyhow::Result<Analysis> {
    let mut request = request.clone();
    // Without a legal move the search ends by itself.
    request.infinite &= game.position().has_legal_move();
    Ok(engine.analyse(game, &request, listen)?)
}

/// Where the analysis is shown, and how.
struct Screen<'a, W: Write> {
    out: &'a mut W,
    kind: OutputKind,
    root: Position,
    started: Instant,
    /// Remarks of the engine, which are shown when the search has ended.
    notes: Vec<String>,
}

enum OutputKind {
    Json,
    Plain,
    Live {
        view: LiveView,
        found: Box<LinesSoFar>,
        drawn: Option<Instant>,
    },
}

/// Whether a picture can be drawn again and again in its place.
fn can_draw() -> bool {
    let dumb = std::env::var_os("TERM").is_some_and(|kind| kind == "dumb");
    io::stdout().is_terminal() && !dumb
}

/// Shows the cursor again where [`Screen`] cannot: it has the lock of stdout.
fn show_cursor() {
    let _ = Stdout::new().and_then(|mut out| out.execute(cursor::Show).map(drop));
}

impl<'a, W: Write> Screen<'a, W> {
    fn new(arguments: &Arguments, out: &'a mut W, root: &Position) -> io::Result<Screen<'a, W>> {
        let kind = if arguments.json {
            JsonLine::of_position(root).write(out)?;
            OutputKind::Json
        } else if arguments.is_live() {
            out.execute(cursor::Hide)?;
            OutputKind::Live {
                view: LiveView::new(arguments.look()),
                found: Box::default(),
                drawn: None,
            }
        } else {
            introduce(out, root, arguments.below())?;
            OutputKind::Plain
        };
        Ok(Screen {
            out,
            kind,
            root: root.clone(),
            started: Instant::now(),
            notes: Vec::new(),
        })
    }

    fn show(&mut self, event: &Event) -> io::Result<()> {
        let elapsed = self.started.elapsed();
        if let Event::Note(note) = event {
            self.notes.push(note.clone());
        }
        match (&mut self.kind, event) {
            (OutputKind::Json, Event::Line(line)) => JsonLine::of_line(line).write(self.out),
            (OutputKind::Plain, Event::Line(line)) if !line.pv.is_empty() => {
                show_line(self.out, line)
            }
            (OutputKind::Live { view, found, drawn }, event) => {
                if let Event::Line(line) = event {
                    found.add(line);
                }
                let mut ended = false;
                if let Event::Finished(analysis) = event {
                    found.finish(&analysis.lines);
                    ended = true;
                }
                if ended || drawn.is_none_or(|drawn| drawn.elapsed() >= REDRAW_INTERVAL) {
                    *drawn = Some(Instant::now());
                    return view.draw(self.out, &self.root, found, elapsed);
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn conclude(&mut self, analysis: &Analysis) -> io::Result<()> {
        for note in &self.notes {
            writeln!(io::stderr(), "{note}")?;
        }
        match self.kind {
            OutputKind::Json => JsonLine::of_result(analysis).write(self.out),
            OutputKind::Plain | OutputKind::Live { .. } => conclude(self.out, analysis),
        }
    }
}

impl<W: Write> Drop for Screen<'_, W> {
    /// Shows the cursor again, also after an error.
    fn drop(&mut self) {
        if matches!(self.kind, OutputKind::Live { .. }) {
            let _ = self.out.execute(cursor::Show);
        }
    }
}

/// Shows the board, and the head of the table of lines if there will be any.
fn introduce(out: &mut impl Write, root: &Position, below: Color) -> io::Result<()> {
    for line in draw::board(root, below) {
        writeln!(out, "{line}")?;
    }
    if !root.has_legal_move() {
        return Ok(());
    }
    writeln!(
        out,
        "\n{} to move. Scores in pawns, + is good for White.\n",
        draw::side(root.turn())
    )?;
    writeln!(
        out,
        "{:>5}  {:>8}  {:>8}  {:>12}  line",
        "depth", "score", "time", "nodes"
    )
}

fn show_line(out: &mut impl Write, line: &AnalysisLine) -> io::Result<()> {
    let bound = match line.info.bound {
        Some(Bound::Lower) => "≥",
        Some(Bound::Upper) => "≤",
        _ => "",
    };
    let shown = line.pv.get(..PLIES_SHOWN).unwrap_or(&line.pv);
    writeln!(
        out,
        "{:>5}  {:>8}  {:>7.2}s  {:>12}  {}{}",
        line.info.depth.to_string(),
        format!("{bound}{}", line.info.score.pawns(line.root.turn())),
        line.info.time.as_secs_f64(),
        line.info.nodes,
        line.root.numbered_line(shown),
        if shown.len() < line.pv.len() {
            " …"
        } else {
            ""
        },
    )?;
    out.flush()
}

fn conclude(out: &mut impl Write, analysis: &Analysis) -> io::Result<()> {
    let Some(best) = analysis.best else {
        let end = if analysis.root.in_check() {
            "checkmate"
        } else {
            "stalemate"
        };
        return writeln!(out, "\nNo legal move: {end}.");
    };
    if let Some(line) = analysis.lines.first() {
        writeln!(out, "\n{}", line.root.numbered_line(&line.pv))?;
    }
    if let Some(score) = analysis.score {
        let [win, draw, loss] = chances(score, &analysis.root).wdl();
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
    let turn = analysis.root.turn();
    let score = analysis
        .score
        .map_or_else(|| "not searched".to_owned(), |score| score.pawns(turn));
    writeln!(out, "Best move: {} ({score})", analysis.root.san(best))
}
