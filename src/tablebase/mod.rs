//! Syzygy endgame tablebases: exact results for positions with few pieces, read through
//! shakmaty-syzygy.
//!
//! Two kinds of table exist for each set of pieces. WDL tables hold the result under best play
//! (win, draw, loss, and the two results that the 50-move rule turns into draws); the search
//! probes them. DTZ tables hold the distance in plies to the next capture or pawn move on the way
//! to that result; the root needs them to make progress.

mod load;
mod root;

use std::sync::{Arc, Mutex, PoisonError};

use shakmaty::Position as _;
use shakmaty_syzygy::{SyzygyError, Tablebase};

pub use root::{RankedMove, RootRanking, Source};
pub use shakmaty_syzygy::Wdl;

use crate::board::Position;
use crate::types::{Bound, Chess, Depth, Ply, Score};

/// Default and most pieces, kings included, of a position that is probed.
pub const LIMIT_DEFAULT: u32 = 7;
/// Default of the least depth at which positions with as many pieces as the largest tables are
/// probed, and the greatest that can be asked for.
pub const DEPTH_DEFAULT: i32 = 1;
pub const DEPTH_MAX: i32 = 100;

/// Centipawns either side of zero that stand for a win which the 50-move rule takes away, in the
/// search: hardly more than a draw.
const SPOILED_WIN: i32 = 2;

/// The tables of one setting of the path, shared by all threads.
pub struct Tablebases {
    tables: Tablebase<Chess>,
    wdl_files: usize,
    dtz_files: usize,
    /// Pieces, kings included, of the largest WDL table.
    most_pieces: u32,
    /// Tables that could not be read, each named once; those not yet reported are at the end.
    damage: Mutex<Damage>,
}

/// Errors met while probing.
#[derive(Default)]
struct Damage {
    messages: Vec<String>,
    reported: usize,
}

impl Tablebases {
    /// How many WDL and DTZ tables there are.
    #[must_use]
    pub const fn files(&self) -> (usize, usize) {
        (self.wdl_files, self.dtz_files)
    }

    /// Pieces, kings included, of the largest WDL table; 0 without any.
    #[must_use]
    pub const fn most_pieces(&self) -> u32 {
        self.most_pieces
    }

    /// The result of a position as if its half-move clock were zero, for the side to move.
    /// `None` if a table that it needs is missing or damaged, or castling is still possible.
    #[must_use]
    pub fn wdl(&self, position: &Position) -> Option<Wdl> {
        self.known(self.tables.probe_wdl_after_zeroing(position.chess()))
    }

    /// The distance to zeroing in plies: positive for a win, negative for a loss, beyond 100 if
    /// the 50-move rule makes it a draw. Tables that round give this number or one ply less.
    fn dtz(&self, position: &Position) -> Option<i32> {
        self.known(self.tables.probe_dtz(position.chess()))
            .map(|dtz| dtz.ignore_rounding().0)
    }

    fn known<T>(&self, probed: Result<T, SyzygyError>) -> Option<T> {
        match probed {
            Ok(value) => Some(value),
            Err(error) => {
                self.note_damage(&error);
                None
            }
        }
    }

    #[cold]
    fn note_damage(&self, error: &SyzygyError) {
        let Some((table, reason)) = load::damaged(error) else {
            return;
        };
        let message = format!("tablebase {table} cannot be read: {reason}");
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        if !damage.messages.contains(&message) {
            log::warn!("{message}");
            damage.messages.push(message);
        }
    }

    /// Damaged tables met since the last call, a sentence each.
    #[must_use]
    pub fn take_damage(&self) -> Vec<String> {
        let mut damage = self.damage.lock().unwrap_or_else(PoisonError::into_inner);
        let fresh = damage.messages[damage.reported..].to_vec();
        damage.reported = damage.messages.len();
        fresh
    }
}

/// How a search uses tablebases.
#[derive(Clone)]
pub struct Probing {
    pub tables: Arc<Tablebases>,
    /// Positions with exactly as many pieces as allowed are probed from this depth on.
    pub depth: Depth,
    /// Positions with more pieces are not probed.
    pub pieces: u32,
    /// Wins that take more than 50 moves without progress are draws.
    pub fifty_move_rule: bool,
}

impl std::fmt::Debug for Probing {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Probing")
            .field("files", &self.tables.files())
            .field("depth", &self.depth)
            .field("pieces", &self.pieces)
            .field("fifty_move_rule", &self.fifty_move_rule)
            .finish()
    }
}

/// A WDL table's result for a node: a score, and on which side of it the true score lies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Probed {
    pub score: Score,
    pub bound: Bound,
}

impl Probing {
    /// Whether a position's pieces are few enough for the tables, and nobody can castle.
    #[must_use]
    pub fn covers(&self, position: &Position) -> bool {
        pieces(position) <= self.limit() && position.chess().castles().is_empty()
    }

    /// No table is probed, but the 50-move rule is as set.
    #[must_use]
    pub fn suspended(&self) -> Probing {
        Probing {
            pieces: 0,
            ..self.clone()
        }
    }

    fn limit(&self) -> u32 {
        self.pieces.min(self.tables.most_pieces())
    }

    /// The result of a node `ply` plies below the root that is to be searched to a depth.
    /// Probed only right after a capture or pawn move: else the clock would have to be known.
    #[must_use]
    pub fn probe(&self, position: &Position, ply: Ply, depth: Depth) -> Option<Probed> {
        if position.halfmoves() != 0
            || !self.covers(position)
            || pieces(position) == self.limit() && depth < self.depth
        {
            return None;
        }
        let wdl = self.tables.wdl(position)?;
        Some(probed(wdl, ply, self.fifty_move_rule))
    }

    /// The moves of a root ranked by their results; `None` if the tables do not cover it.
    /// `history` holds the keys of the game's earlier positions, oldest first.
    #[must_use]
    pub fn rank_root(
        &self,
        root: &Position,
        history: &[u64],
        moves: &[crate::types::Move],
    ) -> Option<RootRanking> {
        if moves.is_empty() || !self.covers(root) {
            return None;
        }
        root::rank(&self.tables, root, history, moves, self.fifty_move_rule)
    }
}

fn pieces(position: &Position) -> u32 {
    position.board().occupied().count() as u32
}

/// A win is a lower bound, as a mate may be near; a loss an upper bound; a draw is exact.
fn probed(wdl: Wdl, ply: Ply, fifty_move_rule: bool) -> Probed {
    let (win, loss) = (Score::tablebase_win(ply), Score::tablebase_loss(ply));
    let (score, bound) = match wdl {
        Wdl::Win => (win, Bound::Lower),
        Wdl::Loss => (loss, Bound::Upper),
        Wdl::CursedWin if !fifty_move_rule => (win, Bound::Lower),
        Wdl::BlessedLoss if !fifty_move_rule => (loss, Bound::Upper),
        Wdl::CursedWin => (Score::DRAW + SPOILED_WIN, Bound::Exact),
        Wdl::BlessedLoss => (Score::DRAW - SPOILED_WIN, Bound::Exact),
        Wdl::Draw => (Score::DRAW, Bound::Exact),
    };
    Probed { score, bound }
}

#[cfg(test)]
mod tests;
