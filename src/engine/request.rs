//! What `go` asks for.

use std::time::Duration;

use crate::board::Position;
use crate::search::Limits;
use crate::time::{Clock, bounds};
use crate::types::{Color, Depth, MAX_DEPTH, Move};

/// A request to search the current position. Limits that are `None` do not apply; all others
/// apply together; without any, the search goes on until it is stopped.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// Search these moves only (UCI notation); empty: all.
    pub search_moves: Vec<String>,
    /// Do not search these moves: the inverse of `search_moves`.
    pub exclude_moves: Vec<String>,
    /// Think on the opponent's time: the search does not end, and the best move is held back,
    /// before `ponderhit`. The hard time bound and `movetime` count from then on, the soft bound
    /// from the beginning of the search.
    pub ponder: bool,
    /// Hold the best move back until `stop`.
    pub infinite: bool,
    /// White's and Black's remaining time and increment, in milliseconds.
    pub white_time: Option<i64>,
    pub black_time: Option<i64>,
    pub white_increment: i64,
    pub black_increment: i64,
    pub moves_to_go: Option<u32>,
    /// Plies.
    pub depth: Option<i32>,
    pub nodes: Option<u64>,
    /// Find a mate in this many full moves.
    pub mate: Option<u32>,
    /// Milliseconds for this move.
    pub movetime: Option<i64>,
}

impl Request {
    /// A search to a fixed depth.
    #[must_use]
    pub fn to_depth(depth: i32) -> Request {
        Request {
            depth: Some(depth),
            ..Request::default()
        }
    }

    /// A search of a fixed time.
    #[must_use]
    pub fn for_time(time: Duration) -> Request {
        let ms = i64::try_from(time.as_millis()).unwrap_or(i64::MAX);
        Request {
            movetime: Some(ms),
            ..Request::default()
        }
    }

    /// Whether anything ends the search but `stop`; while pondering, once the pondered move is
    /// played.
    #[must_use]
    pub const fn has_limit(&self) -> bool {
        self.white_time.is_some()
            || self.black_time.is_some()
            || self.depth.is_some()
            || self.nodes.is_some()
            || self.movetime.is_some()
            || self.mate.is_some()
    }

    /// The clock of the side to move. A client that sends only the other side's clock has
    /// mistaken the side; without that clock the search would not end.
    fn clock(&self, turn: Color) -> Clock {
        let (own, other) = match turn {
            Color::White => (self.white_time, self.black_time),
            Color::Black => (self.black_time, self.white_time),
        };
        let increment = match turn {
            Color::White => self.white_increment,
            Color::Black => self.black_increment,
        };
        Clock {
            remaining: own.or(other),
            increment,
            moves_to_go: self.moves_to_go.filter(|&moves| moves > 0),
            movetime: self.movetime,
        }
    }

    /// The root moves that the request leaves, `None` for all, and which of the moves it names
    /// are not legal here. Naming no legal move at all means all of them.
    fn root_moves(&self, position: &Position) -> (Option<Vec<Move>>, Vec<String>) {
        let mut refused = Vec::new();
        let mut read = |texts: &[String]| -> Vec<Move> {
            let parse = |text: &String| match position.parse_uci(text) {
                Ok(m) => Some(m),
                Err(error) => {
                    refused.push(error.to_string());
                    None
                }
            };
            texts.iter().filter_map(parse).collect()
        };
        let wanted = read(&self.search_moves);
        let unwanted = read(&self.exclude_moves);
        if wanted.is_empty() && unwanted.is_empty() {
            return (None, refused);
        }
        let mut left: Vec<Move> = position.legal_moves().to_vec();
        left.retain(|m| (wanted.is_empty() || wanted.contains(m)) && !unwanted.contains(m));
        ((!left.is_empty()).then_some(left), refused)
    }

    /// The search's limits in this position, and remarks on what was wrong in the request.
    #[must_use]
    pub fn limits(
        &self,
        position: &Position,
        overhead_ms: usize,
        multi_pv: usize,
    ) -> (Limits, Vec<String>) {
        let (root_moves, refused) = self.root_moves(position);
        let clock = self.clock(position.turn());
        let limits = Limits {
            depth: self
                .depth
                .map(|plies| Depth(plies.clamp(1, MAX_DEPTH.plies()))),
            nodes: self.nodes.map(|nodes| nodes.max(1)),
            soft_nodes: None,
            mate: self.mate.map(|moves| moves.max(1)),
            // With both, `infinite` counts and the clock does not.
            time: bounds(&clock, overhead_ms as u64, position.game_ply())
                .filter(|_| !self.infinite),
            root_moves,
            multi_pv: multi_pv.max(1),
        };
        (limits, refused)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn limits(request: &Request) -> Limits {
        request.limits(&Position::startpos(), 10, 1).0
    }

    #[test]
    fn a_bare_request_has_no_limits() {
        assert_eq!(limits(&Request::default()), Limits::default());
    }

    #[test]
    fn either_clock_alone_is_enough() {
        let own = Request {
            white_time: Some(1000),
            ..Request::default()
        };
        let other = Request {
            black_time: Some(1000),
            ..Request::default()
        };
        assert!(limits(&own).time.is_some());
        assert_eq!(limits(&own).time, limits(&other).time);
    }

    #[test]
    fn numbers_are_brought_into_range() {
        let zero = Request {
            depth: Some(0),
            nodes: Some(0),
            mate: Some(0),
            ..Request::default()
        };
        let limits = limits(&zero);
        assert_eq!(
            (limits.depth, limits.nodes, limits.mate),
            (Some(Depth(1)), Some(1), Some(1))
        );
    }

    #[test]
    fn root_moves_are_named_or_excluded() {
        let named = |search: &[&str], exclude: &[&str]| {
            let own = |texts: &[&str]| texts.iter().map(|&text| text.to_owned()).collect();
            let request = Request {
                search_moves: own(search),
                exclude_moves: own(exclude),
                ..Request::default()
            };
            let (limits, refused) = request.limits(&Position::startpos(), 10, 1);
            (limits.root_moves.map(|moves| moves.len()), refused.len())
        };
        assert_eq!(named(&["e2e4", "d2d4"], &[]), (Some(2), 0));
        assert_eq!(named(&[], &["e2e4", "d2d4"]), (Some(18), 0));
        assert_eq!(named(&["e2e4", "e2e5"], &[]), (Some(1), 1));
        assert_eq!(named(&["0000"], &[]), (None, 1));
        assert_eq!(named(&["e2e4"], &["e2e4"]), (None, 0));
    }
}
