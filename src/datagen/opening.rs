//! Random openings: a start position, some random legal moves, and a check that the result is
//! playable.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use fastrand::Rng;
use serde::{Serialize, Serializer};
use sha2::{Digest as _, Sha256};
use thiserror::Error;

use crate::board::{Position, open_input, read_text};
use crate::params::see_value;
use crate::record::MAX_PIECES;
use crate::types::{CastlingMode, Color, Move, Role};

/// How openings are made.
#[derive(Clone, Debug, Serialize)]
pub struct OpeningSettings {
    /// Positions to start from, each as likely as the others; the initial position if there is
    /// none.
    #[serde(serialize_with = "write_digest")]
    pub starts: Arc<[Position]>,
    /// Random plies: this many or one more, so that both sides get to move first.
    pub plies: usize,
    /// Share of games that start from a double Fischer random position.
    pub dfrc_share: f64,
    /// Openings with a search score further than this from 0 are dropped, in centipawns.
    pub max_imbalance: i32,
    /// Nodes of that search.
    pub check_nodes: u64,
}

impl Default for OpeningSettings {
    fn default() -> OpeningSettings {
        OpeningSettings {
            starts: Arc::default(),
            plies: 8,
            dfrc_share: 0.1,
            max_imbalance: 300,
            check_nodes: 20_000,
        }
    }
}

/// Writes positions as their number and the SHA-256 of their FENs, a line each.
fn write_digest<S: Serializer>(positions: &[Position], serializer: S) -> Result<S::Ok, S::Error> {
    let mut hash = Sha256::new();
    for position in positions {
        hash.update(position.fen());
        hash.update("\n");
    }
    let digest: String = (hash.finalize().iter())
        .map(|byte| format!("{byte:02x}"))
        .collect();
    serializer.collect_str(&format_args!("{} positions, {digest}", positions.len()))
}

/// Openings tried for each that is asked for before giving up.
pub const MAX_TRIES: usize = 1000;

/// The settings leave no opening to play: games end within that many random plies, or none is even
/// enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no playable opening as even as asked for was found in {MAX_TRIES} tries")]
pub struct NothingEven;

/// Why a file of openings cannot be used.
#[derive(Debug, Error)]
pub enum OpeningsError {
    #[error("cannot read the openings {}: {source}", path.display())]
    Unreadable { path: PathBuf, source: io::Error },
    #[error("{} holds no position", .0.display())]
    Empty(PathBuf),
}

/// Reads the positions of a file that has one FEN or EPD a line, in Chess960 mode. Lines that hold
/// no position, or one of more pieces than records have room for, are passed over, and so are
/// clocks, counters and operations.
///
/// # Errors
/// The file cannot be read or holds no position.
pub fn read_openings(path: &Path) -> Result<Arc<[Position]>, OpeningsError> {
    const BOARD_FIELDS: usize = 4;
    let text =
        open_input(path)
            .and_then(read_text)
            .map_err(|source| OpeningsError::Unreadable {
                path: path.to_owned(),
                source,
            })?;
    let positions: Arc<[Position]> = text
        .lines()
        .filter_map(|line| {
            let fields: Vec<&str> = line.split_whitespace().take(BOARD_FIELDS).collect();
            let position = Position::from_fen(&fields.join(" "), CastlingMode::Chess960).ok()?;
            (position.board().occupied().count() <= MAX_PIECES).then_some(position)
        })
        .collect();
    if positions.is_empty() {
        Err(OpeningsError::Empty(path.to_owned()))
    } else {
        Ok(positions)
    }
}

const FILES: [char; 8] = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
/// How often another move is tried in place of a blunder.
const TRIES: usize = 8;
/// Double Fischer random starts differ already, so that fewer random moves are needed.
const DFRC_PLIES_LESS: usize = 5;

