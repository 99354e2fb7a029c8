//! PGN as other programs and people write it, put right before a game is parsed.
//!
//! The parser passes over what it cannot read, so moves, signs and comments would be missing
//! without a message. Words are respelled ([`super::spelling`]), comments are put in braces, and
//! games that follow each other without an empty line are set apart.

use std::io::{self, Read};

use super::spelling::{
    BAD_WORD, LONGEST_WORD, OPEN_COMMENT, respell, respelled_move, split_number,
};

/// Bytes that are taken from the input at once.
const CHUNK: usize = 1 << 14;
/// Line breaks that make an empty line.
const EMPTY_LINE: usize = 2;
/// A line of a comment that begins so belongs to the next game: the comment has no end.
const NEXT_GAME: &[u8] = b"[Event ";

/// Where in a PGN file the next byte is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum TextPlace {
    LineStart,
    Moves,
    /// In braces.
    Comment,
    /// At the start of a line in braces, after so many bytes of [`NEXT_GAME`], which are not
    /// given out yet.
    CommentLine(usize),
    /// In a comment that ends with its line.
    LineComment,
    /// In a header, before or after its value.
    Header,
    /// In the quotes of a header's value.
    HeaderValue,
    /// After a backslash in a header's value.
    HeaderEscape,
    /// In a line that is left out.
    RestOfLine,
}

/// Whether the game's result has come.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Ending {
    Open,
    /// It has, and no word since.
    Result,
    /// It has, and prose since.
    Prose,
}

