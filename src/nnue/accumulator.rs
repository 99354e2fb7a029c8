//! Hidden layers along a line of play, updated only when they are needed.
//!
//! A move changes at most four inputs, so the hidden layer of a position follows from that of
//! its parent by adding and subtracting a few rows of weights: the "efficiently updatable" in
//! NNUE (Yu Nasu, 2018). Three refinements:
//!
//! - *Lazy*: a move only records what it changes. The rows are added when a position is
//!   evaluated, starting from the nearest ancestor that is up to date; positions which a
//!   cutoff leaves unevaluated cost nothing.
//! - *Fused*: the child's values are computed from the parent's in one pass through registers.
//! - *Refresh by difference*: when a king crosses between files d and e its side's view is
//!   mirrored, and when it enters another king bucket other weights hold; either way every
//!   input changes. A table then supplies the last board and values that this view was
//!   refreshed with, and only the pieces that differ are added or subtracted (the "Finny
//!   table" of Koivisto). From there the positions that the line passed since the king's move
//!   follow backwards, so that other moves from them need no refresh (as in Stockfish).

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::board::{DirtyPieces, Position};
use crate::types::{Board, Color, MAX_PLY, Piece, Role, Square};

use super::features::{Feature, KingBuckets, View};
use super::network::Network;
use super::row::Row;
use super::simd::kernels::{update, update_many};
use super::simd::{Isa, Operation, Simd};

/// Positions on the stack: the root, the deepest line, and a reserve for probes beyond it.
const CAPACITY: usize = MAX_PLY + 10;
/// Pieces that can appear or disappear between two boards.
const MAX_PIECES: usize = 64;
const SIDES: usize = 2;

/// The hidden layers of every position from the root of the search to the current one.
///
/// [`push`](Accumulators::push) and [`pop`](Accumulators::pop) follow the moves; null moves
/// change no input and are not pushed.
pub struct Accumulators {
    net: Arc<Network>,
    isa: Isa,
    stack: Box<[Entry]>,
    top: usize,
    refresh_cache: RefreshCache,
}

/// One position on the stack. Arrays over sides are indexed by `Color as usize`.
#[derive(Clone)]
#[repr(C, align(64))]
struct Entry {
    values: [Row; SIDES],
    /// Whether `values` hold for this position yet.
    valid: [bool; SIDES],
    /// Whether the move to this position changed the side's view, so that the parent's values
    /// are of no use.
    needs_refresh: [bool; SIDES],
    views: [View; SIDES],
    change: Change,
}

/// The features that a move adds, then those that it removes, by the shapes that the kernels know.
#[derive(Clone, Copy, Debug)]
enum Change {
    /// A piece moves or a pawn promotes.
    AddSub([Feature; 1], [Feature; 1]),
    /// The same with a piece taken.
    AddSubSub([Feature; 1], [Feature; 2]),
    /// Castling: king and rook.
    AddAddSubSub([Feature; 2], [Feature; 2]),
    /// No chess move: the values are computed from the board.
    Other,
}

impl Change {
    #[inline]
    fn new(dirty: &DirtyPieces) -> Change {
        let feature = |&(piece, square): &(Piece, Square)| Feature::new(piece, square);
        match (dirty.added.as_slice(), dirty.removed.as_slice()) {
            ([a], [r]) => Change::AddSub([feature(a)], [feature(r)]),
            ([a], [r, s]) => Change::AddSubSub([feature(a)], [feature(r), feature(s)]),
            ([a, b], [r, s]) => {
                Change::AddAddSubSub([feature(a), feature(b)], [feature(r), feature(s)])
            }
            _ => Change::Other,
        }
    }
}

impl Entry {
    const fn new() -> Entry {
        Entry {
            values: [Row::ZERO; SIDES],
            valid: [false; SIDES],
            needs_refresh: [false; SIDES],
            views: [View::new(Color::White, Square::A1, KingBuckets::One); SIDES],
            change: Change::Other,
        }
    }
}

/// The last board and values of each view (by side and the view's number) that was refreshed: a
/// "Finny table".
struct RefreshCache([Box<[RefreshEntry]>; SIDES]);

#[derive(Clone)]
#[repr(C, align(64))]
struct RefreshEntry {
    values: Row,
    board: Board,
}

impl RefreshCache {
    /// Empty boards.
    fn new(net: &Network) -> RefreshCache {
        let empty = RefreshEntry {
            values: net.bias().clone(),
            board: Board::empty(),
        };
        let views = || vec![empty.clone(); 2 * net.king_buckets().count()].into_boxed_slice();
        RefreshCache([views(), views()])
    }
}

