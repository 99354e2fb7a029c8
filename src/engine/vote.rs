//! Which thread's result to play after a parallel search.

use crate::search::SearchResult;
use crate::types::Depth;

/// The least weight of a vote, that of the thread with the lowest score included.
const LEAST_WEIGHT: i64 = 14;

/// The index of the result to play, `None` if there are none.
///
/// Only threads that completed an iteration vote: for their best move, with a weight that grows
/// with the depth they completed and with their score above the lowest of the voters. A proven
/// result is taken first, and the first thread wins ties. (Voting as known from Texel and
/// Stockfish.) If no thread completed an iteration, the first result is taken.
#[must_use]
pub fn best_thread(results: &[SearchResult]) -> Option<usize> {
    let voters: Vec<(usize, &SearchResult)> = results
        .iter()
        .enumerate()
        .filter(|(_, result)| result.depth > Depth::ZERO)
        .collect();
    let Some(lowest) = voters.iter().map(|(_, voter)| voter.score.raw()).min() else {
        return (!results.is_empty()).then_some(0);
    };
    let weight = |o: &SearchResult| {
        (i64::from(o.score.raw() - lowest) + LEAST_WEIGHT) * i64::from(o.depth.plies())
    };
    let votes = |o: &SearchResult| -> i64 {
        voters
            .iter()
            .filter(|(_, other)| other.best == o.best)
            .map(|(_, other)| weight(other))
            .sum()
    };
    let is_better = |candidate: &SearchResult, best: &SearchResult| {
        if best.score.is_win() || candidate.score.is_win() {
            candidate.score > best.score
        } else if best.score.is_loss() || candidate.score.is_loss() {
            // A loss that any thread has proven stands, unless another proves a longer one.
            candidate.score.is_loss() && (!best.score.is_loss() || candidate.score > best.score)
        } else {
            let (theirs, ours) = (votes(candidate), votes(best));
            theirs > ours || theirs == ours && weight(candidate) > weight(best)
        }
    };
    voters
        .iter()
        .copied()
        .reduce(|best, candidate| {
            if is_better(candidate.1, best.1) {
                candidate
            } else {
                best
            }
        })
        .map(|(index, _)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::types::{Ply, Score};

    fn result(text: &str, score: Score, depth: i32) -> SearchResult {
        let best = Position::startpos().parse_uci(text).expect("legal");
        SearchResult {
            best,
            score,
            depth: Depth(depth),
            nodes: 0,
            pv: vec![best],
        }
    }

    #[test]
    fn the_majority_is_played() {
        let a = || result("e2e4", Score::cp(20), 10);
        let b = || result("d2d4", Score::cp(20), 10);
        assert_eq!(best_thread(&[a(), b(), b()]), Some(1));
        assert_eq!(best_thread(&[a(), b(), a()]), Some(0));
        assert_eq!(best_thread(&[a()]), Some(0));
        assert_eq!(best_thread(&[]), None);
    }

    #[test]
    fn depth_and_score_weigh() {
        let shallow = result("e2e4", Score::cp(20), 8);
        let deep = result("d2d4", Score::cp(20), 12);
        assert_eq!(best_thread(&[shallow, deep]), Some(1));
    }

    #[test]
    fn the_shortest_mate_is_played() {
        let good = result("e2e4", Score::cp(900), 30);
        let slow = result("d2d4", Score::mate_in(Ply(9)), 9);
        let fast = result("c2c4", Score::mate_in(Ply(5)), 9);
        assert_eq!(best_thread(&[good, slow, fast]), Some(2));
    }

    /// A helper that was stopped in its first iteration does not vote, whatever score its moves
    /// had so far.
    #[test]
    fn a_thread_without_a_completed_iteration_has_no_vote() {
        let main = || result("e2e4", Score::cp(20), 10);
        for score in [
            -Score::INFINITE,
            Score::mated_in(Ply(2)),
            Score::mate_in(Ply(1)),
        ] {
            let stopped = || result("a2a3", score, 0);
            assert_eq!(best_thread(&[main(), stopped()]), Some(0));
            assert_eq!(best_thread(&[stopped(), main()]), Some(1));
            assert_eq!(best_thread(&[stopped(), stopped()]), Some(0));
        }
    }

    /// A score far below all others would make every weight large and so level the differences
    /// between scores.
    #[test]
    fn the_lowest_score_is_that_of_a_voter() {
        let good = || result("e2e4", Score::cp(60), 10);
        let poor = || result("d2d4", Score::cp(0), 11);
        assert_eq!(best_thread(&[poor(), good()]), Some(1));
        let stopped = result("a2a3", Score::cp(-20_000), 0);
        assert_eq!(best_thread(&[poor(), good(), stopped]), Some(1));
    }
}