/// PGN with respelled moves and signs; all comments are in braces, all lines end with LF.
pub(super) struct Respelled<R> {
    input: R,
    chunk: Box<[u8]>,
    out: Vec<u8>,
    /// How much of `out` has been read.
    taken: usize,
    place: TextPlace,
    /// The word so far, up to one byte more than the longest.
    word: Vec<u8>,
    /// Carriage returns whose line feed has not come.
    returns: usize,
    /// Variations that are open.
    variations: usize,
    ending: Ending,
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
            returns: 0,
            variations: 0,
            ending: Ending::Open,
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
                self.end();
                break;
            }
        }
        Ok(())
    }

    /// Line breaks of all systems become LF. Several CR before an LF are one line break, which
    /// careless conversions make.
    fn take(&mut self, byte: u8) {
        match byte {
            b'\r' => {
                self.returns = EMPTY_LINE.min(self.returns + 1);
                return;
            }
            b'\n' => self.returns = 0,
            _ => {
                for _ in 0..std::mem::take(&mut self.returns) {
                    self.take_of_line(b'\n');
                }
            }
        }
        self.take_of_line(byte);
    }

    fn take_of_line(&mut self, byte: u8) {
        match self.place {
            TextPlace::LineStart => self.take_of_line_start(byte),
            TextPlace::Moves => self.take_of_moves(byte),
            TextPlace::Comment => self.take_of_comment(byte),
            TextPlace::CommentLine(seen) => self.take_of_comment_line(seen, byte),
            TextPlace::LineComment => self.take_of_line_comment(byte),
            TextPlace::Header | TextPlace::HeaderValue | TextPlace::HeaderEscape => {
                self.take_of_header(byte);
            }
            TextPlace::RestOfLine => {
                self.out.push(byte);
                if byte == b'\n' {
                    self.place = TextPlace::LineStart;
                }
            }
        }
    }

    fn take_of_line_start(&mut self, byte: u8) {
        const BYTE_ORDER_MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];
        match byte {
            b'[' => {
                self.out.push(byte);
                self.begin_game();
                self.place = TextPlace::Header;
            }
            b'%' => {
                self.out.push(byte);
                self.place = TextPlace::RestOfLine;
            }
            b'\n' => {
                self.out.push(byte);
                self.begin_game();
            }
            b' ' | b'\t' => self.out.push(byte),
            // Files that were joined have one before each.
            _ if BYTE_ORDER_MARK.contains(&byte) => {}
            _ => {
                self.place = TextPlace::Moves;
                self.take_of_moves(byte);
            }
        }
    }

    /// After an empty line or before a header nothing is known of a game.
    fn begin_game(&mut self) {
        self.variations = 0;
        self.ending = Ending::Open;
    }

    /// Moves may follow on the line of a header.
    fn take_of_header(&mut self, byte: u8) {
        self.out.push(byte);
        self.place = match (self.place, byte) {
            (_, b'\n') | (TextPlace::Header, b']') => TextPlace::LineStart,
            (TextPlace::Header, b'"') | (TextPlace::HeaderEscape, _) => TextPlace::HeaderValue,
            (TextPlace::HeaderValue, b'"') => TextPlace::Header,
            (TextPlace::HeaderValue, b'\\') => TextPlace::HeaderEscape,
            (place, _) => place,
        };
    }

    fn take_of_moves(&mut self, byte: u8) {
        if is_word(byte) {
            if self.word.len() <= LONGEST_WORD {
                self.word.push(byte);
            }
            return;
        }
        self.end_word();
        match byte {
            b'(' => self.variations += 1,
            b')' => self.variations = self.variations.saturating_sub(1),
            b'*' => self.note_result(),
            _ => {}
        }
        let (place, shown) = match byte {
            b'{' => (TextPlace::Comment, byte),
            b';' => (TextPlace::LineComment, b'{'),
            b'\n' => (TextPlace::LineStart, byte),
            _ => (TextPlace::Moves, byte),
        };
        self.place = place;
        self.out.push(shown);
    }

    fn take_of_comment(&mut self, byte: u8) {
        self.place = match byte {
            b'}' => TextPlace::Moves,
            b'\n' => TextPlace::CommentLine(0),
            _ => TextPlace::Comment,
        };
        self.out.push(without_mark(byte));
    }

    fn take_of_comment_line(&mut self, seen: usize, byte: u8) {
        if byte != NEXT_GAME[seen] {
            self.out.extend(&NEXT_GAME[..seen]);
            self.take_of_comment(byte);
            return;
        }
        self.place = TextPlace::CommentLine(seen + 1);
        if seen + 1 == NEXT_GAME.len() {
            self.out.extend([b'}', b'{', OPEN_COMMENT, b'}', b'\n']);
            self.out.extend(NEXT_GAME);
            self.begin_game();
            self.place = TextPlace::HeaderValue;
        }
    }

    /// Braces have no meaning here, but would have one in the comment that is made of it.
    fn take_of_line_comment(&mut self, byte: u8) {
        match byte {
            b'\n' => {
                self.out.extend(b"}\n");
                self.place = TextPlace::LineStart;
            }
            b'{' => self.out.push(b'('),
            b'}' => self.out.push(b')'),
            _ => self.out.push(without_mark(byte)),
        }
    }

    /// Games without headers may follow each other without an empty line, which the parser needs.
    fn end_word(&mut self) {
        if is_result(&self.word) {
            self.note_result();
        } else if self.ending != Ending::Open && self.variations == 0 && !self.word.is_empty() {
            if begins_game(&self.word, self.ending) {
                self.out.extend(b"\n\n");
                self.begin_game();
            } else {
                self.ending = Ending::Prose;
            }
        }
        respell(&self.word, &mut self.out);
        self.word.clear();
    }

    /// Results in variations do not end the game.
    fn note_result(&mut self) {
        if self.variations == 0 {
            self.ending = Ending::Result;
        }
    }

    fn end(&mut self) {
        self.end_word();
        if self.place == TextPlace::LineComment {
            self.out.push(b'}');
            self.place = TextPlace::LineStart;
        }
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

/// Whether a word is the result of a game; `*` is no word.
fn is_result(word: &[u8]) -> bool {
    matches!(word, b"1-0" | b"0-1" | b"1/2-1/2" | b"1/2")
}

/// Whether a word after a result begins another game: it is the number of a first move, or, right
/// after the result, a move.
fn begins_game(word: &[u8], ending: Ending) -> bool {
    let (number, rest) = split_number(word);
    let is_move = respelled_move(rest).is_some();
    match number {
        b"" => is_move && ending == Ending::Result,
        b"1" => is_move || rest.is_empty(),
        _ => false,
    }
}

const fn is_word(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'=' | b'/' | b'+') || !byte.is_ascii()
}

/// Comments of the input hold no marks.
const fn without_mark(byte: u8) -> u8 {
    match byte {
        BAD_WORD | OPEN_COMMENT => b' ',
        _ => byte,
    }
}

