//! Material and piece-square values, blended from middlegame to endgame by the pieces left. The
//! values are formulas, not tuned tables: networks are compared with this evaluation.

use crate::board::Position;
use crate::types::{Color, Role, Square};

/// Middlegame and endgame value in centipawns.
type Pair = (i32, i32);

/// How much each role counts towards the middlegame.
const fn phase(role: Role) -> i32 {
    match role {
        Role::Knight | Role::Bishop => 1,
        Role::Rook => 2,
        Role::Queen => 4,
        Role::Pawn | Role::King => 0,
    }
}

/// The phase with all pieces on the board.
const FULL_PHASE: i32 = 24;

const fn material(role: Role) -> Pair {
    match role {
        Role::Pawn => (82, 110),
        Role::Knight => (330, 290),
        Role::Bishop => (350, 310),
        Role::Rook => (480, 530),
        Role::Queen => (1000, 960),
        Role::King => (0, 0),
    }
}

/// 0 in the corner up to 6 in the centre.
fn centrality(square: Square) -> i32 {
    let to_edge = |index: u32| index.min(7 - index) as i32;
    to_edge(square.file().to_u32()) + to_edge(square.rank().to_u32())
}

/// What a square is worth to a role, seen from its own side (rank 0 is its back rank).
fn placement(role: Role, square: Square) -> Pair {
    let rank = square.rank().to_u32() as i32;
    let centre = centrality(square);
    match role {
        Role::Pawn => (3 * rank + 2 * centre - 10, 2 * rank * rank - 12),
        Role::Knight => (9 * centre - 30, 7 * centre - 24),
        Role::Bishop => (5 * centre - 14, 3 * centre - 9),
        Role::Rook => (2 * centre + if rank == 6 { 15 } else { -6 }, 3 * rank - 9),
        Role::Queen => (2 * centre - 6, 5 * centre - 15),
        Role::King => (-8 * rank - 9 * centre + 25, 9 * centre - 27),
    }
}

/// Centipawns from the side to move's point of view.
pub(super) fn evaluate(position: &Position) -> i32 {
    /// A small bonus for the side to move.
    const TEMPO: i32 = 12;
    let (mut middle, mut end, mut pieces) = (0, 0, 0);
    for (square, piece) in position.board() {
        let own_view = if piece.color == Color::White {
            square
        } else {
            square.flip_vertical()
        };
        let (material, placement) = (material(piece.role), placement(piece.role, own_view));
        let sign = if piece.color == position.turn() {
            1
        } else {
            -1
        };
        middle += sign * (material.0 + placement.0);
        end += sign * (material.1 + placement.1);
        pieces += phase(piece.role);
    }
    let pieces = pieces.min(FULL_PHASE);
    TEMPO + (middle * pieces + end * (FULL_PHASE - pieces)) / FULL_PHASE
}

#[cfg(test)]
mod tests {
    use shakmaty::{Chess, EnPassantMode, FromSetup as _, Position as RulesPosition};

    use super::*;

    #[test]
    fn both_sides_are_judged_alike() {
        crate::board::tests::random_games(40, |position| {
            // The same game from the other side: a legal position for the rules engine, too.
            let setup = RulesPosition::to_setup(position.chess(), EnPassantMode::Legal);
            let Ok(chess) = Chess::from_setup(setup.into_mirrored(), position.castling_mode())
            else {
                return;
            };
            let mirrored = Position::from(chess);
            assert_eq!(
                evaluate(position),
                evaluate(&mirrored),
                "{}",
                position.fen()
            );
        });
    }

    #[test]
    fn material_counts() {
        let mode = shakmaty::CastlingMode::Standard;
        let up = Position::from_fen("4k3/8/8/8/8/8/3Q4/4K3 w - - 0 1", mode).unwrap();
        assert!(evaluate(&up) > 800);
        let down = Position::from_fen("4k3/8/8/8/8/8/3Q4/4K3 b - - 0 1", mode).unwrap();
        assert!(evaluate(&down) < -800);
    }
}
