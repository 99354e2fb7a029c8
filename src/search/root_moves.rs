//! The root's moves: what each iteration found out about them, and the lines of multi-PV.

use crate::tablebase::RootRanking;
use crate::types::{Bound, Depth, Move, Score};

/// Equal parts of a running mean: the mean before, and the new score.
const MEAN_PARTS: i32 = 2;

/// A root move and what the search found out about it.
#[derive(Clone, Debug)]
pub(super) struct RootMove {
    pub m: Move,
    /// The score in the current iteration, minus infinite if it was not best; until the move is
    /// searched the score of the iteration before.
    pub score: Score,
    /// The iteration that found the last score, and the line `pv`; 0 if none did.
    depth: Depth,
    /// The score in the previous iteration, and what belongs to it.
    pub previous: Score,
    previous_depth: Depth,
    previous_pv: Vec<Move>,
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
            depth: Depth::ZERO,
            previous: -Score::INFINITE,
            previous_depth: Depth::ZERO,
            previous_pv: vec![m],
            bound: None,
            average: None,
            seldepth: 0,
            nodes: 0,
            pv: vec![m],
            rank: 0,
            tablebase_score: None,
        }
    }

    /// What to show of the move: what this iteration found or, if the move has no score in it, the
    /// iteration before. `None` if neither found a score.
    pub fn latest(&self) -> Option<RootMoveResult<'_>> {
        let found = if self.score == -Score::INFINITE {
            RootMoveResult {
                score: self.previous,
                bound: None,
                depth: self.previous_depth,
                pv: &self.previous_pv,
            }
        } else {
            RootMoveResult {
                score: self.score,
                bound: self.bound,
                depth: self.depth,
                pv: &self.pv,
            }
        };
        if found.score == -Score::INFINITE {
            return None;
        }
        Some(match self.tablebase_score {
            Some(known) if !found.score.is_mate() => RootMoveResult {
                score: known,
                bound: None,
                ..found
            },
            _ => found,
        })
    }

    /// What moves are sorted by.
    fn order(&self) -> (i32, Score, Score) {
        (self.rank, self.score, self.previous)
    }
}

/// What the search found of a root move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct RootMoveResult<'a> {
    pub score: Score,
    /// Whether the score is a bound; `None` if it is exact.
    pub bound: Option<Bound>,
    /// The iteration that found it.
    pub depth: Depth,
    pub pv: &'a [Move],
}

/// The root moves, best first, and which line of multi-PV is being searched.
#[derive(Clone, Debug, Default)]
pub(super) struct RootMoves {
    moves: Vec<RootMove>,
    /// The line being searched: moves before it are taken by better lines.
    line: usize,
    /// The iteration's depth.
    depth: Depth,
    /// Some legal moves are not searched at all.
    restricted: bool,
}

impl RootMoves {
    pub fn new(moves: impl IntoIterator<Item = Move>) -> RootMoves {
        RootMoves {
            moves: moves.into_iter().map(RootMove::new).collect(),
            line: 0,
            depth: Depth::ZERO,
            restricted: false,
        }
    }

