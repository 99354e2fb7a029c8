//! Random openings: a start position, some random legal moves, and a check that the result is
//! playable.

use fastrand::Rng;
use thiserror::Error;

use crate::board::Position;
use crate::types::{CastlingMode, Color, Move};

/// How openings are made.
#[derive(Clone, Debug, PartialEq)]
pub struct OpeningSettings {
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
            plies: 8,
            dfrc_share: 0.1,
            max_imbalance: 300,
            check_nodes: 20_000,
        }
    }
}

/// Openings tried for each that is asked for before giving up.
pub const MAX_TRIES: usize = 1000;

/// The settings leave no opening to play: games end within that many random plies, or none is even
/// enough.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
#[error("no playable opening as even as asked for was found in {MAX_TRIES} tries")]
pub struct NothingEven;

/// Moves whose exchange loses more than this, in centipawns, are avoided in openings.
const WORST_EXCHANGE: i32 = -1000;
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
    let fen = if dfrc {
        dfrc_start(rng)
    } else {
        Position::startpos().fen()
    };
    let start = Position::from_fen(&fen, CastlingMode::Chess960).ok()?;
    let base = settings
        .plies
        .saturating_sub(if dfrc { DFRC_PLIES_LESS } else { 0 });
    random_moves(rng, start, base)
}

/// The position after `plies` random moves or one more; `None` if the game ended meanwhile.
#[must_use]
pub fn random_moves(rng: &mut Rng, start: Position, plies: usize) -> Option<Position> {
    let mut position = start;
    for _ in 0..plies + rng.usize(0..2) {
        position = position.play(random_move(rng, &position)?);
    }
    (position.has_legal_move() && !position.is_insufficient_material()).then_some(position)
}

/// A random legal move; another one is tried if it loses a queen.
fn random_move(rng: &mut Rng, position: &Position) -> Option<Move> {
    let moves = position.legal_moves();
    let mut chosen = *moves.get(rng.usize(0..moves.len().max(1)))?;
    for _ in 0..TRIES {
        if position.see_ge(chosen, WORST_EXCHANGE) {
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
}
