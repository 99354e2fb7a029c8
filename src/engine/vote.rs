//! Which thread's result to play after a parallel search.

use crate::search::Outcome;

/// A thread whose score is the lowest still has this much say.
const LEAST_SAY: i64 = 14;

/// The index of the outcome to play. Threads vote for their best move with a weight that grows
/// with the depth they completed and with their score above the lowest; a proven result is
/// taken first. The first thread wins ties. (Voting as known from Texel and Stockfish.)
///
/// Outcomes without a move have no vote; if none has one, the answer is 0.
#[must_use]
pub fn elect(outcomes: &[Outcome]) -> usize {
    let lowest = outcomes.iter().map(|o| o.score.raw()).min().unwrap_or(0);
    let weight = |o: &Outcome| {
        (i64::from(o.score.raw() - lowest) + LEAST_SAY) * i64::from(o.depth.plies().max(0))
    };
    let votes = |o: &Outcome| -> i64 {
        outcomes
            .iter()
            .filter(|other| other.best == o.best)
            .map(weight)
            .sum()
    };
    let mut elected = 0;
    for (index, candidate) in outcomes.iter().enumerate().skip(1) {
        let best = &outcomes[elected];
        if candidate.best.is_none() {
            continue;
        }
        let better = if best.best.is_none() {
            true
        } else if best.score.is_win() || candidate.score.is_win() {
            candidate.score > best.score
        } else if best.score.is_loss() || candidate.score.is_loss() {
            // A loss that any thread has proven stands, unless another sees a longer one.
            candidate.score.is_loss() && (!best.score.is_loss() || candidate.score > best.score)
        } else {
            let (theirs, ours) = (votes(candidate), votes(best));
            theirs > ours || theirs == ours && weight(candidate) > weight(best)
        };
        if better {
            elected = index;
        }
    }
    elected
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::types::{Depth, Ply, Score};

    fn outcome(text: &str, score: Score, depth: i32) -> Outcome {
        let best = Position::startpos().parse_uci(text).ok();
        Outcome {
            best,
            ponder: None,
            score,
            depth: Depth(depth),
            nodes: 0,
            pv: best.into_iter().collect(),
        }
    }

    #[test]
    fn the_majority_is_played() {
        let a = || outcome("e2e4", Score::cp(20), 10);
        let b = || outcome("d2d4", Score::cp(20), 10);
        assert_eq!(elect(&[a(), b(), b()]), 1);
        assert_eq!(elect(&[a(), b(), a()]), 0);
        assert_eq!(elect(&[a()]), 0);
        assert_eq!(elect(&[]), 0);
    }

    #[test]
    fn depth_and_score_weigh() {
        let shallow = outcome("e2e4", Score::cp(20), 8);
        let deep = outcome("d2d4", Score::cp(20), 12);
        assert_eq!(elect(&[shallow, deep]), 1);
    }

    #[test]
    fn the_shortest_mate_is_played() {
        let good = outcome("e2e4", Score::cp(900), 30);
        let slow = outcome("d2d4", Score::mate_in(Ply(9)), 9);
        let fast = outcome("c2c4", Score::mate_in(Ply(5)), 9);
        assert_eq!(elect(&[good, slow, fast]), 2);
    }
}
