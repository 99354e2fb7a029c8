//! `pleach lab`: the textbook algorithms, compared, drawn and measured.

mod shared;
mod subject;
mod tree;

use std::io::{self, Write as _};
use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context as _, ensure};
use clap::{Args, Subcommand};

use self::shared::{depths, save};
use self::subject::{Subject, SubjectInfo, Visitor};
use self::tree::Tree;
use super::position;
use crate::eval::EvalKind;
use crate::lab::compare::{Contest, compare, leaves_by_depth};
use crate::lab::draw::{Chart, Series};
use crate::lab::shape::{PlyTreeShape, shapes};
use crate::lab::{
    Algorithm, DeepeningLimits, GameTree, Hints, KindCounts, NodeKind, SolveOptions, deepen, solve,
};
use crate::nnue::Network;

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
    /// Draw the tree of one search, in the terminal, as SVG or as HTML
    Tree(Tree),
    /// Deepen iteratively, depth by depth, until a limit
    Deepen(Deepen),
    /// Count PV, cut and all nodes, as predicted and as found
    Kinds(KindsOf),
    /// Measure the tree of the engine's own search, depth by depth
    Shape(ShapeOf),
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
    countermoves: bool,
    /// Follow the line that the previous iteration found for each root move
    #[arg(long)]
    refutations: bool,
}

#[derive(Args)]
struct Compare {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    hints: HintSwitches,
    /// Plies to search; a file's whole tree by default, otherwise 4
    #[arg(long, short, value_parser = depths(0))]
    depth: Option<u32>,
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
    /// Plot leaves by depth, relative to the minimal tree's, into this SVG file
    #[arg(long, value_name = "FILE")]
    plot: Option<PathBuf>,
}

#[derive(Args)]
struct Deepen {
    #[command(flatten)]
    subject: Subject,
    #[command(flatten)]
    hints: HintSwitches,
    /// The deepest iteration; a file's whole tree by default, otherwise 6
    #[arg(long, short, value_parser = depths(1))]
    depth: Option<u32>,
    /// Milliseconds for all iterations together
    #[arg(long)]
    time: Option<u64>,
    /// Leave out the times, so that the table is the same on every machine
    #[arg(long)]
    untimed: bool,
    /// The algorithm
    #[arg(long, short, default_value = "fail-soft")]
    algorithm: Algorithm,
}

