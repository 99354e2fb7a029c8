//! `pleach chances`: the model of win, draw and loss from recorded games.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::{Context as _, ensure};
use clap::Args;

use super::CommandResult;
use crate::chances::{ChancesModel, MODEL, Tally};
use crate::record::{GameReader, GameRecord, holds_positions};
use crate::types::EVEN_CHANCE;

/// One game in this many is held out of the fit and measures its error.
const HELD_OUT: u64 = 10;

/// Fits the model of win, draw and loss to recorded games and measures it on held-out ones.
#[derive(Args, Debug)]
pub struct Arguments {
    /// Files of games in viriformat with the engine's own scores, plain or zstd
    #[arg(required = true)]
    games: Vec<PathBuf>,
}

/// Runs the subcommand.
///
/// # Errors
/// If a file cannot be read or the games are too few.
pub fn run(arguments: &Arguments) -> CommandResult {
    let mut fitted = Tally::default();
    let mut held_out = Tally::default();
    let mut games = 0u64;
    for path in &arguments.games {
        // A pipe can be read only once.
        ensure!(
            !(path.is_file() && holds_positions(path)?),
            "{} holds single positions; games are needed",
            path.display()
        );
        let mut reader = GameReader::open(path)?;
        let mut game = GameRecord::empty();
        let name = || path.display().to_string();
        while reader.read_into(&mut game).with_context(name)? {
            games += 1;
            if games.is_multiple_of(HELD_OUT) {
                held_out.add(&game);
            } else {
                fitted.add(&game);
            }
        }
    }
    let fit = fitted.fit()?;
    let mut out = io::stdout().lock();
    writeln!(
        out,
        "{games} games; fitted on {} positions, held out {}.",
        fit.positions,
        held_out.positions()
    )?;
    show(&mut out, "This fit", &fit.model, &held_out)?;
    show(&mut out, "Built in", &MODEL, &held_out)?;
    writeln!(
        out,
        "Half of the games are won from the start of a game at {:.0} cp; {EVEN_CHANCE} cp are shown as +1.00.",
        fit.even_at_start()
    )?;
    Ok(true)
}

fn show(
    out: &mut impl io::Write,
    name: &str,
    model: &ChancesModel,
    held_out: &Tally,
) -> io::Result<()> {
    /// Where the curves are shown.
    const MATERIALS: [u32; 4] = [78, 58, 38, 18];
    const PERCENT: f64 = 100.0;
    writeln!(out, "{name}:")?;
    writeln!(out, "    even: {:?},", model.even)?;
    writeln!(out, "    spread: {:?},", model.spread)?;
    for material in MATERIALS {
        let (even, spread) = model.curves(material);
        writeln!(
            out,
            "    material {material}: half of the games won at {even:.0} cp, spread {spread:.0} cp"
        )?;
    }
    writeln!(
        out,
        "    held-out error: {:.2} % of the expected result, {:.2} % of the three shares",
        PERCENT * held_out.error(model),
        PERCENT * held_out.share_error(model)
    )
}
