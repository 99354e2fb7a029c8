//! The words of a PGN file as other programs and people write them: moves, signs and castling
//! respelled as the standard has them, and marks for what stays unreadable.

use shakmaty::san::San;

use crate::board::input::decode;

/// No move, with the sign after it, is a longer word.
pub(super) const LONGEST_WORD: usize = 24;
/// A comment that begins with it is [`Mark::BadWord`].
pub(super) const BAD_WORD: u8 = 1;
/// A comment that begins with it is [`Mark::OpenComment`].
pub(super) const OPEN_COMMENT: u8 = 2;

/// Signs of an evaluation and their numeric glyphs, the longer ones of equal endings first.
pub(super) const SIGNS: [(&str, u8); 18] = [
    ("+/-", 16),
    ("-/+", 17),
    ("+/=", 14),
    ("=/+", 15),
    ("+=", 14),
    ("=+", 15),
    ("=", 10),
    ("+-", 18),
    ("-+", 19),
    // With an en dash and a minus sign.
    ("+\u{2013}", 18),
    ("\u{2013}+", 19),
    ("+\u{2212}", 18),
    ("\u{2212}+", 19),
    ("\u{221e}", 13),
    ("\u{2a72}", 14),
    ("\u{2a71}", 15),
    ("\u{b1}", 16),
    ("\u{2213}", 17),
];
/// ± in Latin-1.
const LATIN1_SIGN: (&[u8], u8) = (b"\xB1", 16);
/// Letters that are glyphs if they stand alone: a novelty, a diagram.
const LETTERS: [(&[u8], u8); 2] = [(b"N", 146), (b"D", 220)];
/// Words that belong to the move before: en passant, and check in old books. A full stop ends a
/// word.
const PASSED_OVER: [&[u8]; 7] = [b"e", b"p", b"ep", b"ch", b"dbl", b"dis", b"mate"];

/// What could not be read; it is given to the parser as a comment.
pub(super) enum Mark {
    /// No move, and no sign that is known.
    BadWord(String),
    /// A comment has no end; the next game came.
    OpenComment,
}

impl Mark {
    /// The mark that a comment stands for; no comment of the input does.
    pub(super) fn of_comment(comment: &[u8]) -> Option<Mark> {
        match comment.split_first()? {
            (&BAD_WORD, word) => Some(Mark::BadWord(decode(word))),
            (&OPEN_COMMENT, _) => Some(Mark::OpenComment),
            _ => None,
        }
    }
}

fn names_square(word: &[u8]) -> bool {
    word.windows(2)
        .any(|pair| matches!(pair, [b'a'..=b'h', b'1'..=b'8']))
}

fn begins_with_letter(word: &[u8]) -> bool {
    decode(word).chars().next().is_some_and(char::is_alphabetic)
}

/// Writes a word as the parser reads it, with a mark if nothing is known about it.
pub(super) fn respell(word: &[u8], out: &mut Vec<u8>) {
    let (number, word) = split_number(word);
    out.extend(number);
    if word.is_empty() || San::from_ascii(word).is_ok() {
        out.extend(word);
    } else if let Some((rest, glyph)) = split_sign(word) {
        out.extend(rest);
        out.extend(format!(" ${glyph} ").as_bytes());
    } else if let Some(san) = respelled_move(word) {
        out.extend(san);
    } else if PASSED_OVER.contains(&word) {
        out.extend(word);
    } else if begins_with_letter(word) || names_square(word) {
        mark_word(word, out);
    } else if !matches!(word[0], b'+' | b'-' | b'=' | b'/') {
        // A result, or what the parser passes over.
        out.extend(word);
    }
}

/// The number of a move, and the move if it follows without a full stop or space.
pub(super) fn split_number(word: &[u8]) -> (&[u8], &[u8]) {
    let digits = word.iter().take_while(|byte| byte.is_ascii_digit()).count();
    let (number, rest) = word.split_at(digits);
    if rest.is_empty() || begins_with_letter(rest) || names_square(rest) {
        (number, rest)
    } else {
        (&[], word)
    }
}

/// The move, if any, and the glyph for the sign that the word ends with.
fn split_sign(word: &[u8]) -> Option<(Vec<u8>, u8)> {
    if let Some(&(_, glyph)) = LETTERS.iter().find(|(letter, _)| *letter == word) {
        return Some((Vec::new(), glyph));
    }
    SIGNS
        .iter()
        .map(|&(sign, glyph)| (sign.as_bytes(), glyph))
        .chain([LATIN1_SIGN])
        .find_map(|(sign, glyph)| {
            let rest = word.strip_suffix(sign)?;
            if rest.is_empty() {
                return Some((Vec::new(), glyph));
            }
            Some((respelled_move(rest)?, glyph))
        })
}

/// SAN for a word that is a move in a near notation.
pub(super) fn respelled_move(word: &[u8]) -> Option<Vec<u8>> {
    let checks = word.iter().rev().take_while(|&&byte| byte == b'+').count();
    let mut word = word[..word.len() - checks].to_vec();
    if let Some(castling) = castling(&word) {
        word = castling.to_vec();
    } else if San::from_ascii(&word).is_err() {
        if !names_square(&word) {
            return None;
        }
        respell_parts(&mut word);
        San::from_ascii(&word).ok()?;
    }
    if checks > 0 {
        word.push(b'+');
    }
    Some(word)
}

/// Castling with capital or small letters, Latin or Cyrillic, or with zeros, and with hyphens or
/// dashes; letters also without any.
fn castling(word: &[u8]) -> Option<&'static [u8]> {
    let spelt: String = decode(word)
        .chars()
        .map(|letter| match letter {
            'o' | '0' | '\u{41e}' | '\u{43e}' => 'O',
            '\u{2013}' | '\u{2014}' | '\u{2212}' => '-',
            _ => letter,
        })
        .collect();
    match spelt.as_str() {
        "O-O" | "OO" => Some(b"O-O"),
        "O-O-O" | "OOO" => Some(b"O-O-O"),
        _ => None,
    }
}

/// Puts right the parts of a move that are written in other ways.
fn respell_parts(word: &mut Vec<u8>) {
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
}

/// Writes the mark of a word that cannot be read; of a long one, its beginning.
fn mark_word(word: &[u8], out: &mut Vec<u8>) {
    out.extend([b'{', BAD_WORD]);
    if word.len() > LONGEST_WORD {
        // The cut may be within a character.
        let whole = word
            .iter()
            .rposition(u8::is_ascii)
            .map_or(0, |last| last + 1);
        out.extend(&word[..whole]);
        out.extend(b"...");
    } else {
        out.extend(word);
    }
    out.push(b'}');
}
