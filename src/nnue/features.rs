//! The network's inputs: a piece on a square, from the point of view of one player.
//!
//! Each side has its own view of the board, always from its own side: colours become "own" and
//! "enemy" and Black's view is flipped top to bottom. When the viewer's king stands on files e
//! to h the view is mirrored left to right as well, so the own king is always on files a to d
//! and the network learns each pattern once instead of twice.
//!
//! The value of a piece on a square depends most of all on the square of the own king. The
//! king's squares are therefore divided into groups, the king buckets, and each has a full set of
//! weights.

use crate::types::{Color, Piece, Square};

/// Inputs for one place of the viewer's king: two colours, six roles, 64 squares.
pub const PIECE_FEATURES: usize = 768;
/// Output layers; the number of pieces on the board picks one.
pub const OUTPUT_BUCKETS: usize = 8;

/// XOR with this flips ranks: the board from Black's side.
const FLIP: u16 = 56;
/// XOR with this flips files.
const MIRROR: u16 = 7;
const ROLE_SHIFT: u16 = 6;
const COLOUR_SHIFT: u16 = 9;
const COLOUR_BIT: u16 = 1 << COLOUR_SHIFT;
/// Packed features leave 128 numbers unused below the second colour: eight roles fit, six are.
const GAP: u16 = COLOUR_BIT - PIECE_FEATURES as u16 / 2;
/// Kings on this file (e) or beyond have their view mirrored.
const FIRST_MIRRORED_FILE: u32 = 4;

/// A piece on a square, for both views: colour, role and square in ten bits.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Feature(u16);

impl Feature {
    /// Packs a piece on its square.
    #[inline]
    #[must_use]
    pub const fn new(piece: Piece, square: Square) -> Feature {
        let colour = match piece.color {
            Color::White => 0,
            Color::Black => COLOUR_BIT,
        };
        let role = piece.role as u16 - 1;
        Feature(colour | role << ROLE_SHIFT | square.to_u32() as u16)
    }

    /// The network's input for this piece in this view: below [`PIECE_FEATURES`] times the king
    /// buckets.
    ///
    /// Ordered by the viewer's king bucket; within it own pieces come first (0 to 383), then the
    /// enemy's; within a colour by role from pawn to king, within a role by square from a1 = 0
    /// as the view turns the board.
    #[inline]
    #[must_use]
    pub const fn index(self, view: View) -> usize {
        let seen = self.0 ^ view.turn;
        (view.first + seen - GAP * (seen >> COLOUR_SHIFT)) as usize
    }
}

/// How the squares of the viewer's king are grouped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "snake_case")]
pub enum KingBuckets {
    /// The same weights for all squares of the king.
    One,
    Five,
    Ten,
    /// Every square of the king on files a to d has weights of its own.
    ThirtyTwo,
}

impl KingBuckets {
    /// All groupings.
    pub const ALL: [KingBuckets; 4] = [
        KingBuckets::One,
        KingBuckets::Five,
        KingBuckets::Ten,
        KingBuckets::ThirtyTwo,
    ];

    /// The grouping with so many groups.
    #[must_use]
    pub fn with_count(count: usize) -> Option<KingBuckets> {
        KingBuckets::ALL
            .into_iter()
            .find(|kind| kind.count() == count)
    }

    /// How many groups there are.
    #[inline]
    #[must_use]
    pub const fn count(self) -> usize {
        match self {
            KingBuckets::One => 1,
            KingBuckets::Five => 5,
            KingBuckets::Ten => 10,
            KingBuckets::ThirtyTwo => 32,
        }
    }

    /// The group of a king on `square`, in a view that has turned the board: a1 = 0, files a to d.
    #[inline]
    #[must_use]
    pub const fn of(self, square: usize) -> usize {
        /// By rank from the king's own, files a to d: the castled king's corner, the centre of
        /// the home rank, the second rank, the middle of the board, the enemy's half.
        const FIVE: [[u8; 4]; 8] = [
            [0, 0, 1, 1],
            [2, 2, 2, 2],
            [3, 3, 3, 3],
            [3, 3, 3, 3],
            [4, 4, 4, 4],
            [4, 4, 4, 4],
            [4, 4, 4, 4],
            [4, 4, 4, 4],
        ];
        /// Every square of the home rank for itself, and the others halved into wing and centre.
        const TEN: [[u8; 4]; 8] = [
            [0, 1, 2, 3],
            [4, 4, 5, 5],
            [6, 6, 7, 7],
            [6, 6, 7, 7],
            [8, 8, 9, 9],
            [8, 8, 9, 9],
            [8, 8, 9, 9],
            [8, 8, 9, 9],
        ];
        let (rank, file) = (square / 8 % 8, square % 4);
        match self {
            KingBuckets::One => 0,
            KingBuckets::Five => FIVE[rank][file] as usize,
            KingBuckets::Ten => TEN[rank][file] as usize,
            KingBuckets::ThirtyTwo => 4 * rank + file,
        }
    }

    /// A square of a group, on files a to d.
    #[must_use]
    pub fn square_of(self, bucket: usize) -> usize {
        let mut squares = (0..64).filter(|square| square % 8 < FIRST_MIRRORED_FILE as usize);
        squares
            .find(|&square| self.of(square) == bucket)
            .unwrap_or(0)
    }
}

/// How one side looks at the board: whose pieces are its own, which way the board is turned, and
/// where its king stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct View {
    /// The bits that the view changes in every [`Feature`].
    turn: u16,
    /// The first input of its king bucket.
    first: u16,
}

