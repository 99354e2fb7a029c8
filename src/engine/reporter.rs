//! Passes a search's reports on to the listener: at a limited rate while it runs, completely at
//! its end.

use std::sync::Arc;
use std::time::{Duration, Instant};

use crossbeam_channel::Sender;

use super::analysis::{Analysis, AnalysisLine, Event};
use super::best_so_far::BestSoFar;
use super::conclusion::Conclusion;
use super::pipeline::Revision;
use crate::board::{Game, Position};
use crate::search::{Info, QUIET_TIME, Report, RootEffort, Stats};
use crate::types::{Depth, Move, Score};

/// Lines that may be sent at once, whatever their rate: the first iterations are quick, and
/// people want to see them.
const FREE_LINES: usize = 48;
/// After those, the least time between two lines. Some clients cannot take many at once.
const LINE_INTERVAL: Duration = Duration::from_millis(40);
/// The least time between two current moves.
const CURRENT_MOVE_INTERVAL: Duration = Duration::from_millis(100);

/// Takes the first thread's reports, passes on those that are due, and keeps the latest exact line
/// of every multi-PV index to send it at the end.
pub struct EventReporter {
    events: Sender<Event>,
    game: Game,
    root: Arc<Position>,
    /// For rates only; the search's own clock is in its signals.
    created: Instant,
    sent: usize,
    last_sent: Option<Instant>,
    last_current: Option<Instant>,
    /// Whether the multi-PV group now arriving is passed on: all of it or nothing.
    group_open: bool,
    kept: Vec<Kept>,
    /// How many lines were asked for; the search may find more for a stage.
    lines: usize,
    best: BestSoFar,
}

/// The counters of a search: of all threads together where nothing else is said.
#[derive(Clone, Copy, Debug, Default)]
pub struct Totals {
    pub nodes: u64,
    /// Since the search began.
    pub time: Duration,
    /// How full the hash table is, in permille.
    pub hashfull: u32,
    /// The first thread's counts.
    pub stats: Stats,
}

/// The latest exact line of one multi-PV index.
struct Kept {
    line: AnalysisLine,
    /// This line was the last one sent for its index.
    sent: bool,
}

impl EventReporter {
    /// A reporter for one search of the game's position that sends so many lines, and keeps the
    /// best move so far in `best`.
    #[must_use]
    pub fn new(events: Sender<Event>, game: Game, lines: usize, best: BestSoFar) -> EventReporter {
        let root = Arc::new(game.position().clone());
        EventReporter {
            events,
            game,
            root,
            created: Instant::now(),
            sent: 0,
            last_sent: None,
            last_current: None,
            group_open: true,
            kept: Vec::new(),
            lines,
            best,
        }
    }

    /// Sends a remark for a person.
    pub fn note(&self, text: String) {
        let _ = self.events.send(Event::Note(text));
    }

    fn send(&mut self, line: AnalysisLine) {
        self.sent += 1;
        self.last_sent = Some(Instant::now());
        // Without a listener, no lines are needed.
        let _ = self.events.send(Event::Line(line));
    }

    fn is_due(&self) -> bool {
        self.sent < FREE_LINES
            || self
                .last_sent
                .is_none_or(|last| last.elapsed() >= LINE_INTERVAL)
    }

    fn keep(&mut self, line: AnalysisLine, sent: bool) {
        let index = line.info.multi_pv.saturating_sub(1);
        if let Some(kept) = self.kept.get_mut(index) {
            *kept = Kept { line, sent };
        } else if index == self.kept.len() {
            // Lines arrive in order; one out of order has nowhere to go and is only passed on.
            self.kept.push(Kept { line, sent });
        }
    }

