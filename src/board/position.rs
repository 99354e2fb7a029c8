//! A chess position as the search sees it.

use shakmaty::{
    Bitboard, Board, CastlingMode, Chess, Color, Move, Piece, Position as _, Role, Square, attacks,
};

use super::dirty_pieces::DirtyPieces;
use super::keys::{self, Keys};
use super::legality::{Legality, attackers};
use super::movegen::{self, MoveSet, Sink};
use super::slider_attacks::{bishop_attacks, queen_attacks, rook_attacks};
use crate::types::MoveList;

/// A legal chess position with its keys and checkers. Small and copied: playing a move makes a
/// new position and nothing is ever taken back.
#[derive(Clone, Debug)]
pub struct Position {
    chess: Chess,
    keys: Keys,
    /// What a legal en passant capture adds to the full key.
    en_passant_key: u64,
    checkers: Bitboard,
    king: Square,
    /// Plies since the last null move (or the start), for repetition may not reach across one.
    since_null: u32,
}

impl Default for Position {
    fn default() -> Position {
        Position::startpos()
    }
}

impl From<Chess> for Position {
    fn from(chess: Chess) -> Position {
        let keys = Keys::new(&chess);
        let en_passant_key = keys::en_passant_key(&chess);
        Position {
            keys,
            en_passant_key,
            checkers: chess.checkers(),
            king: own_king(&chess),
            since_null: chess.halfmoves(),
            chess,
        }
    }
}

/// Shakmaty accepts no position without both kings, so the fallback is never taken.
fn own_king(chess: &Chess) -> Square {
    chess.board().king_of(chess.turn()).unwrap_or(Square::A1)
}

impl Position {
    /// The initial position.
    #[must_use]
    pub fn startpos() -> Position {
        Position::from(Chess::default())
    }

    /// The rules engine's own view of the position.
    #[must_use]
    pub const fn chess(&self) -> &Chess {
        &self.chess
    }

    #[must_use]
    pub fn board(&self) -> &Board {
        self.chess.board()
    }

    /// The side to move.
    #[must_use]
    pub fn turn(&self) -> Color {
        self.chess.turn()
    }

    /// Whether castling is written and loaded as in standard chess or as in Chess960.
    #[must_use]
    pub fn castling_mode(&self) -> CastlingMode {
        self.chess.castles().mode()
    }

    /// Whether a side may still castle, now or later.
    #[must_use]
    pub fn has_castling_rights(&self, color: Color) -> bool {
        self.chess.castles().has_color(color)
    }

    /// The rooks that a king may still castle with, now or later.
    #[must_use]
    pub fn castling_rooks(&self) -> Bitboard {
        self.chess.castles().castling_rights()
    }

    /// Behind a pawn that may be taken en passant by a legal move.
    #[must_use]
    pub fn en_passant_square(&self) -> Option<Square> {
        self.chess.legal_ep_square()
    }

    /// The Zobrist key; equal for positions that are the same under the repetition rule.
    #[must_use]
    pub const fn key(&self) -> u64 {
        self.keys.full
    }

    /// Keys of the whole and of its parts.
    #[must_use]
    pub const fn keys(&self) -> &Keys {
        &self.keys
    }

    /// Enemy pieces that give check.
    #[must_use]
    pub const fn checkers(&self) -> Bitboard {
        self.checkers
    }

    #[must_use]
    pub const fn in_check(&self) -> bool {
        self.checkers.any()
    }

    /// Plies since the last capture or pawn move, for the 50-move rule.
    #[must_use]
    pub fn halfmoves(&self) -> u32 {
        self.chess.halfmoves()
    }

    /// How many plies back a repetition may lie: to the last irreversible or null move.
    #[must_use]
    pub fn reversible_plies(&self) -> usize {
        self.halfmoves().min(self.since_null) as usize
    }

    /// Plies played since the start of the game, by the move number of the FEN.
    #[must_use]
    pub fn game_ply(&self) -> u32 {
        let moves = self.chess.fullmoves().get().saturating_sub(1);
        moves
            .saturating_mul(2)
            .saturating_add(u32::from(self.turn().is_black()))
    }