impl View {
    /// The view of the side `colour` whose king stands on `king`, for a network with these king
    /// buckets.
    #[inline]
    #[must_use]
    pub const fn new(colour: Color, king: Square, buckets: KingBuckets) -> View {
        let flip = match colour {
            Color::White => 0,
            Color::Black => COLOUR_BIT | FLIP,
        };
        let mirror = if king.to_u32() % 8 >= FIRST_MIRRORED_FILE {
            MIRROR
        } else {
            0
        };
        let turn = flip | mirror;
        let seen = king.to_u32() as usize ^ (turn & (FLIP | MIRROR)) as usize;
        View {
            turn,
            first: (buckets.of(seen) * PIECE_FEATURES) as u16,
        }
    }

    /// Numbers the views of one side: below twice the king buckets.
    #[inline]
    #[must_use]
    pub const fn number(self) -> usize {
        self.first as usize / PIECE_FEATURES * 2 + self.is_mirrored() as usize
    }

    /// Whether left and right are exchanged.
    #[inline]
    #[must_use]
    const fn is_mirrored(self) -> bool {
        self.turn & MIRROR != 0
    }
}

/// The output layer for a board with this many pieces, kings included: the teacher's grouping if
/// the network is `bare` (see [`QuantisedNet::bare`](super::QuantisedNet::bare)).
#[inline]
#[must_use]
pub const fn output_bucket(pieces: usize, bare: bool) -> usize {
    /// How many piece counts share an output layer.
    const PIECES: usize = 4;
    let fewest = if bare { 1 } else { 2 };
    let bucket = pieces.saturating_sub(fewest) / PIECES;
    if bucket < OUTPUT_BUCKETS {
        bucket
    } else {
        OUTPUT_BUCKETS - 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Role;

    /// The definition, word by word.
    fn by_definition(
        viewer: Color,
        king: Square,
        buckets: KingBuckets,
        piece: Piece,
        square: Square,
    ) -> usize {
        let mut s = square.to_usize();
        if viewer == Color::Black {
            s ^= 56;
        }
        if king.to_usize() % 8 >= 4 {
            s ^= 7;
        }
        let colour = if piece.color == viewer { 0 } else { 384 };
        let rank = match viewer {
            Color::White => king.to_usize() / 8,
            Color::Black => 7 - king.to_usize() / 8,
        };
        let from_edge = (king.to_usize() % 8).min(7 - king.to_usize() % 8);
        let bucket = match (buckets, rank, from_edge) {
            (KingBuckets::One, ..) | (KingBuckets::Five, 0, 0 | 1) => 0,
            (KingBuckets::Five, 0, _) => 1,
            (KingBuckets::Five, 1, _) => 2,
            (KingBuckets::Five, 2 | 3, _) => 3,
            (KingBuckets::Five, ..) => 4,
            (KingBuckets::Ten, 0, file) => file,
            (KingBuckets::Ten, 1, file) => 4 + file / 2,
            (KingBuckets::Ten, 2 | 3, file) => 6 + file / 2,
            (KingBuckets::Ten, _, file) => 8 + file / 2,
            (KingBuckets::ThirtyTwo, rank, file) => 4 * rank + file,
        };
        768 * bucket + colour + 64 * (piece.role as usize - 1) + s
    }

    #[test]
    fn indices_follow_the_definition() {
        let kinds = KingBuckets::ALL.into_iter();
        // Miri interprets every instruction: a few kings will do.
        let step = if cfg!(miri) { 21 } else { 1 };
        for (buckets, viewer) in kinds.flat_map(|kind| Color::ALL.map(|color| (kind, color))) {
            for king in Square::ALL.into_iter().step_by(step) {
                let view = View::new(viewer, king, buckets);
                let mut seen = vec![false; buckets.count() * PIECE_FEATURES];
                for color in Color::ALL {
                    for role in Role::ALL {
                        for square in Square::ALL {
                            let piece = Piece { color, role };
                            let index = Feature::new(piece, square).index(view);
                            assert_eq!(index, by_definition(viewer, king, buckets, piece, square));
                            seen[index] = true;
                        }
                    }
                }
                assert_eq!(seen.iter().filter(|&&seen| seen).count(), 768);
            }
        }
    }

    #[test]
    fn own_king_is_never_right_of_the_middle() {
        for colour in Color::ALL {
            for king in Square::ALL {
                let piece = Piece {
                    color: colour,
                    role: Role::King,
                };
                let index =
                    Feature::new(piece, king).index(View::new(colour, king, KingBuckets::Ten));
                assert!(index % 8 < 4, "{colour} {king}");
            }
        }
    }

    #[test]
    fn views_are_numbered_without_gaps() {
        let kinds = KingBuckets::ALL.into_iter();
        for (buckets, colour) in kinds.flat_map(|kind| Color::ALL.map(|color| (kind, color))) {
            let mut views = vec![None; 2 * buckets.count()];
            for king in Square::ALL {
                let view = View::new(colour, king, buckets);
                let known = views[view.number()].replace(view);
                assert!(known.is_none_or(|known| known == view));
            }
            assert!(views.iter().all(Option::is_some));
        }
    }

    #[test]
    fn buckets_cover_every_piece_count() {
        let buckets = |bare| [2, 4, 5, 6, 28, 29, 30, 32].map(|n| output_bucket(n, bare));
        assert_eq!(buckets(true), [0, 0, 1, 1, 6, 7, 7, 7]);
        assert_eq!(buckets(false), [0, 0, 0, 1, 6, 6, 7, 7]);
    }
}
