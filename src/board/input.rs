//! Text files that may be compressed, which their first bytes show, not their names.

use std::fs::File;
use std::io::{self, BufReader, Cursor, Read};
use std::path::Path;

use bzip2::read::MultiBzDecoder;
use flate2::read::MultiGzDecoder;
use zstd::stream::read::Decoder as ZstdDecoder;

const GZIP: &[u8] = &[0x1F, 0x8B];
const BZIP2: &[u8] = b"BZh";
const ZSTD: &[u8] = &[0x28, 0xB5, 0x2F, 0xFD];
/// A frame of zstd that is passed over begins with one of sixteen bytes and these three. Some
/// programs write it first, to tell how long the next frame is.
const ZSTD_SKIPPED: (std::ops::RangeInclusive<u8>, &[u8]) = (0x50..=0x5F, &[0x2A, 0x4D, 0x18]);
/// First bytes of what is not read, with what it is and what to do.
const NOT_READ: [(&[u8], &str); 5] = [
    (b"PK\x03\x04", "a zip archive: unpack it first"),
    (b"\xFD7zXZ\0", "packed by xz: unpack it first"),
    (b"7z\xBC\xAF\x27\x1C", "a 7z archive: unpack it first"),
    (b"\xFF\xFE", "text in UTF-16: convert it to UTF-8 first"),
    (b"\xFE\xFF", "text in UTF-16: convert it to UTF-8 first"),
];
/// As many bytes as the longest of these marks has.
const MARK_BYTES: u64 = 6;
/// The largest window that zstd may ask for, as a power of two: large databases are packed with
/// `zstd --long=31`.
pub(crate) const ZSTD_WINDOW_LOG: u32 = 31;

/// U+FEFF in UTF-8, with which some editors begin a file.
const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// The path that stands for standard input.
pub const STDIN: &str = "-";

/// Opens a file, or standard input for `-`, and unpacks it if it is compressed; see [`decompress`].
///
/// # Errors
/// If the file cannot be opened, its first bytes cannot be read, or it is of a kind that is not
/// read.
pub fn open_input(path: &Path) -> io::Result<Box<dyn Read + Send>> {
    if path.as_os_str() == STDIN {
        return decompress(io::stdin());
    }
    decompress(File::open(path)?)
}

/// Unpacks gzip, bzip2 and zstd, recognised by their first bytes, as the result is read; anything
/// else is passed through. Several packed files one after another are read as one.
///
/// # Errors
/// If the first bytes cannot be read, or show an archive, xz or UTF-16. Damage further on comes as
/// an error while reading.
pub fn decompress(input: impl Read + Send + 'static) -> io::Result<Box<dyn Read + Send>> {
    let mut input = BufReader::new(input);
    let mut mark = Vec::new();
    input.by_ref().take(MARK_BYTES).read_to_end(&mut mark)?;
    let is = |magic: &[u8]| mark.starts_with(magic);
    if let Some((_, kind)) = NOT_READ.iter().find(|(magic, _)| is(magic)) {
        return Err(io::Error::new(io::ErrorKind::InvalidData, *kind));
    }
    let (gzip, bzip2, zstd) = (is(GZIP), is(BZIP2), is_zstd(&mark));
    let input = Cursor::new(mark).chain(input);
    Ok(if gzip {
        Box::new(MultiGzDecoder::new(input))
    } else if bzip2 {
        Box::new(MultiBzDecoder::new(input))
    } else if zstd {
        let mut decoder = ZstdDecoder::new(input)?;
        decoder.window_log_max(ZSTD_WINDOW_LOG)?;
        Box::new(decoder)
    } else {
        Box::new(input)
    })
}

/// Whether a file that begins with these bytes is compressed with zstd.
#[must_use]
pub fn is_zstd(mark: &[u8]) -> bool {
    let (first, rest) = ZSTD_SKIPPED;
    let is_skipped =
        |(byte, behind): (&u8, &[u8])| first.contains(byte) && behind.starts_with(rest);
    mark.starts_with(ZSTD) || mark.split_first().is_some_and(is_skipped)
}

/// The whole text of an input; see [`decode`].
///
/// # Errors
/// If the input fails.
pub fn read_text(mut input: impl Read) -> io::Result<String> {
    let mut bytes = Vec::new();
    input.read_to_end(&mut bytes)?;
    Ok(decode(&bytes))
}

/// The text of some bytes, without a byte order mark: UTF-8, or else Latin-1, which PGN is by its
/// standard.
#[must_use]
pub fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(BYTE_ORDER_MARK).unwrap_or(bytes);
    match std::str::from_utf8(bytes) {
        Ok(text) => text.to_owned(),
        Err(_) => bytes.iter().map(|&byte| char::from(byte)).collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write as _;

    #[test]
    fn text_is_utf8_or_latin1() {
        for (bytes, text) in [
            (&b"\xEF\xBB\xBFa \xC3\xA9"[..], "a \u{e9}"),
            (b"a \xE9", "a \u{e9}"),
            (b"", ""),
        ] {
            assert_eq!(read_text(bytes).expect("memory"), text);
        }
    }

    #[test]
    fn what_cannot_be_read_is_named() {
        for (bytes, kind) in [
            (&b"PK\x03\x04\x14\0\0\0"[..], "zip"),
            (b"\xFD7zXZ\0\0\x04", "xz"),
            (b"7z\xBC\xAF\x27\x1C\0\x04", "7z"),
            (b"\xFF\xFE[\0E\0", "UTF-16"),
            (b"\xFE\xFF\0[\0E", "UTF-16"),
        ] {
            let error = read(bytes.to_vec()).expect_err("not read").to_string();
            assert!(error.contains(kind), "{error}");
        }
    }

    fn read(bytes: Vec<u8>) -> io::Result<String> {
        let mut text = String::new();
        decompress(Cursor::new(bytes))?.read_to_string(&mut text)?;
        Ok(text)
    }

    #[test]
    #[cfg_attr(miri, ignore = "compressed by C code")]
    fn every_packing_is_recognised() {
        let text = "1. e4 e5 *\n".repeat(1000);
        let mut gzip = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        gzip.write_all(text.as_bytes()).expect("memory");
        let gzip = gzip.finish().expect("memory");
        let mut bzip2 = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::default());
        bzip2.write_all(text.as_bytes()).expect("memory");
        let bzip2 = bzip2.finish().expect("memory");
        let zstd = zstd::encode_all(text.as_bytes(), 0).expect("memory");
        for packed in [gzip, bzip2, zstd, text.clone().into_bytes()] {
            let length = packed.len();
            assert_eq!(read(packed.clone()).expect("readable"), text);
            assert_eq!(
                read([packed.clone(), packed.clone()].concat()).expect("readable"),
                text.repeat(2)
            );
            if length < text.len() {
                assert!(read(packed[..length / 2].to_vec()).is_err());
            }
        }
        assert_eq!(read(b"*".to_vec()).expect("readable"), "*");
        assert_eq!(read(Vec::new()).expect("readable"), "");
    }

    #[test]
    #[cfg_attr(miri, ignore = "compressed by C code")]
    fn frames_of_zstd_that_are_skipped_may_come_first() {
        let text = "1. e4 e5 *\n".repeat(1000);
        let packed = zstd::encode_all(text.as_bytes(), 0).expect("memory");
        for kind in 0x50..=0x5F {
            let skipped = [&[kind, 0x2A, 0x4D, 0x18, 3, 0, 0, 0][..], b"abc"].concat();
            let frames = [&skipped[..], &packed, &skipped, &packed].concat();
            assert_eq!(read(frames).expect("readable"), text.repeat(2));
        }
    }
}
