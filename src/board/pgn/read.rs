//! Reading PGN: a stream of games of any length, broken ones reported and skipped.

use std::io::{self, Read};
use std::ops::ControlFlow;

use pgn_reader::{Nag, RawComment, RawTag, Reader, SanPlus, Skip, Visitor};
use shakmaty::san::San;
use shakmaty::{CastlingMode, Chess, KnownOutcome, Outcome, Position as _};
use thiserror::Error;

use super::respelled::Respelled;
use super::spelling::Mark;
use super::{Headers, PgnGame, PgnLine, PgnMove};
use crate::board::input::decode;
use crate::board::notation::move_of_san;
use crate::board::position::Position;
use crate::types::GameResult;

/// Header lines up to so many bytes are read; much longer ones make a game unreadable.
const HEADER_BYTES: usize = 1 << 14;
/// Variations within variations are kept up to this depth; deeper ones are left out.
const DEEPEST_VARIATION: usize = 32;
/// Values of the header `Variant` that mean standard chess, in lower case without spaces.
const STANDARD: [&str; 5] = ["", "chess", "standard", "normal", "fromposition"];
/// Values of the header `Variant` that mean Chess960, likewise.
const CHESS960: [&str; 4] = ["chess960", "fischerandom", "fischerrandom", "960"];

/// Values of the header `Result` that mean a draw, beside the standard's.
const DRAWS: [&str; 2] = ["1/2", "\u{bd}-\u{bd}"];

/// Why a game, or the rest of the games, could not be read.
#[derive(Debug, Error)]
pub enum PgnError {
    /// One game is broken; those after it can be read.
    #[error("game {number} skipped: {reason}")]
    Game { number: u64, reason: String },
    /// The input failed, and nothing more comes.
    #[error("cannot read game {number}: {source}")]
    Input { number: u64, source: io::Error },
}

/// Reads games one after another from text of any length; games are numbered from 1.
pub struct PgnReader<R> {
    reader: Reader<Respelled<MarkedInput<R>>>,
    main_lines_only: bool,
    number: u64,
    failed: bool,
}

impl<R: Read> PgnReader<R> {
    /// Reads games with comments, glyphs and variations. The input need not be buffered.
    #[must_use]
    pub fn new(input: R) -> PgnReader<R> {
        PgnReader {
            reader: Reader::build(Respelled::new(MarkedInput(input)))
                .set_supported_tag_line_length(HEADER_BYTES)
                .finish(),
            main_lines_only: false,
            number: 0,
            failed: false,
        }
    }

    /// Reads headers, moves of the main line and results only, which is faster.
    #[must_use]
    pub fn main_lines(input: R) -> PgnReader<R> {
        PgnReader {
            main_lines_only: true,
            ..PgnReader::new(input)
        }
    }
}

impl<R: Read> Iterator for PgnReader<R> {
    type Item = Result<PgnGame, PgnError>;

    fn next(&mut self) -> Option<Self::Item> {
        while !self.failed {
            let mut builder = Builder {
                main_line_only: self.main_lines_only,
            };
            let read = self.reader.read_game(&mut builder);
            let number = self.number + 1;
            match read {
                Ok(None) => return None,
                // Stray lines between games.
                Ok(Some(Ok(game))) if is_empty(&game) => {}
                Ok(Some(game)) => {
                    self.number = number;
                    return Some(game.map_err(|reason| PgnError::Game { number, reason }));
                }
                Err(source) if MarkedInput::<R>::is_cause(&source) => {
                    self.failed = true;
                    return Some(Err(PgnError::Input { number, source }));
                }
                Err(error) => {
                    self.number = number;
                    let reason = error.to_string();
                    return Some(Err(PgnError::Game { number, reason }));
                }
            }
        }
        None
    }
}

/// Whether there is no more than prose, a comment or a result, which may stand between two games.
fn is_empty(game: &PgnGame) -> bool {
    game.headers.is_empty() && game.main_line.moves.is_empty()
}

/// Marks the errors of the input, to distinguish them from those that the parser makes.
struct MarkedInput<R>(R);

#[derive(Debug, Error)]
#[error(transparent)]
struct InputError(io::Error);

impl<R> MarkedInput<R> {
    fn is_cause(error: &io::Error) -> bool {
        error
            .get_ref()
            .is_some_and(|inner| inner.is::<InputError>())
    }
}

impl<R: Read> Read for MarkedInput<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.0.read(buffer).map_err(|error| match error.kind() {
            // Readers try again after this one.
            io::ErrorKind::Interrupted => error,
            kind => io::Error::new(kind, InputError(error)),
        })
    }
}

