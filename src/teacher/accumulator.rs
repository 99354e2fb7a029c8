//! The teacher's sums over the board, kept up to date along a line of moves.
//!
//! As in Pleach's own network ([`nnue`](crate::nnue)), a move is only recorded; when a position is
//! evaluated, its sums are computed from the nearest ancestor with valid sums. Where a king has
//! moved, all inputs of its side change: then the sums last computed for its view are used, and
//! only the pieces that differ are added and subtracted.

use std::sync::Arc;

use arrayvec::ArrayVec;

use crate::board::{DirtyPieces, Position};
use crate::nnue::material;
use crate::nnue::simd::{Block, Isa, Operation, Simd};
use crate::record::TeacherHints;
use crate::types::{Board, Color, Role, Square};

use super::engine::TeacherEngine;
use super::features::{TeacherView, VIEWS};
use super::format::{STACKS, TeacherNet};
use super::forward::{change, change_values, derive, hints, products, propagate};

const SIDES: usize = 2;
/// Pieces by which two boards can differ.
const MAX_PIECES: usize = 64;
/// How many piece counts share a stack.
const PIECES_A_STACK: usize = 4;

/// The network's evaluation of a position, from the side to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evaluation {
    /// The part that is a sum of piece values, 16 for a unit.
    pub material: i32,
    /// The part that went through the layers, 16 for a unit.
    pub positional: i32,
    /// What the first of these layers summed up.
    pub hints: TeacherHints,
    /// What the network's engine makes of both parts, in its units.
    bare: i32,
    engine: TeacherEngine,
}

impl Evaluation {
    /// The engine's evaluation without the factor by material, in centipawns. This is what
    /// positions are labelled with.
    #[must_use]
    pub fn centipawns(self) -> i32 {
        self.engine.centipawns(self.bare)
    }

    /// The same with the factor by material.
    #[must_use]
    pub fn scaled_centipawns(self, board: &Board) -> i32 {
        let scaled = material::scale(self.bare, material::counts(board));
        self.engine.centipawns(scaled)
    }
}

/// The sums of one side.
#[derive(Clone, Debug)]
struct Sums {
    neurons: Vec<Block>,
    values: [i32; STACKS],
}

impl Sums {
    /// The sums of a board without pieces.
    fn empty(net: &TeacherNet) -> Sums {
        Sums {
            neurons: net.bias.clone(),
            values: [0; STACKS],
        }
    }

    #[inline(always)]
    fn copy_from(&mut self, other: &Sums) {
        self.neurons.copy_from_slice(&other.neurons);
        self.values = other.values;
    }
}

/// One position of the line. Arrays over sides are indexed by `Color as usize`.
#[derive(Clone, Debug)]
struct LineEntry {
    sums: [Sums; SIDES],
    /// Whether `sums` are valid for this position.
    valid: [bool; SIDES],
    /// Whether the sums of the position before cannot be used for a side.
    needs_refresh: [bool; SIDES],
    views: [TeacherView; SIDES],
    /// What the move to this position changed.
    dirty: DirtyPieces,
}

/// The board and the sums that a view was last computed with.
#[derive(Clone, Debug)]
struct TeacherRefresh {
    sums: Sums,
    board: Board,
}

/// A network that follows a line of moves.
pub struct Teacher {
    net: Arc<TeacherNet>,
    isa: Isa,
    line: Vec<LineEntry>,
    top: usize,
    /// By side and the view's number.
    snapshots: [Vec<TeacherRefresh>; SIDES],
    products: Vec<Block>,
}

impl Teacher {
    /// A line without any position; [`Teacher::reset`] comes first.
    #[must_use]
    pub fn new(net: Arc<TeacherNet>) -> Teacher {
        Teacher::with_isa(net, Isa::best())
    }

    /// The same with a given instruction set.
    #[must_use]
    pub fn with_isa(net: Arc<TeacherNet>, isa: Isa) -> Teacher {
        let empty = Sums::empty(&net);
        let snapshot = TeacherRefresh {
            sums: empty.clone(),
            board: Board::empty(),
        };
        let entry = LineEntry {
            sums: [empty.clone(), empty],
            valid: [false; SIDES],
            needs_refresh: [true; SIDES],
            views: Color::ALL.map(|color| TeacherView::new(color, Square::E1)),
            dirty: DirtyPieces::default(),
        };
        Teacher {
            isa,
            line: vec![entry],
            top: 0,
            snapshots: [(); SIDES].map(|()| vec![snapshot.clone(); VIEWS]),
            products: vec![Block::ZERO; net.blocks()],
            net,
        }
    }

    /// Starts a line.
    pub fn reset(&mut self, root: &Position) {
        self.top = 0;
        let entry = &mut self.line[0];
        entry.valid = [false; SIDES];
        entry.needs_refresh = [true; SIDES];
        for color in Color::ALL {
            if let Some(king) = root.board().king_of(color) {
                entry.views[color as usize] = TeacherView::new(color, king);
            }
        }
    }

    /// Follows a move that changes these pieces.
    pub fn push(&mut self, dirty: &DirtyPieces) {
        if self.top + 1 == self.line.len() {
            self.line.push(self.line[self.top].clone());
        }
        let mut views = self.line[self.top].views;
        let mut needs_refresh = [false; SIDES];
        for &(piece, square) in &dirty.added {
            if piece.role == Role::King {
                let side = piece.color as usize;
                views[side] = TeacherView::new(piece.color, square);
                needs_refresh[side] = true;
            }
        }
        self.top += 1;
        let entry = &mut self.line[self.top];
        entry.dirty.clone_from(dirty);
        entry.views = views;
        entry.needs_refresh = needs_refresh;
        entry.valid = [false; SIDES];
    }

