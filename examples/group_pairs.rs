//! Puts a network's pairs of hidden units in an order in which those active together are neighbours,
//! so that the dense layers pass over more of them. The outputs stay the same.
//!
//!     cargo run --release --example group_pairs net.pnn positions.pos.zst out.pnn
//!
//! `pleach train` ends with the same.

use std::path::Path;
use std::process::ExitCode;

use anyhow::Context as _;
use pleach::hash::fnv1a;
use pleach::nnue::QuantisedNet;
use pleach::nnue::grouping::PairActivity;
use pleach::record::PositionReader;

/// Positions that are looked at.
const SAMPLE: usize = 20_000;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [network, positions, out] = arguments.as_slice() else {
        eprintln!("three arguments: a network file, a file of positions, the file to write");
        return ExitCode::FAILURE;
    };
    match group(Path::new(network), Path::new(positions), Path::new(out)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error:#}");
            ExitCode::FAILURE
        }
    }
}

fn group(network: &Path, positions: &Path, out: &Path) -> anyhow::Result<()> {
    let net = QuantisedNet::load(network).with_context(|| network.display().to_string())?;
    let mut activity = PairActivity::new(net.shape.hidden);
    for record in PositionReader::open(positions)?.take(SAMPLE) {
        activity.observe_position(&net, &record?.board.unpack()?);
    }
    let order = activity.order();
    let as_it_is: Vec<usize> = (0..net.shape.hidden / 2).collect();
    let share = |order: &[usize]| 100.0 * activity.active_groups(order);
    println!(
        "{:.2} % of the groups are not all zero, {:.2} % after",
        share(&as_it_is),
        share(&order)
    );
    let net = net.with_pairs_in_order(&order);
    net.save(out)?;
    println!("network hash {:016x}", fnv1a(&net.to_bytes()));
    Ok(())
}
