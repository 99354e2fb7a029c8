//! What an experiment is made on: a game, a chess position, or a tree written as text.

use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use clap::{Args, ValueEnum};

use crate::board::{open_input, read_text};
use crate::cli::position::position;
use crate::files::are_same;
use crate::lab::games::chess::InitialOrder;
use crate::lab::games::{ChessGame, Explicit, Kalah, RandomTree, TicTacToe};
use crate::lab::{GameTree, MAX_DEPTH, ValueWindow};

/// The games to choose from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum GameName {
    Chess,
    Kalah,
    Tictactoe,
    Random,
}

/// Seeds in each house at the start of a usual game of Kalah.
const USUAL_SEEDS: u8 = 4;
/// The most successors of a node of a random tree, many times those of a chess position.
const MOST_SUCCESSORS: i64 = 10_000;

/// Which tree to search.
#[derive(Args)]
pub(super) struct Subject {
    /// The game; chess by default
    #[arg(long)]
    game: Option<GameName>,
    /// Chess: the position, in quotes: a FEN, an EPD line, startpos (the default) or moves
    #[arg(long)]
    fen: Option<String>,
    /// Chess: castling by the rules of Chess960
    #[arg(long)]
    chess960: bool,
    /// A tree written as text, instead of a game
    #[arg(long, value_name = "FILE")]
    tree: Option<PathBuf>,
    /// Chess: search moves as generated, not captures first
    #[arg(long)]
    unordered: bool,
    /// Kalah: seeds in each house [default: 4]
    #[arg(long, value_parser = clap::value_parser!(u8).range(1..=18))]
    seeds: Option<u8>,
    /// Random tree: successors of a node [default: 6]
    #[arg(long, value_parser = clap::value_parser!(u32).range(1..=MOST_SUCCESSORS))]
    branching: Option<u32>,
    /// Random tree: plies to its leaves [default: the search depth]
    #[arg(long, value_parser = clap::value_parser!(u32).range(0..=i64::from(MAX_DEPTH)))]
    height: Option<u32>,
    /// Random tree: values lie between minus this and this [default: 100]
    #[arg(long, value_parser = clap::value_parser!(i32).range(0..=100_000))]
    range: Option<i32>,
    /// Random tree: the share of nodes (0 to 1) whose best move comes first [default: 0.8]
    #[arg(long)]
    quality: Option<f64>,
    /// Random tree: by how much values above the leaves may be wrong [default: 20]
    #[arg(long, value_parser = clap::value_parser!(i32).range(0..=100_000))]
    noise: Option<i32>,
    /// Random tree: another number gives another tree [default: 1]
    #[arg(long)]
    seed: Option<u64>,
}

/// The subject of an experiment, as far as it does not depend on the kind of game.
pub(super) struct SubjectInfo {
    /// What to call it.
    pub title: String,
    /// Plies to search.
    pub depth: u32,
    /// The root's window that a tree's text sets.
    pub window: Option<ValueWindow>,
}

/// An operation on any of the games.
pub(super) trait Visitor {
    fn visit<G: GameTree>(&self, game: &G, found: SubjectInfo) -> anyhow::Result<()>;
}

impl Subject {
    /// Shows the chosen game to `visitor`. `file` is a tree's file from elsewhere than `--tree`;
    /// without a `depth` a file's tree is searched whole and a game to `default_depth`.
    ///
    /// # Errors
    /// Options that belong to another game, unreadable trees, wrong positions, and the visitor's.
    pub(super) fn show(
        &self,
        file: Option<&Path>,
        depth: Option<u32>,
        default_depth: u32,
        visitor: &impl Visitor,
    ) -> anyhow::Result<()> {
        ensure!(
            file.is_none() || self.tree.is_none(),
            "two trees are given, one by --tree: leave one out"
        );
        let file = file.or(self.tree.as_deref());
        self.check(file.is_some())?;
        if let Some(path) = file {
            let tree = read_tree(path)?;
            // There is nothing below its leaves, and measures should not count more plies.
            let depth = depth.unwrap_or(u32::MAX).min(tree.height());
            let found = SubjectInfo {
                title: path.display().to_string(),
                depth,
                window: tree.window(),
            };
            return visitor.visit(&tree, found);
        }
        let depth = depth.unwrap_or(default_depth);
        let found = |title| SubjectInfo {
            title,
            depth,
            window: None,
        };
        match self.game() {
            GameName::Chess => {
                let start = position(self.fen.as_deref().unwrap_or("startpos"), self.chess960)?;
                let title = format!("chess, {}", start.fen());
                let mut game = ChessGame::new(start);
                if self.unordered {
                    game.order = InitialOrder::Generated;
                }
                visitor.visit(&game, found(title))
            }
            GameName::Kalah => {
                let seeds = self.seeds.unwrap_or(USUAL_SEEDS);
                let title = format!("Kalah with {seeds} seeds a house");
                visitor.visit(&Kalah { seeds }, found(title))
            }
            GameName::Tictactoe => visitor.visit(&TicTacToe, found("tic-tac-toe".to_owned())),
            GameName::Random => {
                let tree = self.random(depth)?;
                let title = format!(
                    "random tree, branching {}, best move first in {:.0}% or by chance, seed {}",
                    tree.branching,
                    100.0 * tree.quality,
                    tree.seed
                );
                visitor.visit(&tree, found(title))
            }
        }
    }