    /// Pins and attacked squares, for move generation.
    #[must_use]
    pub fn legality(&self) -> Legality {
        Legality::new(&self.chess, self.king, self.checkers)
    }

    /// Like [`Position::legality`], for captures and promotions: all that a quiescence search
    /// generates out of check. King moves to empty squares count as illegal.
    #[must_use]
    #[inline(always)]
    pub fn legality_for_captures(&self) -> Legality {
        if self.in_check() {
            self.legality()
        } else {
            Legality::for_captures(&self.chess, self.king)
        }
    }

    /// Hands the legal moves of a stage to a sink.
    #[inline(always)]
    pub(crate) fn generate_into<S: Sink>(&self, legality: &Legality, stage: MoveSet, sink: &mut S) {
        movegen::generate(&self.chess, legality, stage, sink);
    }

    /// Appends the legal moves of a stage.
    pub fn generate(&self, legality: &Legality, stage: MoveSet, moves: &mut MoveList) {
        movegen::list(&self.chess, legality, stage, moves);
    }

    /// All legal moves.
    #[must_use]
    pub fn legal_moves(&self) -> MoveList {
        let mut moves = MoveList::new();
        self.generate(&self.legality(), MoveSet::All, &mut moves);
        moves
    }

    /// How many legal moves there are.
    #[must_use]
    pub fn count_moves(&self) -> u64 {
        movegen::count(&self.chess, &Legality::for_counting(&self.chess, self.king))
    }

    /// How many legal moves there are after a legal move: as [`Position::play`] and
    /// [`Position::count_moves`], but without the keys, which a count has no use for.
    #[must_use]
    #[inline(always)]
    pub fn count_replies(&self, m: Move) -> u64 {
        let mut chess = self.chess.clone();
        chess.play_unchecked(m);
        let king = own_king(&chess);
        movegen::count(&chess, &Legality::for_counting(&chess, king))
    }

    /// Whether there is any legal move: if not, it is mate or stalemate.
    #[must_use]
    pub fn has_legal_move(&self) -> bool {
        self.count_moves() != 0
    }

    /// From where a pawn, knight, bishop or rook (in this order) would check the enemy king.
    #[must_use]
    pub fn check_squares(&self) -> [Bitboard; 4] {
        let (them, occupied) = (!self.turn(), self.board().occupied());
        let Some(king) = self.board().king_of(them) else {
            return [Bitboard::EMPTY; 4];
        };
        [
            attacks::pawn_attacks(them, king),
            attacks::knight_attacks(king),
            bishop_attacks(king, occupied),
            rook_attacks(king, occupied),
        ]
    }

    /// Whether the moved piece itself gives check from where it lands. Not seen are checks that it
    /// uncovers, a castling rook's, and a promoted piece's through the square that the pawn left.
    #[must_use]
    pub fn gives_direct_check(&self, m: Move) -> bool {
        let (them, occupied) = (!self.turn(), self.board().occupied());
        let Some(king) = self.board().king_of(them) else {
            return false;
        };
        let squares = match m.promotion().unwrap_or(m.role()) {
            Role::Pawn => attacks::pawn_attacks(them, king),
            Role::Knight => attacks::knight_attacks(king),
            Role::Bishop => bishop_attacks(king, occupied),
            Role::Rook => rook_attacks(king, occupied),
            Role::Queen => queen_attacks(king, occupied),
            Role::King => Bitboard::EMPTY,
        };
        squares.contains(m.to())
    }

    /// Which pieces a legal move takes off and puts on.
    #[must_use]
    #[inline(always)]
    pub fn dirty_pieces(&self, m: Move) -> DirtyPieces {
        DirtyPieces::new(m, self.turn())
    }

    /// The position after a legal move.
    #[must_use]
    pub fn play(&self, m: Move) -> Position {
        self.play_with_pieces(m, &self.dirty_pieces(m))
    }

