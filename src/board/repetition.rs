//! The positions that came before, for the repetition rule.

use super::position::Position;

/// Keys of the positions before the current one, oldest first: first the game's, then, from the
/// root on, the search's.
#[derive(Clone, Debug, Default)]
pub struct KeyHistory {
    keys: Vec<u64>,
    /// How many of the keys belong to the game.
    game: usize,
}

impl KeyHistory {
    /// Starts a search below the given game positions (oldest first, the root excluded).
    #[must_use]
    pub fn new(game: &[u64]) -> KeyHistory {
        let mut keys = Vec::with_capacity(game.len() + crate::types::MAX_PLY + 1);
        keys.extend_from_slice(game);
        KeyHistory {
            keys,
            game: game.len(),
        }
    }

    /// The position with this key is left by a move.
    pub fn push(&mut self, key: u64) {
        self.keys.push(key);
    }

    /// The move is taken back.
    pub fn pop(&mut self) {
        self.keys.pop();
    }

    /// Whether a position repeats an earlier one so that it counts as a draw: once is enough
    /// when the earlier one lies in the search below the root, for what was good then is good
    /// now; otherwise it takes the two earlier ones of the rules.
    #[must_use]
    pub fn is_repetition(&self, position: &Position) -> bool {
        let window = position.reversible_plies().min(self.keys.len());
        let mut seen = false;
        for back in (4..=window).step_by(2) {
            let index = self.keys.len() - back;
            if self.keys[index] == position.key() {
                // The root itself may stand on the board once more without being a draw.
                if seen || index > self.game {
                    return true;
                }
                seen = true;
            }
        }
        false
    }

    /// The keys of the search's positions but the root, oldest first.
    #[must_use]
    pub fn below_root(&self) -> &[u64] {
        self.keys.get(self.game + 1..).unwrap_or_default()
    }
}

/// Of the positions before a child of the root, the root alone is not in the game's history.
pub const ROOT_ALONE: usize = 1;

/// How often a position has occurred, this time included. `history` has the keys of the game's
/// positions before it, oldest first, without the last `missing`.
#[must_use]
pub fn occurrences(position: &Position, history: &[u64], missing: usize) -> usize {
    let window = position.reversible_plies().saturating_sub(missing);
    let earlier = history.iter().rev().take(window);
    1 + earlier.filter(|&&key| key == position.key()).count()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Plays UCI moves from the start position; the first `game` of them before the root.
    fn shuffle(game: usize, moves: &[&str]) -> (KeyHistory, Position) {
        let mut position = Position::startpos();
        let mut keys = Vec::new();
        let mut history = KeyHistory::default();
        for (index, text) in moves.iter().enumerate() {
            if index == game {
                history = KeyHistory::new(&keys);
            }
            if index < game {
                keys.push(position.key());
            } else {
                history.push(position.key());
            }
            position = position.play(position.parse_uci(text).unwrap());
        }
        if moves.len() == game {
            history = KeyHistory::new(&keys);
        }
        (history, position)
    }

    const KNIGHTS: [&str; 4] = ["g1f3", "g8f6", "f3g1", "f6g8"];

    #[test]
    fn one_repetition_below_the_root_is_a_draw() {
        let moves = [&["e2e4", "e7e5"], &KNIGHTS[..]].concat();
        let (history, position) = shuffle(1, &moves);
        assert!(history.is_repetition(&position));
    }

    #[test]
    fn the_root_and_the_game_must_be_repeated_twice() {
        let once = [&["e2e4", "e7e5"], &KNIGHTS[..]].concat();
        let (history, position) = shuffle(2, &once);
        assert!(!history.is_repetition(&position), "the root, once");
        let (history, position) = shuffle(once.len(), &once);
        assert!(!history.is_repetition(&position), "the game, once");
        let twice = [&once[..], &KNIGHTS[..]].concat();
        let (history, position) = shuffle(once.len(), &twice);
        assert!(history.is_repetition(&position), "the game, twice");
    }

    #[test]
    fn irreversible_moves_end_the_window() {
        let moves = ["g1f3", "g8f6", "f3g1", "f6g8", "e2e4"];
        let (history, position) = shuffle(0, &moves);
        assert!(!history.is_repetition(&position));
    }
}
