//! `pleach eval`: the static evaluation of a position.

use std::io::{self, Write as _};
use std::path::PathBuf;

use clap::Args;

use super::{CommandResult, position};
use crate::engine::Engine;
use crate::uci::draw;

#[derive(Args)]
pub struct Arguments {
    /// A FEN or EPD (quotes are optional), startpos, or moves such as 1. e4 e5
    /// [default: startpos]
    position: Vec<String>,
    /// Read the FEN as Chess960
    #[arg(long)]
    chess960: bool,
    /// Evaluate with this network file
    #[arg(long)]
    network: Option<PathBuf>,
}

pub fn run(arguments: &Arguments) -> CommandResult {
    let text = position::joined(&arguments.position);
    let game = position::game(&text, position::mode(arguments.chess960))?;
    let mut engine = Engine::new();
    if let Some(path) = &arguments.network {
        engine.set_network(Some(path))?;
    }
    let end = game.end();
    engine.set_game(game);
    let mut out = io::stdout().lock();
    for line in draw::position(engine.position()) {
        writeln!(out, "{line}")?;
    }
    if let Some(end) = end {
        writeln!(out, "The game is over: {end}.")?;
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