/// The start position by the headers.
fn start(headers: &Headers) -> Result<Position, String> {
    let variant: String = headers.get("Variant").unwrap_or_default().to_lowercase();
    let variant: String = variant.split_whitespace().collect();
    let mode = if STANDARD.contains(&variant.as_str()) {
        CastlingMode::Standard
    } else if CHESS960.contains(&variant.as_str()) {
        CastlingMode::Chess960
    } else {
        return Err(format!("variant '{variant}' is not supported"));
    };
    match headers.get("FEN") {
        Some(fen) => Position::from_fen(fen, mode),
        None => Position::startpos().in_mode(mode),
    }
    .map_err(|error| error.to_string())
}

type VisitorFlow = ControlFlow<Result<PgnGame, String>>;

/// Builds the tree of one game.
struct Builder {
    main_line_only: bool,
}

/// A line that is being read.
struct OpenLine {
    line: PgnLine,
    /// The position before the last move, where its variations begin.
    before: Chess,
    /// The position after the last move.
    after: Chess,
    /// Nothing more is kept: an illegal move came, or the line was not wanted at all.
    closed: bool,
}

impl OpenLine {
    fn new(start: Chess) -> OpenLine {
        OpenLine {
            line: PgnLine::default(),
            before: start.clone(),
            after: start,
            closed: false,
        }
    }
}

/// A game that is being read: the main line, and the variations that are open within each other.
struct OpenGame {
    headers: Headers,
    start: Position,
    main_line: OpenLine,
    variations: Vec<OpenLine>,
    result: Option<GameResult>,
    warnings: Vec<String>,
    /// The result has been read; prose may follow.
    ended: bool,
}

impl OpenGame {
    fn line(&mut self) -> &mut OpenLine {
        self.variations.last_mut().unwrap_or(&mut self.main_line)
    }

    /// Where the next comment belongs.
    fn comment(&mut self) -> Option<&mut String> {
        let open = self.line();
        if open.closed {
            return None;
        }
        Some(match open.line.moves.last_mut() {
            Some(last) => &mut last.comment,
            None => &mut open.line.comment,
        })
    }

    /// What is said of the place where the next move should be.
    fn remark(&mut self, what: &str) -> String {
        let after = &self.line().after;
        let dots = after.turn().fold_wb(".", "...");
        format!("{}{dots} {what}", after.fullmoves())
    }

    /// Ends the variation that is being read, or else the game, because of its next move.
    fn refuse_move(&mut self, what: &str) -> VisitorFlow {
        let reason = self.remark(what);
        if self.variations.is_empty() {
            return ControlFlow::Break(Err(reason));
        }
        self.line().closed = true;
        self.warnings.push(format!("in a variation, {reason}"));
        ControlFlow::Continue(())
    }

    /// A word that cannot be read: one with a digit may be a move, any other is prose, which may
    /// also stand between games.
    fn refuse_word(&mut self, word: &str) -> VisitorFlow {
        if self.ended || self.line().closed {
            return ControlFlow::Continue(());
        }
        if word.contains(|letter: char| letter.is_ascii_digit()) {
            return self.refuse_move(&format!("'{word}' is not a move in SAN"));
        }
        if !self.headers.is_empty() || !self.main_line.line.moves.is_empty() {
            let remark = self.remark(&format!("'{word}' is left out"));
            self.warnings.push(remark);
        }
        ControlFlow::Continue(())
    }

    fn warn_once(&mut self, warning: &str) {
        if !self.warnings.iter().any(|earlier| earlier == warning) {
            self.warnings.push(warning.to_owned());
        }
    }

    /// Puts the innermost variation in its place; of one without moves, its comment.
    fn close_variation(&mut self) {
        let Some(OpenLine { line, .. }) = self.variations.pop() else {
            return;
        };
        if line.moves.is_empty() {
            if let Some(place) = self.comment() {
                place.push_str(&line.comment);
            }
            return;
        }
        let parent = self.line();
        if parent.closed {
            return;
        }
        if let Some(last) = parent.line.moves.last_mut() {
            last.variations.push(line);
        } else {
            let warning = self.remark("a variation before the first move is left out");
            self.warnings.push(warning);
        }
    }
}

impl Visitor for Builder {
    type Tags = Headers;
    type Movetext = OpenGame;
    type Output = Result<PgnGame, String>;

    fn begin_tags(&mut self) -> ControlFlow<Self::Output, Headers> {
        ControlFlow::Continue(Headers::default())
    }

    fn tag(&mut self, headers: &mut Headers, name: &[u8], value: RawTag<'_>) -> VisitorFlow {
        headers.0.push((decode(name), decode(&value.decode())));
        ControlFlow::Continue(())
    }

    fn begin_movetext(&mut self, headers: Headers) -> ControlFlow<Self::Output, OpenGame> {
        match start(&headers) {
            Ok(start) => ControlFlow::Continue(OpenGame {
                result: headers.get("Result").and_then(result_of_text),
                headers,
                main_line: OpenLine::new(start.chess().clone()),
                start,
                variations: Vec::new(),
                warnings: Vec::new(),
                ended: false,
            }),
            Err(reason) => ControlFlow::Break(Err(reason)),
        }
    }

