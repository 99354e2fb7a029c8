//! Where log records go: to stderr as `RUST_LOG` says, and, while the option `Debug Log File`
//! names one, all of them to a file.

use std::fs::File;
use std::io::{self, Write as _};
use std::path::Path;
use std::sync::{Mutex, OnceLock, PoisonError};

use log::{LevelFilter, Log, Metadata, Record};

/// The target of records of the protocol's traffic.
pub const TRAFFIC: &str = "uci";

struct Logger {
    stderr: env_logger::Logger,
    file: Mutex<Option<File>>,
}

static LOGGER: OnceLock<Logger> = OnceLock::new();

impl Logger {
    fn with_file<T>(&self, action: impl FnOnce(&mut Option<File>) -> T) -> T {
        action(&mut self.file.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Log for Logger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        self.stderr.enabled(metadata) || self.with_file(|file| file.is_some())
    }

    fn log(&self, record: &Record<'_>) {
        self.stderr.log(record);
        self.with_file(|file| {
            if let Some(file) = file {
                // There is nowhere to report that the log itself fails.
                let _ = writeln!(
                    file,
                    "{} {}: {}",
                    record.level(),
                    record.target(),
                    record.args()
                );
            }
        });
    }

    fn flush(&self) {
        self.stderr.flush();
    }
}

fn logger() -> &'static Logger {
    LOGGER.get_or_init(|| Logger {
        stderr: env_logger::Builder::from_default_env().build(),
        file: Mutex::new(None),
    })
}

/// Makes this the program's logger; calling it again does nothing.
pub fn install() {
    let logger = logger();
    if log::set_logger(logger).is_ok() {
        log::set_max_level(logger.stderr.filter());
    }
}

/// Logs to this file as well (appending), or no longer to any.
///
/// # Errors
/// If the file cannot be opened; the old one stays.
pub fn redirect(path: Option<&Path>) -> io::Result<()> {
    let logger = logger();
    let opened = match path {
        // Opening a pipe would wait for its reader.
        Some(path) if path.metadata().is_ok_and(|found| !found.is_file()) => {
            return Err(io::Error::other("not a regular file"));
        }
        Some(path) => Some(File::options().create(true).append(true).open(path)?),
        None => None,
    };
    let level = if opened.is_some() {
        LevelFilter::Debug
    } else {
        LevelFilter::Off
    };
    logger.with_file(|file| *file = opened);
    log::set_max_level(level.max(logger.stderr.filter()));
    Ok(())
}
