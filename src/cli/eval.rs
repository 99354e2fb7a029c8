//! `pleach eval`: the static evaluation of a position.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use super::CommandResult;
use crate::board::Game;
use crate::engine::Engine;
use crate::uci::draw;

#[derive(Args)]
pub struct Arguments {
    /// The position: a FEN in quotes, or startpos
    #[arg(default_value = "startpos")]
    fen: String,
    /// Read the FEN as Chess960
    #[arg(long)]
    chess960: bool,
    /// Evaluate with this network file
    #[arg(long)]
    network: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> CommandResult {
    let position = super::position(&arguments.fen, arguments.chess960)?;
    let mut engine = Engine::new();
    if let Some(path) = &arguments.network {
        engine.set_network(Some(path))?;
    }
    engine.set_game(Game::from(position));
    let mut out = io::stdout().lock();
    for line in draw::position(engine.position()) {
        writeln!(out, "{line}")?;
    }
    let turn = engine.position().turn();
    writeln!(
        out,
        "Evaluation: {} pawns from White's side (network {})",
        engine.static_eval().pawns(turn),
        engine.eval_name()
    )?;
    Ok(true)
}
