//! Opening books in Polyglot's format: reading, choosing, building from games, merging.
//!
//! A book is entries of 16 bytes, big-endian: the position's key, a move, its weight, and four
//! bytes that programs used for learning. Entries are sorted by key. The format is described at
//! <http://hgm.nubati.net/book_format.html>; shakmaty's Zobrist hash uses Polyglot's numbers.

mod build;
mod entry;
#[cfg(test)]
mod tests;

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::Path;

use thiserror::Error;

pub use build::{BookBuilder, BuildSettings, Sides};
use entry::{BookEntry, ENTRY_BYTES, key_of};

use crate::board::Position;
use crate::types::{CastlingMode, Move};

/// The largest size of a book, in bytes: many times that of the largest known.
const MOST_BYTES: u64 = 4 << 30;

/// Why a file is not an opening book.
#[derive(Debug, Error)]
pub enum BookError {
    #[error("cannot read the book: {0}")]
    Read(#[from] io::Error),
    #[error("not a book: not a regular file")]
    NotAFile,
    #[error("not a book: {0} bytes are more than a book can have")]
    TooLarge(u64),
    #[error("not a book: {0} bytes are not a whole number of entries (16 bytes each)")]
    Length(u64),
    #[error("not a book: it is empty")]
    Empty,
    #[error("damaged book: entry {0} is out of order")]
    Order(usize),
    #[error("damaged book: entry {0} is no move")]
    NoMove(usize),
    #[error("damaged book: the start position is in it, but none of its moves is legal")]
    NoLegalMove,
}

/// A move of the book in a position, and how often it is to be played compared with the others.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BookMove {
    pub played: Move,
    /// 0 is never chosen.
    pub weight: u16,
}

/// An opening book in memory, its entries sorted by key.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpeningBook {
    entries: Vec<BookEntry>,
}

impl OpeningBook {
    /// Reads a book.
    ///
    /// # Errors
    /// If the file cannot be read, or is not a book; says what is wrong with it.
    pub fn open(path: &Path) -> Result<OpeningBook, BookError> {
        let data = fs::metadata(path)?;
        if !data.is_file() {
            return Err(BookError::NotAFile);
        }
        if data.len() > MOST_BYTES {
            return Err(BookError::TooLarge(data.len()));
        }
        let mut bytes = Vec::new();
        File::open(path)?.read_to_end(&mut bytes)?;
        OpeningBook::from_bytes(&bytes)
    }

    /// Reads a book that is in memory already.
    ///
    /// # Errors
    /// As [`OpeningBook::open`].
    pub fn from_bytes(bytes: &[u8]) -> Result<OpeningBook, BookError> {
        let (entries, rest) = bytes.as_chunks::<ENTRY_BYTES>();
        if !rest.is_empty() {
            return Err(BookError::Length(bytes.len() as u64));
        }
        if entries.is_empty() {
            return Err(BookError::Empty);
        }
        let entries: Vec<BookEntry> = entries.iter().map(BookEntry::from_bytes).collect();
        for (index, pair) in entries.windows(2).enumerate() {
            if pair[0].key > pair[1].key {
                // Counted from 1, and the second of the pair is the one at fault.
                return Err(BookError::Order(index + 2));
            }
        }
        // Entries with key 0 at the beginning describe the book and hold no moves.
        let no_move =
            |entry: &BookEntry| entry.key != 0 && !entry.is_null() && !entry.has_squares();
        if let Some(index) = entries.iter().position(no_move) {
            return Err(BookError::NoMove(index + 1));
        }
        let book = OpeningBook { entries };
        let start = Position::startpos();
        if !book.entries_of(&start).is_empty() && book.moves(&start).is_empty() {
            return Err(BookError::NoLegalMove);
        }
        Ok(book)
    }

    /// Writes the book.
    ///
    /// # Errors
    /// If the output fails.
    pub fn write(&self, out: &mut impl Write) -> io::Result<()> {
        self.entries
            .iter()
            .try_for_each(|entry| out.write_all(&entry.to_bytes()))
    }

    /// Number of entries, each a move in a position.
    #[must_use]
    pub const fn entry_count(&self) -> usize {
        self.entries.len()
    }

    /// Number of positions.
    #[must_use]
    pub fn positions(&self) -> usize {
        self.entries.chunk_by(|a, b| a.key == b.key).count()
    }

    fn entries_of(&self, position: &Position) -> &[BookEntry] {
        let key = key_of(position);
        let from = self.entries.partition_point(|entry| entry.key < key);
        let to = self.entries.partition_point(|entry| entry.key <= key);
        &self.entries[from..to]
    }

    /// The book's legal moves in a position, largest weight first; none in Chess960, which the
    /// format does not support.
    #[must_use]
    pub fn moves(&self, position: &Position) -> Vec<BookMove> {
        if position.castling_mode() == CastlingMode::Chess960 {
            return Vec::new();
        }
        let legal = position.legal_moves();
        let mut moves: Vec<BookMove> = self
            .entries_of(position)
            .iter()
            .filter_map(|entry| {
                let played = *legal.iter().find(|&&m| entry.stands_for(m))?;
                let weight = entry.weight;
                Some(BookMove { played, weight })
            })
            .collect();
        moves.sort_by_key(|m| std::cmp::Reverse(m.weight));
        moves
    }
}

/// Chooses one of some moves with odds in proportion to their weights. `random` is called with a
/// number and returns one below it.
#[must_use]
pub fn choose(moves: &[BookMove], random: impl FnOnce(u64) -> u64) -> Option<Move> {
    let total: u64 = moves.iter().map(|m| u64::from(m.weight)).sum();
    if total == 0 {
        return None;
    }
    let mut drawn = random(total);
    for m in moves {
        let weight = u64::from(m.weight);
        if drawn < weight {
            return Some(m.played);
        }
        drawn -= weight;
    }
    None
}

/// Merges several books: a position that is in more than one keeps the entries of the first,
/// because the scales of weights differ between books.
#[must_use]
pub fn merge(books: &[OpeningBook]) -> OpeningBook {
    let mut merged: Vec<(u64, usize, BookEntry)> = Vec::new();
    for (order, book) in books.iter().enumerate() {
        merged.extend(book.entries.iter().map(|&entry| (entry.key, order, entry)));
    }
    merged.sort_by_key(|&(key, order, _)| (key, order));
    let mut entries = Vec::with_capacity(merged.len());
    for of_position in merged.chunk_by(|a, b| a.0 == b.0) {
        let first = of_position[0].1;
        let kept = of_position.iter().filter(|(_, order, _)| *order == first);
        entries.extend(kept.map(|&(_, _, entry)| entry));
    }
    OpeningBook { entries }
}
