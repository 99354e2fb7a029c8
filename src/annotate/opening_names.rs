//! Names of openings, with their codes in the Encyclopaedia of Chess Openings (ECO).
//!
//! The names belong to positions, not to move orders: a game has the name of the last of its
//! positions that has one. The tables are lichess' collection (see `openings/README.md`).

use std::collections::HashMap;
use std::sync::LazyLock;

use crate::board::{PgnGame, Position};
use crate::types::CastlingMode;

/// The five volumes: a line of column names, then ECO code, name and moves, separated by tabs.
const VOLUMES: [&str; 5] = [
    include_str!("openings/a.tsv"),
    include_str!("openings/b.tsv"),
    include_str!("openings/c.tsv"),
    include_str!("openings/d.tsv"),
    include_str!("openings/e.tsv"),
];

const ECO: &str = "ECO";
const OPENING: &str = "Opening";
/// The value of a header that is not known.
const UNKNOWN: &str = "?";

/// A named opening.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OpeningName {
    /// A letter from A to E and two digits.
    pub eco: &'static str,
    pub name: &'static str,
}

struct OpeningNames {
    /// By the keys of the positions.
    names: HashMap<u64, OpeningName>,
    /// Plies of the longest named line.
    longest: u32,
}

static NAMES: LazyLock<OpeningNames> = LazyLock::new(|| {
    let mut table = OpeningNames {
        names: HashMap::new(),
        longest: 0,
    };
    for (opening, moves) in lines() {
        if let Some(position) = position_after(moves) {
            table.longest = table.longest.max(position.game_ply());
            // The first of a position's names: each volume begins with the general ones.
            table.names.entry(position.key()).or_insert(opening);
        }
    }
    table
});

/// The named lines of all volumes.
fn lines() -> impl Iterator<Item = (OpeningName, &'static str)> {
    let rows = VOLUMES
        .into_iter()
        .flat_map(|volume| volume.lines().skip(1));
    rows.filter_map(|row| {
        let mut columns = row.split('\t');
        let (eco, name, moves) = (columns.next()?, columns.next()?, columns.next()?);
        Some((OpeningName { eco, name }, moves))
    })
}

/// The position after moves such as `1. e4 e5 2. Nf3`; `None` if one of them is not legal.
fn position_after(moves: &str) -> Option<Position> {
    let mut position = Position::startpos();
    for word in moves.split_whitespace().filter(|word| !word.ends_with('.')) {
        position = position.play(position.parse_san(word).ok()?);
    }
    Some(position)
}

/// The name of the opening of a game; `None` for Chess960, or if the game meets no named position.
#[must_use]
pub fn opening_name(game: &PgnGame) -> Option<OpeningName> {
    if game.start.castling_mode() == CastlingMode::Chess960 {
        return None;
    }
    let mut position = game.start.clone();
    let mut found = NAMES.names.get(&position.key());
    for m in &game.main_line.moves {
        if position.game_ply() >= NAMES.longest {
            break;
        }
        position = position.play(m.played);
        found = NAMES.names.get(&position.key()).or(found);
    }
    found.copied()
}

/// Adds the headers `ECO` and `Opening` where the game's own are missing or unknown.
pub fn add_opening_name(game: &mut PgnGame) {
    let Some(OpeningName { eco, name }) = opening_name(game) else {
        return;
    };
    for (header, value) in [(ECO, eco), (OPENING, name)] {
        let old = game.headers.get(header).unwrap_or_default();
        if old.is_empty() || old == UNKNOWN {
            game.headers.set(header, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::PgnReader;

    fn game(text: &str) -> PgnGame {
        PgnReader::new(text.as_bytes())
            .next()
            .expect("a game")
            .expect("readable")
    }

    fn named(text: &str) -> Option<(&'static str, &'static str)> {
        opening_name(&game(text)).map(|opening| (opening.eco, opening.name))
    }

    #[test]
    fn every_line_of_the_tables_is_legal() {
        let rows: usize = VOLUMES
            .iter()
            .map(|volume| volume.lines().count() - 1)
            .sum();
        let readable = lines()
            .filter(|(opening, moves)| opening.eco.len() == 3 && position_after(moves).is_some());
        assert_eq!(readable.count(), rows);
        assert!(rows > 3000);
    }

    #[test]
    fn a_game_has_the_name_of_its_last_named_position() {
        let ruy_lopez = Some(("C70", "Ruy Lopez: Morphy Defense"));
        assert_eq!(named("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 *"), ruy_lopez);
        // Unnamed moves afterwards change nothing, and neither does the order of the moves.
        assert_eq!(
            named("1. e4 e5 2. Nf3 Nc6 3. Bb5 a6 4. Ba4 h5 5. h4 Rh6 *"),
            ruy_lopez
        );
        assert_eq!(named("1. Nf3 Nc6 2. e4 e5 3. Bb5 a6 4. Ba4 *"), ruy_lopez);
        assert_eq!(named("[White \"A\"]\n\n*\n"), None);
    }

    #[test]
    fn games_from_other_positions_are_named_if_they_meet_a_named_one() {
        let from = |fen: &str, moves: &str| named(&format!("[FEN \"{fen}\"]\n\n{moves} *\n"));
        assert_eq!(from("8/8/8/3k4/3P4/3K4/8/8 b - - 0 40", "40... Kd6"), None);
        let after_e4 = "rnbqkbnr/pppppppp/8/8/4P3/8/PPPP1PPP/RNBQKBNR b KQkq - 0 1";
        assert_eq!(from(after_e4, "1... c5"), Some(("B20", "Sicilian Defense")));
        let shuffled = "[Variant \"Chess960\"]\n\n1. e4 c5 *\n";
        assert_eq!(named(shuffled), None);
    }

    #[test]
    fn headers_that_say_something_stay() {
        let mut bare = game("1. e4 c5 *");
        add_opening_name(&mut bare);
        assert_eq!(bare.headers.get(ECO), Some("B20"));
        assert_eq!(bare.headers.get(OPENING), Some("Sicilian Defense"));
        let mut own = game("[ECO \"B99\"]\n[Opening \"?\"]\n\n1. e4 c5 *\n");
        add_opening_name(&mut own);
        assert_eq!(own.headers.get(ECO), Some("B99"));
        assert_eq!(own.headers.get(OPENING), Some("Sicilian Defense"));
    }
}
