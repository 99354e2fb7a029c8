//! The walk through the tree: the generator hands sets of moves over, each is played as it comes,
//! and no list of moves is ever made. The last ply is counted without playing it.

use shakmaty::{Bitboard, Role, Square};

use super::node::{Node, Side};
use super::table::Table;
use crate::board::legality::Legality;
use crate::board::movegen::{self, PROMOTIONS, Sink, Stage, origin};

/// Counts the lines of `depth` legal moves, at least one. Two plies are already dearer to count
/// than to look up; one is not.
pub(super) fn count<S: Side>(node: &Node<'_, S>, depth: u32, table: Option<&Table>) -> u64 {
    let Some(king) = node.king() else {
        return 0;
    };
    if depth <= 1 {
        return movegen::count(node, &Legality::for_moves(node, king));
    }
    let Some(table) = table else {
        return Walker::walk(node, king, depth, None);
    };
    let key = node.key(depth);
    table.get(key).unwrap_or_else(|| {
        let leaves = Walker::walk(node, king, depth, Some(table));
        table.put(key, leaves);
        leaves
    })
}

/// Plays every move it is handed and adds up what is below.
struct Walker<'a, S> {
    node: &'a Node<'a, S>,
    /// Plies to go after the move.
    depth: u32,
    table: Option<&'a Table>,
    leaves: u64,
}

impl<S: Side> Walker<'_, S> {
    #[inline]
    fn walk(node: &Node<'_, S>, king: Square, depth: u32, table: Option<&Table>) -> u64 {
        let mut walker = Walker {
            node,
            depth: depth - 1,
            table,
            leaves: 0,
        };
        let legality = Legality::for_moves(node, king);
        movegen::generate(node, &legality, Stage::All, &mut walker);
        walker.leaves
    }

    #[inline]
    fn visit(&mut self, child: &Node<'_, S::Other>) {
        self.leaves += count(child, self.depth, self.table);
    }
}

impl<S: Side> Sink for Walker<'_, S> {
    #[inline]
    fn piece(&mut self, role: Role, from: Square, to: Bitboard) {
        for to in to {
            self.visit(&self.node.step(role, from, to));
        }
    }

    #[inline]
    fn pawns(&mut self, to: Bitboard, offset: i32) {
        /// A pawn passes a square that it can be captured on.
        const DOUBLE_STEP: i32 = 16;
        for to in to {
            let from = origin(to, offset);
            if offset.abs() == DOUBLE_STEP {
                self.visit(&self.node.double_step(from, to));
            } else {
                self.visit(&self.node.step(Role::Pawn, from, to));
            }
        }
    }

    fn promotions(&mut self, to: Bitboard, offset: i32) {
        for to in to {
            for role in PROMOTIONS {
                self.visit(&self.node.promote(origin(to, offset), to, role));
            }
        }
    }

    fn en_passant(&mut self, from: Square, to: Square) {
        self.visit(&self.node.capture_en_passant(from, to));
    }

    fn castle(&mut self, king: Square, rook: Square) {
        self.visit(&self.node.castled(king, rook));
    }
}
