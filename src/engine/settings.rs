//! What a user can set, with its limits.

use crate::tablebase;
use crate::types::Depth;

/// Default, least and most MiB of hash table.
pub const HASH_DEFAULT: usize = 16;
pub const HASH_MIN: usize = 1;
pub const HASH_MAX: usize = 1 << 25;
/// Most search threads.
pub const THREADS_MAX: usize = 1024;
/// Most lines of analysis; more than any position of a game has moves.
pub const MULTI_PV_MAX: usize = 256;
/// Default and most milliseconds lost on each move between the client's clock and ours.
pub const OVERHEAD_DEFAULT: usize = 10;
pub const OVERHEAD_MAX: usize = 5000;

/// What can be set and is read anew at each `go`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// How many lines to find.
    pub multi_pv: usize,
    /// Milliseconds lost on each move outside the engine.
    pub move_overhead: usize,
}

impl Default for Settings {
    fn default() -> Settings {
        Settings {
            multi_pv: 1,
            move_overhead: OVERHEAD_DEFAULT,
        }
    }
}

/// How tablebases are used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablebaseUse {
    /// Positions with as many pieces as the largest tables are probed from this depth on.
    pub depth: Depth,
    /// Positions with more pieces are not probed.
    pub pieces: u32,
    /// Wins that take more than 50 moves without progress are draws.
    pub fifty_move_rule: bool,
}

impl Default for TablebaseUse {
    fn default() -> TablebaseUse {
        TablebaseUse {
            depth: Depth(tablebase::DEPTH_DEFAULT),
            pieces: tablebase::LIMIT_DEFAULT,
            fifty_move_rule: true,
        }
    }
}
