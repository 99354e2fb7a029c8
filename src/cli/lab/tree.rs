//! `pleach lab tree`: one search drawn, whole or step by step.

use std::io::{self, IsTerminal as _, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{bail, ensure};
use clap::Args;

use super::shared::{depths, save};
use super::subject::{Subject, SubjectInfo, Visitor};
use crate::lab::draw::{Caption, Picture, PointOfView, advance, html, svg, terminal};
use crate::lab::{Algorithm, GameTree, INFINITY, SolveOptions, ValueWindow, solve};

/// The depth of a drawing unless another is asked for.
const SHALLOW: u32 = 2;

#[derive(Args)]
pub(super) struct Tree {
    /// A tree written as text; see the book's chapter on minimax
    file: Option<PathBuf>,
    #[command(flatten)]
    subject: Subject,
    /// Plies to search; a file's whole tree by default, otherwise 2
    #[arg(long, short, value_parser = depths(0))]
    depth: Option<u32>,
    /// The algorithm
    #[arg(long, short, default_value = "fail-soft")]
    algorithm: Algorithm,
    /// The root's window, as two numbers
    #[arg(long, num_args = 2, value_names = ["ALPHA", "BETA"],
        value_parser = clap::value_parser!(i32).range(1 - i64::from(INFINITY)..i64::from(INFINITY)))]
    window: Option<Vec<i32>>,
    /// Whose point of view numbers take; Max's for algorithms that are written that way
    #[arg(long)]
    view: Option<PointOfView>,
    /// Write an SVG file; with --steps one a step, numbered
    #[arg(long, value_name = "FILE")]
    svg: Option<PathBuf>,
    /// Write one HTML page that shows the search step by step
    #[arg(long, value_name = "FILE", conflicts_with_all = ["svg", "steps"])]
    html: Option<PathBuf>,
    /// Show every step of the search
    #[arg(long)]
    steps: bool,
}

impl Tree {
    pub(super) fn run(&self) -> anyhow::Result<()> {
        let file = self.file.as_deref();
        self.subject.ensure_kept(file, &[&self.svg, &self.html])?;
        self.subject.show(file, self.depth, SHALLOW, self)
    }

    /// The window to search: the one given, or that of a tree's text if the algorithm takes one.
    fn window(&self, of_file: Option<ValueWindow>) -> anyhow::Result<Option<ValueWindow>> {
        let (algorithm, name) = (self.algorithm, self.algorithm.name());
        let window = match self.window.as_deref() {
            Some([alpha, beta]) => {
                ensure!(
                    algorithm.takes_window(),
                    "{name} always searches the full window: leave out --window, or choose another \
                     algorithm"
                );
                Some(ValueWindow::new(*alpha, *beta))
            }
            _ => of_file.filter(|_| algorithm.takes_window()),
        };
        if let Some(window) = window {
            let (alpha, beta) = (window.alpha, window.beta);
            ensure!(alpha <= beta, "the window's alpha must not exceed its beta");
            if !algorithm.criterion().allows(window) {
                bail!(
                    "{name} cuts off at beta, so alpha must be below it; with alpha = beta = \
                     {beta} use --algorithm fail-soft-above, which cuts off above beta only"
                );
            }
        }
        Ok(window)
    }

    /// Shows one picture, or writes it; a numbered step goes into a numbered file.
    fn output(&self, picture: &Picture, step: Option<usize>) -> anyhow::Result<()> {
        let Some(path) = &self.svg else {
            let mut out = io::stdout().lock();
            let Caption { what, why } = &picture.caption;
            match step {
                Some(step) => write!(out, "{step}. {what}")?,
                None => write!(out, "{what}")?,
            }
            if !why.is_empty() {
                write!(out, " ({why})")?;
            }
            writeln!(out)?;
            writeln!(out, "{}", terminal(picture, io::stdout().is_terminal()))?;
            return Ok(());
        };
        match step {
            None => save(path, &svg(picture)),
            Some(step) => save(&numbered(path, step), &svg(picture)),
        }
    }
}

/// The file of one step of many.
fn numbered(path: &Path, step: usize) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    path.with_file_name(format!("{stem}-{step:03}.svg"))
}

impl Visitor for Tree {
    fn visit<G: GameTree>(&self, game: &G, found: SubjectInfo) -> anyhow::Result<()> {
        let algorithm = self.algorithm;
        let window = self.window(found.window)?;
        let maxs = algorithm.is_best_first()
            || matches!(algorithm, Algorithm::Minimax | Algorithm::AlphaBeta);
        let view = self.view.unwrap_or(if maxs {
            PointOfView::Max
        } else {
            PointOfView::Mover
        });
        let mut picture = Picture::new(game, found.depth, view, algorithm)?;
        let options = SolveOptions {
            depth: found.depth,
            window,
            trace: true,
        };
        let solved = solve(game, algorithm, options);
        let steps = solved.trace.unwrap_or_default().events;
        if let Some(path) = &self.html {
            let title = format!("{}: {}", algorithm.name(), found.title);
            return save(path, &html(picture, &steps, &title));
        }
        for (number, step) in (1..).zip(&steps) {
            advance(&mut picture, step);
            if self.steps {
                self.output(&picture, Some(number))?;
            }
        }
        if !self.steps {
            let leaves = solved.counts.leaves;
            let what = format!("{}, leaves evaluated: {leaves}", algorithm.name());
            picture.caption = Caption::new(what, String::new());
            self.output(&picture, None)?;
        }
        Ok(())
    }
}