    /// Ends the search: applies the revisions, sends the final exact lines, unless they were the
    /// last thing sent, and then the result.
    pub fn finish(&mut self, conclusion: &Conclusion, totals: Totals, revisions: Vec<Revision>) {
        let pv = self.game.playable(&conclusion.pv);
        let score = conclusion.score.map(settled);
        if let Some(score) = score {
            self.keep_final_line(&pv, score, conclusion.depth);
        }
        let mut analysis = Analysis {
            root: Arc::clone(&self.root),
            best: pv.first().copied(),
            ponder: pv.get(1).copied(),
            score,
            depth: conclusion.depth,
            nodes: totals.nodes,
            time: totals.time,
            stats: totals.stats,
            lines: self
                .kept
                .iter()
                .map(|kept| {
                    let mut line = kept.line.clone();
                    line.info.nodes = totals.nodes;
                    line.info.time = totals.time;
                    line.info.hashfull = totals.hashfull;
                    line
                })
                .collect(),
        };
        for revise in revisions {
            revise(&mut analysis);
        }
        analysis.lines.truncate(self.lines);
        let is_sent = |line: &AnalysisLine| {
            self.kept.iter().any(|kept| {
                let sent = &kept.line;
                kept.sent
                    && (sent.info.multi_pv, sent.info.score)
                        == (line.info.multi_pv, line.info.score)
                    && sent.pv == line.pv
            })
        };
        if !analysis.lines.iter().all(is_sent) {
            for line in analysis.lines.clone() {
                self.send(line);
            }
        }
        let _ = self.events.send(Event::Finished(analysis));
    }

    /// Makes the best line that of the result, which may be another thread's.
    fn keep_final_line(&mut self, pv: &[Move], score: Score, depth: Depth) {
        let first = self.kept.first().map(|kept| &kept.line);
        if first.is_some_and(|line| line.pv == pv && line.info.score == score) {
            return;
        }
        let info = Info {
            depth,
            seldepth: pv.len().max(first.map_or(0, |line| line.info.seldepth)),
            multi_pv: 1,
            score,
            bound: None,
            nodes: 0,
            time: Duration::ZERO,
            hashfull: 0,
            tb_hits: first.map_or(0, |line| line.info.tb_hits),
        };
        let line = AnalysisLine {
            root: Arc::clone(&self.root),
            info,
            efforts: first.map_or_else(|| [].into(), |line| Arc::clone(&line.efforts)),
            pv: pv.to_vec(),
        };
        self.keep(line, false);
    }
}

impl Report for EventReporter {
    fn info(&mut self, mut info: Info, pv: &[Move], efforts: &[RootEffort]) {
        if info.multi_pv == 1 && info.bound.is_none() {
            self.best.set(pv.first().copied());
        }
        info.score = settled(info.score);
        let line = AnalysisLine {
            root: Arc::clone(&self.root),
            info,
            efforts: efforts.into(),
            pv: self.game.playable(pv),
        };
        // A group of lines is sent whole or not at all, its bounds as well.
        if info.multi_pv <= 1 {
            self.group_open = self.is_due();
        }
        if info.bound.is_some() {
            if info.multi_pv <= self.lines && self.group_open {
                if let Some(kept) = self.kept.get_mut(info.multi_pv.saturating_sub(1)) {
                    kept.sent = false;
                }
                self.send(line);
            }
            return;
        }
        if info.multi_pv > self.lines {
            self.keep(line, true);
            return;
        }
        self.keep(line.clone(), self.group_open);
        if self.group_open {
            self.send(line);
        }
    }

    fn current_move(&mut self, depth: Depth, m: Move, number: usize) {
        let now = Instant::now();
        let due = self
            .last_current
            .is_none_or(|last| now.duration_since(last) >= CURRENT_MOVE_INTERVAL);
        if due && now.duration_since(self.created) >= QUIET_TIME {
            self.last_current = Some(now);
            let root = Arc::clone(&self.root);
            let _ = self.events.send(Event::CurrentMove {
                root,
                depth,
                m,
                number,
            });
        }
    }
}

