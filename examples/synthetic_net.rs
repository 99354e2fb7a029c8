//! Writes a network made by rule instead of training, for builds and measurements that want no
//! trained one:
//!
//!     cargo run --example synthetic_net material 64 material.pnn
//!     cargo run --example synthetic_net random 512 random.pnn
//!
//! or gives a single-layer network layers that add nothing to its output yet:
//!
//!     cargo run --example synthetic_net layered material.pnn layered.pnn

use std::path::Path;
use std::process::ExitCode;

use pleach::nnue::single_layer::{HIDDEN_STEP, MAX_HIDDEN};
use pleach::nnue::{QuantisedNet, synthetic};

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, from, path] = arguments.as_slice() else {
        eprintln!(
            "three arguments: material or random, and the hidden width, or layered, and the \
             single-layer network; the file to write"
        );
        return ExitCode::FAILURE;
    };
    let is_width =
        |hidden: &usize| (1..=MAX_HIDDEN).contains(hidden) && hidden.is_multiple_of(HIDDEN_STEP);
    let net = match (kind.as_str(), from.parse().ok().filter(is_width)) {
        ("material", Some(hidden)) => synthetic::material(hidden),
        ("random", Some(hidden)) => synthetic::random(hidden, 1),
        ("layered", _) => match QuantisedNet::load(Path::new(from)) {
            Ok(net) => synthetic::layered(&net, 1),
            Err(error) => {
                eprintln!("{error}");
                return ExitCode::FAILURE;
            }
        },
        _ => {
            eprintln!("no such network: {kind} {from}");
            return ExitCode::FAILURE;
        }
    };
    match net.save(Path::new(path)) {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("{error}");
            ExitCode::FAILURE
        }
    }
}
