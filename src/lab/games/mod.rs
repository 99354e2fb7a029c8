//! Games to search: trees written down, random trees, and real games.

pub mod chess;
pub mod explicit;
pub mod kalah;
pub mod random;
pub mod tictactoe;

pub use chess::ChessGame;
pub use explicit::Explicit;
pub use kalah::Kalah;
pub use random::RandomTree;
pub use tictactoe::TicTacToe;
