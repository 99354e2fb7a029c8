//! Openings on demand, as OpenBench specifies: `genfens N seed S book FILE|None [...]` as one
//! argument of the program, answered by N lines `info string genfens FEN`.

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Instant;

use fastrand::Rng;
use thiserror::Error;

use crate::board::Position;
use crate::eval::EvalKind;
use crate::search::{Limits, SearchRequest, SearchWorker, Shared, Silent};
use crate::tt::{AllocError, TranspositionTable};
use crate::types::CastlingMode;

use super::opening::{
    MAX_TRIES, NothingEven, OpeningSettings, OpeningsError, random_opening, read_openings,
};

/// Megabytes of the table for the balance checks.
const HASH: usize = 8;
/// Random plies after a book's line.
const BOOK_PLIES: usize = 4;

/// A request for openings.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct GenfensRequest {
    pub count: usize,
    pub seed: u64,
    /// A file with one FEN or EPD per line.
    pub book: Option<PathBuf>,
}

/// Why no openings can be made.
#[derive(Debug, Error)]
pub enum GenfensError {
    #[error("usage: genfens N seed S book FILE|None")]
    Usage,
    #[error(transparent)]
    Book(#[from] OpeningsError),
    #[error(transparent)]
    NothingEven(#[from] NothingEven),
    #[error(transparent)]
    Memory(#[from] AllocError),
}

impl GenfensRequest {
    /// Reads the argument; `None` if it is not such a request. Words after the known ones
    /// are for other engines and are ignored.
    ///
    /// # Errors
    /// [`GenfensError::Usage`] if a number is missing or invalid.
    pub fn parse(text: &str) -> Option<Result<GenfensRequest, GenfensError>> {
        let words: Vec<&str> = text.split_whitespace().collect();
        if words.first() != Some(&"genfens") {
            return None;
        }
        let after = |name: &str| {
            let place = words.iter().position(|word| *word == name)?;
            words.get(place + 1).copied()
        };
        let read = || {
            let book = after("book").filter(|book| !book.eq_ignore_ascii_case("none"));
            Some(GenfensRequest {
                count: words.get(1)?.parse().ok()?,
                seed: after("seed")?.parse().ok()?,
                book: book.map(PathBuf::from),
            })
        };
        Some(read().ok_or(GenfensError::Usage))
    }

    /// Makes the openings and shows each as it is found, until `show` answers with `Break`.
    ///
    /// # Errors
    /// The book is unusable, or memory cannot be allocated.
    pub fn run(
        &self,
        eval_kind: EvalKind,
        mut show: impl FnMut(&str) -> ControlFlow<()>,
    ) -> Result<(), GenfensError> {
        let mut settings = OpeningSettings {
            dfrc_share: 0.0,
            ..OpeningSettings::default()
        };
        if let Some(book) = &self.book {
            settings.starts = read_openings(book)?;
            settings.plies = BOOK_PLIES;
        }
        let mut rng = Rng::with_seed(self.seed);
        let shared = Arc::new(Shared::new(TranspositionTable::new(HASH)?, 1));
        let mut worker = SearchWorker::new(0, Arc::clone(&shared), eval_kind);
        for _ in 0..self.count {
            let mut even = |position: &Position| {
                let limits = Limits::to_nodes(settings.check_nodes);
                shared.begin(false, Instant::now());
                let request = SearchRequest::new(position.clone(), limits);
                let outcome = worker.search(&request, Box::new(Silent));
                outcome.is_some_and(|found| found.score.raw().abs() <= settings.max_imbalance)
            };
            let opening = (0..MAX_TRIES)
                .filter_map(|_| random_opening(&mut rng, &settings))
                .find(|position| even(position))
                .ok_or(NothingEven)?;
            // Standard castling letters: the games are played in standard chess.
            let fen = opening.fen();
            let standard = Position::from_fen(&fen, CastlingMode::Standard);
            if show(&standard.map_or(fen, |position| position.fen())).is_break() {
                break;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;
    use crate::nnue::Network;

    #[test]
    fn requests_are_read_as_openbench_writes_them() {
        let parse = |text| GenfensRequest::parse(text).map(|request| request.ok());
        let request = GenfensRequest {
            count: 12,
            seed: 42,
            book: None,
        };
        assert_eq!(
            parse("genfens 12 seed 42 book None"),
            Some(Some(request.clone()))
        );
        assert_eq!(
            parse("genfens 12 seed 42 book None dfrc 1"),
            Some(Some(request))
        );
        let book = Some(PathBuf::from("books/x.epd"));
        let request = GenfensRequest {
            count: 1,
            seed: 0,
            book,
        };
        assert_eq!(
            parse("genfens 1 seed 0 book books/x.epd"),
            Some(Some(request))
        );
        assert_eq!(parse("genfens many seed 0 book None"), Some(None));
        assert_eq!(parse("bench 16"), None);
    }

    fn openings(seed: u64, book: Option<&Path>) -> Vec<String> {
        let mut fens = Vec::new();
        let request = GenfensRequest {
            count: 3,
            seed,
            book: book.map(Path::to_owned),
        };
        let eval_kind = EvalKind::Network(Network::embedded());
        request
            .run(eval_kind, |fen| {
                fens.push(fen.to_owned());
                ControlFlow::Continue(())
            })
            .expect("openings");
        fens
    }

    #[test]
    fn openings_are_legal_and_repeatable() {
        let fens = openings(5, None);
        assert_eq!(fens.len(), 3);
        assert!(
            fens.iter()
                .all(|fen| Position::from_fen(fen, CastlingMode::Standard).is_ok())
        );
        assert_eq!(openings(5, None), fens);
        assert_ne!(openings(6, None), fens);
    }

    #[test]
    fn openings_follow_the_lines_of_the_book() {
        let book = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(book.path(), "4k3/4p3/8/8/8/8/4P3/4K3 w - -\n").expect("written");
        for fen in openings(5, Some(book.path())) {
            let position = Position::from_fen(&fen, CastlingMode::Standard).expect("legal");
            assert!(position.board().occupied().count() <= 4, "{fen}");
        }
    }
}
