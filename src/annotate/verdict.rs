//! Which moves deserve a mark.

use super::expectation::Curve;
use crate::types::Score;

/// Losses of expected score, in percentage points, from which a move gets a mark.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thresholds {
    pub inaccuracy: f64,
    pub mistake: f64,
    pub blunder: f64,
}

impl Default for Thresholds {
    /// Those of lichess.
    fn default() -> Thresholds {
        Thresholds {
            inaccuracy: 5.0,
            mistake: 10.0,
            blunder: 15.0,
        }
    }
}

/// How bad a move is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Fault {
    Inaccuracy,
    Mistake,
    Blunder,
}

impl Fault {
    /// The move assessment of the PGN standard (numeric annotation glyph).
    #[must_use]
    pub const fn nag(self) -> u8 {
        match self {
            Fault::Inaccuracy => 6,
            Fault::Mistake => 2,
            Fault::Blunder => 4,
        }
    }

    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Fault::Inaccuracy => "Inaccuracy",
            Fault::Mistake => "Mistake",
            Fault::Blunder => "Blunder",
        }
    }
}

/// The glyph of a forced or only move (□).
pub const ONLY_MOVE_NAG: u8 = 7;

/// The verdict on one move.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Verdict {
    pub fault: Option<Fault>,
    /// Points of expected score that the move lost, never negative.
    pub loss: f64,
    /// The move gave a won position away.
    pub missed_win: bool,
    /// All moves but the best would have been mistakes at least.
    pub only_move: bool,
}

/// The searches that a move is judged by. Scores are the mover's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Evidence {
    /// Of the position before the move, with the best move.
    pub before: Score,
    /// Of the position after the move that was played.
    pub after: Score,
    /// Of the second-best move, where it was searched.
    pub second: Option<Score>,
    /// The search's best move was played.
    pub played_best: bool,
}

/// From this expected score (percent) on, a position counts as won.
const WON: f64 = 75.0;
/// Up to this expected score, a won position counts as given away.
const GIVEN_AWAY: f64 = 60.0;

/// Judges a move. The search's own best move has no fault, whatever the later search finds:
/// that is the search's error and not the player's.
#[must_use]
pub fn judge(evidence: &Evidence, curve: Curve, thresholds: &Thresholds) -> Verdict {
    let before = curve.expected(evidence.before);
    let after = curve.expected(evidence.after);
    let only_move = evidence
        .second
        .is_some_and(|second| before - curve.expected(second) >= thresholds.mistake);
    if evidence.played_best {
        return Verdict {
            only_move,
            ..Verdict::default()
        };
    }
    let loss = (before - after).max(0.0);
    let by_loss = if loss >= thresholds.blunder {
        Some(Fault::Blunder)
    } else if loss >= thresholds.mistake {
        Some(Fault::Mistake)
    } else if loss >= thresholds.inaccuracy {
        Some(Fault::Inaccuracy)
    } else {
        None
    };
    Verdict {
        fault: by_loss.max(mate_fault(evidence.before, evidence.after)),
        loss,
        missed_win: before >= WON && after <= GIVEN_AWAY,
        only_move,
    }
}