/// A position to play from, after random moves; `None` if the game ended meanwhile.
///
/// All positions are in Chess960 mode, as the records have castling.
#[must_use]
pub fn random_opening(rng: &mut Rng, settings: &OpeningSettings) -> Option<Position> {
    let dfrc = rng.f64() < settings.dfrc_share;
    let from_fen = |fen: &str| Position::from_fen(fen, CastlingMode::Chess960).ok();
    let start = if dfrc {
        from_fen(&dfrc_start(rng))?
    } else if settings.starts.is_empty() {
        from_fen(&Position::startpos().fen())?
    } else {
        settings.starts[rng.usize(0..settings.starts.len())].clone()
    };
    let base = settings
        .plies
        .saturating_sub(if dfrc { DFRC_PLIES_LESS } else { 0 });
    random_moves(rng, start, base)
}

/// The position after `plies` random moves or one more; `None` if the game ended meanwhile.
fn random_moves(rng: &mut Rng, start: Position, plies: usize) -> Option<Position> {
    let mut position = start;
    for _ in 0..plies + rng.usize(0..2) {
        position = position.play(random_move(rng, &position)?);
    }
    (position.has_legal_move() && !position.is_insufficient_material()).then_some(position)
}

/// The least that an exchange may win in openings, in centipawns: no queen is lost for nothing.
fn least_gain() -> i32 {
    1 - see_value(Role::Queen)
}

/// A random legal move; another one is tried if it loses a queen for nothing.
fn random_move(rng: &mut Rng, position: &Position) -> Option<Move> {
    let moves = position.legal_moves();
    let mut chosen = *moves.get(rng.usize(0..moves.len().max(1)))?;
    for _ in 0..TRIES {
        if position.see_ge(chosen, least_gain()) {
            break;
        }
        chosen = moves[rng.usize(0..moves.len())];
    }
    Some(chosen)
}

/// A start with both back ranks arranged at random, as Shredder-FEN.
fn dfrc_start(rng: &mut Rng) -> String {
    let (white, black) = (back_rank(rng), back_rank(rng));
    let rights = |rank: &[char; 8], color: Color| -> String {
        let files = FILES
            .into_iter()
            .zip(rank)
            .filter(|(_, piece)| **piece == 'r');
        let letter = |file: char| {
            if color.is_white() {
                file.to_ascii_uppercase()
            } else {
                file
            }
        };
        // The king's side first, as FEN has it.
        files.map(|(file, _)| letter(file)).rev().collect()
    };
    let text = |rank: &[char; 8]| rank.iter().collect::<String>();
    format!(
        "{}/pppppppp/8/8/8/8/PPPPPPPP/{} w {}{} - 0 1",
        text(&black),
        text(&white).to_ascii_uppercase(),
        rights(&white, Color::White),
        rights(&black, Color::Black),
    )
}

