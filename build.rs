//! Embeds a network: checks the file, then tells the crate its width and its path.
//!
//! The file is `EVALFILE` from the environment if that is set (absolute, or relative to the
//! package), otherwise the single `nets/*.pnn`. The width of the hidden layer becomes a constant
//! of the build, so that the kernels know it. Writes only to `OUT_DIR`.

use std::env;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};

#[allow(dead_code)]
#[path = "src/nnue/format.rs"]
mod format;
#[allow(dead_code)]
#[path = "src/hash.rs"]
mod hash;

/// Extension of network files in `nets/`.
const EXTENSION: &str = "pnn";

fn main() -> Result<(), Box<dyn Error>> {
    let package = PathBuf::from(env::var("CARGO_MANIFEST_DIR")?);
    println!("cargo:rerun-if-env-changed=EVALFILE");
    println!("cargo:rerun-if-changed=build.rs");
    println!("cargo:rerun-if-changed=src/nnue/format.rs");
    println!("cargo:rerun-if-changed=src/hash.rs");
    let path = match env::var_os("EVALFILE").filter(|path| !path.is_empty()) {
        Some(path) => package.join(path),
        None => shipped_network(&package.join("nets"))?,
    };
    println!("cargo:rerun-if-changed={}", path.display());
    let net = load_header(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let source = format!(
        "/// Width of the hidden layer: that of the network embedded in this build.\n\
         pub const HIDDEN: usize = {};\n\
         /// The embedded network's file.\n\
         pub(super) static EMBEDDED: &[u8] = include_bytes!({:?});\n",
        net.hidden,
        path.canonicalize()?,
    );
    fs::write(
        PathBuf::from(env::var("OUT_DIR")?).join("network.rs"),
        source,
    )?;
    Ok(())
}

/// The header of a network file that is neither cut off nor damaged; whether its architecture is
/// known is not asked.
fn load_header(path: &Path) -> Result<format::Header, Box<dyn Error>> {
    let bytes = fs::read(path)?;
    let header = format::Header::parse(&bytes)?;
    header.check(&bytes[format::HEADER_BYTES..])?;
    Ok(header)
}

/// The one network file in `nets/`: none or several would leave the choice to chance.
fn shipped_network(nets: &Path) -> Result<PathBuf, Box<dyn Error>> {
    println!("cargo:rerun-if-changed={}", nets.display());
    let mut found = Vec::new();
    for entry in fs::read_dir(nets)? {
        let path = entry?.path();
        if path
            .extension()
            .is_some_and(|extension| extension == EXTENSION)
        {
            found.push(path);
        }
    }
    match found.as_slice() {
        [path] => Ok(path.clone()),
        _ => Err(format!(
            "expected exactly one .{EXTENSION} file in {}, found {}; or set EVALFILE",
            nets.display(),
            found.len()
        )
        .into()),
    }
}
