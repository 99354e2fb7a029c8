//! The stage that answers from an opening book.

use std::path::Path;
use std::sync::Arc;

use super::conclusion::Conclusion;
use super::pipeline::{Stage, Step};
use crate::board::{Game, Position, ROOT_ALONE, occurrences};
use crate::opening_book::{BookError, BookMove, OpeningBook, choose};
use crate::search::SearchRequest;
use crate::types::{Depth, Move};

/// Default and most moves of a game that are played from the book.
pub const BOOK_DEPTH_DEFAULT: usize = 255;
pub const BOOK_DEPTH_MAX: usize = 255;

/// How the opening book is used.
#[derive(Clone, Debug)]
pub struct BookUse {
    /// Whether to play from the book at all.
    pub own: bool,
    /// The last move of a game, counted from 1 for both sides, that is played from the book.
    pub depth: usize,
    /// Always the move with the largest weight, in place of a choice by weights.
    pub best_only: bool,
    book: Option<Arc<OpeningBook>>,
}

impl Default for BookUse {
    fn default() -> BookUse {
        BookUse {
            own: false,
            depth: BOOK_DEPTH_DEFAULT,
            best_only: false,
            book: None,
        }
    }
}

impl BookUse {
    /// Loads a book, or does without.
    ///
    /// # Errors
    /// If the file is no book; the old one is kept.
    pub(super) fn load(&mut self, path: Option<&Path>) -> Result<(), BookError> {
        self.book = path.map(OpeningBook::open).transpose()?.map(Arc::new);
        Ok(())
    }

    /// The stage, if a book is to be used.
    pub(super) fn stage(&self) -> Option<Arc<dyn Stage>> {
        let book = self.book.clone().filter(|_| self.own)?;
        Some(Arc::new(OwnBook {
            book,
            depth: self.depth,
            best_only: self.best_only,
        }))
    }
}

struct OwnBook {
    book: Arc<OpeningBook>,
    depth: usize,
    best_only: bool,
}

impl OwnBook {
    fn answer(&self, request: &SearchRequest) -> Option<Move> {
        let root = &request.root;
        let number = root.game_ply() as usize / 2 + 1;
        if number > self.depth {
            return None;
        }
        let allowed = request.limits.root_moves.as_ref();
        let mut moves = self.book.moves(root);
        moves.retain(|m| {
            allowed.is_none_or(|allowed| allowed.contains(&m.played))
                && !draws_by_repetition(root, &request.history, m.played)
        });
        if self.best_only {
            moves.truncate(1);
        }
        choose(&moves, |below| fastrand::u64(0..below))
    }

    /// The reply that the book expects.
    fn reply(&self, position: &Position) -> Option<Move> {
        let moves = self.book.moves(position);
        moves
            .first()
            .filter(|reply| reply.weight > 0)
            .map(|reply: &BookMove| reply.played)
    }
}

/// Whether the position after the move has occurred twice before.
fn draws_by_repetition(root: &Position, history: &[u64], m: Move) -> bool {
    let child = root.play(m);
    occurrences(&child, history, ROOT_ALONE) >= Game::REPETITIONS_TO_DRAW
}