#[derive(Args)]
struct KindsOf {
    #[command(flatten)]
    subject: Subject,
    /// Plies to search; a file's whole tree by default, otherwise 4
    #[arg(long, short, value_parser = depths(0))]
    depth: Option<u32>,
    /// The algorithm
    #[arg(long, short, default_value = "fail-soft")]
    algorithm: Algorithm,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

#[derive(Args)]
struct ShapeOf {
    /// The position, in quotes: a FEN, an EPD line, startpos (the default) or moves
    #[arg(long)]
    fen: Option<String>,
    /// Castling by the rules of Chess960
    #[arg(long)]
    chess960: bool,
    /// The deepest search
    #[arg(long, short, default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=60))]
    depth: u32,
    /// Hash table in MiB
    #[arg(long, default_value_t = 16, value_parser = clap::value_parser!(u64).range(1..=4096))]
    hash: u64,
    /// Evaluate with the tapered evaluation instead of the network
    #[arg(long)]
    tapered: bool,
    /// Print JSON
    #[arg(long)]
    json: bool,
}

impl HintSwitches {
    /// The hints; an error if an algorithm given by name uses none.
    fn hints(&self, algorithms: &[Algorithm]) -> anyhow::Result<Hints> {
        let HintSwitches {
            presort,
            killers,
            countermoves,
            refutations,
        } = *self;
        let hints = Hints {
            presort,
            killers,
            countermoves,
            refutations,
        };
        let without_hints = algorithms.iter().find(|algorithm| !algorithm.takes_hints());
        if let (Some(algorithm), true) = (without_hints, hints != Hints::default()) {
            anyhow::bail!("{} does not use hints: leave them out", algorithm.name());
        }
        Ok(hints)
    }
}

/// Runs an experiment; `true` if all went well.
///
/// # Errors
/// Wrong positions and trees, algorithms that disagree, files that can't be read or written.
pub fn run(arguments: &Arguments) -> anyhow::Result<bool> {
    match &arguments.experiment {
        Experiment::Compare(compare) => compare.run()?,
        Experiment::Tree(tree) => tree.run()?,
        Experiment::Deepen(deepen) => deepen.run()?,
        Experiment::Kinds(kinds) => kinds.run()?,
        Experiment::Shape(shape) => shape.print()?,
    }
    Ok(true)
}

/// Plies to compare and to count kinds unless told otherwise.
const USUAL_DEPTH: u32 = 4;
/// The deepest iteration unless told otherwise.
const USUAL_ITERATION: u32 = 6;

impl Compare {
    fn run(&self) -> anyhow::Result<()> {
        self.subject.ensure_kept(None, &[&self.plot])?;
        self.subject.show(None, self.depth, USUAL_DEPTH, self)
    }
}

impl Visitor for Compare {
    fn visit<G: GameTree>(&self, game: &G, found: SubjectInfo) -> anyhow::Result<()> {
        let hints = self.hints.hints(&self.algorithms)?;
        let deepening = (self.deepening || hints != Hints::default()).then_some(hints);
        ensure!(
            deepening.is_none() || found.depth > 0,
            "iterative deepening begins at depth 1, not 0"
        );
        let algorithms = match self.algorithms.as_slice() {
            [] => Algorithm::every().to_vec(),
            some => some.to_vec(),
        };
        let contest = Contest {
            depth: found.depth,
            algorithms,
            deepening,
            timed: !self.untimed,
        };
        let comparison = compare(game, found.title.clone(), &contest)
            .context("the algorithms disagree, so one of them is wrong")?;
        if self.json {
            writeln!(
                io::stdout(),
                "{}",
                serde_json::to_string_pretty(&comparison)?
            )?;
        } else {
            write!(io::stdout(), "{}", comparison.table())?;
        }
        if let Some(path) = &self.plot {
            ensure!(found.depth > 0, "a plot needs a depth of at least 1, not 0");
            let chart = Chart {
                title: found.title,
                across: "depth".to_owned(),
                up: "leaves, for each leaf of the minimal tree".to_owned(),
                series: leaves_by_depth(game, &contest)
                    .into_iter()
                    .map(|(name, values)| Series { name, values })
                    .collect(),
            };
            save(path, &chart.svg())?;
        }
        Ok(())
    }
}

impl Deepen {
    fn run(&self) -> anyhow::Result<()> {
        self.subject.show(None, self.depth, USUAL_ITERATION, self)
    }
}

impl Visitor for Deepen {
    fn visit<G: GameTree>(&self, game: &G, found: SubjectInfo) -> anyhow::Result<()> {
        let limits = DeepeningLimits {
            depth: found.depth,
            time: self.time.map(Duration::from_millis),
        };
        let hints = self.hints.hints(&[self.algorithm])?;
        let deepening = deepen(game, self.algorithm, limits, hints);
        let mut out = io::stdout().lock();
        writeln!(out, "{}\n{}", found.title, self.algorithm.name())?;
        write!(
            out,
            "{:>5} {:>7} {:<7}{:>12}{:>12}",
            "depth", "value", "best", "nodes", "leaves"
        )?;
        writeln!(out, "{}", if self.untimed { "" } else { "      ms" })?;
        for (depth, solved) in (1..).zip(&deepening.iterations) {
            let best = solved.best.map(|best| game.label(&game.start(), best.mv));
            write!(
                out,
                "{depth:>5} {:>+7} {:<7}{:>12}{:>12}",
                solved.value,
                best.as_deref().unwrap_or("-"),
                solved.counts.interior + solved.counts.leaves,
                solved.counts.leaves,
            )?;
            if !self.untimed {
                write!(out, "{:>8}", solved.time.as_millis())?;
            }
            writeln!(out)?;
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

impl KindsOf {
    fn run(&self) -> anyhow::Result<()> {
        self.subject.show(None, self.depth, USUAL_DEPTH, self)
    }
}

impl Visitor for KindsOf {
    fn visit<G: GameTree>(&self, game: &G, found: SubjectInfo) -> anyhow::Result<()> {
        let options = SolveOptions {
            depth: found.depth,
            ..SolveOptions::default()
        };
        ensure!(
            self.algorithm.has_windows(),
            "{} has no windows, and kinds of nodes follow from windows: choose another algorithm",
            self.algorithm.name()
        );
        let kinds = solve(game, self.algorithm, options).kinds;
        if self.json {
            writeln!(io::stdout(), "{}", serde_json::to_string_pretty(&kinds)?)?;
            return Ok(());
        }
        let mut out = io::stdout().lock();
        writeln!(
            out,
            "{}, depth {}, {}\n",
            found.title,
            found.depth,
            self.algorithm.name()
        )?;
        write!(out, "{}", kinds_table(&kinds))?;
        Ok(())
    }
}

/// Predicted against found, and the claims about trees.
fn kinds_table(kinds: &KindCounts) -> String {
    let mut text = format!("{:<15}", "predicted");
    for found in NodeKind::EVERY {
        text += &format!("{:>14}", format!("found {}", found.name()));
    }
    text.push('\n');
    for predicted in NodeKind::EVERY {
        text += &format!("{:<15}", predicted.name());
        for found in NodeKind::EVERY {
            text += &format!("{:>14}", kinds.table[predicted as usize][found as usize]);
        }
        text.push('\n');
    }
    let mut claim = |part: u64, whole: u64, words: &str| {
        text += &format!("{:>6.1}% {words}\n", 100.0 * KindCounts::share(part, whole));
    };
    let interior = |kind: NodeKind| kinds.interior[kind as usize];
    claim(
        kinds.right(),
        kinds.nodes(),
        "of nodes were predicted right",
    );
    claim(
        kinds.cut_by_first,
        interior(NodeKind::Cut),
        "of cut nodes cut off by the first successor",
    );
    claim(
        kinds.pv_first_best,
        interior(NodeKind::Pv),
        "of PV nodes had the best successor first",
    );
    claim(kinds.leaves, kinds.nodes(), "of nodes were leaves");
    text
}

impl ShapeOf {
    fn print(&self) -> anyhow::Result<()> {
        let eval_kind = if self.tapered {
            EvalKind::Tapered
        } else {
            EvalKind::Network(Network::embedded())
        };
        let root = position::position(self.fen.as_deref().unwrap_or("startpos"), self.chess960)?;
        let shapes = shapes(&root, self.depth, self.hash as usize, &eval_kind)?;
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
        if let Some(deepest) = shapes.last() {
            write!(out, "\n{}", ply_table(&deepest.plies))?;
        }
        Ok(())
    }
}

/// The deepest search's nodes by their distance from the root.
fn ply_table(plies: &[PlyTreeShape]) -> String {
    let mut text = format!(
        "{:>9}{:>10}{:>10}{:>10}{:>13}{:>12}\n",
        "plies off", "PV", "cut", "all", "cut by first", "first best"
    );
    for shape in plies {
        text += &format!(
            "{:>9}{:>10}{:>10}{:>10}{:>13}{:>12}\n",
            shape.ply,
            shape.pv_nodes,
            shape.cut_nodes,
            shape.all_nodes,
            percent(shape.cut_by_first),
            percent(shape.pv_first_best)
        );
    }
    text
}

/// A share in percent; a dash if the whole is zero.
fn percent(share: Option<f64>) -> String {
    share.map_or("-".to_owned(), |share| format!("{:.1}%", 100.0 * share))
}
