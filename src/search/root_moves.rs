//! The root's moves: what each iteration found out about them, and the lines of multi-PV.

use crate::types::{Bound, Move, Score};

/// A root move and what the search found out about it.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub m: Move,
    /// The score in the current iteration; minus infinite if it was not best.
    pub score: Score,
    /// The score in the previous iteration.
    pub previous: Score,
    /// Whether the score is a bound; `None` if it is exact.
    pub bound: Option<Bound>,
    /// A running mean of the scores, and of their squares, for aspiration windows.
    pub average: Option<(Score, i64)>,
    pub seldepth: usize,
    /// Nodes spent on it in the whole search.
    pub nodes: u64,
    pub pv: Vec<Move>,
}

impl RootMove {
    fn new(m: Move) -> RootMove {
        RootMove {
            m,
            score: -Score::INFINITE,
            previous: -Score::INFINITE,
            bound: None,
            average: None,
            seldepth: 0,
            nodes: 0,
            pv: vec![m],
        }
    }
}

/// The root moves, best first, and which line of multi-PV is being searched.
#[derive(Clone, Debug, Default)]
pub(super) struct RootMoves {
    moves: Vec<RootMove>,
    /// The line being searched: moves before it are taken by better lines.
    line: usize,
}

impl RootMoves {
    pub fn new(moves: impl IntoIterator<Item = Move>) -> RootMoves {
        RootMoves {
            moves: moves.into_iter().map(RootMove::new).collect(),
            line: 0,
        }
    }

    pub fn is_empty(&self) -> bool {
        self.moves.is_empty()
    }

    pub fn len(&self) -> usize {
        self.moves.len()
    }

    pub fn all(&self) -> &[RootMove] {
        &self.moves
    }

    /// Begins the search of a line of multi-PV, from 0.
    pub fn begin_line(&mut self, line: usize) {
        self.line = line;
    }

    /// Whether another line than the first is being searched.
    pub fn later_line(&self) -> bool {
        self.line > 0
    }

    /// The move to search first in the current line.
    pub fn first(&self) -> Move {
        self.moves[self.line].m
    }

    /// The best move of the current line.
    pub fn current(&self) -> &RootMove {
        &self.moves[self.line]
    }

    pub fn current_mut(&mut self) -> &mut RootMove {
        &mut self.moves[self.line]
    }

    /// Whether a move may be searched in the current line.
    pub fn is_open(&self, m: Move) -> bool {
        self.moves[self.line..].iter().any(|root| root.m == m)
    }

    /// Begins an iteration.
    pub fn begin_iteration(&mut self) {
        for root in &mut self.moves {
            root.previous = root.score;
        }
    }

    /// Brings the best move of the current line to its front; equal ones keep their order.
    pub fn sort_line(&mut self) {
        self.moves[self.line..].sort_by_key(|root| std::cmp::Reverse((root.score, root.previous)));
    }

    /// Sorts the lines searched so far.
    pub fn sort_lines(&mut self) {
        self.moves[..=self.line].sort_by_key(|root| std::cmp::Reverse((root.score, root.previous)));
    }

    /// The search is over: scores count as exact.
    pub fn all_exact(&mut self) {
        for root in &mut self.moves {
            root.bound = None;
        }
    }

    /// An iteration was stopped: the best of the moves that were searched goes first; if none
    /// was, the previous iteration's order stands.
    pub fn keep_partial(&mut self) {
        let line = &mut self.moves[self.line..];
        let best = line
            .iter()
            .map(|root| root.score)
            .max()
            .unwrap_or(-Score::INFINITE);
        if best == -Score::INFINITE {
            return;
        }
        if let Some(index) = line.iter().position(|root| root.score == best) {
            line[..=index].rotate_right(1);
        }
    }

    /// The place of the `number`th move of the current line among all root moves, from 1.
    pub fn number(&self, number: usize) -> usize {
        number + self.line
    }

    /// A root move was searched with so many nodes. If it was the first or raised alpha
    /// (`raised`), its score and the line below it count; other moves are known only to be no
    /// better.
    pub fn note(
        &mut self,
        m: Move,
        score: Score,
        raised: bool,
        nodes: u64,
        seldepth: usize,
        line: &[Move],
    ) {
        let Some(root) = self.moves.iter_mut().find(|root| root.m == m) else {
            return;
        };
        root.nodes += nodes;
        if !raised {
            root.score = -Score::INFINITE;
            return;
        }
        root.score = score;
        root.seldepth = seldepth;
        let square = i64::from(score.raw()).pow(2);
        root.average = Some(match root.average {
            Some((mean, mean_square)) => (
                Score::from_raw((mean.raw() + score.raw()) / 2),
                (mean_square + square) / 2,
            ),
            None => (score, square),
        });
        root.pv.clear();
        root.pv.push(m);
        root.pv.extend_from_slice(line);
    }
}
