//! Zobrist keys, kept incrementally: of the whole position and of parts of it.

use shakmaty::zobrist::{Zobrist64, ZobristValue};
use shakmaty::{
    CastlingSide, Chess, Color, EnPassantMode, Move, Piece, Position as _, Role, Square,
};

use super::dirty_pieces::DirtyPieces;

/// Keys of a position and of the parts of it that correction and pawn histories look up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Keys {
    /// Everything that makes two positions the same for repetition: pieces, side to move,
    /// castling rights and a legal en passant capture. Equal to shakmaty's hash.
    pub full: u64,
    /// Pawns of both colours.
    pub pawns: u64,
    /// Knights, bishops and kings of both colours.
    pub minors: u64,
    /// All pieces but pawns, one key a colour (indexed by [`Color`]).
    pub non_pawns: [u64; 2],
}

fn piece_key(square: Square, piece: Piece) -> u64 {
    Zobrist64::zobrist_for_piece(square, piece).0
}

/// The keys of all pieces that a move removes and adds.
#[cold]
fn changed_by(m: Move, color: Color) -> u64 {
    let dirty = DirtyPieces::new(m, color);
    let changes = dirty.removed.iter().chain(&dirty.added);
    changes.fold(0, |all, &(piece, square)| all ^ piece_key(square, piece))
}

/// Changes sides.
pub(super) fn turn_key() -> u64 {
    Zobrist64::zobrist_for_white_turn().0
}

/// The part of the key that a legal en passant capture contributes, or zero.
pub(super) fn en_passant_key(chess: &Chess) -> u64 {
    // The cheap question first: after most moves there is no such square at all.
    if chess.maybe_ep_square().is_none() {
        return 0;
    }
    chess.ep_square(EnPassantMode::Legal).map_or(0, |square| {
        Zobrist64::zobrist_for_en_passant_file(square.file()).0
    })
}

/// The part of the key that castling rights contribute.
fn castling_key(chess: &Chess) -> u64 {
    let mut key = 0;
    for color in [Color::White, Color::Black] {
        for side in [CastlingSide::KingSide, CastlingSide::QueenSide] {
            if chess.castles().has(color, side) {
                key ^= Zobrist64::zobrist_for_castling_right(color, side).0;
            }
        }
    }
    key
}

impl Keys {
    /// Keys from scratch.
    #[must_use]
    pub fn new(chess: &Chess) -> Keys {
        let mut keys = Keys {
            full: 0,
            pawns: 0,
            minors: 0,
            non_pawns: [0; 2],
        };
        for (square, piece) in chess.board() {
            keys.toggle(square, piece);
        }
        keys.full ^= castling_key(chess) ^ en_passant_key(chess);
        if chess.turn().is_white() {
            keys.full ^= turn_key();
        }
        keys
    }

    /// A piece comes or goes.
    #[inline]
    fn toggle(&mut self, square: Square, piece: Piece) {
        let key = piece_key(square, piece);
        self.full ^= key;
        // Without branches.
        let only_if = |condition: bool| if condition { key } else { 0 };
        let pawn = piece.role == Role::Pawn;
        self.pawns ^= only_if(pawn);
        self.non_pawns[piece.color as usize] ^= only_if(!pawn);
        self.minors ^= only_if(matches!(
            piece.role,
            Role::Knight | Role::Bishop | Role::King
        ));
    }

    /// The keys after a move that changes no castling right and allows no en passant.
    #[must_use]
    #[inline]
    pub(super) fn after(&self, dirty: &DirtyPieces) -> Keys {
        let mut keys = *self;
        for &(piece, square) in dirty.removed.iter().chain(&dirty.added) {
            keys.toggle(square, piece);
        }
        keys.full ^= turn_key();
        keys
    }

    /// The full key alone of [`Keys::after`] a move of `color`.
    #[inline]
    pub(super) fn full_after(&self, m: Move, color: Color) -> u64 {
        let key = |square, color, role| piece_key(square, Piece { color, role });
        let changed = match m {
            Move::Normal {
                role,
                from,
                capture,
                to,
                promotion,
            } => {
                let taken = capture.map_or(0, |captured| key(to, !color, captured));
                taken ^ key(from, color, role) ^ key(to, color, promotion.unwrap_or(role))
            }
            _ => changed_by(m, color),
        };
        self.full ^ turn_key() ^ changed
    }

    /// Castling rights have changed from those of `before` to those of `after`, if at all.
    #[inline]
    pub(super) fn change_castling(&mut self, before: &Chess, after: &Chess) {
        if before.castles().castling_rights() != after.castles().castling_rights() {
            self.full ^= castling_key(before) ^ castling_key(after);
        }
    }
}
