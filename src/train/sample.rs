//! A training position in 48 bytes, seen from the side to move, and the network inputs it has.

use crate::nnue::features::{KingBuckets, PIECE_FEATURES, output_bucket};
use crate::record::{BLACK, Mailbox, NO_HINTS, TeacherHints};

pub use crate::nnue::features::OUTPUT_BUCKETS as BUCKETS;

/// The most inputs that are active at once: one a piece.
pub const MAX_ACTIVE: usize = 32;

const COLOR_STRIDE: u16 = 384;
const ROLE_STRIDE: u16 = 64;
/// Exclusive or with this mirrors a square left to right.
const MIRROR: u8 = 7;
/// Exclusive or with this mirrors a square top to bottom.
const FLIP: u8 = 56;
/// The bit of a square's file that says "king's side".
const KING_SIDE: u8 = 4;

/// A position to learn from, normalised so that the side to move plays up the board.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(align(16))]
pub struct Sample {
    /// Occupied squares.
    occupied: u64,
    /// A nibble per occupied square: role, 8 added for the side that is not to move.
    pieces: [u8; 16],
    /// Centipawns for the side to move.
    pub score: i16,
    /// Half points for the side to move.
    pub half_points: u8,
    /// Kings of the side to move and of the other, in normalised squares.
    kings: [u8; 2],
    /// Which file of the run's list it came from (the last one for all beyond 65,535).
    pub source: u16,
    /// The teacher's sums, or [`NO_HINTS`].
    hints: TeacherHints,
}

impl Sample {
    /// Packs a position; `score` and `half_points` are the side to move's.
    #[must_use]
    pub fn pack(board: &Mailbox, score: i16, half_points: u8, source: u16) -> Sample {
        let black = board.turn.is_black();
        let flip = if black { FLIP } else { 0 };
        let occupied = if black {
            board.occupied.swap_bytes()
        } else {
            board.occupied
        };
        let mut pieces = [0; 16];
        let mut rest = occupied;
        let mut index = 0;
        while rest != 0 && index < MAX_ACTIVE {
            let square = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let code = board.squares[usize::from(square ^ flip)] ^ if black { BLACK } else { 0 };
            pieces[index / 2] |= code << (4 * (index % 2));
            index += 1;
        }
        let [white, other] = board.kings;
        let kings = if black {
            [other ^ FLIP, white ^ FLIP]
        } else {
            [white, other]
        };
        Sample {
            occupied,
            pieces,
            score,
            half_points,
            kings,
            source,
            hints: NO_HINTS,
        }
    }

    /// The same position with what its teacher's first dense layer summed up.
    #[must_use]
    pub fn with_hints(self, hints: Option<TeacherHints>) -> Sample {
        Sample {
            hints: hints.unwrap_or(NO_HINTS),
            ..self
        }
    }

    /// The teacher's sums, if they are known.
    #[must_use]
    pub fn hints(&self) -> Option<&TeacherHints> {
        (self.hints != NO_HINTS).then_some(&self.hints)
    }

    /// Pieces on the board.
    #[must_use]
    pub const fn count(&self) -> usize {
        self.occupied.count_ones() as usize
    }

    /// Which output layer evaluates the position.
    #[must_use]
    pub const fn bucket(&self) -> usize {
        output_bucket(self.count(), true)
    }

    /// The king buckets of the side to move and of the other.
    #[must_use]
    pub const fn king_buckets(&self, buckets: KingBuckets) -> [usize; 2] {
        let [own, other] = self.kings;
        let other = other ^ FLIP;
        [
            buckets.of((own ^ mirror(own)) as usize),
            buckets.of((other ^ mirror(other)) as usize),
        ]
    }

    /// Appends the active inputs of the side to move to `own`, of the other side to `other`,
    /// and returns how many each has.
    pub fn features(
        &self,
        buckets: KingBuckets,
        own: &mut [u16; MAX_ACTIVE],
        other: &mut [u16; MAX_ACTIVE],
    ) -> usize {
        let own_turn = mirror(self.kings[0]);
        let other_turn = mirror(self.kings[1]) ^ FLIP;
        let [own_first, other_first] = self
            .king_buckets(buckets)
            .map(|bucket| (bucket * PIECE_FEATURES) as u16);
        let mut rest = self.occupied;
        let mut index = 0;
        while rest != 0 && index < MAX_ACTIVE {
            let square = rest.trailing_zeros() as u8;
            rest &= rest - 1;
            let code = self.pieces[index / 2] >> (4 * (index % 2)) & 15;
            let side = u16::from(code / BLACK);
            let role = u16::from(code % BLACK) * ROLE_STRIDE;
            own[index] = own_first + side * COLOR_STRIDE + role + u16::from(square ^ own_turn);
            other[index] =
                other_first + (1 - side) * COLOR_STRIDE + role + u16::from(square ^ other_turn);
            index += 1;
        }
        index
    }
}

/// How a view exchanges left and right: if the king is on the king's side.
const fn mirror(king: u8) -> u8 {
    if king & KING_SIDE != 0 { MIRROR } else { 0 }
}

const _: () = assert!(size_of::<Sample>() == 48);
