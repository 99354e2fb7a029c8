//! The order in which successors are searched: the game's own, or better.
//!
//! Alpha-beta's savings depend on finding a good move early, and earlier work says which moves
//! were good: the previous iteration's values, the killer heuristic (the last move that caused a
//! cutoff at the same ply), and refutation tables (the last reply that refuted the same move).

use std::cmp::Reverse;
use std::collections::HashMap;

use super::game::Value;

/// Which hints to use. All off means the game's natural order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Hints {
    /// Sort successors by the values that the previous iteration returned for them.
    pub presort: bool,
    /// Try the last move that caused a cutoff at the same ply early.
    pub killers: bool,
    /// Try the last reply that refuted the opponent's move early.
    pub refutations: bool,
}

/// A move with its place in the game's natural order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choice<M> {
    pub mv: M,
    /// Place among [`super::Game::moves`], from 0.
    pub index: usize,
}

/// What one iteration learnt about a position: each searched successor's natural index and the
/// value it returned, seen by the side to move.
type Returned = Vec<(usize, Value)>;

/// What has been learnt about good moves.
#[derive(Debug)]
pub struct Order<M> {
    hints: Hints,
    previous: HashMap<u64, Returned>,
    current: HashMap<u64, Returned>,
    killers: Vec<Option<M>>,
    refutations: HashMap<M, M>,
}

impl<M: Copy + Eq + std::hash::Hash> Order<M> {
    /// Knows nothing yet.
    #[must_use]
    pub fn new(hints: Hints) -> Order<M> {
        Order {
            hints,
            previous: HashMap::new(),
            current: HashMap::new(),
            killers: Vec::new(),
            refutations: HashMap::new(),
        }
    }

    /// A deeper iteration starts: what the last one returned becomes the order of this one.
    pub fn next_iteration(&mut self) {
        self.previous = std::mem::take(&mut self.current);
    }

    /// Puts the moves of the position `key` in order. Successors that the previous iteration
    /// searched come first, best first; the ones it never reached follow, since nothing is known
    /// about them, killers and refutations leading; ties keep the natural order.
    #[must_use]
    pub fn sort(&self, moves: Vec<M>, key: u64, ply: usize, last: Option<M>) -> Vec<Choice<M>> {
        let mut choices: Vec<_> = moves
            .into_iter()
            .enumerate()
            .map(|(index, mv)| Choice { mv, index })
            .collect();
        if self.hints == Hints::default() {
            return choices;
        }
        let returned = self.previous.get(&key);
        let killer = self.killers.get(ply).copied().flatten();
        let refutation = last.and_then(|mv| self.refutations.get(&mv)).copied();
        choices.sort_by_key(|choice| {
            let value = returned
                .and_then(|values| values.iter().find(|(index, _)| *index == choice.index))
                .map(|(_, value)| *value);
            let hinted = (Some(choice.mv) == killer, Some(choice.mv) == refutation);
            (Reverse(value), Reverse(hinted))
        });
        choices
    }

    /// A successor of the position `key` returned `value`, seen by the side to move there. The
    /// last word counts when a successor is searched again.
    pub fn returned(&mut self, key: u64, index: usize, value: Value) {
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
        if let (true, Some(last)) = (self.hints.refutations, last) {
            self.refutations.insert(last, mv);
        }
    }

    /// Whether [`Order::returned`] is of any use.
    #[must_use]
    pub fn wants_values(&self) -> bool {
        self.hints.presort
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn indices(choices: &[Choice<char>]) -> Vec<usize> {
        choices.iter().map(|choice| choice.index).collect()
    }

    #[test]
    fn previous_values_come_first_and_the_unknown_last() {
        let mut order = Order::new(Hints {
            presort: true,
            ..Hints::default()
        });
        order.returned(9, 1, 5);
        order.returned(9, 2, 7);
        order.returned(9, 1, 8);
        assert_eq!(
            indices(&order.sort(vec!['a', 'b', 'c', 'd'], 9, 0, None)),
            [0, 1, 2, 3]
        );
        order.next_iteration();
        assert_eq!(
            indices(&order.sort(vec!['a', 'b', 'c', 'd'], 9, 0, None)),
            [1, 2, 0, 3]
        );
    }

    #[test]
    fn killers_and_refutations_lead_where_nothing_is_known() {
        let mut order = Order::new(Hints {
            killers: true,
            refutations: true,
            ..Hints::default()
        });
        order.cutoff('c', 4, Some('x'));
        order.cutoff('d', 3, Some('y'));
        assert_eq!(
            indices(&order.sort(vec!['a', 'b', 'c', 'd'], 1, 4, None)),
            [2, 0, 1, 3]
        );
        assert_eq!(
            indices(&order.sort(vec!['a', 'b', 'c', 'd'], 1, 4, Some('y'))),
            [2, 3, 0, 1]
        );
        assert_eq!(
            indices(&order.sort(vec!['a', 'b', 'c', 'd'], 1, 0, Some('z'))),
            [0, 1, 2, 3]
        );
    }
}
