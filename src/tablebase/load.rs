//! From the option's text to tables: folders are read, files are checked, and what is missing or
//! damaged is reported.

use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::{self, Read as _};
use std::path::{Path, PathBuf};
use std::sync::Mutex;

use shakmaty::{Board, Piece, Setup};
use shakmaty_syzygy::{Metric, SyzygyError, Tablebase};

use super::{Damage, Tablebases};
use crate::types::{CastlingMode, Chess, Color, Role, Square};

/// Extensions and first four bytes of the two kinds of table.
const WDL: (&str, [u8; 4]) = ("rtbw", [0x71, 0xe8, 0x23, 0x5d]);
const DTZ: (&str, [u8; 4]) = ("rtbz", [0xd7, 0x66, 0x0c, 0xa5]);
/// Tables of up to this many pieces are probed once when they are found; there are hundreds of
/// them, and thousands of larger ones, which would take long on a slow disk.
const PROBED_AT_ONCE: usize = 5;
/// Positions tried on each table: enough that a file cut in half is almost surely noticed.
const TRIALS: usize = 16;

/// A table's file.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct TableFile {
    /// The pieces, such as `KQvKR`.
    name: String,
    extension: &'static str,
    path: PathBuf,
}

impl TableFile {
    /// Pieces, kings included.
    fn pieces(&self) -> usize {
        self.name.len() - 1
    }

    fn file_name(&self) -> String {
        format!("{}.{}", self.name, self.extension)
    }
}

impl Tablebases {
    /// Finds the tables in folders, whose names are separated as the platform separates paths
    /// (`:`; on Windows `;`). Folders inside them are not searched. With the tables come remarks
    /// for the user: folders that cannot be read, files that are damaged.
    #[must_use]
    pub fn load(path: &str) -> (Tablebases, Vec<String>) {
        let mut remarks = Vec::new();
        let mut files = Vec::new();
        for folder in std::env::split_paths(path) {
            if folder.as_os_str().is_empty() {
                continue;
            }
            if let Err(error) = list(&folder, &mut files, &mut remarks) {
                remarks.push(format!(
                    "cannot read the folder of tablebases {}: {error}",
                    folder.display()
                ));
            }
        }
        let (mut tables, mut added) = open(files, &mut remarks);
        let damaged = damaged_files(&tables, &added);
        if !damaged.is_empty() {
            let (whole, broken): (Vec<_>, Vec<_>) = added
                .into_iter()
                .partition(|file| !damaged.iter().any(|(name, _)| *name == file.file_name()));
            for (name, reason) in &damaged {
                let paths = broken.iter().filter(|file| file.file_name() == *name);
                remarks.extend(paths.map(|file| left_out(&file.path, reason)));
            }
            (tables, added) = open(whole, &mut remarks);
        }
        let of = |extension| added.iter().filter(move |file| file.extension == extension);
        let found = Tablebases {
            tables,
            wdl_files: of(WDL.0).count(),
            dtz_files: of(DTZ.0).count(),
            most_pieces: of(WDL.0).map(TableFile::pieces).max().unwrap_or(0) as u32,
            damage: Mutex::new(Damage::default()),
        };
        (found, remarks)
    }
}

fn left_out(path: &Path, reason: &str) -> String {
    format!("tablebase {} left out: {reason}", path.display())
}

/// Appends the tables in a folder; files with wrong first bytes are reported instead.
fn list(folder: &Path, files: &mut Vec<TableFile>, remarks: &mut Vec<String>) -> io::Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(folder)?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<io::Result<_>>()?;
    paths.sort();
    for path in paths {
        let Some((extension, magic)) = [WDL, DTZ]
            .into_iter()
            .find(|(extension, _)| path.extension().is_some_and(|own| own == *extension))
        else {
            continue;
        };
        let Some(name) = path.file_stem().and_then(|stem| stem.to_str()) else {
            continue;
        };
        match first_bytes(&path) {
            Ok(bytes) if bytes == magic => files.push(TableFile {
                name: name.to_owned(),
                extension,
                path,
            }),
            Ok(_) => remarks.push(left_out(&path, "this is no Syzygy table")),
            Err(error) => remarks.push(left_out(&path, &error.to_string())),
        }
    }
    Ok(())
}