impl Stage for OwnBook {
    fn before_search(&self, request: &mut SearchRequest, note: &mut dyn FnMut(String)) -> Step {
        // An analysis is a search.
        if request.infinite || request.limits.multi_pv > 1 {
            return Step::Continue;
        }
        let Some(best) = self.answer(request) else {
            return Step::Continue;
        };
        let reply = self.reply(&request.root.play(best));
        note(format!("book move {}", request.root.uci(best)));
        Step::Answer(Conclusion {
            pv: [Some(best), reply].into_iter().flatten().collect(),
            score: None,
            depth: Depth::ZERO,
        })
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;

    use super::super::{Analysis, Engine, Event, Request};
    use super::*;
    use crate::board::{PgnReader, Start};
    use crate::opening_book::{BookBuilder, BuildSettings};
    use crate::types::CastlingMode;

    /// A file with a book of the start position and the answers to 1. e4 and 1. h4.
    fn book() -> tempfile::NamedTempFile {
        let pgn = "1. e4 e5 1-0\n\n1. e4 e5 1/2-1/2\n\n1. e4 c5 0-1\n\n1. h4 e5 1-0\n\n";
        let mut builder = BookBuilder::new(BuildSettings {
            min_games: 1,
            ..BuildSettings::default()
        });
        for game in PgnReader::main_lines(pgn.as_bytes()) {
            builder.add(&game.expect("a game"));
        }
        let mut file = tempfile::NamedTempFile::new().expect("a file");
        let made = builder.finish().expect("a book");
        made.write(&mut file).expect("space");
        file.flush().expect("space");
        file
    }

    /// What is played after some moves, and whether it was searched.
    fn go(engine: &mut Engine, moves: &[&str]) -> (Analysis, bool) {
        let moves: Vec<String> = moves.iter().map(|&m| m.to_owned()).collect();
        engine.set_position(&Start::Initial, &moves).expect("legal");
        let mut searched = false;
        engine.go(&Request::to_depth(3)).expect("a search");
        loop {
            let event = engine.events().recv().expect("an event");
            engine.received(&event);
            match event {
                Event::Line(_) => searched = true,
                Event::Finished(analysis) => return (analysis, searched),
                _ => {}
            }
        }
    }

    fn played(engine: &mut Engine, moves: &[&str]) -> (String, bool) {
        let (analysis, searched) = go(engine, moves);
        let best = analysis.best.expect("a move");
        (analysis.root.uci(best), searched)
    }

    #[test]
    fn the_book_answers_while_it_may() {
        let file = book();
        let mut engine = Engine::new();
        engine.load_book(Some(file.path())).expect("a book");
        assert!(played(&mut engine, &[]).1, "not without OwnBook");
        engine.use_book(|book| {
            book.own = true;
            book.best_only = true;
        });
        for _ in 0..4 {
            assert_eq!(played(&mut engine, &[]), ("e2e4".to_owned(), false));
        }
        assert!(go(&mut engine, &[]).0.ponder.is_some());
        assert!(played(&mut engine, &["d2d4"]).1, "unknown to the book");
        engine.use_book(|book| book.best_only = false);
        let several: std::collections::HashSet<String> =
            (0..60).map(|_| played(&mut engine, &[]).0).collect();
        assert_eq!(several.len(), 2, "{several:?}");
        engine.use_book(|book| book.depth = 1);
        assert!(!played(&mut engine, &["e2e4"]).1);
        let shuffled = ["g1f3", "g8f6", "f3g1", "f6g8"];
        assert!(played(&mut engine, &shuffled).1, "too late in the game");
    }

    #[test]
    fn moves_that_repeat_into_a_draw_are_recognised() {
        let fen = "rnbqkbnr/pppppppp/8/8/8/5N2/PPPPPPPP/RNBQKB1R w KQkq - 6 5";
        let knight = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let back = knight.parse_san("Ng1").expect("legal");
        let after = knight.play(back).key();
        assert!(draws_by_repetition(
            &knight,
            &[after, 1, 2, 3, after, 5],
            back
        ));
        assert!(!draws_by_repetition(&knight, &[after, 1, 2, 3, 4, 5], back));
        let pawn = knight.parse_san("e4").expect("legal");
        let after = knight.play(pawn).key();
        assert!(!draws_by_repetition(&knight, &[after, after, after], pawn));
    }

    #[test]
    fn a_damaged_book_is_refused_and_the_old_one_kept() {
        let file = book();
        let mut engine = Engine::new();
        engine.load_book(Some(file.path())).expect("a book");
        engine.use_book(|book| book.own = true);
        let mut damaged = tempfile::NamedTempFile::new().expect("a file");
        damaged.write_all(b"no book").expect("space");
        let error = engine.load_book(Some(damaged.path())).expect_err("no book");
        assert!(error.to_string().contains("16 bytes"), "{error}");
        assert!(!played(&mut engine, &[]).1);
        engine.load_book(None).expect("nothing to fail");
        assert!(played(&mut engine, &[]).1);
    }
}
