//! The stage that ranks the root's moves by tablebases.

use super::analysis::Analysis;
use super::pipeline::{Stage, Step};
use crate::search::SearchRequest;
use crate::tablebase::{Probing, RootRanking};
use crate::types::Move;

/// Ranks the root's moves where the tables cover it, and lets the search probe below it. A won
/// root that the search finds no mate in is played by distance.
pub(super) struct RootTablebases {
    pub probing: Probing,
}

impl Stage for RootTablebases {
    fn before_search(&self, request: &mut SearchRequest, note: &mut dyn FnMut(String)) -> Step {
        for damage in self.probing.tables.take_damage() {
            note(damage);
        }
        let moves = request.root_moves();
        let ranking = self
            .probing
            .rank_root(&request.root, &request.history, &moves);
        request.probing = Some(match &ranking {
            Some(ranking) if !ranking.keeps_probing() => self.probing.suspended(),
            _ => self.probing.clone(),
        });
        request.ranking.clone_from(&ranking);
        match ranking {
            Some(ranking) => Step::Revise(Box::new(move |analysis| convert(&ranking, analysis))),
            None => Step::Continue,
        }
    }
}

/// Plays the move that makes the most progress, unless a mate was found.
fn convert(ranking: &RootRanking, analysis: &mut Analysis) {
    let Some(chosen) = analysis.best else { return };
    if analysis.score.is_some_and(crate::types::Score::is_mate) {
        return;
    }
    let best = ranking.converting(chosen);
    if best != chosen {
        play_instead(best, analysis);
    }
}

/// Makes another root move the result; its line comes first. A move without a line gets the score
/// of the best line, and the last line is dropped.
pub(super) fn play_instead(m: Move, analysis: &mut Analysis) {
    let lines = &mut analysis.lines;
    match lines.iter().position(|line| line.pv.first() == Some(&m)) {
        Some(index) => lines[..=index].rotate_right(1),
        None => {
            if let Some(mut line) = lines.first().cloned() {
                line.pv = vec![m];
                lines.insert(0, line);
                lines.pop();
            }
        }
    }
    for (index, line) in lines.iter_mut().enumerate() {
        line.info.multi_pv = index + 1;
    }
    analysis.best = Some(m);
    let first = lines.first();
    analysis.ponder = first.and_then(|line| line.pv.get(1).copied());
    analysis.score = first.map(|line| line.info.score).or(analysis.score);
}
