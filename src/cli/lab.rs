//! `pleach lab`: the textbook algorithms, compared, drawn and measured.

use std::fs;
use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand, ValueEnum};

use crate::board::Position;
use crate::eval::Judge;
use crate::files;
use crate::lab::compare::{Contest, compare, nodes_by_depth};
use crate::lab::draw::{Chart, Picture, Series, View, svg, terminal};
use crate::lab::games::chess::MoveOrder;
use crate::lab::games::{ChessGame, Explicit, Kalah, RandomTree, TicTacToe};
use crate::lab::shape::shapes;
use crate::lab::{Algorithm, Game, Hints, Kind, Kinds, Limits, Task, Window, deepen, solve};
use crate::nnue::Network;
use crate::types::CastlingMode;

/// The options of `pleach lab`.
#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    experiment: Experiment,
}

#[derive(Subcommand)]
enum Experiment {
    /// Run the algorithms on one tree: values, nodes, cutoffs, time
    Compare(Compare),
    /// Draw the tree of one search, in the terminal or as SVG
    Tree(Tree),
    /// Deepen iteratively, depth by depth, until a limit
    Deepen(Deepen),
    /// Count PV, cut and all nodes, predicted and found
    Kinds(KindsOf),
    /// Measure the tree of the engine's own search, depth by depth
    Shape(ShapeOf),
}

/// The games to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GameName {
    Chess,
    Kalah,
    Tictactoe,
    Random,
}

/// Which tree to search.
#[derive(Args)]
struct Subject {
    /// The game
    #[arg(long, default_value = "chess")]
    game: GameName,
    /// A chess position (FEN); the initial position by default
    #[arg(long, conflicts_with = "game")]
    fen: Option<String>,
    /// A tree written as text, instead of a game
    #[arg(long, value_name = "FILE", conflicts_with_all = ["game", "fen"])]
    tree: Option<PathBuf>,
    /// Search chess moves as generated, not captures first
    #[arg(long)]
    unordered: bool,
    /// Kalah: seeds in each house
    #[arg(long, default_value_t = 4, value_parser = clap::value_parser!(u8).range(1..=18))]
    seeds: u8,
    /// Random tree: successors of a node
    #[arg(long, default_value_t = RandomTree::default().branching, value_parser = clap::value_parser!(u32).range(1..))]
    branching: u32,
    /// Random tree: plies to its leaves; the search depth by default
    #[arg(long)]
    height: Option<u32>,
    /// Random tree: values lie between minus this and this
    #[arg(long, default_value_t = RandomTree::default().range)]
    range: i32,
    /// Random tree: the share of nodes (0 to 1) whose best move comes first
    #[arg(long, default_value_t = RandomTree::default().quality)]
    quality: f64,
    /// Random tree: how far values above the leaves may be off
    #[arg(long, default_value_t = RandomTree::default().noise)]
    noise: i32,
    /// Random tree: another number gives another tree
    #[arg(long, default_value_t = RandomTree::default().seed)]
    seed: u64,
}

/// The switches of iterative deepening.
#[derive(Args)]
struct HintSwitches {
    /// Sort moves by the previous iteration's values
    #[arg(long)]
    presort: bool,
    /// Try the last move that cut off at the same ply early
    #[arg(long)]
    killers: bool,
    /// Try the last reply that refuted the same move early
    #[arg(long)]
    refutations: bool,
}

