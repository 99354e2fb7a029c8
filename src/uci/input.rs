//! Lines of input, whatever bytes a client sends.

use std::io::{self, BufRead};

/// A line may hold a game of some hundred thousand moves; of a longer one the rest is dropped.
const LONGEST_LINE: u64 = 1 << 24;

/// The next line without its end, or `None` when there are no more. Bytes that are not UTF-8 are
/// read as Latin-1, in which old clients send paths.
pub fn read_line(input: &mut impl BufRead) -> Option<String> {
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
    use super::*;

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
