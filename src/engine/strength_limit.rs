//! The stage that plays below full strength.

use super::analysis::Analysis;
use super::pipeline::{Stage, Step};
use super::root_tablebases::play_instead;
use crate::levels::{self, Level, Plan};
use crate::search::SearchRequest;
use crate::types::{Move, Score};

/// How strong the engine plays, as the client has set it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Strength {
    /// Play at the rating `elo`.
    pub limited: bool,
    pub elo: i32,
    /// Unless `limited`: from 0 to [`levels::SKILL_MAX`], which is full strength.
    pub skill: i32,
}

impl Default for Strength {
    /// Full strength.
    fn default() -> Strength {
        Strength {
            limited: false,
            elo: levels::ELO_DEFAULT,
            skill: levels::SKILL_MAX,
        }
    }
}

impl Strength {
    /// The level to play at; `None` is full strength.
    #[must_use]
    pub fn level(self) -> Option<Level> {
        if self.limited {
            Some(Level::from_elo(self.elo))
        } else {
            Level::from_skill(self.skill)
        }
    }
}

/// Limits a search to what a level is allowed, and chooses among its lines by the level.
pub(super) struct StrengthLimit {
    pub level: Level,
    /// A random seed that is fixed for a game, for the errors of a level.
    pub seed: u64,
}

impl Stage for StrengthLimit {
    fn before_search(&self, request: &mut SearchRequest, _note: &mut dyn FnMut(String)) -> Step {
        let moves = request.root_moves();
        if moves.is_empty() {
            return Step::Continue;
        }
        let Plan {
            nodes,
            lines,
            misjudgement,
            moves,
        } = self.level.plan(&request.root, &moves, self.seed);
        let limits = &mut request.limits;
        limits.nodes = Some(limits.nodes.map_or(nodes, |asked| asked.min(nodes)));
        limits.multi_pv = limits.multi_pv.max(lines);
        request.misjudgement = misjudgement;
        request.first_thread_only = true;
        request.least_time = self
            .level
            .thinking_time(limits.time, moves.len(), &request.root);
        limits.root_moves = Some(moves);
        let (level, past) = (self.level, request.past.clone());
        Step::Revise(Box::new(move |analysis| {
            choose(level, &past, lines, analysis)
        }))
    }
}

/// Plays the move that the level prefers among those of the best `lines`.
fn choose(level: Level, past: &[Move], lines: usize, analysis: &mut Analysis) {
    let lines: Vec<(Move, Score)> = analysis
        .lines
        .iter()
        .take(lines)
        .filter_map(|line| Some((*line.pv.first()?, line.info.score)))
        .collect();
    if let Some(m) = level.choose(&analysis.root, past, &lines)
        && Some(m) != analysis.best
    {
        play_instead(m, analysis);
    }
}