#[derive(Args)]
struct Compare {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    hints: HintSwitches,
    /// Plies to search
    #[arg(long, short, default_value_t = 4)]
    depth: u32,
    /// Only these algorithms (may be repeated); all by default
    #[arg(long = "algorithm", short)]
    algorithms: Vec<Algorithm>,
    /// Deepen iteratively and count all iterations; implied by the hints
    #[arg(long)]
    deepening: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
    /// Leave out the times, so that the table is the same on every machine
    #[arg(long)]
    untimed: bool,
    /// Plot nodes by depth into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Args)]
struct Tree {
    /// A tree written as text; see the book's chapter on minimax
    file: Option<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    /// Plies to search; a file's whole tree by default, otherwise 2
    #[arg(long, short)]
    depth: Option<u32>,
    /// The algorithm
    #[arg(long, short, default_value = "fail-soft")]
    algorithm: Algorithm,
    /// The root's window, as two numbers
    #[arg(long, num_args = 2, value_names = ["ALPHA", "BETA"], allow_negative_numbers = true)]
    window: Option<Vec<i32>>,
    /// Whose point of view numbers take; Max's for algorithms that are written that way
    #[arg(long)]
    view: Option<View>,
    /// Write an SVG file; with --steps one a step, numbered
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Show every step of the search
    #[arg(long)]
    steps: bool,
}

#[derive(Args)]
struct Deepen {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    hints: HintSwitches,
    /// The deepest iteration
    #[arg(long, short, default_value_t = 6)]
    depth: u32,
    /// Milliseconds for all iterations together
    #[arg(long)]
    time: Option<u64>,
    /// The algorithm
    #[arg(long, short, default_value = "fail-soft")]
    algorithm: Algorithm,
}

#[derive(Args)]
struct KindsOf {
    #[command(flatten)]
    subject: Subject,
    /// Plies to search
    #[arg(long, short, default_value_t = 4)]
    depth: u32,
    /// The algorithm
    #[arg(long, short, default_value = "fail-soft")]
    algorithm: Algorithm,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ShapeOf {
    /// A chess position (FEN); the initial position by default
    #[arg(long)]
    fen: Option<String>,
    /// The deepest search
    #[arg(long, short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60))]
    depth: u32,
    /// Hash table in MiB
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=4096))]
    hash: u64,
    /// Judge with the tapered evaluation instead of the network
    #[arg(long)]
    tapered: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

/// The depth of a drawing unless another is asked for.
const SHALLOW: u32 = 2;

/// Something to do with a game, whichever it is.
trait Visitor {
    fn visit<G: Game>(&self, game: &G, title: String) -> anyhow::Result<()>;
}

impl Subject {
    /// Shows the chosen game to `visitor`.
    fn show(&self, depth: u32, visitor: &impl Visitor) -> anyhow::Result<()> {
        if let Some(path) = &self.tree {
            return visitor.visit(&read_tree(path)?, path.display().to_string());
        }
        match self.game {
            GameName::Chess => {
                let position = position(self.fen.as_deref())?;
                let order = if self.unordered {
                    MoveOrder::Generated
                } else {
                    MoveOrder::CapturesFirst
                };
                let title = format!("chess, {}", position.fen());
                visitor.visit(
                    &ChessGame {
                        order,
                        ..ChessGame::new(position)
                    },
                    title,
                )
            }
            GameName::Kalah => {
                let title = format!("Kalah with {} seeds a house", self.seeds);
                visitor.visit(&Kalah { seeds: self.seeds }, title)
            }
            GameName::Tictactoe => visitor.visit(&TicTacToe, "tic-tac-toe".to_owned()),
            GameName::Random => {
                let tree = RandomTree {
                    branching: self.branching,
                    depth: self.height.unwrap_or(depth),
                    range: self.range,
                    quality: self.quality,
                    noise: self.noise,
                    seed: self.seed,
                }
                .sane();
                let title = format!(
                    "random tree, branching {}, best move first in {:.0}% or by chance, seed {}",
                    tree.branching,
                    100.0 * tree.quality,
                    tree.seed
                );
                visitor.visit(&tree, title)
            }
        }
    }
}

impl HintSwitches {
    fn hints(&self) -> Hints {
        let HintSwitches {
            presort,
            killers,
            refutations,
        } = *self;
        Hints {
            presort,
            killers,
            refutations,
        }
    }
}

/// Runs an experiment; `true` if all went well.
///
/// # Errors
/// Wrong positions and trees, algorithms that disagree, files that can't be read or written.
pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    match &arguments.experiment {
        Experiment::Compare(compare) => compare.subject.show(compare.depth, compare)?,
        Experiment::Tree(tree) => tree.draw()?,
        Experiment::Deepen(deepen) => deepen.subject.show(deepen.depth, deepen)?,
        Experiment::Kinds(kinds) => kinds.subject.show(kinds.depth, kinds)?,
        Experiment::Shape(shape) => shape.print()?,
    }
    Ok(true)
}

