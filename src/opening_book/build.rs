//! Building a book from games.

use std::collections::{HashMap, HashSet};

use super::entry::{BookEntry, encode, key_of};
use super::{BookError, OpeningBook};
use crate::board::PgnGame;
use crate::types::{CastlingMode, Color};

/// Whose moves a book holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sides {
    Both,
    Only(Color),
}

/// Which moves make a book.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BuildSettings {
    /// A move is kept if it was played in this many games or more.
    pub min_games: u32,
    /// Moves of a game that are looked at, in plies.
    pub max_plies: usize,
    pub sides: Sides,
}

impl Default for BuildSettings {
    fn default() -> BuildSettings {
        BuildSettings {
            min_games: 3,
            max_plies: 40,
            sides: Sides::Both,
        }
    }
}

/// A move's results.
#[derive(Clone, Copy, Debug, Default)]
struct MoveTally {
    games: u32,
    /// Two for a win of the mover, one for a draw.
    half_points: u64,
}

/// Collects the moves of games. Memory grows with the number of different moves, some 40 bytes
/// for each.
#[derive(Debug)]
pub struct BookBuilder {
    settings: BuildSettings,
    moves: HashMap<(u64, u16), MoveTally>,
    /// Games whose moves were taken.
    pub games: u64,
    /// Games left out because their result is unknown.
    pub without_result: u64,
    /// Games left out because they are Chess960.
    pub chess960: u64,
}

impl BookBuilder {
    #[must_use]
    pub fn new(settings: BuildSettings) -> BookBuilder {
        BookBuilder {
            settings,
            moves: HashMap::new(),
            games: 0,
            without_result: 0,
            chess960: 0,
        }
    }

    /// Adds the main line of a game, as far as the settings allow.
    pub fn add(&mut self, game: &PgnGame) {
        if game.start.castling_mode() == CastlingMode::Chess960 {
            self.chess960 += 1;
            return;
        }
        let Some(result) = game.result else {
            self.without_result += 1;
            return;
        };
        self.games += 1;
        // A move that a repetition brings again counts once a game.
        let mut seen = HashSet::new();
        let mut position = game.start.clone();
        for m in game.main_line.moves.iter().take(self.settings.max_plies) {
            let turn = position.turn();
            let is_wanted = matches!(self.settings.sides, Sides::Both)
                || self.settings.sides == Sides::Only(turn);
            let book_move = (key_of(&position), encode(m.played));
            if is_wanted && seen.insert(book_move) {
                let tally = self.moves.entry(book_move).or_default();
                tally.games = tally.games.saturating_add(1);
                tally.half_points += u64::from(result.half_points(turn));
            }
            position = position.play(m.played);
        }
    }

    /// The book: of every move that was played often enough, the weight is twice its wins plus its
    /// draws. If the largest exceeds what a book can hold, all are scaled down alike, so that
    /// weights compare between positions. Moves that never scored are left out.
    ///
    /// # Errors
    /// If no move was played often enough.
    pub fn finish(self) -> Result<OpeningBook, BookError> {
        let kept =
            |tally: &MoveTally| tally.games >= self.settings.min_games && tally.half_points > 0;
        let kept: Vec<(&(u64, u16), &MoveTally)> =
            self.moves.iter().filter(|(_, tally)| kept(tally)).collect();
        let largest = kept.iter().map(|(_, tally)| tally.half_points).max();
        let divisor = largest
            .ok_or(BookError::Empty)?
            .div_ceil(u64::from(u16::MAX));
        let mut entries: Vec<BookEntry> = kept
            .into_iter()
            .map(|(&(key, bits), tally)| BookEntry {
                key,
                bits,
                // At most 65535 by the choice of the divisor.
                weight: (tally.half_points / divisor).max(1) as u16,
                learn: 0,
            })
            .collect();
        entries.sort_by_key(|entry| (entry.key, std::cmp::Reverse(entry.weight), entry.bits));
        Ok(OpeningBook { entries })
    }
}