    /// [`Position::play`] for callers that have the move's changed pieces already.
    #[must_use]
    #[inline]
    pub fn play_with_pieces(&self, m: Move, dirty: &DirtyPieces) -> Position {
        self.play_with_keys(m, self.keys_after(dirty))
    }

    /// The keys of the position after a move that changes these pieces, exact but for changed castling
    /// rights and a new en passant capture, so good enough for prefetching.
    #[must_use]
    #[inline]
    pub fn keys_after(&self, dirty: &DirtyPieces) -> Keys {
        let mut keys = self.keys.after(dirty);
        keys.full ^= self.en_passant_key;
        keys
    }

    /// The full key alone of [`Position::keys_after`] a legal move.
    #[must_use]
    #[inline]
    pub fn key_after(&self, m: Move) -> u64 {
        self.keys.full_after(m, self.turn()) ^ self.en_passant_key
    }

    /// [`Position::play`] for callers that have [`Position::keys_after`] the move already.
    #[must_use]
    #[inline]
    pub fn play_with_keys(&self, m: Move, mut keys: Keys) -> Position {
        // Changed where it is returned, so that it is not copied once more.
        let mut child = self.clone();
        let chess = &mut child.chess;
        chess.play_unchecked(m);
        keys.change_castling(&self.chess, chess);
        child.en_passant_key = keys::en_passant_key(chess);
        keys.full ^= child.en_passant_key;
        child.king = own_king(chess);
        child.checkers =
            attackers(chess.board(), child.king, chess.board().occupied()) & chess.them();
        child.since_null += 1;
        child.keys = keys;
        child
    }

    /// The position with the other side to move, or `None` where passing is no option because
    /// the king would be left in check.
    #[must_use]
    pub fn play_null(&self) -> Option<Position> {
        if self.in_check() {
            return None;
        }
        let chess = self.passed()?;
        let mut keys = self.keys;
        keys.full ^= keys::turn_key() ^ self.en_passant_key;
        Some(Position {
            keys,
            en_passant_key: 0,
            checkers: Bitboard::EMPTY,
            king: own_king(&chess),
            since_null: 0,
            chess,
        })
    }

    /// The rules engine's position after a null move. It passes only by way of a setup that it
    /// validates again, which is slow. A piece that stays where it is changes the same: the side to
    /// move, the clocks and the en passant square. Kings and rooks would lose castling rights and
    /// pawns reset the clock, so without another piece the slow way remains.
    fn passed(&self) -> Option<Chess> {
        let board = self.board();
        let idle = [Role::Knight, Role::Bishop, Role::Queen]
            .into_iter()
            .find_map(|role| {
                let square = (board.by_role(role) & self.chess.us()).first()?;
                Some((role, square))
            });
        if let Some((role, square)) = idle {
            let mut chess = self.chess.clone();
            chess.play_unchecked(Move::Normal {
                role,
                from: square,
                capture: None,
                to: square,
                promotion: None,
            });
            return Some(chess);
        }
        let mut setup = self.chess.to_setup(shakmaty::EnPassantMode::Always);
        setup.swap_turn();
        setup.ep_square = None;
        setup.halfmoves = setup.halfmoves.saturating_add(1);
        setup
            .position(self.castling_mode())
            .or_else(shakmaty::PositionError::ignore_too_much_material)
            .or_else(shakmaty::PositionError::ignore_impossible_check)
            .ok()
    }

    /// Whether the side to move has more than pawns and its king: without, zugzwang is likely.
    #[must_use]
    pub fn has_non_pawn_material(&self) -> bool {
        let board = self.board();
        (self.chess.us() & !(board.pawns() | board.kings())).any()
    }

    /// Neither side can mate by any sequence of moves.
    #[must_use]
    pub fn is_insufficient_material(&self) -> bool {
        self.chess.is_insufficient_material()
    }

