//! Writes a network made by rule instead of training, for builds and measurements that want no
//! trained one:
//!
//!     cargo run --example synthetic_net material 64 material.pnn
//!     cargo run --example synthetic_net random 512 random.pnn

use std::path::Path;
use std::process::ExitCode;

use pleach::nnue::synthetic;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [kind, hidden, path] = arguments.as_slice() else {
        eprintln!("three arguments: material or random, the hidden width, the file to write");
        return ExitCode::FAILURE;
    };
    let net = match (kind.as_str(), hidden.parse()) {
        ("material", Ok(hidden)) => synthetic::material(hidden),
        ("random", Ok(hidden)) => synthetic::random(hidden, 1),
        _ => {
            eprintln!("no such network: {kind} {hidden}");
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
