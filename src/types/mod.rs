//! The basic types of the engine: scores, depths, plies and packed moves, and the types of chess
//! itself, which are shakmaty's.

mod depth;
mod game_result;
mod packed_move;
mod score;

pub use depth::{Depth, MAX_DEPTH, MAX_PLY, Ply};
pub use game_result::GameResult;
pub use packed_move::PackedMove;
pub use score::{Bound, EVEN_CHANCE, Score};

pub use shakmaty::{
    Bitboard, Board, CastlingMode, CastlingSide, Chess, Color, File, Move, Piece, Rank, Role,
    Setup, Square,
};

/// Plies without capture or pawn move after which a game is a draw: 50 moves of each side.
pub const FIFTY_MOVES: u32 = 100;

/// Room in a list of moves. A game's positions have 218 legal moves at most; positions set up with
/// any number of queens have up to 288, the most that simulated annealing over such boards found.
pub const MAX_MOVES: usize = 320;

/// A list of legal moves on the stack.
pub type MoveList = arrayvec::ArrayVec<Move, MAX_MOVES>;