impl Accumulators {
    /// A stack for this network and the best instruction set of this processor. It holds no
    /// position before [`reset`](Accumulators::reset).
    #[must_use]
    pub fn new(net: Arc<Network>) -> Accumulators {
        Accumulators::with_isa(net, Isa::best())
    }

    /// The same with a given instruction set, for tests and measurements.
    #[must_use]
    pub fn with_isa(net: Arc<Network>, isa: Isa) -> Accumulators {
        let refresh_cache = RefreshCache::new(&net);
        let mut stack = vec![Entry::new(); CAPACITY].into_boxed_slice();
        // Pages are touched here rather than in the middle of a search; values are the bias.
        for entry in &mut stack {
            entry.values = [net.bias().clone(), net.bias().clone()];
        }
        Accumulators {
            net,
            isa,
            stack,
            top: 0,
            refresh_cache,
        }
    }

    /// The network that evaluates.
    #[must_use]
    pub const fn network(&self) -> &Arc<Network> {
        &self.net
    }

    /// Starts again from `root`.
    pub fn reset(&mut self, root: &Position) {
        self.top = 0;
        let entry = &mut self.stack[0];
        entry.valid = [false; SIDES];
        // Nothing lies below the root to be derived from.
        entry.needs_refresh = [true; SIDES];
        for colour in Color::ALL {
            if let Some(king) = root.board().king_of(colour) {
                entry.views[colour as usize] = View::new(colour, king, self.net.king_buckets());
            }
        }
    }

    /// Follows a move that changes these pieces. Records only: constant and small time.
    ///
    /// # Panics
    /// When more moves are pushed without [`pop`](Accumulators::pop) than a search goes deep.
    #[inline]
    pub fn push(&mut self, dirty: &DirtyPieces) {
        let mut views = self.stack[self.top].views;
        let change = Change::new(dirty);
        let mut needs_refresh = [matches!(change, Change::Other); SIDES];
        for &(piece, square) in &dirty.added {
            if piece.role == Role::King {
                let side = piece.color as usize;
                let view = View::new(piece.color, square, self.net.king_buckets());
                needs_refresh[side] |= view != views[side];
                views[side] = view;
            }
        }
        self.top += 1;
        let entry = &mut self.stack[self.top];
        entry.change = change;
        entry.views = views;
        entry.needs_refresh = needs_refresh;
        entry.valid = [false; SIDES];
    }

    /// Takes the last move back.
    #[inline]
    pub fn pop(&mut self) {
        debug_assert!(self.top > 0, "no move to take back");
        self.top = self.top.saturating_sub(1);
    }

    /// The network's output for `position`, which must be the one that the pushed moves lead
    /// to, in centipawns from the point of view of the side to move. It is not clamped.
    #[inline]
    pub fn evaluate(&mut self, position: &Position) -> i32 {
        let isa = self.isa;
        isa.run(Evaluate {
            accumulators: self,
            position,
        })
    }

    /// Brings the current position's values for one side up to date, and those on the way: from
    /// the nearest ancestor that is, or from the refresh cache when the view changed on the way.
    #[inline(always)]
    fn bring_up_to_date<S: Simd>(&mut self, simd: S, side: usize, board: &Board) {
        let mut from = self.top;
        while !self.stack[from].valid[side] {
            // The root always needs a refresh, so the walk ends there.
            if self.stack[from].needs_refresh[side] {
                self.refresh_top(simd, side, board);
                for at in (from..self.top).rev() {
                    let (below, above) = self.stack.split_at_mut(at + 1);
                    derive_parent(simd, &self.net, &mut below[at], &above[0], side);
                }
                return;
            }
            from -= 1;
        }
        for at in from..self.top {
            let (below, above) = self.stack.split_at_mut(at + 1);
            derive_child(simd, &self.net, &below[at], &mut above[0], side);
        }
    }

    /// Computes the current position's values for one side from the refresh cache.
    #[inline(always)]
    fn refresh_top<S: Simd>(&mut self, simd: S, side: usize, board: &Board) {
        let entry = &mut self.stack[self.top];
        let view = entry.views[side];
        let cached = &mut self.refresh_cache.0[side][view.number()];
        let row = &mut entry.values[side];
        refresh(simd, &self.net, cached, row, board, view);
        entry.valid[side] = true;
    }
}

/// Computes a child's values from its parent's.
#[inline(always)]
fn derive_child<S: Simd>(simd: S, net: &Network, parent: &Entry, child: &mut Entry, side: usize) {
    let view = child.views[side];
    let row = |feature: Feature| net.feature(feature.index(view));
    let (from, to) = (&parent.values[side], &mut child.values[side]);
    match child.change {
        Change::AddSub(a, r) => update(simd, to, from, a.map(row), r.map(row)),
        Change::AddSubSub(a, r) => update(simd, to, from, a.map(row), r.map(row)),
        Change::AddAddSubSub(a, r) => update(simd, to, from, a.map(row), r.map(row)),
        Change::Other => debug_assert!(false, "marked for a refresh when it was pushed"),
    }
    child.valid[side] = true;
}

