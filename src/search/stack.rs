//! What the nodes of the current line share with each other.

use crate::history::{PieceTo, Threats};
use crate::types::{MAX_PLY, PackedMove, Ply, Score};

/// Frames before the root, so that looking a few plies back needs no test.
const BEFORE_ROOT: usize = 8;
/// Frames beyond the last ply, for killers and counters of grandchildren.
const BEYOND_END: usize = 4;

/// One ply of the current line.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Frame {
    /// The move being searched, and as an index for continuation histories.
    pub current: PackedMove,
    pub played: PieceTo,
    /// The current move captures or promotes.
    pub noisy: bool,
    /// Its place in the order, from 1; 0 outside the main search's move loop.
    pub number: usize,
    /// Squares that the enemy attacked before the move.
    pub threats: Threats,
    /// The corrected static evaluation; `None` in check.
    pub static_eval: Option<Score>,
    /// The move left out by a singular search running in this very frame.
    pub excluded: PackedMove,
    /// Quiet moves that were best at this ply lately: nearly all of them cut off.
    pub killers: [PackedMove; 2],
    /// How many nodes at this ply have failed high since the node two plies above began (as in
    /// Stockfish).
    pub cutoffs: u32,
    /// By how much the current move's search is reduced, in plies.
    pub reduction: i32,
    /// Double extensions on the line so far, as the move loop counts them: a null move and ProbCut
    /// leave what the last move loop at this ply wrote.
    pub double_extensions: i32,
    /// On a principal variation now or in an earlier search.
    pub tt_pv: bool,
}

/// The frames of a line, from a few plies before the root.
#[derive(Clone, Debug)]
pub(super) struct Stack(Box<[Frame]>);

impl Default for Stack {
    fn default() -> Stack {
        Stack(vec![Frame::default(); BEFORE_ROOT + MAX_PLY + BEYOND_END].into_boxed_slice())
    }
}

impl Stack {
    #[inline]
    pub fn at(&self, ply: Ply) -> &Frame {
        &self.0[BEFORE_ROOT + ply.index()]
    }

    #[inline]
    pub fn at_mut(&mut self, ply: Ply) -> &mut Frame {
        &mut self.0[BEFORE_ROOT + ply.index()]
    }

    /// Clears what earlier nodes two plies below `ply` left there: they had other parents.
    #[inline]
    pub fn forget_grandchildren(&mut self, ply: Ply) {
        let frame = self.at_mut(ply.next().next());
        frame.cutoffs = 0;
        frame.killers = [PackedMove::NONE; 2];
    }

    /// The frame of the move that led to `ply`, if that was a quiet one.
    #[inline]
    pub fn last_quiet(&self, ply: Ply) -> Option<&Frame> {
        let frame = self.before(ply, 1);
        (frame.current.is_some() && !frame.noisy).then_some(frame)
    }

    /// The frame `back` plies earlier (at most eight); empty before the root.
    #[inline]
    pub fn before(&self, ply: Ply, back: usize) -> &Frame {
        &self.0[BEFORE_ROOT + ply.index() - back]
    }
}
