//! Moves that people find natural, and moves that they do not.

use crate::board::Position;
use crate::types::{Color, Move, Rank, Role, Square};

/// The bonus of the most natural moves; others are fractions of it.
pub(super) const FULL: i32 = 8;

const RECAPTURE: i32 = FULL;
const CASTLE: i32 = FULL;
const DEVELOPMENT: i32 = 4;
const CAPTURE_OF_CHECKER: i32 = 6;
const FORFEITED_CASTLING: i32 = -FULL;
const EARLY_QUEEN: i32 = -4;
const RETREAT: i32 = -3;
const SHUFFLE: i32 = -6;

/// The opening lasts this many plies.
const OPENING: u32 = 24;

/// How natural a legal move of a position is after the moves `past`, from minus to plus [`FULL`]
/// and a little beyond where several reasons apply.
pub(super) fn bonus(position: &Position, past: &[Move], m: Move) -> i32 {
    let opening = position.game_ply() < OPENING;
    let mut bonus = 0;
    if m.is_castle() {
        return CASTLE;
    }
    if m.is_capture() && last_capture(past) == Some(m.to()) {
        bonus += RECAPTURE;
    }
    if m.is_capture() && position.checkers().contains(m.to()) {
        bonus += CAPTURE_OF_CHECKER;
    }
    if forfeits_castling(position, m) {
        bonus += FORFEITED_CASTLING;
    }
    if goes_back(past, m) {
        bonus += SHUFFLE;
    }
    bonus + steps(position, m, opening)
}

/// What is natural about a piece leaving or entering its own back rank.
fn steps(position: &Position, m: Move, opening: bool) -> i32 {
    let home = match position.turn() {
        Color::White => Rank::First,
        Color::Black => Rank::Eighth,
    };
    let leaves = m.from().is_some_and(|from| from.rank() == home);
    let enters = m.to().rank() == home;
    match m.role() {
        Role::Knight | Role::Bishop if opening && leaves && !enters => DEVELOPMENT,
        Role::Knight | Role::Bishop if enters && !m.is_capture() => RETREAT,
        Role::Queen if opening && leaves && !m.is_capture() => EARLY_QUEEN,
        _ => 0,
    }
}

/// Where the opponent has just captured.
fn last_capture(past: &[Move]) -> Option<Square> {
    let last = past.last()?;
    last.is_capture().then(|| last.to())
}

/// The king, or a rook, moves while its side could still castle.
fn forfeits_castling(position: &Position, m: Move) -> bool {
    let turn = position.turn();
    !m.is_capture()
        && matches!(m.role(), Role::King | Role::Rook)
        && position.has_castling_rights(turn)
        && !position.play(m).has_castling_rights(turn)
}

/// The move takes back the mover's last one.
fn goes_back(past: &[Move], m: Move) -> bool {
    let Some(own) = past.len().checked_sub(2).map(|index| past[index]) else {
        return false;
    };
    !own.is_castle() && own.from() == Some(m.to()) && m.from() == Some(own.to())
}
