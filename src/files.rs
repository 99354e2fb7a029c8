//! Files that are written whole or not at all.
//!
//! A [`PendingFile`] is written under a temporary name beside its place and moved there when it
//! is complete and on the disk. Whatever fails before that (an error, a kill, a power cut) leaves
//! what was there before untouched, and two programs that write the same file never mix their
//! bytes. A killed program may leave a hidden file `.NAME.XXXXXX.tmp` behind.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

use tempfile::{Builder, NamedTempFile};

/// What other programs call standard output.
pub const STANDARD_OUTPUT: &str = "-";

/// A file that takes its name when [`PendingFile::commit`] is called; dropped before, it is
/// removed.
#[derive(Debug)]
pub struct PendingFile(FileTarget);

#[derive(Debug)]
enum FileTarget {
    Temporary {
        file: NamedTempFile,
        path: PathBuf,
    },
    /// Devices and pipes can't be replaced: bytes go straight to them.
    Direct(File),
}

impl PendingFile {
    /// Begins a file that will be `path`. A symbolic link to a file stays one: the file that it names
    /// is replaced. A link to nothing is replaced itself.
    ///
    /// # Errors
    /// The folder does not exist or can't be written to, or the path is what other programs call
    /// standard output.
    pub fn create(path: &Path) -> io::Result<PendingFile> {
        if path.as_os_str() == STANDARD_OUTPUT {
            let why = "standard output cannot be written to: name a file";
            return Err(io::Error::new(io::ErrorKind::InvalidInput, why));
        }
        let path = match fs::metadata(path) {
            Ok(data) if data.is_dir() => {
                return Err(io::Error::new(io::ErrorKind::IsADirectory, "a folder"));
            }
            Ok(data) if !data.is_file() => {
                return File::options()
                    .write(true)
                    .open(path)
                    .map(|file| PendingFile(FileTarget::Direct(file)));
            }
            Ok(_) => fs::canonicalize(path)?,
            Err(_) => path.to_path_buf(),
        };
        let name = path
            .file_name()
            .ok_or_else(|| io::Error::new(io::ErrorKind::InvalidInput, "no file name"))?;
        let prefix = format!(".{}.", name.to_string_lossy());
        let mut builder = Builder::new();
        builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        {
            use std::os::unix::fs::PermissionsExt as _;
            /// As ordinary files are made; the user's mask takes its bits away.
            const ORDINARY: u32 = 0o666;
            builder.permissions(fs::Permissions::from_mode(ORDINARY));
        }
        // A missing folder's error should not name the temporary file.
        fs::metadata(folder_of(&path))?;
        let file = builder.tempfile_in(folder_of(&path))?;
        Ok(PendingFile(FileTarget::Temporary { file, path }))
    }

    /// Flushes the bytes to the disk and gives the file its name.
    ///
    /// # Errors
    /// The disk is full, or the folder was removed or made read-only meanwhile: the temporary file
    /// is removed then. Or the folder's list of names can't be written: the file has its name, but
    /// a power cut may take it away again.
    pub fn commit(self) -> io::Result<()> {
        match self.0 {
            FileTarget::Direct(mut file) => file.flush(),
            FileTarget::Temporary { file, path } => {
                file.as_file().sync_all()?;
                file.persist(&path).map_err(|error| error.error)?;
                sync_folder(folder_of(&path))
            }
        }
    }
}

impl Write for PendingFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match &mut self.0 {
            FileTarget::Temporary { file, .. } => file.write(bytes),
            FileTarget::Direct(file) => file.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match &mut self.0 {
            FileTarget::Temporary { file, .. } => file.flush(),
            FileTarget::Direct(file) => file.flush(),
        }
    }
}

/// Writes a file whole or not at all.
///
/// # Errors
/// As [`PendingFile::create`] and [`PendingFile::commit`], or what `write` returns.
pub fn write_whole(
    path: &Path,
    write: impl FnOnce(&mut BufWriter<PendingFile>) -> io::Result<()>,
) -> io::Result<()> {
    let mut file = BufWriter::new(PendingFile::create(path)?);
    write(&mut file)?;
    file.into_inner()?.commit()
}

/// Replaces a file by `bytes`, whole or not at all.
///
/// # Errors
/// As [`write_whole`].
pub fn replace(path: &Path, bytes: &[u8]) -> io::Result<()> {
    write_whole(path, |file| file.write_all(bytes))
}

/// Whether two paths name the same existing file.
#[must_use]
pub fn are_same(one: &Path, other: &Path) -> bool {
    match (fs::canonicalize(one), fs::canonicalize(other)) {
        (Ok(one), Ok(other)) => one == other,
        _ => false,
    }
}

fn folder_of(path: &Path) -> &Path {
    match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        _ => Path::new("."),
    }
}

