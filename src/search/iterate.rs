//! Iterative deepening: one search after the other, each a ply deeper, each ordering the next
//! one's moves, until a limit ends it.

use super::aspiration::{ASPIRATION_DEPTH, Aspiration};
use super::node_type::Root;
use super::root_moves::{RootMove, RootMoves};
use super::stack::Stack;
use super::window::Window;
use super::worker::SearchWorker;
use super::{Info, QUIET_TIME, Report, RootEffort, SearchRequest, SearchResult, Searched, Silent};
use crate::board::{KeyHistory, Position};
use crate::params as p;
use crate::time::BestMoveStability;
use crate::types::{Bound, Depth, MAX_DEPTH, Move, Ply, Score};

impl SearchWorker {
    /// Searches until a limit is reached or the shared signals stop it, and reports to `report` on
    /// the way. The caller has begun the search (`Shared::begin`) and decides when to publish the
    /// result.
    ///
    /// `None` if nothing was searched: there is no legal (or allowed) move, or the search was
    /// stopped before it had searched one.
    pub fn search(
        &mut self,
        request: &SearchRequest,
        report: Box<dyn Report + Send>,
    ) -> Option<SearchResult> {
        self.report = report;
        self.prepare(request);
        if self.root.is_empty() {
            self.report = Box::new(Silent);
            return None;
        }
        let last = request
            .limits
            .depth
            .unwrap_or(MAX_DEPTH)
            .min(MAX_DEPTH)
            .max(Depth::ONE);
        let mut stability = BestMoveStability::default();
        for depth in 1..=last.plies() {
            self.root_depth = Depth(depth);
            self.seldepth = 0;
            self.root.begin_iteration(self.root_depth);
            if self.iteration(&request.root).is_err() {
                // The last line reported is the one that is played.
                self.root.sort_lines();
                self.root.conclude(self.lines());
                self.report_lines();
                break;
            }
            self.completed = self.root_depth;
            self.publish_nodes();
            let best = self.best_line();
            stability.note(best.m, best.score);
            if self.is_enough(&stability) {
                break;
            }
        }
        self.publish_nodes();
        self.report = Box::new(Silent);
        self.result()
    }

    fn prepare(&mut self, request: &SearchRequest) {
        self.reset_counters();
        self.limits = request.limits.clone();
        self.selectivity = request.selectivity;
        self.probing.clone_from(&request.probing);
        self.evaluator.set_misjudgement(request.misjudgement);
        self.keys = KeyHistory::new(&request.history);
        self.stack = Stack::default();
        self.evaluator.reset(&request.root);
        self.root = RootMoves::new(request.root.legal_moves());
        if let Some(wanted) = &request.limits.root_moves {
            self.root.keep_only(wanted);
        }
        if let Some(ranking) = &request.ranking {
            self.root.rank(ranking);
            if self.id == 0 {
                self.shared
                    .count_tablebase_hits(self.id, ranking.moves.len());
            }
        }
    }

    /// The lines of multi-PV: never more than there are moves.
    fn lines(&self) -> usize {
        self.limits.multi_pv.clamp(1, self.root.len())
    }

    /// Searches every line of multi-PV to the current depth.
    fn iteration(&mut self, root: &Position) -> Searched<()> {
        for line in 0..self.lines() {
            self.root.begin_line(line);
            self.aspiration(root)?;
            self.root.sort_lines();
        }
        self.root.begin_line(0);
        self.report_lines();
        Ok(())
    }

    /// Searches the root until its score lies inside the window.
    fn aspiration(&mut self, root: &Position) -> Searched<()> {
        let narrow = self.uses(p::use_aspiration()) && self.root_depth >= ASPIRATION_DEPTH;
        let mut aspiration = match self.root.current().average {
            Some((mean, square)) if narrow && !mean.is_decisive() => {
                Aspiration::around(mean, square)
            }
            _ => Aspiration::open(),
        };
        loop {
            let (window, depth) = (aspiration.window(), aspiration.depth(self.root_depth));
            let score = self.search_root(root, window, depth)?;
            if window == Window::OPEN || aspiration.accept(score, self.root_depth) {
                return Ok(());
            }
            if self.shared.signals.elapsed() >= QUIET_TIME {
                self.report_lines();
            }
        }
    }