    /// The piece that a move of this position moves.
    #[must_use]
    pub fn moved_piece(&self, m: Move) -> Piece {
        Piece {
            color: self.turn(),
            role: m.role(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::random_games;
    use shakmaty::EnPassantMode;
    use shakmaty::zobrist::Zobrist64;

    #[test]
    fn the_key_to_prefetch_is_that_of_all_keys_after_any_move() {
        let (mut castles, mut en_passants, mut promotions) = (0, 0, 0);
        random_games(40, |position| {
            for m in position.legal_moves() {
                let all = position.keys_after(&position.dirty_pieces(m));
                assert_eq!(position.key_after(m), all.full, "{m:?} {}", position.fen());
                castles += usize::from(m.is_castle());
                en_passants += usize::from(m.is_en_passant());
                promotions += usize::from(m.is_promotion());
            }
        });
        assert!(castles > 0 && en_passants > 0 && promotions > 0);
    }

    #[test]
    fn incremental_keys_equal_keys_from_scratch() {
        random_games(200, |position| {
            let hash: Zobrist64 = position.chess().zobrist_hash(EnPassantMode::Legal);
            assert_eq!(position.key(), hash.0, "{}", position.fen());
            assert_eq!(
                *position.keys(),
                Keys::new(position.chess()),
                "{}",
                position.fen()
            );
        });
    }

    #[test]
    fn null_move_changes_sides_and_nothing_else() {
        random_games(50, |position| {
            let Some(passed) = position.play_null() else {
                assert!(position.in_check());
                return;
            };
            assert_eq!(*passed.keys(), Keys::new(passed.chess()));
            assert_eq!(passed.board(), position.board());
            assert_eq!(passed.turn(), !position.turn());
            let rights = |position: &Position| position.castling_rooks();
            assert_eq!(rights(&passed), rights(position));
            assert_eq!(passed.halfmoves(), position.halfmoves() + 1);
            assert_eq!(passed.chess().maybe_ep_square(), None);
            assert_eq!(passed.reversible_plies(), 0);
        });
    }

    #[test]
    fn direct_checks_are_checks() {
        random_games(40, |position| {
            for m in position.legal_moves() {
                if position.gives_direct_check(m) {
                    assert!(position.play(m).in_check(), "{} {m:?}", position.fen());
                }
            }
        });
        let position =
            Position::from_fen("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1", CastlingMode::Standard)
                .expect("legal");
        let checks = |text: &str| position.gives_direct_check(position.parse_uci(text).unwrap());
        assert!(checks("d2d8") && checks("d2e2") && !checks("d2d7"));
    }

    #[test]
    fn captures_need_less_than_the_whole_legality() {
        random_games(100, |position| {
            let list = |legality: &Legality| {
                let mut moves = MoveList::new();
                position.generate(legality, MoveSet::Noisy, &mut moves);
                moves
            };
            let quick = position.legality_for_captures();
            assert_eq!(
                list(&quick),
                list(&position.legality()),
                "{}",
                position.fen()
            );
        });
    }

    #[test]
    fn generated_moves_are_shakmatys_and_stages_part_them() {
        random_games(200, |position| {
            let mut ours: Vec<Move> = position.legal_moves().to_vec();
            let mut theirs: Vec<Move> = position.chess().legal_moves().to_vec();
            let order = |m: &Move| crate::types::PackedMove::new(*m).bits();
            ours.sort_by_key(order);
            theirs.sort_by_key(order);
            assert_eq!(ours, theirs, "{}", position.fen());

            let legality = position.legality();
            let (mut noisy, mut quiet) = (MoveList::new(), MoveList::new());
            position.generate(&legality, MoveSet::Noisy, &mut noisy);
            position.generate(&legality, MoveSet::Quiet, &mut quiet);
            assert_eq!(noisy.len() + quiet.len(), ours.len());
            assert!(noisy.iter().all(|m| m.is_capture() || m.is_promotion()));
            assert!(quiet.iter().all(|m| !m.is_capture() && !m.is_promotion()));
            assert_eq!(position.count_moves(), ours.len() as u64);
            for m in ours {
                let replies = position.play(m).legal_moves().len() as u64;
                assert_eq!(
                    position.count_replies(m),
                    replies,
                    "{} {m:?}",
                    position.fen()
                );
            }
        });
    }
}