/// Flushes the folder's list of names to the disk, where the system can do that.
fn sync_folder(folder: &Path) -> io::Result<()> {
    if !cfg!(unix) {
        return Ok(());
    }
    match File::open(folder).and_then(|folder| folder.sync_all()) {
        Err(error) if is_impossible(&error) => Ok(()),
        result => result,
    }
}

/// Whether an error says that this folder can't be flushed by anyone, or not by this user, who may
/// write to it but not read it. Some file systems say so by `EBADF`, as if the open folder were no
/// file.
fn is_impossible(error: &io::Error) -> bool {
    const EBADF: i32 = 9;
    let kinds = [
        io::ErrorKind::InvalidInput,
        io::ErrorKind::Unsupported,
        io::ErrorKind::PermissionDenied,
    ];
    kinds.contains(&error.kind()) || error.raw_os_error() == Some(EBADF)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(folder: &Path) -> Vec<String> {
        let mut names: Vec<String> = fs::read_dir(folder)
            .expect("a folder")
            .map(|entry| entry.expect("an entry").file_name())
            .map(|name| name.to_string_lossy().into_owned())
            .collect();
        names.sort();
        names
    }

    #[test]
    fn a_file_appears_when_it_is_complete() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        fs::write(&path, "old").expect("written");
        let mut file = PendingFile::create(&path).expect("a file");
        file.write_all(b"new").expect("written");
        assert_eq!(fs::read(&path).expect("the old file"), b"old");
        file.commit().expect("committed");
        assert_eq!(fs::read(&path).expect("the new file"), b"new");
        assert_eq!(names(folder.path()), ["data"]);
    }

    #[test]
    fn what_is_given_up_leaves_no_trace() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        fs::write(&path, "old").expect("written");
        let mut file = PendingFile::create(&path).expect("a file");
        file.write_all(b"half").expect("written");
        drop(file);
        assert_eq!(fs::read(&path).expect("the old file"), b"old");
        assert_eq!(names(folder.path()), ["data"]);
    }

    #[test]
    fn two_writers_never_mix() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("data");
        let mut one = PendingFile::create(&path).expect("a file");
        let mut other = PendingFile::create(&path).expect("another");
        for _ in 0..3 {
            one.write_all(b"a").expect("written");
            other.write_all(b"b").expect("written");
        }
        one.commit().expect("committed");
        assert_eq!(fs::read(&path).expect("a file"), b"aaa");
        other.commit().expect("committed");
        assert_eq!(fs::read(&path).expect("a file"), b"bbb");
    }

    #[cfg(unix)]
    #[test]
    fn links_and_devices_stay_what_they_are() {
        let folder = tempfile::tempdir().expect("a folder");
        let (path, link) = (folder.path().join("data"), folder.path().join("link"));
        fs::write(&path, "old").expect("written");
        std::os::unix::fs::symlink("data", &link).expect("a link");
        replace(&link, b"new").expect("replaced");
        assert_eq!(fs::read(&path).expect("a file"), b"new");
        assert!(fs::symlink_metadata(&link).expect("a link").is_symlink());
        assert!(are_same(&path, &link));
        assert!(!are_same(&path, &folder.path().join("none")));
        let failing = |file: &mut BufWriter<PendingFile>| {
            file.write_all(b"half")?;
            Err(io::Error::from(io::ErrorKind::StorageFull))
        };
        assert!(write_whole(&path, failing).is_err());
        assert_eq!(fs::read(&path).expect("a file"), b"new");
        replace(Path::new("/dev/null"), b"gone").expect("written");
        assert!(!fs::metadata("/dev/null").expect("a device").is_file());
    }

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_replaced() {
        let folder = tempfile::tempdir().expect("a folder");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink("none", &link).expect("a link");
        replace(&link, b"new").expect("replaced");
        assert_eq!(fs::read(&link).expect("a file"), b"new");
        assert_eq!(names(folder.path()), ["link"]);
    }

    #[cfg(unix)]
    #[test]
    fn folders_that_cannot_be_flushed_are_no_error() {
        // As Linux numbers them: EIO, EBADF, EINVAL, ENOSPC, EOPNOTSUPP.
        let impossible = [5, 9, 22, 28, 95].map(|code| {
            let error = io::Error::from_raw_os_error(code);
            is_impossible(&error)
        });
        let [io, badf, inval, full, unsupported] = impossible;
        assert!(badf && inval && (unsupported || !cfg!(target_os = "linux")));
        assert!(!io && !full);
    }

    #[test]
    fn impossible_places_are_errors() {
        let folder = tempfile::tempdir().expect("a folder");
        assert!(PendingFile::create(folder.path()).is_err());
        assert!(PendingFile::create(&folder.path().join("none/data")).is_err());
        assert!(PendingFile::create(Path::new("/")).is_err());
    }
}
