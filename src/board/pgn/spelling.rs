//! Moves as other programs and people write them, respelled as SAN before a game is parsed.
//!
//! The parser passes over words that it cannot read. A move in such a word would be missing
//! without a message, so words that look like moves are put right or made a null move, which no
//! game accepts.

use std::io::{self, Read};

use shakmaty::san::San;

/// Bytes that are taken from the input at once.
const CHUNK: usize = 1 << 14;
/// No move is a longer word.
const LONGEST_WORD: usize = 16;
/// The null move, which stands for what cannot be read.
const NULL: &[u8] = b"--";

/// Where in a PGN file the next byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextPlace {
    LineStart,
    Moves,
    /// In braces.
    Comment,
    /// In a header, or in a comment that ends with its line.
    RestOfLine,
}

/// PGN with respelled moves; headers and comments are left alone.
pub(super) struct Respelled<R> {
    input: R,
    chunk: Box<[u8]>,
    out: Vec<u8>,
    /// How much of `out` has been read.
    taken: usize,
    place: TextPlace,
    word: Vec<u8>,
}

impl<R: Read> Respelled<R> {
    pub(super) fn new(input: R) -> Respelled<R> {
        Respelled {
            input,
            chunk: vec![0; CHUNK].into_boxed_slice(),
            out: Vec::with_capacity(CHUNK + LONGEST_WORD),
            taken: 0,
            place: TextPlace::LineStart,
            word: Vec::with_capacity(LONGEST_WORD),
        }
    }

    /// Takes the next bytes from the input; at its end, what is left of the last word.
    fn fill(&mut self) -> io::Result<()> {
        self.out.clear();
        self.taken = 0;
        // A word may swallow all bytes of a chunk.
        while self.out.is_empty() {
            let length = self.input.read(&mut self.chunk)?;
            for index in 0..length {
                self.take(self.chunk[index]);
            }
            if length == 0 {
                self.end_word();
                break;
            }
        }
        Ok(())
    }

    fn take(&mut self, byte: u8) {
        const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
        if self.place == TextPlace::LineStart && !BYTE_ORDER_MARK.contains(&byte) {
            self.place = match byte {
                b'[' | b'%' => TextPlace::RestOfLine,
                _ => TextPlace::Moves,
            };
        }
        if self.place == TextPlace::Moves {
            if is_word(byte) && self.word.len() < LONGEST_WORD {
                self.word.push(byte);
                return;
            }
            self.end_word();
        }
        self.out.push(byte);
        self.place = match (self.place, byte) {
            (TextPlace::Moves, b'{') => TextPlace::Comment,
            (TextPlace::Moves, b';') => TextPlace::RestOfLine,
            (TextPlace::Comment, b'}') => TextPlace::Moves,
            (TextPlace::Moves | TextPlace::RestOfLine, b'\n') => TextPlace::LineStart,
            (place, _) => place,
        };
    }

    fn end_word(&mut self) {
        respell(&mut self.word);
        self.out.append(&mut self.word);
    }
}

impl<R: Read> Read for Respelled<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.taken == self.out.len() {
            self.fill()?;
        }
        let length = buffer.len().min(self.out.len() - self.taken);
        buffer[..length].copy_from_slice(&self.out[self.taken..self.taken + length]);
        self.taken += length;
        Ok(length)
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'=' | b'/') || !byte.is_ascii()
}

fn is_square(pair: &[u8]) -> bool {
    matches!(pair, [b'a'..=b'h', b'1'..=b'8'])
}

/// A word that names a square, and is no number of a move, becomes SAN or a null move.
fn respell(word: &mut Vec<u8>) {
    let is_move = word.windows(2).any(is_square) && !word[0].is_ascii_digit();
    if !is_move || San::from_ascii(word).is_ok() {
        return;
    }
    // e2-e4
    if let Some(hyphen) = word.iter().position(|&byte| byte == b'-') {
        word.remove(hyphen);
    }
    // exd6ep; of exd6e.p. the full stop has ended the word.
    for ending in [&b"ep"[..], b"e"] {
        if word.ends_with(ending) {
            word.truncate(word.len() - ending.len());
            break;
        }
    }
    // a8Q, a8/Q
    if let [.., b'/', b'Q' | b'R' | b'B' | b'N'] = word[..] {
        let slash = word.len() - 2;
        word[slash] = b'=';
    } else if let [.., b'1' | b'8', b'Q' | b'R' | b'B' | b'N'] = word[..] {
        word.insert(word.len() - 1, b'=');
    }
    if San::from_ascii(word).is_err() {
        word.clear();
        word.extend(NULL);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn respelled(text: &str) -> String {
        let mut out = String::new();
        Respelled::new(text.as_bytes())
            .read_to_string(&mut out)
            .expect("readable");
        out
    }

    #[test]
    fn moves_are_respelled() {
        for (word, san) in [
            ("e2-e4", "e2e4"),
            ("Nb8-c6", "Nb8c6"),
            ("exd6e.p.", "exd6.p."),
            ("exd6ep", "exd6"),
            ("a8Q+", "a8=Q+"),
            ("bxa1/N#", "bxa1=N#"),
            ("Sf3", "--"),
            ("\u{2658}f3", "--"),
        ] {
            assert_eq!(respelled(word), san);
        }
    }

    #[test]
    fn all_else_stays() {
        let text = "\u{FEFF}[Event \"e2-e4\"]\n\n1.e4 {e2-e4 is\n[Sf3]} e5; Sf3\n% Sf3\n2. Nf3+ (2.O-O 0-0-0) \
                    $1 N D +- -- Z0 1/2-1/2\r\n[White \"Sf3\"]\n";
        assert_eq!(respelled(text), text);
        let long = "x".repeat(3 * CHUNK);
        assert_eq!(respelled(&long), long);
    }
}
