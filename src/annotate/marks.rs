//! The mark and the words that a move gets: a mark that somebody has given it stays, and no word
//! of the engine's contradicts it. The annotated game and the report follow the same rule.

use super::analysis::GameAnalysis;
use super::verdict::{Fault, ONLY_MOVE_NAG};
use super::wording::{faultless_verdict_text, verdict_text};

/// The numeric glyphs that assess a move, from 1 to [`ONLY_MOVE_NAG`], as books print them.
const GLYPHS: [&str; ONLY_MOVE_NAG as usize] = ["!", "?", "!!", "??", "!?", "?!", "□"];

/// How a move is marked in the end.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MoveMark {
    /// The numeric glyph, if the move has one.
    pub nag: Option<u8>,
    /// The game had the mark already.
    pub is_kept: bool,
    /// A word for the engine's own fault would contradict the mark.
    contradicts: bool,
}

impl MoveMark {
    /// The mark of a move that has the glyphs `nags` in the game: a move has at most one that
    /// assesses it, so the engine's comes only where there is none.
    #[must_use]
    pub fn new(nags: &[u8], analysis: &GameAnalysis, ply: usize) -> MoveMark {
        let own = analysis.verdicts[ply].fault.map(Fault::nag);
        let mut kept = nags.iter().copied().filter(|&nag| glyph(nag).is_some());
        match kept.clone().next() {
            Some(first) => MoveMark {
                nag: Some(first),
                is_kept: true,
                contradicts: !kept.any(|nag| Some(nag) == own),
            },
            None => MoveMark {
                nag: own.or_else(|| is_only_move(analysis, ply).then_some(ONLY_MOVE_NAG)),
                is_kept: false,
                contradicts: false,
            },
        }
    }

    /// The mark as books print it, empty if there is none.
    #[must_use]
    pub fn text(self) -> &'static str {
        self.nag.and_then(glyph).unwrap_or_default()
    }

    /// The fault that the mark stands for.
    #[must_use]
    pub fn fault(self) -> Option<Fault> {
        [Fault::Inaccuracy, Fault::Mistake, Fault::Blunder]
            .into_iter()
            .find(|fault| Some(fault.nag()) == self.nag)
    }

    /// The engine's words on the move, without those that would contradict the mark.
    #[must_use]
    pub fn verdict_text(self, analysis: &GameAnalysis, ply: usize) -> String {
        if self.contradicts {
            faultless_verdict_text(analysis, ply)
        } else {
            verdict_text(analysis, ply)
        }
    }
}

/// How books print a numeric glyph that assesses a move; `None` for other glyphs.
fn glyph(nag: u8) -> Option<&'static str> {
    let index = usize::from(nag).checked_sub(1)?;
    GLYPHS.get(index).copied()
}

fn is_only_move(analysis: &GameAnalysis, ply: usize) -> bool {
    let best = analysis.assessments[ply].best();
    analysis.verdicts[ply].only_move && best == Some(analysis.moves[ply])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_given_mark_stays_and_the_engines_comes_where_none_is() {
        let analysis = GameAnalysis::with_fault("e4", "d4", Fault::Blunder);
        let of = |nags: &[u8]| MoveMark::new(nags, &analysis, 0);
        for (nags, text, fault, words) in [
            (&[][..], "??", Some(Fault::Blunder), "Blunder, missed win."),
            (&[14], "??", Some(Fault::Blunder), "Blunder, missed win."),
            (&[4], "??", Some(Fault::Blunder), "Blunder, missed win."),
            (&[1], "!", None, "Missed win."),
            (&[14, 3], "!!", None, "Missed win."),
            (&[2], "?", Some(Fault::Mistake), "Missed win."),
            (&[7], "□", None, "Missed win."),
        ] {
            let mark = of(nags);
            assert_eq!((mark.text(), mark.fault()), (text, fault), "{nags:?}");
            let said = mark.verdict_text(&analysis, 0);
            assert_eq!(said, format!("{words} d4 was best."), "{nags:?}");
        }
    }
}