    /// Leaves out all moves but these.
    pub fn keep_only(&mut self, wanted: &[Move]) {
        let all = self.moves.len();
        self.moves.retain(|root| wanted.contains(&root.m));
        self.restricted = self.moves.len() < all;
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

    /// Whether moves are left out: those of better lines, or by order of the client. The score
    /// then says nothing of the position as a whole.
    pub fn leaves_out_moves(&self) -> bool {
        self.line > 0 || self.restricted
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

    /// Begins the iteration of a depth. Scores stay until the moves are searched again.
    pub fn begin_iteration(&mut self, depth: Depth) {
        self.depth = depth;
        for root in &mut self.moves {
            root.previous = root.score;
            root.previous_depth = root.depth;
            root.previous_pv.clone_from(&root.pv);
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

    /// The search was stopped: scores count as exact, and of so many lines those after the first,
    /// some of this iteration and some of the one before, are sorted by what is shown of them.
    pub fn conclude(&mut self, lines: usize) {
        for root in &mut self.moves {
            root.bound = None;
        }
        let shown = |root: &RootMove| (root.rank, root.latest().map(|found| found.score));
        if let Some(others) = self.moves.get_mut(1..lines) {
            others.sort_by_key(|root| std::cmp::Reverse(shown(root)));
        }
    }

    /// An iteration was stopped: the move with the best score goes first. Moves that were not
    /// searched again have that of the iteration before, if they were best once; to let them begin
    /// without a score did not win games (see the book's record of tests). If the best loses by
    /// force, the previous iteration's order stands, for other moves may not lose.
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
        let searched_before = line.iter().any(|root| root.previous != -Score::INFINITE);
        if best.is_loss() && searched_before {
            for root in &mut *line {
                root.score = -Score::INFINITE;
            }
            // A search of this iteration may have brought another move to the front.
            line.sort_by_key(|root| std::cmp::Reverse(root.previous));
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
    /// better. Their bounds count for the running means, so that the window of a new best move is
    /// not centred on an old score.
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
        root.bound = None;
        let square = i64::from(score.raw()).pow(2);
        root.average = Some(match root.average {
            Some((mean, mean_square)) => (
                Score::from_raw((mean.raw() + score.raw()) / MEAN_PARTS),
                (mean_square + square) / i64::from(MEAN_PARTS),
            ),
            None => (score, square),
        });
        if !raised {
            root.score = -Score::INFINITE;
            return;
        }
        root.score = score;
        root.depth = self.depth;
        root.seldepth = seldepth;
        root.pv.clear();
        root.pv.push(m);
        root.pv.extend_from_slice(line);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::types::Ply;

    fn root(count: usize) -> RootMoves {
        RootMoves::new(Position::startpos().legal_moves().into_iter().take(count))
    }

    fn order(root: &RootMoves) -> Vec<Move> {
        root.all().iter().map(|root| root.m).collect()
    }

    fn note(root: &mut RootMoves, m: Move, cp: i32, raised: bool) {
        root.note(m, Score::cp(cp), raised, 100, 5, &[]);
    }

    #[test]
    fn the_best_move_comes_first_and_the_others_keep_their_order() {
        let mut root = root(4);
        let [a, b, c, d] = order(&root)[..] else {
            panic!("four moves");
        };
        root.begin_iteration(Depth::ONE);
        for (m, cp, raised) in [(a, 10, true), (b, 5, false), (c, 30, true), (d, 20, false)] {
            note(&mut root, m, cp, raised);
        }
        root.sort_line();
        assert_eq!(order(&root), [c, a, b, d]);
        assert_eq!(root.current().score, Score::cp(30));
        assert!(root.all().iter().all(|root| root.nodes == 100));
    }

    #[test]
    fn only_first_and_raised_moves_get_scores_and_lines() {
        let mut root = root(2);
        let [a, b] = order(&root)[..] else {
            panic!("two moves");
        };
        let reply = a;
        root.note(a, Score::cp(10), true, 7, 9, &[reply]);
        root.note(b, Score::cp(-40), false, 3, 4, &[reply, reply]);
        assert_eq!(root.all()[0].pv, [a, reply]);
        assert_eq!((root.all()[0].seldepth, root.all()[0].nodes), (9, 7));
        assert_eq!(root.all()[1].pv, [b]);
        assert_eq!(root.all()[1].score, -Score::INFINITE);
    }

    #[test]
    fn averages_follow_the_scores() {
        let mut root = root(1);
        let m = root.first();
        note(&mut root, m, 40, true);
        assert_eq!(root.current().average, Some((Score::cp(40), 1600)));
        note(&mut root, m, -20, false);
        assert_eq!(root.current().average, Some((Score::cp(10), 1000)));
    }

    #[test]
    fn later_lines_leave_out_the_moves_of_better_lines() {
        let mut root = root(3);
        let [a, b, c] = order(&root)[..] else {
            panic!("three moves");
        };
        root.begin_iteration(Depth::ONE);
        root.begin_line(0);
        note(&mut root, a, 10, true);
        note(&mut root, b, 20, true);
        root.sort_line();
        root.begin_line(1);
        assert!(root.leaves_out_moves() && root.first() == a);
        assert!(!root.is_open(b) && root.is_open(a) && root.is_open(c));
        assert_eq!(
            root.number(1),
            2,
            "the first move of the second line is the second move"
        );
        // The second line turns out better than the first.
        note(&mut root, a, 5, true);
        note(&mut root, c, 50, true);
        root.sort_line();
        root.sort_lines();
        assert_eq!(order(&root), [c, b, a]);
    }

    #[test]
    fn an_interrupted_iteration_keeps_the_best_so_far() {
        let mut root = root(3);
        let [a, b, c] = order(&root)[..] else {
            panic!("three moves");
        };
        for m in [a, b, c] {
            note(&mut root, m, 0, m == a);
        }
        root.begin_iteration(Depth::ONE);
        note(&mut root, a, 10, true);
        note(&mut root, b, 25, true);
        root.keep_partial();
        assert_eq!(order(&root), [b, a, c]);
        // A move that was best in the iteration before is remembered.
        root.begin_iteration(Depth::ONE);
        note(&mut root, b, 5, true);
        root.keep_partial();
        assert_eq!(order(&root), [a, b, c]);
        // Nothing searched yet: the order stands.
        let mut untouched = RootMoves::new([a, b, c]);
        untouched.keep_partial();
        assert_eq!(order(&untouched), [a, b, c]);
    }

    #[test]
    fn an_interrupted_iteration_proves_no_loss() {
        let mut root = root(2);
        let [a, b] = order(&root)[..] else {
            panic!("two moves");
        };
        let note = |root: &mut RootMoves, depth, score, line: &[Move]| {
            root.begin_iteration(Depth(depth));
            root.note(a, score, true, 1, 1, line);
        };
        let lost = Score::mated_in(Ply(6));
        // In the first iteration there is nothing else to go by.
        note(&mut root, 1, lost, &[]);
        root.keep_partial();
        assert_eq!(root.current().score, lost);
        note(&mut root, 2, Score::cp(-300), &[b]);
        note(&mut root, 3, lost, &[]);
        root.keep_partial();
        assert_eq!(order(&root), [a, b]);
        let best = root.current();
        assert_eq!(best.score, -Score::INFINITE);
        let before = RootMoveResult {
            score: Score::cp(-300),
            bound: None,
            depth: Depth(2),
            pv: &[a, b],
        };
        assert_eq!(best.latest(), Some(before));
    }

    /// Another move was best for a while in the iteration that was stopped.
    #[test]
    fn an_interrupted_loss_brings_back_the_order_of_the_iteration_before() {
        let mut root = root(2);
        let [a, b] = order(&root)[..] else {
            panic!("two moves");
        };
        root.begin_iteration(Depth(1));
        note(&mut root, a, 20, true);
        note(&mut root, b, 0, false);
        root.begin_iteration(Depth(2));
        note(&mut root, a, 5, true);
        note(&mut root, b, 60, true);
        root.sort_line();
        assert_eq!(order(&root), [b, a]);
        root.note(b, Score::mated_in(Ply(6)), true, 1, 1, &[]);
        note(&mut root, a, 0, false);
        root.keep_partial();
        assert_eq!(order(&root), [a, b]);
        let score = root.current().latest().map(|found| found.score);
        assert_eq!(score, Some(Score::cp(20)));
    }

    #[test]
    fn a_move_that_is_not_reached_keeps_the_depth_of_its_score() {
        let mut root = root(3);
        let [a, b, c] = order(&root)[..] else {
            panic!("three moves");
        };
        let depths = |root: &RootMoves| {
            let depth = |m| {
                let root = root.all().iter().find(|root| root.m == m);
                root.and_then(RootMove::latest).map(|found| found.depth)
            };
            [a, b, c].map(depth)
        };
        root.begin_iteration(Depth(7));
        assert_eq!(depths(&root), [None; 3]);
        for (line, m) in [a, b].into_iter().enumerate() {
            root.begin_line(line);
            note(&mut root, m, 10, true);
        }
        note(&mut root, c, 5, false);
        let seven = Some(Depth(7));
        assert_eq!(depths(&root), [seven, seven, None]);
        root.begin_iteration(Depth(8));
        assert_eq!(depths(&root), [seven, seven, None], "nothing reached");
        root.begin_line(0);
        note(&mut root, a, 10, true);
        note(&mut root, b, 5, false);
        let eight = Some(Depth(8));
        assert_eq!(depths(&root), [eight, seven, None], "one line reached");
    }

    #[test]
    fn lines_of_two_iterations_are_shown_in_the_order_of_their_scores() {
        let mut root = root(4);
        let [a, b, c, d] = order(&root)[..] else {
            panic!("four moves");
        };
        let search = |root: &mut RootMoves, scores: &[(Move, i32)]| {
            root.begin_iteration(Depth::ONE);
            for (line, &(m, cp)) in scores.iter().enumerate() {
                root.begin_line(line);
                note(root, m, cp, true);
            }
        };
        search(&mut root, &[(a, 50), (b, 40), (c, 30)]);
        // Stopped in the third line: the second is now below it.
        search(&mut root, &[(a, 20), (b, 10)]);
        root.conclude(3);
        assert_eq!(order(&root), [a, c, b, d], "the first is what is played");
    }

    #[test]
    fn a_move_that_is_searched_again_loses_its_bound() {
        let mut root = root(1);
        let m = root.first();
        note(&mut root, m, 40, true);
        root.current_mut().bound = Some(Bound::Lower);
        note(&mut root, m, 30, true);
        let found = root.current().latest();
        assert_eq!(found.map(|found| found.bound), Some(None));
    }

    #[test]
    fn moves_outside_the_list_are_ignored() {
        let mut root = root(2);
        let other = Position::startpos().legal_moves()[10];
        note(&mut root, other, 900, true);
        assert!(root.all().iter().all(|root| root.score == -Score::INFINITE));
        assert!(!root.is_open(other));
    }
}