    /// Refuses an output that would replace the tree's own file.
    ///
    /// # Errors
    /// If one of `outputs` is that file.
    pub(super) fn ensure_kept(
        &self,
        file: Option<&Path>,
        outputs: &[&Option<PathBuf>],
    ) -> anyhow::Result<()> {
        let Some(tree) = file.or(self.tree.as_deref()) else {
            return Ok(());
        };
        let replaced = outputs.iter().any(|output| {
            let output = output.as_deref();
            output.is_some_and(|output| are_same(tree, output))
        });
        ensure!(!replaced, "{} would be written over", tree.display());
        Ok(())
    }

    fn game(&self) -> GameName {
        self.game.unwrap_or(GameName::Chess)
    }

    fn random(&self, depth: u32) -> anyhow::Result<RandomTree> {
        let usual = RandomTree::default();
        let quality = self.quality.unwrap_or(usual.quality);
        ensure!(
            (0.0..=1.0).contains(&quality),
            "--quality is a share, from 0 to 1"
        );
        Ok(RandomTree {
            branching: self.branching.unwrap_or(usual.branching),
            depth: self.height.unwrap_or(depth),
            range: self.range.unwrap_or(usual.range),
            quality,
            noise: self.noise.unwrap_or(usual.noise),
            seed: self.seed.unwrap_or(usual.seed),
        })
    }

    /// Refuses options that would have no effect.
    fn check(&self, is_file: bool) -> anyhow::Result<()> {
        let random = [
            ("--branching", self.branching.is_some()),
            ("--height", self.height.is_some()),
            ("--range", self.range.is_some()),
            ("--quality", self.quality.is_some()),
            ("--noise", self.noise.is_some()),
            ("--seed", self.seed.is_some()),
        ];
        let chess = [
            ("--fen", self.fen.is_some()),
            ("--chess960", self.chess960),
            ("--unordered", self.unordered),
        ];
        let kalah = [("--seeds", self.seeds.is_some())];
        if is_file {
            let game = [("--game", self.game.is_some())];
            let all = random.iter().chain(&chess).chain(&kalah).chain(&game);
            if let Some((name, _)) = all.into_iter().find(|(_, given)| *given) {
                bail!("{name} has no effect on a tree read from a file: leave one of them out");
            }
            return Ok(());
        }
        let rules: [(_, _, &[_]); 3] = [
            (GameName::Random, "random", &random),
            (GameName::Chess, "chess", &chess),
            (GameName::Kalah, "kalah", &kalah),
        ];
        for (game, word, options) in rules {
            let given = options.iter().find(|(_, given)| *given);
            if let (Some((name, _)), true) = (given, game != self.game()) {
                bail!("{name} only goes with --game {word}");
            }
        }
        Ok(())
    }
}

/// Reads a tree written as text.
fn read_tree(path: &Path) -> anyhow::Result<Explicit> {
    let shown = path.display();
    let text = open_input(path)
        .and_then(read_text)
        .with_context(|| format!("can't read {shown}"))?;
    Explicit::parse(&text).with_context(|| {
        format!(
            "{shown} does not hold a tree (such as \"((4 6) (2 9))\"; \
             the book's chapter on minimax describes the format)"
        )
    })
}