    /// Takes the last move back.
    pub fn pop(&mut self) {
        debug_assert!(self.top > 0, "no move to take back");
        self.top = self.top.saturating_sub(1);
    }

    /// Makes the current position the first of the line: earlier ones can't be returned to.
    pub fn settle(&mut self) {
        self.line.swap(0, self.top);
        self.top = 0;
        let entry = &mut self.line[0];
        for side in 0..SIDES {
            entry.needs_refresh[side] |= !entry.valid[side];
        }
    }

    /// Evaluates the position that the line leads to.
    pub fn evaluate(&mut self, position: &Position) -> Evaluation {
        let isa = self.isa;
        isa.run(TeacherForward {
            teacher: self,
            position,
        })
    }

    /// Brings a side's sums up to date with the current position.
    #[inline(always)]
    fn update(&mut self, side: usize, board: &Board) {
        let mut from = self.top;
        while !self.line[from].valid[side] {
            if self.line[from].needs_refresh[side] || from == 0 {
                self.refresh(side, board);
                return;
            }
            from -= 1;
        }
        for at in from..self.top {
            let (before, after) = self.line.split_at_mut(at + 1);
            let (parent, child) = (&before[at], &mut after[0]);
            step(&self.net, side, parent, child);
        }
    }

    /// Computes a side's sums from those that its view was last computed with.
    #[inline(always)]
    fn refresh(&mut self, side: usize, board: &Board) {
        let entry = &mut self.line[self.top];
        let view = entry.views[side];
        let snapshot = &mut self.snapshots[side][view.number()];
        let mut added = ArrayVec::<usize, MAX_PIECES>::new();
        let mut removed = ArrayVec::<usize, MAX_PIECES>::new();
        for color in Color::ALL {
            for role in Role::ALL {
                let piece = role.of(color);
                let (new, old) = (board.by_piece(piece), snapshot.board.by_piece(piece));
                for square in new & !old {
                    added.push(view.input(piece, square));
                }
                for square in old & !new {
                    removed.push(view.input(piece, square));
                }
            }
        }
        for &input in &added {
            change(&mut snapshot.sums.neurons, &[self.net.row(input)], &[]);
            change_values(&mut snapshot.sums.values, &[self.net.values(input)], &[]);
        }
        for &input in &removed {
            change(&mut snapshot.sums.neurons, &[], &[self.net.row(input)]);
            change_values(&mut snapshot.sums.values, &[], &[self.net.values(input)]);
        }
        snapshot.board = board.clone();
        entry.sums[side].copy_from(&snapshot.sums);
        entry.valid[side] = true;
    }
}

/// Derives a side's sums from those of the position before.
#[inline(always)]
fn step(net: &TeacherNet, side: usize, parent: &LineEntry, child: &mut LineEntry) {
    let view = child.views[side];
    let input = |&(piece, square): &_| view.input(piece, square);
    let added: ArrayVec<usize, 2> = child.dirty.added.iter().map(input).collect();
    let removed: ArrayVec<usize, 2> = child.dirty.removed.iter().map(input).collect();
    let row = |&input: &usize| net.row(input);
    let (from, to) = (&parent.sums[side], &mut child.sums[side]);
    match (added.as_slice(), removed.as_slice()) {
        ([a], [r]) => derive(&mut to.neurons, &from.neurons, [row(a)], [row(r)]),
        ([a], [r, s]) => derive(&mut to.neurons, &from.neurons, [row(a)], [row(r), row(s)]),
        ([a, b], [r, s]) => derive(
            &mut to.neurons,
            &from.neurons,
            [row(a), row(b)],
            [row(r), row(s)],
        ),
        _ => {
            to.neurons.copy_from_slice(&from.neurons);
            for input in &added {
                change(&mut to.neurons, &[row(input)], &[]);
            }
            for input in &removed {
                change(&mut to.neurons, &[], &[row(input)]);
            }
        }
    }
    to.values = from.values;
    for &input in &added {
        change_values(&mut to.values, &[net.values(input)], &[]);
    }
    for &input in &removed {
        change_values(&mut to.values, &[], &[net.values(input)]);
    }
    child.valid[side] = true;
}

/// An evaluation, to be done with some instruction set.
struct TeacherForward<'a> {
    teacher: &'a mut Teacher,
    position: &'a Position,
}

impl Operation for TeacherForward<'_> {
    type Output = Evaluation;

    #[inline(always)]
    fn run<S: Simd>(self, simd: S) -> Evaluation {
        let TeacherForward { teacher, position } = self;
        let board = position.board();
        for side in 0..SIDES {
            teacher.update(side, board);
        }
        let mover = position.turn() as usize;
        let [own, enemy] = [mover, 1 - mover].map(|side| &teacher.line[teacher.top].sums[side]);
        let pieces = board.occupied().count();
        let stack = (pieces.saturating_sub(1) / PIECES_A_STACK).min(STACKS - 1);
        products([&own.neurons, &enemy.neurons], &mut teacher.products);
        let (positional, first) = propagate(simd, &teacher.net.stacks[stack], &teacher.products);
        let material = (own.values[stack] - enemy.values[stack]) / 2;
        let engine = teacher.net.engine();
        Evaluation {
            material,
            positional,
            hints: hints(first),
            bare: engine.bare(material, positional, board),
            engine,
        }
    }
}
