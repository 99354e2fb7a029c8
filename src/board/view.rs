//! What move generation asks of a position, so that one generator serves shakmaty's positions and
//! perft's leaner ones alike.

use shakmaty::{Bitboard, Board, CastlingSide, Chess, Color, Position as _, Square};

/// Sets of pieces.
pub trait Pieces {
    fn pawns(&self) -> Bitboard;
    fn knights(&self) -> Bitboard;
    fn bishops(&self) -> Bitboard;
    fn rooks(&self) -> Bitboard;
    fn queens(&self) -> Bitboard;
    fn kings(&self) -> Bitboard;
    fn by_color(&self, color: Color) -> Bitboard;
    fn occupied(&self) -> Bitboard;

    #[inline]
    fn bishops_and_queens(&self) -> Bitboard {
        self.bishops() | self.queens()
    }

    #[inline]
    fn rooks_and_queens(&self) -> Bitboard {
        self.rooks() | self.queens()
    }
}

impl Pieces for Board {
    #[inline]
    fn pawns(&self) -> Bitboard {
        self.pawns()
    }

    #[inline]
    fn knights(&self) -> Bitboard {
        self.knights()
    }

    #[inline]
    fn bishops(&self) -> Bitboard {
        self.bishops()
    }

    #[inline]
    fn rooks(&self) -> Bitboard {
        self.rooks()
    }

    #[inline]
    fn queens(&self) -> Bitboard {
        self.queens()
    }

    #[inline]
    fn kings(&self) -> Bitboard {
        self.kings()
    }

    #[inline]
    fn by_color(&self, color: Color) -> Bitboard {
        self.by_color(color)
    }

    #[inline]
    fn occupied(&self) -> Bitboard {
        self.occupied()
    }
}

/// A right to castle.
#[derive(Clone, Copy, Debug)]
pub struct Castle {
    pub side: CastlingSide,
    pub rook: Square,
    /// Squares that must be empty.
    pub path: Bitboard,
}

/// A position as its mover sees it.
pub trait View {
    type Board: Pieces;

    fn board(&self) -> &Self::Board;
    fn turn(&self) -> Color;
    /// Behind a pawn that has just moved two squares.
    fn en_passant(&self) -> Option<Square>;
    /// The right to castle to that side, if the mover has it.
    fn castle(&self, side: CastlingSide) -> Option<Castle>;

    #[inline]
    fn us(&self) -> Bitboard {
        self.board().by_color(self.turn())
    }

    #[inline]
    fn them(&self) -> Bitboard {
        self.board().by_color(!self.turn())
    }
}

impl View for Chess {
    type Board = Board;

    #[inline]
    fn board(&self) -> &Board {
        shakmaty::Position::board(self)
    }

    #[inline]
    fn turn(&self) -> Color {
        shakmaty::Position::turn(self)
    }

    #[inline]
    fn en_passant(&self) -> Option<Square> {
        self.maybe_ep_square()
    }

    #[inline]
    fn castle(&self, side: CastlingSide) -> Option<Castle> {
        let (castles, color) = (self.castles(), shakmaty::Position::turn(self));
        castles.rook(color, side).map(|rook| Castle {
            side,
            rook,
            path: castles.path(color, side),
        })
    }
}