    /// One search of the root; the best move comes to the front of its line.
    fn search_root(&mut self, root: &Position, window: Window, depth: Depth) -> Searched<Score> {
        let result = self.node::<Root>(root, Ply::ROOT, depth, window, false);
        match result {
            Ok(score) => {
                self.root.sort_line();
                let best = self.root.current_mut();
                best.bound = if score <= window.alpha {
                    Some(Bound::Upper)
                } else if score >= window.beta {
                    Some(Bound::Lower)
                } else {
                    None
                };
                Ok(score)
            }
            Err(stopped) => {
                // The moves searched so far count: each that raised alpha was better than the
                // best before it.
                self.root.keep_partial();
                Err(stopped)
            }
        }
    }

    /// Whether a completed iteration is the last.
    fn is_enough(&mut self, stability: &BestMoveStability) -> bool {
        if self.shared.signals.is_stopped() {
            return true;
        }
        if self.id != 0 {
            return false;
        }
        let limits = &self.limits;
        let score = self.best_line().score;
        let mate_found = limits.mate.is_some_and(|moves| {
            score
                .mate_moves()
                .is_some_and(|found| found > 0 && found.unsigned_abs() <= moves)
        });
        let nodes = self.shared.nodes();
        let nodes_spent = limits.soft_nodes.is_some_and(|soft| nodes >= soft)
            || limits.nodes.is_some_and(|hard| nodes >= hard);
        mate_found || nodes_spent || self.time_is_up(stability)
    }

    /// The soft bound, stretched while the best move is in doubt and shortened when it is not.
    fn time_is_up(&mut self, stability: &BestMoveStability) -> bool {
        let Some(time) = self.limits.time.filter(|time| !time.fixed) else {
            return false;
        };
        // A single legal move needs no more time.
        let forced = self.root.len() == 1;
        let factor = if forced {
            0.0
        } else {
            stability.factor(self.best_move_effort(), self.best_line().score)
        };
        let up = self.shared.signals.elapsed() >= time.soft.mul_f64(factor).min(time.hard);
        if up && self.shared.signals.is_pondering() {
            self.stop_on_ponderhit = true;
            return false;
        }
        up
    }

    fn best_line(&self) -> &RootMove {
        &self.root.all()[0]
    }

    /// Reports every line of multi-PV.
    fn report_lines(&mut self) {
        if self.id != 0 {
            return;
        }
        let signals = &self.shared.signals;
        let (nodes, time) = (self.shared.nodes().max(self.nodes), signals.elapsed());
        let hashfull = self.shared.tt.hashfull();
        let lines = self.lines();
        let efforts: Vec<RootEffort> = self
            .root
            .all()
            .iter()
            .map(|root| RootEffort {
                m: root.m,
                nodes: root.nodes,
            })
            .collect();
        for (index, root) in self.root.all().iter().take(lines).enumerate() {
            let Some(found) = root.latest() else {
                continue;
            };
            let info = Info {
                depth: found.depth,
                seldepth: root.seldepth.max(1),
                multi_pv: index + 1,
                score: found.score,
                bound: found.bound,
                nodes,
                time,
                hashfull,
                tb_hits: self.shared.tablebase_hits(),
            };
            self.report.info(info, found.pv, &efforts);
        }
    }

    /// The best line, unless not even its first search was completed.
    fn result(&self) -> Option<SearchResult> {
        let best = self.best_line();
        let found = best.latest()?;
        Some(SearchResult {
            best: best.m,
            score: found.score,
            depth: self.completed,
            nodes: self.nodes,
            pv: found.pv.to_vec(),
        })
    }

    /// Notes what the search of a root move found: see [`RootMoves::note`].
    pub(super) fn note_root_move(&mut self, m: Move, score: Score, raised: bool, nodes: u64) {
        let line = self.pv.line(Ply::ROOT.next());
        self.root.note(m, score, raised, nodes, self.seldepth, line);
    }

    /// Reports which root move is being searched.
    pub(super) fn announce(&mut self, m: Move, number: usize) {
        if self.id == 0 {
            let number = self.root.number(number);
            self.report.current_move(self.root_depth, m, number);
        }
    }

    /// The share of all nodes that went into the best move.
    fn best_move_effort(&self) -> f64 {
        self.best_line().nodes as f64 / self.nodes.max(1) as f64
    }
}