impl Visitor for Compare {
    fn visit<G: Game>(&self, game: &G, title: String) -> anyhow::Result<()> {
        let hints = self.hints.hints();
        let deepening = (self.deepening || hints != Hints::default()).then_some(hints);
        let algorithms = match self.algorithms.as_slice() {
            [] => Algorithm::every().to_vec(),
            some => some.to_vec(),
        };
        let contest = Contest {
            depth: self.depth,
            algorithms,
            deepening,
        };
        let comparison = compare(game, title.clone(), &contest)
            .context("the algorithms disagree, so one of them is wrong")?;
        if self.json {
            writeln!(
                io::stdout(),
                "{}",
                serde_json::to_string_pretty(&comparison)?
            )?;
        } else {
            write!(io::stdout(), "{}", comparison.table(!self.untimed))?;
        }
        if let Some(path) = &self.plot {
            let line = |(algorithm, nodes): (Algorithm, Vec<u64>)| Series {
                name: algorithm.name().to_owned(),
                values: nodes.into_iter().map(|nodes| nodes as f64).collect(),
            };
            let chart = Chart {
                title,
                across: "depth".to_owned(),
                up: "nodes".to_owned(),
                series: nodes_by_depth(game, &contest)
                    .into_iter()
                    .map(line)
                    .collect(),
            };
            save(path, &chart.svg())?;
        }
        Ok(())
    }
}

impl Tree {
    /// Draws a file's tree, or a game's.
    fn draw(&self) -> anyhow::Result<()> {
        let Some(path) = &self.file else {
            return self.subject.show(self.depth.unwrap_or(SHALLOW), self);
        };
        let tree = read_tree(path)?;
        self.draw_game(&tree, self.depth.unwrap_or(tree.height()), tree.window())
    }

    fn draw_game<G: Game>(
        &self,
        game: &G,
        depth: u32,
        window: Option<Window>,
    ) -> anyhow::Result<()> {
        let window = match self.window.as_deref() {
            Some([alpha, beta]) => {
                ensure!(alpha < beta, "the window's alpha must be below its beta");
                Some(Window::new(*alpha, *beta))
            }
            _ => window,
        };
        let maxs = self.algorithm.is_best_first()
            || matches!(self.algorithm, Algorithm::Minimax | Algorithm::AlphaBeta);
        let view = self
            .view
            .unwrap_or(if maxs { View::Max } else { View::Mover });
        let mut picture = Picture::new(game, depth, view, self.algorithm.has_windows())?;
        let solved = solve(
            game,
            self.algorithm,
            Task {
                depth,
                window,
                trace: true,
            },
        );
        for (number, event) in (1..).zip(solved.trace.iter().flat_map(|trace| &trace.events)) {
            picture.apply(event);
            if self.steps {
                self.output(&picture, Some(number))?;
            }
        }
        if !self.steps {
            let counts = solved.counts;
            picture.caption = format!(
                "{}, leaves evaluated: {}",
                self.algorithm.name(),
                counts.leaves
            );
            self.output(&picture, None)?;
        }
        Ok(())
    }

    /// Shows one picture, or writes it; a numbered step goes into a numbered file.
    fn output(&self, picture: &Picture, step: Option<usize>) -> anyhow::Result<()> {
        let Some(path) = &self.svg else {
            let mut out = io::stdout().lock();
            match step {
                Some(step) => writeln!(out, "{step}. {}", picture.caption)?,
                None => writeln!(out, "{}", picture.caption)?,
            }
            writeln!(out, "{}", terminal(picture, io::stdout().is_terminal()))?;
            return Ok(());
        };
        match step {
            None => save(path, &svg(picture)),
            Some(step) => {
                let stem = path.file_stem().unwrap_or_default().to_string_lossy();
                save(
                    &path.with_file_name(format!("{stem}-{step:03}.svg")),
                    &svg(picture),
                )
            }
        }
    }
}

impl Visitor for Tree {
    fn visit<G: Game>(&self, game: &G, _: String) -> anyhow::Result<()> {
        self.draw_game(game, self.depth.unwrap_or(SHALLOW), None)
    }
}

impl Visitor for Deepen {
    fn visit<G: Game>(&self, game: &G, title: String) -> anyhow::Result<()> {
        let limits = Limits {
            depth: self.depth,
            time: self.time.map(Duration::from_millis),
        };
        let deepening = deepen(game, self.algorithm, limits, self.hints.hints());
        let mut out = io::stdout().lock();
        writeln!(out, "{title}\n{}", self.algorithm.name())?;
        writeln!(
            out,
            "{:>5} {:>7} {:<7}{:>12}{:>12}{:>8}",
            "depth", "value", "best", "nodes", "leaves", "ms"
        )?;
        for (depth, solved) in (1..).zip(&deepening.iterations) {
            let best = solved.best.map(|best| game.label(&game.start(), best.mv));
            writeln!(
                out,
                "{depth:>5} {:>+7} {:<7}{:>12}{:>12}{:>8}",
                solved.value,
                best.as_deref().unwrap_or("-"),
                solved.counts.interior + solved.counts.leaves,
                solved.counts.leaves,
                solved.time.as_millis()
            )?;
        }
        let total = deepening.total();
        writeln!(
            out,
            "total nodes {}, ended: {}",
            total.interior + total.leaves,
            deepening.ended
        )?;
        Ok(())
    }
}

