//! Iterative deepening: one search after the other, each a ply deeper, each ordering the next
//! one's moves, until a limit says that the result must do.

use std::time::Duration;

use super::kinds::{Root, Window};
use super::root::RootMoves;
use super::worker::Worker;
use super::{Info, Job, Outcome, Report, Searched, Silent};
use crate::board::KeyHistory;
use crate::params as p;
use crate::types::{Bound, Depth, MAX_DEPTH, Move, Ply, Score};

/// From this depth on windows are narrow.
const ASPIRATION_DEPTH: Depth = Depth(4);
/// A window wider than this is opened altogether.
const WIDEST: i32 = 1000;
/// After this many fail highs in a row the search is repeated no less deep any more.
const MOST_SHALLOWER: i32 = 3;
/// Iterations after which the best move's stability counts no more.
const MOST_STABLE: i32 = 8;
/// Scores outside the window are reported once a search has taken this long.
const BOUNDS_TOLD_AFTER: Duration = Duration::from_secs(3);
/// Scores this near zero are draws that the search told apart by a centipawn.
const DRAW_NOISE: i32 = 1;

/// What time management remembers from one iteration to the next.
#[derive(Default)]
struct Settledness {
    best: Option<Move>,
    /// Iterations that the best move has stayed the same.
    stable: i32,
    /// A running mean of the iterations' scores.
    mean: Option<Score>,
}

impl Worker {
    /// Searches until a limit is reached or the shared signals say stop, and speaks through
    /// `report` on the way. Whoever calls has begun the search (`Shared::begin`) and decides
    /// when the result may be told.
    ///
    /// `None` if nothing was searched: there is no legal (or allowed) move, or the search was
    /// stopped before it had searched one.
    pub fn search(&mut self, job: &Job, report: Box<dyn Report + Send>) -> Option<Outcome> {
        self.report = report;
        self.prepare(job);
        if self.root.is_empty() {
            self.report = Box::new(Silent);
            return None;
        }
        let last = job
            .limits
            .depth
            .unwrap_or(MAX_DEPTH)
            .min(MAX_DEPTH)
            .max(Depth::ONE);
        let mut settledness = Settledness::default();
        for depth in 1..=last.plies() {
            self.root_depth = Depth(depth);
            self.seldepth = 0;
            self.root.begin_iteration();
            if self.iteration(job).is_err() {
                // The last line told is the one that is played.
                self.root.all_exact();
                self.report_lines();
                break;
            }
            self.completed = self.root_depth;
            self.publish_nodes();
            settledness.note(self.best_line());
            if self.is_enough(job, &settledness) {
                break;
            }
        }
        self.publish_nodes();
        self.report = Box::new(Silent);
        self.outcome()
    }

    fn prepare(&mut self, job: &Job) {
        self.reset_counters();
        self.limits = job.limits.clone();
        self.selectivity = job.selectivity;
        self.keys = KeyHistory::new(&job.history);
        self.stack = super::stack::Stack::default();
        self.evaluator.reset(&job.root);
        let legal = job.root.legal_moves();
        self.root = RootMoves::new(match &job.limits.root_moves {
            Some(wanted) => legal
                .into_iter()
                .filter(|m| wanted.contains(m))
                .collect::<Vec<_>>(),
            None => legal.into_iter().collect(),
        });
    }

    /// Searches every line of multi-PV to the current depth.
    fn iteration(&mut self, job: &Job) -> Searched<()> {
        let lines = self.limits.multi_pv.clamp(1, self.root.len());
        for line in 0..lines {
            self.root.begin_line(line);
            self.aspiration(job)?;
            self.root.sort_lines();
        }
        self.root.begin_line(0);
        self.report_lines();
        Ok(())
    }

    /// Searches the root in a narrow window around the score expected, wider again each time
    /// that the score falls outside: most of the tree is cut by bounds nearer to the truth.
    fn aspiration(&mut self, job: &Job) -> Searched<()> {
        let expected = self
            .root
            .current()
            .average
            .filter(|_| self.uses(p::use_aspiration()) && self.root_depth >= ASPIRATION_DEPTH);
        let Some((mean, square)) = expected.filter(|(mean, _)| !mean.is_decisive()) else {
            return self
                .search_root(job, Window::OPEN, self.root_depth)
                .map(drop);
        };
        let mut width =
            p::aspiration_width() + (square / i64::from(p::aspiration_variance())) as i32;
        let mut window = around(mean, width);
        let mut shallower = 0;
        loop {
            let depth = self.root_depth - shallower;
            let score = self.search_root(job, window, depth)?;
            if score <= window.alpha {
                // Fail low: the old beta is too high as well.
                let middle = (window.alpha.raw() + window.beta.raw()) / 2;
                window.beta = Score::from_raw(middle);
                window.alpha = lowered(score, width);
                shallower = 0;
            } else if score >= window.beta {
                window.beta = raised(score, width);
                shallower = (shallower + 1)
                    .min(MOST_SHALLOWER)
                    .min(self.root_depth.plies() - 1);
            } else {
                return Ok(());
            }
            if self.shared.signals.elapsed() >= BOUNDS_TOLD_AFTER {
                self.report_lines();
            }
            if score.is_decisive() {
                window = Window::OPEN;
                shallower = 0;
            }
            width += width * p::aspiration_growth() / 256 + width / 4;
        }
    }