#[cfg(test)]
mod tests {
    use super::super::spelling::SIGNS;
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
            ("Bb5++", "Bb5+"),
            ("4.o-o+", "4.O-O+"),
            ("o-o-o", "O-O-O"),
            ("O\u{2013}O", "O-O"),
            ("\u{41e}-\u{41e}-\u{41e}+", "O-O-O+"),
            ("OO", "O-O"),
            ("0-0-0=", "O-O-O $10 "),
            ("1e4", "1e4"),
            ("Sf3", "{\u{1}Sf3}"),
            ("1Sf3", "1{\u{1}Sf3}"),
            ("\u{2658}f3", "{\u{1}\u{2658}f3}"),
            ("Zz", "{\u{1}Zz}"),
            ("Nf3Nf6", "{\u{1}Nf3Nf6}"),
        ] {
            assert_eq!(respelled(word), san);
        }
    }

    #[test]
    fn signs_become_glyphs() {
        for (sign, glyph) in SIGNS {
            assert_eq!(respelled(sign), format!(" ${glyph} "));
            assert_eq!(respelled(&format!("Bxe5{sign}")), format!("Bxe5 ${glyph} "));
        }
        assert_eq!(respelled("a8=Q+="), "a8=Q $14 ");
        assert_eq!(respelled("e2-e4-+"), "e2e4 $19 ");
        assert_eq!(respelled("exd5="), "exd5 $10 ");
        assert_eq!(respelled("N D"), " $146   $220 ");
        let mut latin1 = String::new();
        Respelled::new(&b"Bxe5\xB1"[..])
            .read_to_string(&mut latin1)
            .expect("ASCII");
        assert_eq!(latin1, "Bxe5 $16 ");
    }

    #[test]
    fn comments_are_in_braces_and_end() {
        for (text, braced) in [
            ("; a {b}\u{1}\ne4;c", "{ a (b) }\ne4{c}"),
            ("; a\re4\r\rd4\r\r\n", "{ a}\ne4\n\nd4\n"),
            ("{a\u{2}\n[Ev}", "{a \n[Ev}"),
            ("{a\n\n[Event \"b\"]", "{a\n\n}{\u{2}}\n[Event \"b\"]"),
        ] {
            assert_eq!(respelled(text), braced);
        }
    }

    #[test]
    fn another_game_begins_after_a_result() {
        for (text, apart) in [
            ("e5 1/2-1/2\n1. d4 1-0", "e5 1/2-1/2\n\n\n1. d4 1-0"),
            ("e5 * e4", "e5 * \n\ne4"),
            ("e5 0-1 {mate}\n1e4", "e5 0-1 {mate}\n\n\n1e4"),
            (
                "e5 1-0 White wins 1. d4",
                "e5 1-0 {\u{1}White} {\u{1}wins} \n\n1. d4",
            ),
        ] {
            assert_eq!(respelled(text), apart);
        }
        for one in [
            "e5 (e6 1-0) 2. Nf3",
            "e5 1-0 (1... e6 2. d4)",
            "e5 1-0\n\n1. d4",
            "e5 1-0\n[White \"a\"]\n1. d4",
            "1-0 (",
        ] {
            assert_eq!(respelled(one), one);
        }
    }

    #[test]
    fn moves_may_stand_on_a_headers_line() {
        assert_eq!(
            respelled("[A \"] \\\" e2-e4\"] e2-e4"),
            "[A \"] \\\" e2-e4\"] e2e4"
        );
        assert_eq!(
            respelled("[A \"b\"][C e2-e4\ne2-e4"),
            "[A \"b\"][C e2-e4\ne2e4"
        );
    }

    #[test]
    fn byte_order_marks_are_left_out() {
        assert_eq!(
            respelled("\u{FEFF}[A \"b\"]\n\n\u{FEFF}e4"),
            "[A \"b\"]\n\ne4"
        );
    }

    #[test]
    fn all_else_stays() {
        let text = "[Event \"e2-e4\"]\n [Site \"Sf3\"]\n\n1.e4 {e2-e4 is\n[Sf3]} e5 \n% Sf3\n\
                    2. Nf3+ (2.O-O Qh7#) $1 e.p. -- Z0 a8=Q bxc1=N+ 1/2-1/2 1-0 1\u{2013}0 \
                    \u{bd}-\u{bd}\n[White \"Sf3\"]\n";
        assert_eq!(respelled(text), text);
    }

    #[test]
    fn long_words_are_cut() {
        let long = respelled(&"x".repeat(3 * CHUNK));
        assert_eq!(
            long,
            format!("{{\u{1}{}...}}", "x".repeat(LONGEST_WORD + 1))
        );
        let accents = format!("x{}", "\u{e9}".repeat(LONGEST_WORD));
        assert_eq!(respelled(&accents), "{\u{1}x...}");
        assert_eq!(respelled(&"-".repeat(3 * CHUNK)), "");
    }
}
