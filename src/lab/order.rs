//! The order in which successors are searched: the game's own, or better.
//!
//! Alpha-beta's savings depend on finding a good move early, and earlier work shows which moves
//! were good: the previous iteration's values, its refutation table (Akl and Newborn 1977), the
//! killer heuristic (Huberman 1968: the last move that caused a cutoff at the same ply) and
//! countermoves (Uiterwijk 1992: the last reply that refuted the same move).

use std::cmp::Reverse;
use std::collections::HashMap;

use super::game::NodeValue;

/// Which hints to use. All off means the game's natural order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Sort successors by the values that the previous iteration returned for them.
    pub presort: bool,
    /// Try the last move that caused a cutoff at the same ply early.
    pub killers: bool,
    /// Try the last reply that refuted the opponent's move early.
    pub countermoves: bool,
    /// Follow the line that the previous iteration found for each root move: its best
    /// continuation, or the replies that refuted it.
    pub refutations: bool,
}

/// A move with its place in the game's natural order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OrderedMove<M> {
    pub mv: M,
    /// Place among [`super::GameTree::moves`], from 0.
    pub index: usize,
}

/// What one iteration learnt about a position: each searched successor's natural index and the
/// value it returned, seen by the side to move.
type Returned = Vec<(usize, NodeValue)>;

/// A refutation table: for each root move the line that the search found below it. It needs room
/// for as many moves as the root has, times the depth.
type RefutationTable<M> = HashMap<M, Vec<M>>;

/// What has been learnt about good moves.
#[derive(Debug)]
pub struct MoveOrdering<M> {
    hints: Hints,
    previous: HashMap<u64, Returned>,
    current: HashMap<u64, Returned>,
    previous_lines: RefutationTable<M>,
    current_lines: RefutationTable<M>,
    killers: Vec<Option<M>>,
    countermoves: HashMap<M, M>,
}

impl<M: Copy + Eq + std::hash::Hash> MoveOrdering<M> {
    /// With nothing learnt yet.
    #[must_use]
    pub fn new(hints: Hints) -> MoveOrdering<M> {
        MoveOrdering {
            hints,
            previous: HashMap::new(),
            current: HashMap::new(),
            previous_lines: HashMap::new(),
            current_lines: HashMap::new(),
            killers: Vec::new(),
            countermoves: HashMap::new(),
        }
    }

    /// A deeper iteration starts: what the last one returned becomes the order of this one.
    pub fn next_iteration(&mut self) {
        self.previous = std::mem::take(&mut self.current);
        self.previous_lines = std::mem::take(&mut self.current_lines);
    }

    /// Puts the moves of the position `key`, reached from the root by the moves of `path`, in
    /// order. A move of the refutation table comes first; then the successors that the previous
    /// iteration searched, best first; the ones it never reached follow, since nothing is known
    /// about them, killers and countermoves leading; ties keep the natural order.
    #[must_use]
    pub fn sort(&self, moves: Vec<M>, key: u64, path: &[M]) -> Vec<OrderedMove<M>> {
        let mut choices: Vec<_> = moves
            .into_iter()
            .enumerate()
            .map(|(index, mv)| OrderedMove { mv, index })
            .collect();
        if !self.is_used() {
            return choices;
        }
        let line = self.line_move(path);
        let returned = self.previous.get(&key);
        let killer = self.killers.get(path.len()).copied().flatten();
        let counter = path
            .last()
            .and_then(|mv| self.countermoves.get(mv))
            .copied();
        choices.sort_by_key(|choice| {
            let mv = Some(choice.mv);
            let value = returned
                .and_then(|values| values.iter().find(|(index, _)| *index == choice.index))
                .map(|(_, value)| *value);
            Reverse((mv == line, value, mv == killer, mv == counter))
        });
        choices
    }