    fn san(&mut self, game: &mut OpenGame, san: SanPlus) -> VisitorFlow {
        if game.ended && game.variations.is_empty() {
            game.warn_once("what stands after the result is left out");
            return ControlFlow::Continue(());
        }
        let open = game.line();
        if open.closed {
            return ControlFlow::Continue(());
        }
        if let Some(m) = move_of_san(&open.after, san.san) {
            open.before.clone_from(&open.after);
            open.after.play_unchecked(m);
            open.line.moves.push(PgnMove::from(m));
            return ControlFlow::Continue(());
        }
        if san.san == San::Null {
            game.refuse_move("is a null move")
        } else {
            game.refuse_move(&format!("{san} is not legal"))
        }
    }

    fn nag(&mut self, game: &mut OpenGame, nag: Nag) -> VisitorFlow {
        let open = game.line();
        if !self.main_line_only
            && !open.closed
            && let Some(last) = open.line.moves.last_mut()
        {
            last.nags.push(nag.0);
        }
        ControlFlow::Continue(())
    }

    fn partial_comment(&mut self, game: &mut OpenGame, comment: RawComment<'_>) -> VisitorFlow {
        if !self.main_line_only
            && let Some(place) = game.comment()
        {
            place.push_str(&decode(comment.as_bytes()));
        }
        ControlFlow::Continue(())
    }

    fn comment(&mut self, game: &mut OpenGame, comment: RawComment<'_>) -> VisitorFlow {
        match Mark::of_comment(comment.as_bytes()) {
            Some(Mark::BadWord(word)) => return game.refuse_word(&word),
            Some(Mark::OpenComment) => {
                let reason = "a comment is not closed before the next game";
                return ControlFlow::Break(Err(reason.to_owned()));
            }
            None => {}
        }
        if !self.main_line_only
            && let Some(place) = game.comment()
        {
            place.push_str(&decode(comment.as_bytes()));
            // Sets it off from a comment that may follow.
            place.push(' ');
        }
        ControlFlow::Continue(())
    }

    fn begin_variation(&mut self, game: &mut OpenGame) -> ControlFlow<Self::Output, Skip> {
        let too_deep = game.variations.len() >= DEEPEST_VARIATION;
        let parent = game.line();
        let unwanted = self.main_line_only || too_deep || parent.closed;
        let mut variation = OpenLine::new(parent.before.clone());
        variation.closed = unwanted;
        game.variations.push(variation);
        if too_deep {
            game.warn_once(&format!(
                "variations deeper than {DEEPEST_VARIATION} left out"
            ));
        }
        ControlFlow::Continue(Skip(unwanted))
    }

    fn end_variation(&mut self, game: &mut OpenGame) -> VisitorFlow {
        game.close_variation();
        ControlFlow::Continue(())
    }

    fn outcome(&mut self, game: &mut OpenGame, outcome: Outcome) -> VisitorFlow {
        // Some programs write results at the ends of variations, too.
        if game.variations.is_empty() {
            game.ended = true;
            match outcome {
                Outcome::Known(KnownOutcome::Decisive { winner }) => {
                    game.result = Some(GameResult::of_winner(winner));
                }
                Outcome::Known(KnownOutcome::Draw) => game.result = Some(GameResult::Draw),
                // The header may know it.
                Outcome::Unknown => {}
            }
        }
        ControlFlow::Continue(())
    }

    fn end_game(&mut self, mut game: OpenGame) -> Self::Output {
        if !game.variations.is_empty() {
            game.warnings.push("a variation is not closed".to_owned());
        }
        while !game.variations.is_empty() {
            game.close_variation();
        }
        let mut main_line = game.main_line.line;
        trim_comments(&mut main_line);
        Ok(PgnGame {
            headers: game.headers,
            start: game.start,
            main_line,
            result: game.result,
            warnings: game.warnings,
        })
    }
}

fn result_of_text(text: &str) -> Option<GameResult> {
    let text = text.trim();
    if DRAWS.contains(&text) {
        return Some(GameResult::Draw);
    }
    [
        GameResult::WhiteWins,
        GameResult::BlackWins,
        GameResult::Draw,
    ]
    .into_iter()
    .find(|result| result.to_string() == text)
}

/// Line breaks and runs of spaces in comments become single spaces.
fn trim_comments(line: &mut PgnLine) {
    let trim = |comment: &mut String| {
        *comment = comment.split_whitespace().collect::<Vec<_>>().join(" ");
    };
    trim(&mut line.comment);
    for m in &mut line.moves {
        trim(&mut m.comment);
        m.variations.iter_mut().for_each(trim_comments);
    }
}