/// Computes a parent's values from its child's, where both have the same view.
#[inline(always)]
fn derive_parent<S: Simd>(simd: S, net: &Network, parent: &mut Entry, child: &Entry, side: usize) {
    let view = child.views[side];
    let row = |feature: Feature| net.feature(feature.index(view));
    let (from, to) = (&child.values[side], &mut parent.values[side]);
    match child.change {
        Change::AddSub(a, r) => update(simd, to, from, r.map(row), a.map(row)),
        Change::AddSubSub(a, r) => update(simd, to, from, r.map(row), a.map(row)),
        Change::AddAddSubSub(a, r) => update(simd, to, from, r.map(row), a.map(row)),
        Change::Other => debug_assert!(false, "marked for a refresh when it was pushed"),
    }
    parent.valid[side] = true;
}

/// Brings a cached entry to `board` by the pieces that differ, and copies its values to `row`.
#[inline(always)]
fn refresh<S: Simd>(
    simd: S,
    net: &Network,
    cached: &mut RefreshEntry,
    row: &mut Row,
    board: &Board,
    view: View,
) {
    let mut added = ArrayVec::<&Row, MAX_PIECES>::new();
    let mut removed = ArrayVec::<&Row, MAX_PIECES>::new();
    for color in Color::ALL {
        for role in Role::ALL {
            let piece = Piece { color, role };
            let row = |square| net.feature(Feature::new(piece, square).index(view));
            let (new, old) = (board.by_piece(piece), cached.board.by_piece(piece));
            added.extend((new & !old).into_iter().map(row));
            removed.extend((old & !new).into_iter().map(row));
        }
    }
    update_many(simd, &mut cached.values, row, &added, &removed);
    cached.board = board.clone();
}

/// Brings both sides up to date and computes the output, all within one instruction set.
struct Evaluate<'a> {
    accumulators: &'a mut Accumulators,
    position: &'a Position,
}

impl Operation for Evaluate<'_> {
    type Output = i32;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> i32 {
        let Evaluate {
            accumulators,
            position,
        } = self;
        let board = position.board();
        for colour in Color::ALL {
            accumulators.bring_up_to_date(simd, colour as usize, board);
        }
        let entry = &accumulators.stack[accumulators.top];
        #[cfg(debug_assertions)]
        for colour in Color::ALL {
            let fresh = fresh(&accumulators.net, board, colour);
            let values = &entry.values[colour as usize];
            assert!(
                *values == fresh,
                "stale accumulator of {colour}: {}",
                position.fen()
            );
        }
        let turn = position.turn();
        let hidden = [&entry.values[turn as usize], &entry.values[!turn as usize]];
        forward(simd, &accumulators.net, hidden, board)
    }
}

/// The output layer over the hidden layers of the side to move and of the other side.
#[inline(always)]
fn forward<S: Simd>(simd: S, net: &Network, hidden: [&Row; SIDES], board: &Board) -> i32 {
    net.outputs()
        .forward(simd, hidden, board.occupied().count())
}

/// One side's hidden layer computed from nothing but the board, one piece after the other.
fn fresh(net: &Network, board: &Board, colour: Color) -> Row {
    let king = board.king_of(colour).unwrap_or(Square::A1);
    let view = View::new(colour, king, net.king_buckets());
    let mut values = net.bias().clone();
    for (square, piece) in board {
        let row = net.feature(Feature::new(piece, square).index(view));
        for (value, weight) in values.0.iter_mut().zip(&row.0) {
            *value = value.wrapping_add(*weight);
        }
    }
    values
}

impl Network {
    /// The output for a single position, computed from nothing: in centipawns from the point
    /// of view of the side to move, not clamped. Searches use [`Accumulators`].
    #[must_use]
    pub fn evaluate(&self, position: &Position) -> i32 {
        struct Forward<'a>(&'a Network, [&'a Row; SIDES], &'a Board);
        impl Operation for Forward<'_> {
            type Output = i32;
            #[inline(always)]
            fn run<S: Simd>(self, simd: S) -> i32 {
                forward(simd, self.0, self.1, self.2)
            }
        }
        let board = position.board();
        let (own, other) = (position.turn(), !position.turn());
        let hidden = [&fresh(self, board, own), &fresh(self, board, other)];
        Isa::best().run(Forward(self, hidden, board))
    }
}

#[cfg(test)]
mod tests;
