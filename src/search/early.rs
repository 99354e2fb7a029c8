//! What can end a node before any move is looked at: draws, short mates, the transposition
//! table; and the evaluation that the next steps lean on.

use super::kinds::{NodeType, Window};
use super::node::Node;
use super::update::bonus;
use super::worker::Worker;
use crate::board::Position;
use crate::params as p;
use crate::tt::Hit;
use crate::types::{Depth, FIFTY_MOVES, MAX_PLY, PackedMove, Ply, Score};

/// Beyond this many plies without progress a stored score may rest on a line that the 50-move
/// rule cuts short.
const HALFMOVES_TRUSTED: u32 = 90;

impl Worker {
    /// A draw by rule, or the end of the stack.
    pub(super) fn terminal(&mut self, position: &Position, ply: Ply) -> Option<Score> {
        if self.keys.is_repetition(position) || position.is_insufficient_material() {
            return Some(self.draw());
        }
        // Mate on the hundredth ply still counts.
        if position.halfmoves() >= FIFTY_MOVES
            && (!position.in_check() || position.has_legal_move())
        {
            return Some(self.draw());
        }
        if ply.index() >= MAX_PLY {
            return Some(if position.in_check() {
                Score::DRAW
            } else {
                crate::eval::adjust(self.evaluator.evaluate(position), position.halfmoves(), 0)
            });
        }
        None
    }

    /// Draws differ by a centipawn from node to node, so that the search keeps looking for other
    /// ways instead of calling the first repetition as good as any; reports round it away.
    pub(super) fn draw(&self) -> Score {
        if self.selective() {
            Score::DRAW + (self.nodes as i32 & 2) - 1
        } else {
            Score::DRAW
        }
    }

    /// If the side to move can step back into the line, it has at least a draw.
    pub(super) fn claim_repetition(&self, position: &Position, window: Window) -> Window {
        if p::use_upcoming_repetition() == 1
            && self.selective()
            && window.alpha < Score::DRAW
            && self.keys.can_repeat(position)
        {
            Window {
                alpha: self.draw(),
                ..window
            }
        } else {
            window
        }
    }

    /// The score of the table's entry if it answers this node's question.
    pub(super) fn table_cutoff(
        &mut self,
        position: &Position,
        depth: Depth,
        window: Window,
        cut: bool,
        hit: Option<Hit>,
    ) -> Option<Score> {
        /// Deep enough to cut whatever kind of node was expected.
        const CERTAIN_DEPTH: i32 = 5;
        let hit = hit?;
        let beta = window.beta;
        // A refutation must rest on one ply more than the node is worth.
        let needed = depth + i32::from(hit.score > beta);
        let expected = (hit.score >= beta) == cut || depth.plies() > CERTAIN_DEPTH;
        let cuts = p::use_table_cuts() == 1
            && self.selective()
            && hit.depth >= needed
            && hit.bound.decides(hit.score, beta)
            && expected
            && position.halfmoves() < HALFMOVES_TRUSTED;
        if !cuts {
            return None;
        }
        self.stats.table_cuts += 1;
        Some(hit.score)
    }

    /// A quiet table move that refutes again deserves its history.
    pub(super) fn reward_table_move(
        &mut self,
        position: &Position,
        ply: Ply,
        depth: Depth,
        best: PackedMove,
    ) {
        let Some(piece) = position.board().piece_at(best.from()) else {
            return;
        };
        let quiet = best.promotion().is_none()
            && !best.is_en_passant()
            && (best.is_castle() || position.board().role_at(best.to()).is_none());
        if quiet && piece.color == position.turn() {
            self.update_continuations(ply, piece, best.to(), bonus(depth));
        }
    }

    /// Fills in the node's evaluations: raw from the table or the network, static with its
    /// correction, and `eval` sharpened by the table's score where that is a better bound.
    pub(super) fn evaluate_node<T: NodeType>(&mut self, node: &mut Node<'_>) {
        let (position, ply) = (node.position, node.ply);
        if node.in_check() {
            // Whatever the check hides: what was last known of this side.
            let earlier = self.stack.before(ply, 2).static_eval.unwrap_or(Score::DRAW);
            (node.static_eval, node.eval) = (earlier, earlier);
            self.stack.at_mut(ply).static_eval = None;
            return;
        }
        if node.excluded.is_some() {
            let known = self.stack.at(ply).static_eval.unwrap_or(Score::DRAW);
            (node.static_eval, node.eval) = (known, known);
            node.improvement = self.improvement(ply, known);
            return;
        }
        let raw = match node.hit.and_then(|hit| hit.eval) {
            Some(raw) => raw,
            None => self.evaluator.evaluate(position),
        };
        node.raw_eval = Some(raw);
        node.correction = self.correction(position, ply);
        node.static_eval = crate::eval::adjust(raw, position.halfmoves(), node.correction);
        node.eval = sharpened(node.static_eval, node.hit);
        self.stack.at_mut(ply).static_eval = Some(node.static_eval);
        node.improvement = self.improvement(ply, node.static_eval);
        if !T::ROOT {
            self.learn_from_eval(ply, node.static_eval, position);
        }
    }

    /// By how much the side to move's evaluation has risen since its last move (or the one
    /// before, if it was in check then).
    fn improvement(&self, ply: Ply, static_eval: Score) -> i32 {
        let earlier = self
            .stack
            .before(ply, 2)
            .static_eval
            .or(self.stack.before(ply, 4).static_eval);
        earlier.map_or(0, |earlier| static_eval - earlier)
    }
}

/// The table's score replaces the evaluation where its bound says that it is nearer the truth.
pub(super) fn sharpened(static_eval: Score, hit: Option<Hit>) -> Score {
    match hit {
        Some(hit)
            if p::use_table_eval() == 1
                && !hit.score.is_decisive()
                && hit.bound.decides(hit.score, static_eval + 1) =>
        {
            hit.score
        }
        _ => static_eval,
    }
}
