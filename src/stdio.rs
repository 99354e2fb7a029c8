//! Standard input and output as a program may find them: not blocking, with a full pipe, or with
//! a reader that is gone.
//!
//! The program that starts this one may have set a pipe or terminal to non-blocking. Reading and
//! writing here wait in that case, as if it were blocking.

use std::fs::File;
use std::io::{self, LineWriter, Read, Write};

/// Standard input, which waits for input also where the descriptor does not block.
#[derive(Debug)]
pub struct Stdin(File);

/// Standard output without a buffer, which waits for room also where the descriptor does not
/// block.
#[derive(Debug)]
pub struct Stdout(File);

/// Standard output by lines, for commands.
///
/// # Errors
/// If there is no standard output.
pub fn stdout() -> io::Result<LineWriter<Stdout>> {
    Stdout::new().map(LineWriter::new)
}

impl Stdin {
    /// # Errors
    /// If there is no standard input.
    pub fn new() -> io::Result<Stdin> {
        system::duplicate_stdin().map(Stdin)
    }
}

impl Read for Stdin {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.0.read(buffer) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    system::wait_readable(&self.0)?;
                }
                result => return result,
            }
        }
    }
}

impl Stdout {
    /// # Errors
    /// If there is no standard output.
    pub fn new() -> io::Result<Stdout> {
        system::duplicate_stdout().map(Stdout)
    }

    /// Whether the reader has closed the pipe. `false` if that is not known.
    #[must_use]
    pub fn is_closed(&self) -> bool {
        system::is_closed(&self.0)
    }

    /// Whether a piece of this length can be written at once. `false` if that is not known.
    #[must_use]
    pub fn has_room(&self, length: usize) -> bool {
        system::has_room(&self.0, length)
    }
}

impl Write for Stdout {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            match self.0.write(bytes) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                    system::wait_writable(&self.0)?;
                }
                result => return result,
            }
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        self.0.flush()
    }
}

#[cfg(unix)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::fd::AsFd;

    use rustix::event::{PollFd, PollFlags, Timespec, poll};

    /// A pipe that can be written to has room for at least so many bytes (POSIX's `PIPE_BUF` is
    /// no less on the systems in use).
    const PIPE_ROOM: usize = 512;
    const AT_ONCE: Timespec = Timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };

    pub fn duplicate_stdin() -> io::Result<File> {
        Ok(io::stdin().as_fd().try_clone_to_owned()?.into())
    }

    pub fn duplicate_stdout() -> io::Result<File> {
        Ok(io::stdout().as_fd().try_clone_to_owned()?.into())
    }

    pub fn wait_readable(file: &File) -> io::Result<()> {
        events(file, PollFlags::IN, None).map(drop)
    }

    pub fn wait_writable(file: &File) -> io::Result<()> {
        events(file, PollFlags::OUT, None).map(drop)
    }

    pub fn is_closed(file: &File) -> bool {
        let gone = PollFlags::ERR | PollFlags::NVAL;
        events(file, PollFlags::empty(), Some(&AT_ONCE)).is_ok_and(|found| found.intersects(gone))
    }

    pub fn has_room(file: &File, length: usize) -> bool {
        length <= PIPE_ROOM
            && events(file, PollFlags::OUT, Some(&AT_ONCE))
                .is_ok_and(|found| found.contains(PollFlags::OUT))
    }

    fn events(file: &File, wanted: PollFlags, timeout: Option<&Timespec>) -> io::Result<PollFlags> {
        let mut polled = [PollFd::new(file, wanted)];
        match poll(&mut polled, timeout) {
            Ok(_) => Ok(polled[0].revents()),
            // A signal came; the caller tries again.
            Err(rustix::io::Errno::INTR) => Ok(PollFlags::empty()),
            Err(error) => Err(error.into()),
        }
    }
}

#[cfg(windows)]
mod system {
    use std::fs::File;
    use std::io;
    use std::os::windows::io::AsHandle;
    use std::time::Duration;

    /// Non-blocking pipes are rare here.
    const PAUSE: Duration = Duration::from_millis(5);

    pub fn duplicate_stdin() -> io::Result<File> {
        Ok(io::stdin().as_handle().try_clone_to_owned()?.into())
    }

    pub fn duplicate_stdout() -> io::Result<File> {
        Ok(io::stdout().as_handle().try_clone_to_owned()?.into())
    }

    pub fn wait_readable(_file: &File) -> io::Result<()> {
        std::thread::sleep(PAUSE);
        Ok(())
    }

    pub fn wait_writable(file: &File) -> io::Result<()> {
        wait_readable(file)
    }

    pub fn is_closed(_file: &File) -> bool {
        false
    }

    pub fn has_room(_file: &File, _length: usize) -> bool {
        false
    }
}
