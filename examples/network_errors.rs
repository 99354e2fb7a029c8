//! How far a network is from the labels of a file of positions:
//!
//!     cargo run --release --example network_errors net.pnn positions.pos.zst
//!
//! The labels are a teacher's without its factor by material (`pleach label --teacher`), as the
//! networks of today learn them. The network must have the width of the build. Positions without
//! a label and positions in check are passed over.

use std::ops::Range;
use std::path::Path;
use std::process::ExitCode;

use anyhow::ensure;
use pleach::nnue::Network;
use pleach::record::PositionReader;
use pleach::types::Color;

/// Centipawns at which the loss expects 73 %: `--loss-scale` of the latest runs.
const LOSS_SCALE: f64 = 130.0;
/// The score of a position without a label.
const NO_SCORE: i16 = i16::MAX;
/// Bands of labels, in centipawns either way.
const BANDS: [Range<f64>; 5] = [
    0.0..50.0,
    50.0..100.0,
    100.0..200.0,
    200.0..400.0,
    400.0..f64::INFINITY,
];
/// Numbers of pieces that share an output bucket.
const PIECES_A_BUCKET: usize = 4;
/// Shares of the positions, worst first, whose part of the loss is shown.
const WORST: [f64; 5] = [0.01, 0.05, 0.1, 0.25, 0.5];

/// A position as the network and the teacher see it, in centipawns for the side to move.
struct Error {
    label: f64,
    /// What the network says more than the label.
    difference: f64,
    /// Squared error of the expected result.
    loss: f64,
    pieces: usize,
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, positions] = arguments.as_slice() else {
        eprintln!("two arguments: a network file and a file of labelled positions");
        return ExitCode::FAILURE;
    };
    match errors(Path::new(network), Path::new(positions)) {
        Ok(errors) if !errors.is_empty() => {
            show(errors);
            ExitCode::SUCCESS
        }
        Ok(_) => {
            eprintln!("{positions}: no position with a label");
            ExitCode::FAILURE
        }
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn errors(network: &Path, positions: &Path) -> anyhow::Result<Vec<Error>> {
    let net = Network::load(network)?;
    ensure!(
        net.is_bare(),
        "{}: evaluates with the factor for material, which labels leave out",
        network.display()
    );
    let mut errors = Vec::new();
    for record in PositionReader::open(positions)? {
        let record = record?;
        let position = record.board.unpack()?;
        if record.score == NO_SCORE || position.in_check() {
            continue;
        }
        let white = f64::from(record.score);
        let label = match position.turn() {
            Color::White => white,
            Color::Black => -white,
        };
        let output = f64::from(net.evaluate(&position));
        errors.push(Error {
            label,
            difference: output - label,
            loss: (expected(output) - expected(label)).powi(2),
            pieces: position.board().occupied().count(),
        });
    }
    Ok(errors)
}

/// The expected result at a score.
fn expected(score: f64) -> f64 {
    1.0 / (1.0 + (-score / LOSS_SCALE).exp())
}

fn mean(values: impl ExactSizeIterator<Item = f64>) -> f64 {
    let count = values.len().max(1) as f64;
    values.sum::<f64>() / count
}

fn show(mut errors: Vec<Error>) {
    let loss = mean(errors.iter().map(|error| error.loss));
    let whole = loss * errors.len() as f64;
    println!("{} positions, loss {loss:.6}", errors.len());

    println!("\nlabel         share of positions   of the loss   error: root mean square   median");
    for band in BANDS {
        let within = |error: &&Error| band.contains(&error.label.abs());
        let members: Vec<&Error> = errors.iter().filter(within).collect();
        let mut sizes: Vec<f64> = members.iter().map(|error| error.difference.abs()).collect();
        sizes.sort_by(f64::total_cmp);
        println!(
            "{:>4} to {:>4} {:>20.3} {:>13.3} {:>25.1} {:>8.1}",
            band.start,
            band.end,
            members.len() as f64 / errors.len() as f64,
            members.iter().map(|error| error.loss).sum::<f64>() / whole,
            mean(sizes.iter().map(|size| size * size)).sqrt(),
            sizes.get(sizes.len() / 2).copied().unwrap_or(0.0),
        );
    }

    println!("\npieces    positions       loss");
    for first in (1..=32).step_by(PIECES_A_BUCKET) {
        let last = first + PIECES_A_BUCKET - 1;
        let within = |error: &&Error| (first..=last).contains(&error.pieces);
        let losses: Vec<f64> = errors.iter().filter(within).map(|e| e.loss).collect();
        let count = losses.len();
        println!(
            "{first:>2} to {last:>2} {count:>10} {:>10.6}",
            mean(losses.into_iter())
        );
    }

    println!("\nworst positions   of the loss");
    errors.sort_by(|a, b| b.loss.total_cmp(&a.loss));
    for share in WORST {
        let count = (errors.len() as f64 * share) as usize;
        let part: f64 = errors[..count].iter().map(|error| error.loss).sum();
        println!("{:>13.0} % {:>13.3}", 100.0 * share, part / whole);
    }
}
