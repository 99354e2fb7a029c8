//! The `pleach` binary; everything happens in the library.

use std::process::ExitCode;

fn main() -> ExitCode {
    pleach::cli::run()
}