fn first_bytes(path: &Path) -> io::Result<[u8; 4]> {
    // To open a named pipe would wait for someone to write to it.
    if !fs::metadata(path)?.is_file() {
        return Err(io::Error::other("not a file"));
    }
    let mut bytes = [0; 4];
    File::open(path)?.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Adds files to a new collection; the first file of a name counts. Returns those that were
/// added.
fn open(files: Vec<TableFile>, remarks: &mut Vec<String>) -> (Tablebase<Chess>, Vec<TableFile>) {
    let mut tables = new_collection();
    let mut names = BTreeSet::new();
    let mut added = Vec::new();
    for file in files {
        if !names.insert(file.file_name()) {
            continue;
        }
        match tables.add_file(&file.path) {
            Ok(()) => added.push(file),
            Err(error) => remarks.push(left_out(&file.path, &error.to_string())),
        }
    }
    (tables, added)
}

/// Files are mapped into memory where address space is plentiful: a probe then costs no system
/// call, and no file stays open.
#[cfg(target_pointer_width = "64")]
#[expect(unsafe_code, reason = "shakmaty-syzygy's constructor for mapped files")]
fn new_collection() -> Tablebase<Chess> {
    // SAFETY: the caller has to guarantee that files are not changed while they are mapped, and
    // to accept that a disk error ends the process. Tables are never written after they were
    // downloaded, and every engine that maps them makes the same choice.
    unsafe { Tablebase::with_mmap_filesystem() }
}

#[cfg(not(target_pointer_width = "64"))]
fn new_collection() -> Tablebase<Chess> {
    Tablebase::new()
}

/// Probes each of the smaller tables and returns those that cannot be read, with the reason.
fn damaged_files(tables: &Tablebase<Chess>, files: &[TableFile]) -> Vec<(String, String)> {
    let mut found: Vec<(String, String)> = Vec::new();
    let mut note = |error: &SyzygyError| {
        if let Some((name, reason)) = damaged(error)
            && !found.iter().any(|(known, _)| *known == name)
        {
            found.push((name, reason));
        }
    };
    let mut names: Vec<&str> = files
        .iter()
        .filter(|file| file.pieces() <= PROBED_AT_ONCE)
        .map(|file| file.name.as_str())
        .collect();
    names.sort_unstable();
    names.dedup();
    for name in names {
        for chess in trial_positions(name) {
            // The distance is probed as well where there is one; both errors name the table.
            if let Err(error) = tables.probe_wdl_after_zeroing(&chess) {
                note(&error);
            }
            if let Err(error) = tables.probe_dtz(&chess) {
                note(&error);
            }
        }
    }
    found
}

/// The file name of the table that an error calls damaged, and the reason.
pub(super) fn damaged(error: &SyzygyError) -> Option<(String, String)> {
    let SyzygyError::ProbeFailed {
        metric,
        material,
        error,
    } = error
    else {
        return None;
    };
    let extension = match metric {
        Metric::Wdl => WDL.0,
        Metric::Dtz => DTZ.0,
    };
    Some((format!("{material}.{extension}"), error.to_string()))
}

/// A few legal positions with the pieces that a table's name lists, the same on every run.
fn trial_positions(name: &str) -> Vec<Chess> {
    /// Attempts at placing the pieces for each position wanted; most succeed.
    const ATTEMPTS: usize = 20;
    let mut random = fastrand::Rng::with_seed(name.bytes().map(u64::from).sum());
    let mut positions = Vec::with_capacity(TRIALS);
    for _ in 0..TRIALS * ATTEMPTS {
        if positions.len() == TRIALS {
            break;
        }
        let turn = if random.bool() {
            Color::White
        } else {
            Color::Black
        };
        positions.extend(scattered(name, turn, &mut random));
    }
    positions
}

/// The pieces on random squares, if that makes a legal position.
fn scattered(name: &str, turn: Color, random: &mut fastrand::Rng) -> Option<Chess> {
    let mut board = Board::empty();
    let (white, black) = name.split_once('v')?;
    for (color, side) in [(Color::White, white), (Color::Black, black)] {
        for letter in side.chars() {
            let role = Role::from_char(letter)?;
            let square = Square::new(random.u32(..64));
            if board.occupied().contains(square) {
                return None;
            }
            board.set_piece_at(square, Piece { color, role });
        }
    }
    let mut setup = Setup::empty();
    setup.board = board;
    setup.turn = turn;
    setup.position(CastlingMode::Standard).ok()
}