    /// Whether any hint is on, so that the path to a node matters.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.hints != Hints::default()
    }

    /// The refutation table's move at the end of `path`, if the path has followed its line.
    fn line_move(&self, path: &[M]) -> Option<M> {
        let (root_move, below) = path.split_first()?;
        let line = self.previous_lines.get(root_move)?;
        let rest = line.strip_prefix(below)?;
        rest.first().copied()
    }

    /// The search of the root's successor `root_move` ended with `line` as the best play below
    /// it. The last search of an iteration counts.
    pub fn root_line(&mut self, root_move: M, line: &[M]) {
        if self.hints.refutations {
            self.current_lines.insert(root_move, line.to_vec());
        }
    }

    /// A successor of the position `key` returned `value`, seen by the side to move there. The
    /// last value counts when a successor is searched again.
    pub fn returned(&mut self, key: u64, index: usize, value: NodeValue) {
        if self.hints.presort {
            let values = self.current.entry(key).or_default();
            match values.iter_mut().find(|(known, _)| *known == index) {
                Some(entry) => entry.1 = value,
                None => values.push((index, value)),
            }
        }
    }

    /// `mv` caused a cutoff at `ply`, in reply to `last`.
    pub fn cutoff(&mut self, mv: M, ply: usize, last: Option<M>) {
        if self.hints.killers {
            if self.killers.len() <= ply {
                self.killers.resize(ply + 1, None);
            }
            self.killers[ply] = Some(mv);
        }
        if let (true, Some(last)) = (self.hints.countermoves, last) {
            self.countermoves.insert(last, mv);
        }
    }

    /// Whether [`MoveOrdering::returned`] is of any use.
    #[must_use]
    pub fn wants_values(&self) -> bool {
        self.hints.presort
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MOVES: [char; 4] = ['a', 'b', 'c', 'd'];

    fn sorted(order: &MoveOrdering<char>, key: u64, path: &[char]) -> Vec<usize> {
        let choices = order.sort(MOVES.to_vec(), key, path);
        choices.iter().map(|choice| choice.index).collect()
    }

    #[test]
    fn previous_values_come_first_and_the_unknown_last() {
        let mut order = MoveOrdering::new(Hints {
            presort: true,
            ..Hints::default()
        });
        order.returned(9, 1, 5);
        order.returned(9, 2, 7);
        order.returned(9, 1, 8);
        assert_eq!(sorted(&order, 9, &[]), [0, 1, 2, 3]);
        order.next_iteration();
        assert_eq!(sorted(&order, 9, &[]), [1, 2, 0, 3]);
    }

    #[test]
    fn killers_and_countermoves_lead_where_nothing_is_known() {
        let mut order = MoveOrdering::new(Hints {
            killers: true,
            countermoves: true,
            ..Hints::default()
        });
        order.cutoff('c', 2, Some('x'));
        order.cutoff('d', 3, Some('y'));
        assert_eq!(sorted(&order, 1, &['v', 'w']), [2, 0, 1, 3]);
        assert_eq!(sorted(&order, 1, &['v', 'y']), [2, 3, 0, 1]);
        assert_eq!(sorted(&order, 1, &['z']), [0, 1, 2, 3]);
    }

    #[test]
    fn a_refutation_table_is_followed_while_the_path_keeps_to_its_line() {
        let mut order = MoveOrdering::new(Hints {
            refutations: true,
            ..Hints::default()
        });
        order.root_line('x', &['b', 'd']);
        assert_eq!(sorted(&order, 1, &['x']), [0, 1, 2, 3]);
        order.next_iteration();
        assert_eq!(sorted(&order, 1, &['x']), [1, 0, 2, 3]);
        assert_eq!(sorted(&order, 1, &['x', 'b']), [3, 0, 1, 2]);
        assert_eq!(sorted(&order, 1, &['x', 'c']), [0, 1, 2, 3]);
        assert_eq!(sorted(&order, 1, &['x', 'b', 'd']), [0, 1, 2, 3]);
        assert_eq!(sorted(&order, 1, &['y']), [0, 1, 2, 3]);
        assert_eq!(sorted(&order, 1, &[]), [0, 1, 2, 3]);
    }
}