    /// One search of the root; the best move comes to the front of its line.
    fn search_root(&mut self, job: &Job, window: Window, depth: Depth) -> Searched<Score> {
        let result = self.node::<Root>(&job.root, Ply::ROOT, depth.max(Depth::ONE), window, false);
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
                // The moves searched so far are worth keeping: each that raised alpha was
                // better than the best before it.
                self.root.keep_partial();
                Err(stopped)
            }
        }
    }

    /// Whether the result of a completed iteration will do.
    fn is_enough(&mut self, job: &Job, settledness: &Settledness) -> bool {
        if self.shared.signals.is_stopped() {
            return true;
        }
        if self.id != 0 {
            return false;
        }
        let limits = &job.limits;
        let score = self.best_line().score;
        let mate_found = limits.mate.is_some_and(|moves| {
            score
                .mate_moves()
                .is_some_and(|found| found > 0 && found <= moves as i32)
        });
        let nodes = self.shared.nodes();
        let nodes_spent = limits.soft_nodes.is_some_and(|soft| nodes >= soft)
            || limits.nodes.is_some_and(|hard| nodes >= hard);
        mate_found || nodes_spent || self.time_is_up(settledness)
    }

    /// The soft bound, stretched while the best move is in doubt and shortened when it is not.
    fn time_is_up(&mut self, settledness: &Settledness) -> bool {
        let Some(time) = self.limits.time.filter(|time| !time.fixed) else {
            return false;
        };
        // A single legal move is not worth thinking about, and a found mate little more.
        let forced = self.root.len() == 1;
        let factor = if forced {
            0.0
        } else {
            settledness.factor(self)
        };
        let up = self.shared.signals.elapsed() >= time.soft.mul_f64(factor).min(time.hard);
        if up && self.shared.signals.is_pondering() {
            self.stop_on_ponderhit = true;
            return false;
        }
        up
    }

    fn best_line(&self) -> &super::root::RootMove {
        &self.root.all()[0]
    }

    /// Tells every line of multi-PV.
    fn report_lines(&mut self) {
        if self.id != 0 {
            return;
        }
        let signals = &self.shared.signals;
        let (nodes, time) = (self.shared.nodes().max(self.nodes), signals.elapsed());
        let hashfull = self.shared.tt.hashfull();
        let lines = self.limits.multi_pv.clamp(1, self.root.len());
        for (index, root) in self.root.all().iter().take(lines).enumerate() {
            // A line that this iteration has not reached shows what the last one said.
            let (score, bound) = if root.score == -Score::INFINITE {
                (root.previous, None)
            } else {
                (root.score, root.bound)
            };
            if score == -Score::INFINITE {
                continue;
            }
            self.report.info(&Info {
                depth: self.completed_depth().max(self.root_depth),
                seldepth: root.seldepth.max(1),
                multi_pv: index + 1,
                score: if score.raw().abs() <= DRAW_NOISE {
                    Score::DRAW
                } else {
                    score
                },
                bound,
                nodes,
                time,
                hashfull,
                tb_hits: 0,
                pv: &root.pv,
            });
        }
    }

    /// The best line, unless not even its first search was completed.
    fn outcome(&self) -> Option<Outcome> {
        let best = self.best_line();
        // A line that the last iteration has not reached keeps the score of the one before.
        let score = [best.score, best.previous]
            .into_iter()
            .find(|&score| score != -Score::INFINITE)?;
        Some(Outcome {
            best: best.m,
            ponder: best.pv.get(1).copied(),
            score,
            depth: self.completed,
            nodes: self.nodes,
            pv: best.pv.clone(),
        })
    }
}

impl Settledness {
    fn note(&mut self, best: &super::root::RootMove) {
        if self.best == Some(best.m) {
            self.stable = (self.stable + 1).min(MOST_STABLE);
        } else {
            self.best = Some(best.m);
            self.stable = 0;
        }
        self.mean = Some(match self.mean {
            Some(mean) if !best.score.is_decisive() => {
                Score::from_raw((3 * mean.raw() + best.score.raw()) / 4)
            }
            Some(mean) => mean,
            None => best.score,
        });
    }

    /// What the soft bound is multiplied with.
    fn factor(&self, worker: &Worker) -> f64 {
        /// Centipawns of drop that count in full.
        const DEEP_DROP: i32 = 60;
        if p::use_node_time() == 0 {
            return 1.0;
        }
        let effort = worker.best_move_effort();
        let nodes = f64::from(p::time_node_base()) / 100.0
            - f64::from(p::time_node_slope()) / 100.0 * effort;
        let stability =
            f64::from(p::time_stability_base() - p::time_stability_step() * self.stable) / 100.0;
        let score = worker.best_line().score;
        let drop = self
            .mean
            .map_or(0, |mean| (mean - score).clamp(-DEEP_DROP / 2, DEEP_DROP));
        let falling = 1.0 + f64::from(p::time_drop() * drop) / f64::from(100 * DEEP_DROP);
        nodes * stability * falling
    }
}

fn around(score: Score, width: i32) -> Window {
    Window::new(lowered(score, width), raised(score, width))
}

/// A bound below a score; minus infinite when the window has grown too wide to help.
fn lowered(score: Score, width: i32) -> Score {
    if width > WIDEST {
        -Score::INFINITE
    } else {
        (score - width).max(-Score::INFINITE)
    }
}

fn raised(score: Score, width: i32) -> Score {
    if width > WIDEST {
        Score::INFINITE
    } else {
        (score + width).min(Score::INFINITE)
    }
}
