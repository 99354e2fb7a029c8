//! Chess through [`crate::board`], with the plainest rules that a fixed-depth tree needs: mate,
//! stalemate and a lack of mating material end the game; repetitions and the 50-move rule, which
//! depend on the way to a position and not on the position alone, are left out.

use std::cmp::Reverse;

use crate::board::Position;
use crate::eval::{EvalKind, Evaluator};
use crate::lab::game::{GameTree, NodeValue, TreePlayer};
use crate::types::{Color, Move, Ply, Role, Score};

/// In which order the moves of a position are searched, before any hints.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum InitialOrder {
    /// As the move generator lists them.
    Generated,
    /// Promotions and captures first, the most valuable victim by the least valuable attacker
    /// leading.
    #[default]
    CapturesFirst,
}

/// Chess from a given position; White is Max.
#[derive(Clone, Debug)]
pub struct ChessGame {
    pub start: Position,
    pub order: InitialOrder,
}

/// A position and its distance from the root, which mates depend on.
#[derive(Clone, Debug)]
pub struct ChessNode {
    pub position: Position,
    ply: Ply,
}

impl ChessGame {
    /// Chess from `start`, captures first, with [`tapered`] at the horizon.
    #[must_use]
    pub fn new(start: Position) -> ChessGame {
        ChessGame {
            start,
            order: InitialOrder::default(),
        }
    }
}

/// Material and piece squares, blended by what is left on the board, in centipawns for White: the
/// engine's evaluation from before it had a network.
#[must_use]
pub fn tapered(position: &Position) -> NodeValue {
    let value = Evaluator::new(EvalKind::Tapered).evaluate(position).raw();
    if position.turn() == Color::White {
        value
    } else {
        -value
    }
}

/// The values of pieces in the order of captures.
const fn weight(role: Role) -> NodeValue {
    match role {
        Role::Pawn => 1,
        Role::Knight | Role::Bishop => 3,
        Role::Rook => 5,
        Role::Queen => 9,
        Role::King => 10,
    }
}

/// Most valuable victim, least valuable attacker: larger for moves to try earlier.
fn mvv_lva(m: Move) -> NodeValue {
    /// No attacker outweighs the smallest difference between victims.
    const VICTIM: NodeValue = 16;
    let gain = m.capture().map_or(0, weight) + m.promotion().map_or(0, weight);
    if gain == 0 {
        0
    } else {
        gain * VICTIM - weight(m.role())
    }
}

impl GameTree for ChessGame {
    type Position = ChessNode;
    type Move = Move;

    fn start(&self) -> ChessNode {
        ChessNode {
            position: self.start.clone(),
            ply: Ply::ROOT,
        }
    }

    fn side(&self, node: &ChessNode) -> TreePlayer {
        match node.position.turn() {
            Color::White => TreePlayer::Max,
            Color::Black => TreePlayer::Min,
        }
    }

    fn moves(&self, node: &ChessNode) -> Vec<Move> {
        if node.position.is_insufficient_material() {
            return Vec::new();
        }
        let mut moves: Vec<_> = node.position.legal_moves().into_iter().collect();
        if self.order == InitialOrder::CapturesFirst {
            moves.sort_by_key(|m| Reverse(mvv_lva(*m)));
        }
        moves
    }

    fn play(&self, node: &ChessNode, m: Move) -> ChessNode {
        ChessNode {
            position: node.position.play(m),
            ply: node.ply.next(),
        }
    }

    fn value(&self, node: &ChessNode) -> NodeValue {
        if node.position.is_insufficient_material() {
            0
        } else if node.position.has_legal_move() {
            tapered(&node.position)
        } else if node.position.in_check() {
            self.side(node).view(Score::mated_in(node.ply).raw())
        } else {
            0
        }
    }

    fn key(&self, node: &ChessNode) -> u64 {
        node.position.key()
    }

    fn label(&self, node: &ChessNode, m: Move) -> String {
        node.position.san(m)
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;
    use std::time::Instant;

    use super::*;
    use crate::lab::{Algorithm, SolveOptions, solve};
    use crate::search::{self, SearchRequest, SearchWorker, Selectivity, Shared, Silent};
    use crate::tt::TranspositionTable;
    use crate::types::{CastlingMode, Depth};

    fn game(fen: &str) -> ChessGame {
        ChessGame::new(Position::from_fen(fen, CastlingMode::Standard).unwrap())
    }

    fn task(depth: u32) -> SolveOptions {
        SolveOptions {
            depth,
            ..SolveOptions::default()
        }
    }

    #[test]
    fn every_algorithm_finds_a_mate() {
        let game = game("6k1/5ppp/8/8/8/8/5PPP/1R4K1 w - - 0 1");
        for algorithm in Algorithm::every() {
            let solved = solve(&game, *algorithm, task(3));
            assert_eq!(Score::from_raw(solved.value), Score::mate_in(Ply(1)));
            let best = solved.best.map(|best| game.start.san(best.mv));
            assert_eq!(best.as_deref(), Some("Rb8#"), "{}", algorithm.name());
        }
    }

    #[test]
    fn algorithms_agree_on_chess() {
        for fen in [
            "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R b KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r4rk1/1pp1qppp/p1np1n2/2b1p1B1/2B1P1b1/P1NP1N2/1PP1QPPP/R4RK1 w - - 0 10",
        ] {
            let game = game(fen);
            let depth = 2;
            let value = solve(&game, Algorithm::Minimax, task(depth)).value;
            for algorithm in Algorithm::every() {
                let solved = solve(&game, *algorithm, task(depth));
                assert_eq!(solved.value, value, "{} on {fen}", algorithm.name());
            }
        }
    }

    /// The engine's own search, everything that approximates switched off, is minimax too.
    #[test]
    fn the_engine_in_plain_mode_agrees_with_minimax() {
        // Three plies: a fourth could repeat the position, which the engine calls a draw.
        const DEPTH: u32 = 3;
        for fen in [
            "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
            "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
            "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
            "6k1/5ppp/8/8/8/8/r4PPP/1R4K1 b - - 0 1",
            "8/8/8/8/8/5k2/6pp/7K w - - 0 1",
        ] {
            let game = game(fen);
            let shared = Arc::new(Shared::new(TranspositionTable::new(1).unwrap(), 1));
            let mut worker = SearchWorker::new(0, shared.clone(), EvalKind::Tapered);
            for depth in 1..=DEPTH {
                shared.begin(false, Instant::now());
                let limits = search::Limits::to_depth(Depth(depth as i32));
                let mut request = SearchRequest::new(game.start.clone(), limits);
                request.selectivity = Selectivity::Plain;
                let outcome = worker
                    .search(&request, Box::new(Silent))
                    .expect("a legal move");
                let solved = solve(&game, Algorithm::FailSoft, task(depth));
                assert_eq!(outcome.score.raw(), solved.value, "{fen} at depth {depth}");
            }
        }
    }

    #[test]
    fn leaves_of_minimax_are_perfts() {
        let game = ChessGame::new(Position::startpos());
        let solved = solve(&game, Algorithm::Negamax, task(3));
        assert_eq!(solved.counts.leaves, crate::board::perft(&game.start, 3));
        assert_eq!(
            tapered(&game.start),
            -tapered(&game.start.play_null().unwrap())
        );
    }
}
