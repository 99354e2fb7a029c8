//! Upcoming repetition: can the side to move step back into a position of the current line?
//!
//! Two positions that a single reversible piece move connects differ in their keys by that
//! move's key. All such differences are kept in a cuckoo hash table (two places for each, so a
//! look-up is two probes), after Marcel van Kervinck's cycle detection.

use std::sync::LazyLock;

use shakmaty::attacks::{attacks, between};
use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{Bitboard, Color, Piece, Role, Square};

use super::keys::turn_key;
use super::position::Position;
use super::repetition::KeyHistory;

/// Places in the table: a power of two, a little over twice the 3,668 moves.
const PLACES: usize = 8192;
/// Bits of a key used for one place.
const PLACE_BITS: u32 = 13;

#[derive(Clone, Copy)]
struct ReversibleMove {
    key: u64,
    from: Square,
    to: Square,
}

static STEPS: LazyLock<Box<[Option<ReversibleMove>]>> = LazyLock::new(build);

fn places(key: u64) -> [usize; 2] {
    let mask = PLACES - 1;
    [key as usize & mask, (key >> PLACE_BITS) as usize & mask]
}

fn build() -> Box<[Option<ReversibleMove>]> {
    let mut table = vec![None; PLACES].into_boxed_slice();
    let roles = [
        Role::Knight,
        Role::Bishop,
        Role::Rook,
        Role::Queen,
        Role::King,
    ];
    for color in [Color::White, Color::Black] {
        for role in roles {
            let piece = Piece { color, role };
            for from in Square::ALL {
                let later = Bitboard(!0 << from.to_u32() << 1);
                for to in attacks(from, piece, Bitboard::EMPTY) & later {
                    insert(
                        &mut table,
                        ReversibleMove {
                            key: step_key(piece, from, to),
                            from,
                            to,
                        },
                    );
                }
            }
        }
    }
    table
}

fn step_key(piece: Piece, from: Square, to: Square) -> u64 {
    let piece_key = |square| Zobrist64::zobrist_for_piece(square, piece).0;
    piece_key(from) ^ piece_key(to) ^ turn_key()
}

/// Puts a step into its first place; the step that was there moves on to its other place.
fn insert(table: &mut [Option<ReversibleMove>], step: ReversibleMove) {
    let mut step = step;
    let mut place = places(step.key)[0];
    loop {
        let Some(evicted) = table[place].replace(step) else {
            return;
        };
        step = evicted;
        let [first, second] = places(step.key);
        place = if place == first { second } else { first };
    }
}

/// Whether one reversible move leads to a position with this key.
fn is_step(position: &Position, key: u64) -> bool {
    let difference = position.key() ^ key;
    let step = places(difference)
        .into_iter()
        .filter_map(|place| STEPS[place])
        .find(|step| step.key == difference);
    step.is_some_and(|step| (between(step.from, step.to) & position.board().occupied()).is_empty())
}

impl KeyHistory {
    /// Whether the side to move has a move that repeats a position of the search below the root,
    /// which it may then claim as a draw.
    #[must_use]
    pub fn can_repeat(&self, position: &Position) -> bool {
        let below_root = self.below_root();
        let window = position.reversible_plies().min(below_root.len());
        let Some((latest, before)) = below_root[below_root.len() - window..].split_last() else {
            return false;
        };
        // What the other side's moves have changed in all: nothing, if one step of one's own is to
        // lead back. That is known without a look into the table (an idea from Stockfish).
        let mut theirs = position.key() ^ latest ^ turn_key();
        before.rchunks_exact(2).any(|keys| {
            let [earlier, later] = [keys[0], keys[1]];
            theirs ^= earlier ^ later ^ turn_key();
            theirs == 0 && is_step(position, earlier)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::{Random, cases};
    use crate::types::CastlingMode;

    #[test]
    fn every_reversible_step_is_in_the_table() {
        assert_eq!(STEPS.iter().flatten().count(), 3668);
    }

    #[test]
    fn a_move_back_into_the_line_is_seen_and_is_a_repetition() {
        let mut seen = 0;
        for game in 0..cases(400, 2) {
            let mut random = Random(game);
            let mut position = Position::startpos();
            let mut history = KeyHistory::new(&[]);
            for _ in 0..80 {
                let moves = position.legal_moves();
                if moves.is_empty() {
                    break;
                }
                let repeats = moves
                    .iter()
                    .any(|m| history.below_root().contains(&position.play(*m).key()));
                let fen = position.fen();
                assert_eq!(history.can_repeat(&position), repeats, "{fen}");
                seen += usize::from(repeats);
                history.push(position.key());
                position = position.play(moves[random.below(moves.len())]);
            }
        }
        assert!(seen >= cases(21, 0) as usize, "{seen}");
    }

    #[test]
    fn a_move_may_lead_back_over_five_plies() {
        let start = "4k3/8/8/8/8/8/R7/4K3 w - - 0 1";
        let mut position = Position::from_fen(start, CastlingMode::Standard).expect("legal");
        let mut history = KeyHistory::new(&[]);
        for text in ["a2a1", "e8e7", "a1b1", "e7f7", "b1c1", "f7e8"] {
            assert!(!history.can_repeat(&position), "before {text}");
            history.push(position.key());
            position = position.play(position.parse_uci(text).expect("legal"));
        }
        assert!(history.can_repeat(&position), "the rook may go back to a1");
    }
}