impl Visitor for KindsOf {
    fn visit<G: Game>(&self, game: &G, title: String) -> anyhow::Result<()> {
        let task = Task {
            depth: self.depth,
            ..Task::default()
        };
        let kinds = solve(game, self.algorithm, task).kinds;
        if self.json {
            writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&kinds)?)?;
            return Ok(());
        }
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{title}, depth {}, {}\n",
            self.depth,
            self.algorithm.name()
        )?;
        write!(out, "{}", kinds_table(&kinds))?;
        Ok(())
    }
}

/// Predicted against found, and the claims about trees.
fn kinds_table(kinds: &Kinds) -> String {
    let mut text = format!("{:<15}", "predicted");
    for found in Kind::EVERY {
        text += &format!("{:>14}", format!("found {}", found.name()));
    }
    text.push('\n');
    for predicted in Kind::EVERY {
        text += &format!("{:<15}", predicted.name());
        for found in Kind::EVERY {
            text += &format!("{:>14}", kinds.table[predicted as usize][found as usize]);
        }
        text.push('\n');
    }
    let mut claim = |part: u64, whole: u64, words: &str| {
        text += &format!("{:>6.1}% {words}\n", 100.0 * Kinds::share(part, whole));
    };
    let interior = |kind: Kind| kinds.interior[kind as usize];
    claim(
        kinds.right(),
        kinds.nodes(),
        "of nodes were predicted right",
    );
    claim(
        kinds.cut_by_first,
        interior(Kind::Cut),
        "of cut nodes cut off by the first successor",
    );
    claim(
        kinds.pv_first_best,
        interior(Kind::Pv),
        "of PV nodes had the best successor first",
    );
    claim(kinds.leaves, kinds.nodes(), "of nodes were leaves");
    text
}

impl ShapeOf {
    fn print(&self) -> anyhow::Result<()> {
        let judge = if self.tapered {
            Judge::Tapered
        } else {
            Judge::Network(Network::embedded())
        };
        let root = position(self.fen.as_deref())?;
        let shapes = shapes(&root, self.depth, self.hash as usize, &judge)?;
        let mut out = io::stdout().lock();
        if self.json {
            writeln!(out, "{}", serde_json::to_string_pretty(&shapes)?)?;
            return Ok(());
        }
        writeln!(out, "{}\n", root.fen())?;
        writeln!(
            out,
            "{:>5}{:>12}{:>8}{:>10}{:>10}{:>10}{:>13}{:>12}{:>9}",
            "depth", "nodes", "growth", "PV", "cut", "all", "cut by first", "first best", "leaves"
        )?;
        for shape in &shapes {
            let growth = shape
                .growth
                .map_or("-".to_owned(), |growth| format!("{growth:.2}"));
            writeln!(
                out,
                "{:>5}{:>12}{growth:>8}{:>10}{:>10}{:>10}{:>12.1}%{:>11.1}%{:>8.1}%",
                shape.depth,
                shape.nodes(),
                shape.pv_nodes,
                shape.cut_nodes,
                shape.all_nodes,
                100.0 * shape.cut_by_first,
                100.0 * shape.pv_first_best,
                100.0 * shape.leaf_share
            )?;
        }
        Ok(())
    }
}

/// The position of a FEN, the initial one without.
fn position(fen: Option<&str>) -> anyhow::Result<Position> {
    Ok(match fen {
        Some(fen) => Position::from_fen(fen, CastlingMode::Standard)?,
        None => Position::startpos(),
    })
}

/// Reads a tree written as text.
fn read_tree(path: &Path) -> anyhow::Result<Explicit> {
    let shown = path.display();
    let text = fs::read_to_string(path).with_context(|| format!("can't read {shown}"))?;
    Explicit::parse(&text).with_context(|| format!("{shown} is no tree"))
}

fn save(path: &Path, text: &str) -> anyhow::Result<()> {
    files::replace(path, text.as_bytes()).with_context(|| format!("can't write {}", path.display()))
}
