//! The root's moves: what each iteration found out about them, and the lines of multi-PV.

use crate::tablebase::RootRanking;
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
    /// Moves of a higher rank are better, whatever the search finds; without tablebases all are
    /// equal.
    rank: i32,
    /// The tablebases' score, shown in place of the search's unless that is a mate.
    tablebase_score: Option<Score>,
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
            rank: 0,
            tablebase_score: None,
        }
    }

    /// What to show where the search found this score and bound.
    pub fn shown(&self, score: Score, bound: Option<Bound>) -> (Score, Option<Bound>) {
        match self.tablebase_score {
            Some(known) if !score.is_mate() => (known, None),
            _ => (score, bound),
        }
    }

    /// What moves are sorted by.
    fn order(&self) -> (i32, Score, Score) {
        (self.rank, self.score, self.previous)
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

    /// Takes over the tablebases' ranks and scores; the best rank comes first.
    pub fn rank(&mut self, ranking: &RootRanking) {
        for root in &mut self.moves {
            if let Some(ranked) = ranking.get(root.m) {
                root.rank = ranked.rank;
                root.tablebase_score = Some(ranked.score);
            }
        }
        self.moves.sort_by_key(|root| std::cmp::Reverse(root.rank));
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
        let rank = self.moves[self.line].rank;
        self.moves[self.line..]
            .iter()
            .any(|root| root.m == m && root.rank == rank)
    }

    /// Begins an iteration.
    pub fn begin_iteration(&mut self) {
        for root in &mut self.moves {
            root.previous = root.score;
        }
    }

    /// Brings the best move of the current line to its front; equal ones keep their order.
    pub fn sort_line(&mut self) {
        self.moves[self.line..].sort_by_key(|root| std::cmp::Reverse(root.order()));
    }

    /// Sorts the lines searched so far.
    pub fn sort_lines(&mut self) {
        self.moves[..=self.line].sort_by_key(|root| std::cmp::Reverse(root.order()));
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
        let rank = self.moves[self.line].rank;
        let ranked = self.moves[self.line..].partition_point(|root| root.rank >= rank);
        let line = &mut self.moves[self.line..self.line + ranked];
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