/// One of the 960 arrangements: bishops on both colours, the king between the rooks.
fn back_rank(rng: &mut Rng) -> [char; 8] {
    let mut rank = [' '; 8];
    rank[2 * rng.usize(0..4)] = 'b';
    rank[2 * rng.usize(0..4) + 1] = 'b';
    let place = |rank: &mut [char; 8], nth: usize, piece: char| {
        if let Some(slot) = rank.iter_mut().filter(|slot| **slot == ' ').nth(nth) {
            *slot = piece;
        }
    };
    place(&mut rank, rng.usize(0..6), 'q');
    place(&mut rank, rng.usize(0..5), 'n');
    place(&mut rank, rng.usize(0..4), 'n');
    for piece in ['r', 'k', 'r'] {
        place(&mut rank, 0, piece);
    }
    rank
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::fs;

    use super::*;

    #[test]
    fn all_arrangements_occur_and_are_positions() {
        let mut rng = Rng::with_seed(1);
        let mut seen = HashSet::new();
        for _ in 0..20_000 {
            seen.insert(back_rank(&mut rng));
        }
        assert_eq!(seen.len(), 960);
        for _ in 0..200 {
            let fen = dfrc_start(&mut rng);
            let position = Position::from_fen(&fen, CastlingMode::Chess960).expect("a start");
            assert_eq!(position.fen(), fen);
        }
    }

    #[test]
    fn openings_follow_from_their_seed_and_vary() {
        let settings = OpeningSettings {
            dfrc_share: 0.5,
            ..OpeningSettings::default()
        };
        let line = |seed| random_opening(&mut Rng::with_seed(seed), &settings).map(|p| p.fen());
        let seen: HashSet<_> = (0..200).map(line).collect();
        assert!(seen.len() > 195);
        assert_eq!(line(7), line(7));
        let plies: HashSet<_> = (0..200)
            .filter_map(|seed| random_opening(&mut Rng::with_seed(seed), &settings))
            .map(|position| position.turn())
            .collect();
        assert_eq!(plies.len(), 2, "both sides must get to move first");
    }

    /// A FEN, an EPD with an operation, and lines that hold no position.
    const LINES: &str = "\
        r1bqkbnr/pppp1ppp/2n5/4p3/4P3/5N2/PPPP1PPP/RNBQKB1R w KQkq - 2 3\n\
        \n\
        no position\n\
        4k3/8/8/8/8/8/4P3/4K3 b - - id \"pawn\";\n";

    fn read(text: &str) -> Result<Arc<[Position]>, OpeningsError> {
        let file = tempfile::NamedTempFile::new().expect("a file");
        fs::write(file.path(), text).expect("written");
        read_openings(file.path())
    }

    #[test]
    fn files_of_openings_hold_fen_and_epd() {
        let starts = read(LINES).expect("two positions");
        let turns: Vec<Color> = starts.iter().map(Position::turn).collect();
        assert_eq!(turns, [Color::White, Color::Black]);
        let pieces: Vec<usize> = starts
            .iter()
            .map(|start| start.board().occupied().count())
            .collect();
        assert_eq!(pieces, [32, 3]);
        assert!(matches!(read("none\n"), Err(OpeningsError::Empty(_))));
        // 48 pieces, legal for the board, are more than a record holds.
        let crowded = "rnbqkbnr/pppppppp/nnnnnnnn/8/8/NNNNNNNN/PPPPPPPP/RNBQKBNR w KQkq - 0 1\n";
        assert!(matches!(read(crowded), Err(OpeningsError::Empty(_))));
        assert_eq!(
            read(&[crowded, LINES].concat()).map_or(0, |starts| starts.len()),
            2
        );
        let missing = read_openings(Path::new("no such file"));
        assert!(matches!(missing, Err(OpeningsError::Unreadable { .. })));
    }

    #[test]
    fn no_queen_is_given_away_for_nothing() {
        let fen = "4k3/8/3p4/p3p3/8/8/8/K3Q3 w - - 0 1";
        let position = Position::from_fen(fen, CastlingMode::Chess960).expect("a position");
        let [lost, taking] =
            ["e1b4", "e1e5"].map(|text| position.parse_uci(text).expect("a legal move"));
        assert!(!position.see_ge(lost, least_gain()));
        assert!(
            position.see_ge(taking, least_gain()),
            "a pawn is won for it"
        );
        let played = (0..500).map(|seed| random_move(&mut Rng::with_seed(seed), &position));
        let played: HashSet<Option<Move>> = played.collect();
        assert!(played.contains(&Some(taking)));
        assert!(!played.contains(&Some(lost)));
    }

    #[test]
    fn games_start_from_every_given_position_and_from_no_other() {
        let settings = OpeningSettings {
            starts: read(LINES).expect("two positions"),
            plies: 0,
            dfrc_share: 0.0,
            ..OpeningSettings::default()
        };
        // With no random ply or one, each of these begins with one side or the other to move.
        let seen: HashSet<_> = (0..100)
            .filter_map(|seed| random_opening(&mut Rng::with_seed(seed), &settings))
            .map(|position| (position.board().occupied().count(), position.turn()))
            .collect();
        let expected = [32, 3].map(|pieces| Color::ALL.map(|turn| (pieces, turn)));
        assert_eq!(seen, expected.into_iter().flatten().collect());
    }
}
