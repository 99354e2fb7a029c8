//! Lines of input, whatever bytes a client sends.

use std::io::{self, BufRead};

use crossbeam_channel::Sender;

use super::command::Command;
use crate::engine::StopHandle;
use crate::faults::panic_at;

/// A line may hold a game of three million moves; of a longer one the rest is dropped.
const LONGEST_LINE: u64 = 1 << 24;

/// A longer line is not parsed to see whether it is `stop` or `quit`.
const LONGEST_SIGNAL: usize = 80;

/// Sends each line to the session, until the input or the session ends. Lines that end a search
/// do so at once: on a busy machine it may be some milliseconds before the session's thread runs.
pub fn send_lines(mut input: impl BufRead, session: &Sender<String>, search: &StopHandle) {
    while let Some(line) = read_line(&mut input) {
        panic_at("input", &line);
        if ends_search(&line) {
            search.stop();
        }
        if session.send(line).is_err() {
            return;
        }
    }
}

/// Whether a line is `stop` or `quit`. Such a line concerns the search that runs when it is read,
/// or one whose `go` waits before it and for which the session ends the running search anyway.
fn ends_search(line: &str) -> bool {
    line.len() <= LONGEST_SIGNAL
        && matches!(Command::parse(line), Ok(Command::Stop | Command::Quit))
}

/// The next line without its end, or `None` when there are no more. Bytes that are not UTF-8 are
/// read as Latin-1, in which old clients send paths.
fn read_line(input: &mut impl BufRead) -> Option<String> {
    let mut bytes = Vec::new();
    let read = io::Read::take(&mut *input, LONGEST_LINE).read_until(b'\n', &mut bytes);
    match read {
        Ok(0) | Err(_) => return None,
        Ok(_) => {}
    }
    if bytes.last() != Some(&b'\n') && bytes.len() as u64 >= LONGEST_LINE {
        skip_line(input);
    }
    while matches!(bytes.last(), Some(b'\n' | b'\r')) {
        bytes.pop();
    }
    Some(
        String::from_utf8(bytes)
            .unwrap_or_else(|error| error.into_bytes().into_iter().map(char::from).collect()),
    )
}

/// Drops the rest of a line that is too long to keep.
fn skip_line(input: &mut impl BufRead) {
    while let Ok(buffer) = input.fill_buf() {
        if buffer.is_empty() {
            return;
        }
        let end = buffer.iter().position(|&byte| byte == b'\n');
        let used = end.map_or(buffer.len(), |index| index + 1);
        input.consume(used);
        if end.is_some() {
            return;
        }
    }
}

#[cfg(test)]
mod tests {
    use std::iter;
    use std::time::{Duration, Instant};

    use crossbeam_channel::unbounded;

    use super::*;
    use crate::engine::{Engine, Event, Request};

    #[test]
    fn lines_are_read_whatever_their_bytes() {
        let mut input: &[u8] = b"uci\r\nna\xefve\n\nlast";
        assert_eq!(read_line(&mut input).as_deref(), Some("uci"));
        assert_eq!(read_line(&mut input).as_deref(), Some("na\u{ef}ve"));
        assert_eq!(read_line(&mut input).as_deref(), Some(""));
        assert_eq!(read_line(&mut input).as_deref(), Some("last"));
        assert_eq!(read_line(&mut input), None);
    }

    #[test]
    fn stop_and_quit_end_a_search_however_they_are_written() {
        assert!(ends_search("stop") && ends_search(" quit ") && ends_search("please stop"));
        assert!(!ends_search("") && !ends_search("stopped") && !ends_search("ponderhit"));
        let long = "x".repeat(LONGEST_SIGNAL);
        assert!(!ends_search(&format!("stop {long}")));
    }

    /// Nobody takes the lines here: the search can only have heard of `stop` from the reader.
    #[test]
    fn a_search_ends_before_the_session_has_read_stop() {
        let mut engine = Engine::new();
        let search = engine.stop_handle();
        engine.set_hash(1).expect("idle, and memory for a new pool");
        let (sender, lines) = unbounded();
        let go = |engine: &mut Engine| {
            let infinite = Request {
                infinite: true,
                ..Request::default()
            };
            engine.go(&infinite).expect("a search");
        };
        let ended = |engine: &Engine, timeout| {
            let deadline = Instant::now() + timeout;
            let mut events = iter::from_fn(|| engine.events().recv_deadline(deadline).ok());
            events.any(|event| matches!(event, Event::Finished(_)))
        };
        go(&mut engine);
        send_lines(&b"isready\n"[..], &sender, &search);
        assert!(!ended(&engine, Duration::from_millis(50)));
        send_lines(&b"stop\n"[..], &sender, &search);
        assert!(ended(&engine, Duration::from_secs(60)));
        assert!(lines.try_iter().eq(["isready", "stop"]));
    }

    #[test]
    fn the_rest_of_an_endless_line_is_dropped() {
        let mut text = vec![b'x'; LONGEST_LINE as usize + 10];
        text.extend_from_slice(b"\nisready\n");
        let mut input: &[u8] = &text;
        assert_eq!(
            read_line(&mut input).map(|line| line.len() as u64),
            Some(LONGEST_LINE)
        );
        assert_eq!(read_line(&mut input).as_deref(), Some("isready"));
    }
}