/// A missed or allowed mate, as lichess judges it: the fault is smaller the more decided the game
/// is without the mate. A mate that only takes longer is not a fault, and neither is a win or a loss
/// that the tablebases know in a mate's place.
fn mate_fault(before: Score, after: Score) -> Option<Fault> {
    const DECIDED: i32 = 999;
    const NEARLY_DECIDED: i32 = 700;
    let mates = |score: Score| score.mate_moves().is_some_and(|_| score.is_win());
    let is_mated = |score: Score| score.mate_moves().is_some_and(|_| score.is_loss());
    if before.is_win() && after.is_win() || before.is_loss() && after.is_loss() {
        return None;
    }
    let remaining = if is_mated(after) && !is_mated(before) {
        -before.shown_cp()
    } else if mates(before) && !mates(after) {
        after.shown_cp()
    } else {
        return None;
    };
    Some(if remaining > DECIDED {
        Fault::Inaccuracy
    } else if remaining > NEARLY_DECIDED {
        Fault::Mistake
    } else {
        Fault::Blunder
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::{EVEN_CHANCE, Ply};

    /// A score that is shown as this many centipawns.
    fn shown(cp: i32) -> Score {
        Score::cp(cp * EVEN_CHANCE / 100)
    }

    fn verdict(before: Score, after: Score) -> Verdict {
        let evidence = Evidence {
            before,
            after,
            second: None,
            played_best: false,
        };
        judge(&evidence, Curve::Lichess, &Thresholds::default())
    }

    fn fault(before: i32, after: i32) -> Option<Fault> {
        verdict(shown(before), shown(after)).fault
    }

    #[test]
    fn faults_follow_the_loss() {
        assert_eq!(fault(0, 30), None);
        // 50 % to 45.1 %, 44.8 %, 40.1 %, 39.8 %, 35.1 % and 34.8 %.
        assert_eq!(fault(0, -53), None);
        assert_eq!(fault(0, -57), Some(Fault::Inaccuracy));
        assert_eq!(fault(0, -109), Some(Fault::Inaccuracy));
        assert_eq!(fault(0, -113), Some(Fault::Mistake));
        assert_eq!(fault(0, -167), Some(Fault::Mistake));
        assert_eq!(fault(0, -171), Some(Fault::Blunder));
        // In a decided game much material changes little.
        assert_eq!(fault(2000, 900), None);
    }

    #[test]
    fn the_best_move_has_no_fault() {
        let evidence = Evidence {
            before: shown(300),
            after: shown(-300),
            second: Some(shown(280)),
            played_best: true,
        };
        let verdict = judge(&evidence, Curve::Lichess, &Thresholds::default());
        assert_eq!(verdict, Verdict::default());
    }

    #[test]
    fn only_moves_and_missed_wins() {
        let evidence = Evidence {
            before: shown(20),
            after: shown(-300),
            second: Some(shown(-280)),
            played_best: false,
        };
        let only = judge(&evidence, Curve::Lichess, &Thresholds::default());
        assert!(only.only_move && !only.missed_win);
        assert_eq!(only.fault, Some(Fault::Blunder));
        let played = Evidence {
            played_best: true,
            ..evidence
        };
        let played = judge(&played, Curve::Lichess, &Thresholds::default());
        assert!(played.only_move && played.fault.is_none());
        assert!(verdict(shown(400), shown(50)).missed_win);
        assert!(!verdict(shown(400), shown(250)).missed_win);
    }

    #[test]
    fn mates_lost_and_walked_into() {
        let (mate, mated) = (Score::mate_in(Ply(3)), Score::mated_in(Ply(4)));
        assert_eq!(verdict(mate, shown(1200)).fault, Some(Fault::Inaccuracy));
        assert_eq!(verdict(mate, shown(800)).fault, Some(Fault::Mistake));
        assert_eq!(verdict(mate, shown(300)).fault, Some(Fault::Blunder));
        assert_eq!(verdict(shown(-1200), mated).fault, Some(Fault::Inaccuracy));
        assert_eq!(verdict(shown(-800), mated).fault, Some(Fault::Mistake));
        assert_eq!(verdict(shown(0), mated).fault, Some(Fault::Blunder));
        // A longer mate, and a mate against that comes sooner, change nothing.
        assert_eq!(verdict(mate, Score::mate_in(Ply(9))).fault, None);
        assert_eq!(verdict(Score::mated_in(Ply(8)), mated).fault, None);
        // Nor does a win or a loss that the tablebases know.
        let (won, lost) = (Score::tablebase_win(Ply(9)), Score::tablebase_loss(Ply(9)));
        assert_eq!(verdict(mate, won).fault, None);
        assert_eq!(verdict(lost, mated).fault, None);
    }
}
