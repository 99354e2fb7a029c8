//! Static exchange evaluation: who wins material when both sides keep capturing on one square,
//! always with the least valuable piece.

use shakmaty::{Bitboard, Board, Color, Move, Role, Square};

use super::legality::attackers;
use super::position::Position;
use super::slider_attacks::{bishop_attacks, rook_attacks};
use crate::params::see_value;

impl Position {
    /// Whether the exchange that the move begins wins at least `threshold` (in the material
    /// values of [`see_value`], roughly centipawns) for the side to move. Pins against the king
    /// are not looked at.
    #[must_use]
    pub fn see_ge(&self, m: Move, threshold: i32) -> bool {
        let (from, to, next_victim) = match m {
            Move::Normal {
                role,
                from,
                to,
                promotion,
                ..
            } => (from, to, promotion.unwrap_or(role)),
            // What castling and en passant risk is nothing or one pawn for one.
            _ => return threshold <= m.capture().map_or(0, see_value),
        };
        let mut gain = m.capture().map_or(0, see_value);
        if m.is_promotion() {
            gain += see_value(next_victim) - see_value(Role::Pawn);
        }
        let mut balance = gain - threshold;
        if balance < 0 {
            return false;
        }
        balance -= see_value(next_victim);
        if balance >= 0 {
            return true;
        }
        let occupied = self.board().occupied().without(from).with(to);
        wins_exchange(self.board(), to, occupied, !self.turn(), balance)
    }
}

/// Plays out the captures on `to` with `side` to recapture; `balance` (below zero here) is what
/// the first side keeps above its threshold if its piece on `to` is lost. Returns whether the
/// first side holds its threshold.
fn wins_exchange(
    board: &Board,
    to: Square,
    mut occupied: Bitboard,
    mut side: Color,
    mut balance: i32,
) -> bool {
    let first = !side;
    let mut attackers = attackers(board, to, occupied);
    loop {
        attackers &= occupied;
        let own = attackers & board.by_color(side);
        let Some((role, from)) = least_valuable(board, own) else {
            break;
        };
        // A king may not capture what is still defended.
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            break;
        }
        occupied.discard(from);
        attackers |= uncovered(board, role, to, occupied);
        side = !side;
        // The side that just captured stands to lose that piece in turn.
        balance = -balance - 1 - see_value(role);
        if balance >= 0 {
            break;
        }
    }
    // Whoever is to move here cannot improve any more.
    side != first
}

fn least_valuable(board: &Board, own: Bitboard) -> Option<(Role, Square)> {
    Role::ALL.into_iter().find_map(|role| {
        (own & board.by_role(role))
            .first()
            .map(|square| (role, square))
    })
}

/// Sliders that a capture by `role` has uncovered behind it.
fn uncovered(board: &Board, role: Role, to: Square, occupied: Bitboard) -> Bitboard {
    let mut sliders = Bitboard::EMPTY;
    if matches!(role, Role::Pawn | Role::Bishop | Role::Queen) {
        sliders |= bishop_attacks(to, occupied) & board.bishops_and_queens();
    }
    if matches!(role, Role::Rook | Role::Queen) {
        sliders |= rook_attacks(to, occupied) & board.rooks_and_queens();
    }
    sliders
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::CastlingMode;

    /// The exact exchange value by brute force, in the same terms.
    fn value(board: &Board, to: Square, victim: Role, occupied: Bitboard, side: Color) -> i32 {
        let all = board.attacks_to(to, Color::White, occupied)
            | board.attacks_to(to, Color::Black, occupied);
        let attackers = all & occupied;
        let Some((role, from)) = least_valuable(board, attackers & board.by_color(side)) else {
            return 0;
        };
        if role == Role::King && (attackers & board.by_color(!side)).any() {
            return 0;
        }
        let rest = value(board, to, role, occupied.without(from), !side);
        (see_value(victim) - rest).max(0)
    }

    #[test]
    fn threshold_search_agrees_with_the_exact_value() {
        crate::board::tests::random_games(60, |position| {
            for m in position.legal_moves() {
                let Move::Normal {
                    role,
                    from,
                    to,
                    capture: Some(victim),
                    promotion: None,
                } = m
                else {
                    continue;
                };
                let occupied = position.board().occupied().without(from).with(to);
                let exact = see_value(victim)
                    - value(position.board(), to, role, occupied, !position.turn());
                assert!(position.see_ge(m, exact), "{} {m:?}", position.fen());
                assert!(!position.see_ge(m, exact + 1), "{} {m:?}", position.fen());
            }
        });
    }

    #[test]
    fn known_exchanges() {
        let see = |fen: &str, m: &str, threshold: i32| {
            let position = Position::from_fen(fen, CastlingMode::Standard).unwrap();
            position.see_ge(position.parse_uci(m).unwrap(), threshold)
        };
        let pawn = see_value(Role::Pawn);
        let won = "1k1r4/1pp4p/p7/4p3/8/P5P1/1PP4P/2K1R3 w - - 0 1";
        assert!(see(won, "e1e5", pawn) && !see(won, "e1e5", pawn + 1));
        let lost = "1k1r3q/1ppn3p/p4b2/4p3/8/P2N2P1/1PP1R1BP/2K1Q3 w - - 0 1";
        assert!(!see(lost, "d3e5", 0));
        assert!(see(lost, "d3e5", pawn - see_value(Role::Knight)));
    }
}