/// A score as it is shown: the search lets draws differ by a centipawn from node to node, and a
/// dead draw should read exactly zero.
fn settled(score: Score) -> Score {
    const DRAWS_DIFFER_BY: i32 = 1;
    if score.raw().abs() <= DRAWS_DIFFER_BY {
        Score::DRAW
    } else {
        score
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::Bound;
    use crossbeam_channel::{Receiver, unbounded};

    fn reporter() -> (EventReporter, Receiver<Event>) {
        reporter_of(1)
    }

    fn reporter_of(lines: usize) -> (EventReporter, Receiver<Event>) {
        let (events, receiver) = unbounded();
        let best = BestSoFar::default();
        let reporter = EventReporter::new(events, Game::default(), lines, best);
        (reporter, receiver)
    }

    fn report(reporter: &mut EventReporter, depth: i32, bound: Option<Bound>, pv: &[Move]) {
        report_line(reporter, depth, 1, bound, pv);
    }

    fn report_line(
        reporter: &mut EventReporter,
        depth: i32,
        multi_pv: usize,
        bound: Option<Bound>,
        pv: &[Move],
    ) {
        let info = Info {
            depth: Depth(depth),
            seldepth: 1,
            multi_pv,
            score: Score::cp(7),
            bound,
            nodes: 1,
            time: QUIET_TIME,
            hashfull: 0,
            tb_hits: 0,
        };
        reporter.info(info, pv, &[]);
    }

    fn conclusion(depth: i32, best: Move) -> Conclusion {
        Conclusion {
            score: Some(Score::cp(7)),
            depth: Depth(depth),
            pv: vec![best],
        }
    }

    fn received(events: &Receiver<Event>) -> (Vec<AnalysisLine>, usize) {
        let mut lines = Vec::new();
        let mut finished = 0;
        for event in events.try_iter() {
            match event {
                Event::Line(line) => lines.push(line),
                Event::Finished(_) => finished += 1,
                _ => {}
            }
        }
        (lines, finished)
    }

    #[test]
    fn a_flood_is_thinned_and_its_last_line_sent() {
        let (mut reporter, events) = reporter();
        let m = Position::startpos().legal_moves()[0];
        for depth in 1..=240 {
            report(&mut reporter, depth, None, &[m]);
        }
        reporter.finish(&conclusion(240, m), Totals::default(), Vec::new());
        let (lines, finished) = received(&events);
        assert!(lines.len() < 80, "{} lines", lines.len());
        assert_eq!(lines.last().map(|line| line.info.depth), Some(Depth(240)));
        assert_eq!(finished, 1);
    }

    /// Of several lines a client needs all of a depth, or none.
    #[test]
    fn a_flood_of_groups_is_thinned_by_whole_groups() {
        // So that the lines that are always sent end within a group.
        const LINES: usize = 5;
        const { assert!(!FREE_LINES.is_multiple_of(LINES)) };
        const DEPTHS: i32 = 80;
        let (mut reporter, events) = reporter_of(LINES);
        let moves = Position::startpos().legal_moves();
        for depth in 1..=DEPTHS {
            for number in 1..=LINES {
                report_line(&mut reporter, depth, number, None, &[moves[number]]);
            }
        }
        reporter.finish(&conclusion(DEPTHS, moves[1]), Totals::default(), Vec::new());
        let (lines, _) = received(&events);
        assert!(lines.len() < DEPTHS as usize, "{} lines", lines.len());
        for group in lines.chunks(LINES) {
            let numbers: Vec<usize> = group.iter().map(|line| line.info.multi_pv).collect();
            assert_eq!(numbers, [1, 2, 3, 4, 5]);
            assert!(
                group
                    .iter()
                    .all(|line| line.info.depth == group[0].info.depth)
            );
        }
        assert_eq!(
            lines.last().map(|line| line.info.depth),
            Some(Depth(DEPTHS))
        );
    }

    /// A bound of a later line is news, and comes with the whole group.
    #[test]
    fn a_groups_bound_is_sent_with_it() {
        const LINES: usize = 3;
        let (mut reporter, events) = reporter_of(LINES);
        let moves = Position::startpos().legal_moves();
        let groups = FREE_LINES / LINES + 1;
        for depth in 1..=groups as i32 {
            for number in 1..=LINES {
                report_line(&mut reporter, depth, number, None, &[moves[number]]);
            }
        }
        received(&events);
        reporter.last_sent = Instant::now().checked_sub(LINE_INTERVAL);
        for (number, bound) in [(1, None), (2, Some(Bound::Upper)), (3, None)] {
            report_line(&mut reporter, 99, number, bound, &[moves[number]]);
        }
        let numbers: Vec<usize> = received(&events)
            .0
            .iter()
            .map(|line| line.info.multi_pv)
            .collect();
        assert_eq!(numbers, [1, 2, 3]);
    }

    /// A level has more lines searched than were asked for, to choose from.
    #[test]
    fn lines_that_nobody_asked_for_are_kept_and_not_sent() {
        let (mut reporter, events) = reporter_of(1);
        let moves = Position::startpos().legal_moves();
        for number in 1..=2 {
            report_line(&mut reporter, 1, number, None, &[moves[number]]);
        }
        assert_eq!(reporter.kept.len(), 2);
        reporter.finish(&conclusion(1, moves[1]), Totals::default(), Vec::new());
        let (lines, _) = received(&events);
        assert!(
            lines.iter().all(|line| line.info.multi_pv == 1),
            "{lines:?}"
        );
    }

    #[test]
    fn a_bound_is_followed_by_an_exact_line() {
        let (mut reporter, events) = reporter();
        let m = Position::startpos().legal_moves()[0];
        report(&mut reporter, 1, None, &[m]);
        report(&mut reporter, 2, Some(Bound::Lower), &[m]);
        reporter.finish(&conclusion(1, m), Totals::default(), Vec::new());
        let (lines, _) = received(&events);
        assert_eq!(lines.len(), 3);
        assert_eq!(lines.last().and_then(|line| line.info.bound), None);
    }

    #[test]
    fn a_line_sent_last_is_not_repeated() {
        let (mut reporter, events) = reporter();
        let m = Position::startpos().legal_moves()[0];
        report(&mut reporter, 1, None, &[m]);
        reporter.finish(&conclusion(1, m), Totals::default(), Vec::new());
        assert_eq!(received(&events).0.len(), 1);
    }

    /// The result may be another thread's, with the same move and score.
    #[test]
    fn the_last_line_is_that_of_the_result() {
        let (mut reporter, events) = reporter();
        let start = Position::startpos();
        let m = start.parse_uci("e2e4").expect("legal");
        let [first, second] =
            ["e7e5", "c7c5"].map(|reply| start.play(m).parse_uci(reply).expect("legal"));
        report(&mut reporter, 1, None, &[m, first]);
        let other = Conclusion {
            pv: vec![m, second],
            ..conclusion(1, m)
        };
        reporter.finish(&other, Totals::default(), Vec::new());
        let (lines, _) = received(&events);
        let last = lines.last().map(|line| &line.pv[..]);
        assert_eq!(last, Some(&[m, second][..]));
    }

    #[test]
    fn what_was_not_searched_has_no_score() {
        let (mut reporter, events) = reporter();
        let m = Position::startpos().legal_moves()[0];
        let unsearched = Conclusion {
            score: None,
            ..conclusion(0, m)
        };
        reporter.finish(&unsearched, Totals::default(), Vec::new());
        let (lines, finished) = received(&events);
        assert_eq!((lines.len(), finished), (0, 1));
    }

    #[test]
    fn a_search_without_reports_still_ends_with_a_score() {
        let (mut reporter, events) = reporter();
        let m = Position::startpos().legal_moves()[0];
        reporter.finish(&conclusion(1, m), Totals::default(), Vec::new());
        let (lines, finished) = received(&events);
        assert_eq!((lines.len(), finished), (1, 1));
    }
}
