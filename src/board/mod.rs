//! The board: shakmaty's rules wrapped with what a search needs and shakmaty leaves out, namely
//! incremental keys, staged move generation, the pieces that a move changes, static exchange
//! evaluation and repetition.

mod cuckoo;
mod dirty_pieces;
mod epd;
mod game;
mod input;
mod keys;
mod legality;
mod movegen;
mod notation;
mod perft;
mod pgn;
mod position;
mod repetition;
mod score_sheet;
mod see;
mod slider_attacks;
mod unpack;

pub use dirty_pieces::DirtyPieces;
pub use epd::{Epd, EpdError, EpdOperation, is_opcode};
pub use game::{Game, GameEnd, GameError, Start};
pub(crate) use input::{
    STDIN, ZSTD_WINDOW_LOG, decode, decompress, is_zstd, open_input, read_text,
};
pub use keys::Keys;
pub use legality::Legality;
pub(crate) use legality::attacked_by_lesser;
pub use movegen::MoveSet;
pub(crate) use movegen::{PROMOTIONS, Sink, is_noisy, origin};
pub(crate) use notation::quote;
pub use notation::{FenError, MoveError};
pub(crate) use perft::Perft;
pub use perft::perft;
pub use pgn::{Headers, PgnError, PgnGame, PgnLine, PgnMove, PgnReader};
pub use position::Position;
pub(crate) use repetition::{KeyHistory, ROOT_ALONE, occurrences};

#[cfg(test)]
pub(crate) mod tests {
    use super::Position;
    use crate::hash::SplitMix;
    use crate::types::{CastlingMode, Chess};
    use shakmaty::{Position as _, Setup};

    /// How many cases a test tries: fewer where Miri interprets every instruction, which takes
    /// long.
    pub const fn cases(count: u64, interpreted: u64) -> u64 {
        if cfg!(miri) { interpreted } else { count }
    }

    /// A small, well-mixed generator (SplitMix64), so that tests are the same on every machine.
    pub struct Random(pub u64);

    impl Random {
        pub fn next(&mut self) -> u64 {
            let mut random = SplitMix(self.0);
            let number = random.next();
            self.0 = random.0;
            number
        }

        pub fn below(&mut self, limit: usize) -> usize {
            (self.next() % limit as u64) as usize
        }
    }

    /// A double Fischer random start.
    fn chess960(random: &mut Random) -> Chess {
        let (white, black) = (random.below(960) as u32, random.below(960) as u32);
        let rank = |number| shakmaty::Board::chess960(number);
        let mut setup = Setup::initial();
        setup.board = shakmaty::Board::empty();
        for (square, piece) in &rank(white) {
            if piece.color.is_white() {
                setup.board.set_piece_at(square, piece);
            }
        }
        for (square, piece) in &rank(black) {
            if piece.color.is_black() {
                setup.board.set_piece_at(square, piece);
            }
        }
        setup.castling_rights = setup.board.rooks();
        setup
            .position(CastlingMode::Chess960)
            .expect("a start position is legal")
    }

    /// Plays random games, every third from a Chess960 start, and shows each position.
    pub fn random_games(games: u64, mut visit: impl FnMut(&Position)) {
        const LONGEST: u64 = cases(160, 24);
        for game in 0..cases(games, games.min(3)) {
            let mut random = Random(game);
            let mut position = if game % 3 == 2 {
                Position::from(chess960(&mut random))
            } else {
                Position::startpos()
            };
            for _ in 0..LONGEST {
                visit(&position);
                let moves = position.legal_moves();
                if moves.is_empty() || position.chess().is_game_over() {
                    break;
                }
                position = position.play(moves[random.below(moves.len())]);
            }
        }
    }
}
