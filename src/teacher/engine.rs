//! What the teachers' engines make of their networks' outputs before they search with them.
//!
//! A network's output has two parts: a sum of piece values, and what went through the layers. An
//! engine adds them up with weights, and multiplies the sum by a factor that grows with the
//! material on the board. Pleach's own evaluation has such a factor too, close to Stockfish 15.1's
//! ([`material`]), so labels leave that one out. Learnt from the engines' `evaluate.cpp`, tags
//! `sf_15.1` and `sf_17.1`.

use crate::nnue::material;
use crate::types::{Board, Role};

/// The networks' unit within their last sums.
pub const OUTPUT_SCALE: i32 = 16;

/// An engine whose networks can be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TeacherEngine {
    /// Stockfish 15.1, networks of 1,024 neurons a side.
    Stockfish15,
    /// Stockfish 17.1, networks of 3,072 neurons a side. It evaluates positions of large material
    /// difference with a second, small network, which is not read: all labels are the large one's.
    Stockfish17,
}

impl TeacherEngine {
    /// All of them.
    pub const ALL: [TeacherEngine; 2] = [TeacherEngine::Stockfish15, TeacherEngine::Stockfish17];

    /// Neurons of one side in its networks.
    #[must_use]
    pub const fn width(self) -> usize {
        match self {
            TeacherEngine::Stockfish15 => 1024,
            TeacherEngine::Stockfish17 => 3072,
        }
    }

    /// SHA-256, first digits, of its own network.
    #[must_use]
    pub const fn digest(self) -> &'static str {
        match self {
            TeacherEngine::Stockfish15 => "ad9b42354671",
            TeacherEngine::Stockfish17 => "1c0000000000",
        }
    }

    /// Its evaluation of a position without [`material::factor`], in the network's units, from the
    /// sums of the two parts, of which [`OUTPUT_SCALE`] are a unit.
    /// Neither the score of the search before nor the number of half-moves without progress is
    /// taken into account.
    #[must_use]
    pub fn bare(self, material: i32, positional: i32, board: &Board) -> i32 {
        match self {
            TeacherEngine::Stockfish15 => stockfish15::bare(material, positional, board),
            TeacherEngine::Stockfish17 => stockfish17::bare(material, positional, board),
        }
    }

    /// How many of its network's units are a pawn, an even chance of winning at long time
    /// controls.
    #[must_use]
    pub const fn units_a_pawn(self) -> i32 {
        match self {
            TeacherEngine::Stockfish15 => stockfish15::UNITS_A_PAWN,
            TeacherEngine::Stockfish17 => stockfish17::UNITS_A_PAWN,
        }
    }

    /// Units of its network as centipawns, rounded to the nearest.
    #[must_use]
    pub fn centipawns(self, units: i32) -> i32 {
        let pawn = self.units_a_pawn();
        let doubled = 2 * 100 * units;
        (doubled + doubled.signum() * pawn) / (2 * pawn)
    }
}

mod stockfish15 {
    use super::{Board, OUTPUT_SCALE, piece_material};

    /// That engine prints this as one pawn.
    pub const UNITS_A_PAWN: i32 = 361;

    /// The second part counts a little more, the more the fewer pieces there are.
    pub fn bare(material: i32, positional: i32, board: &Board) -> i32 {
        const ONE: i32 = 1024;
        const MOST: i32 = 24;
        const MATERIAL_STEP: i32 = 9560;
        let delta = MOST - piece_material(board) / MATERIAL_STEP;
        ((ONE - delta) * material + (ONE + delta) * positional) / (ONE * OUTPUT_SCALE)
    }
}

mod stockfish17 {
    use super::{Board, OUTPUT_SCALE, Role, material, piece_material};

    /// That engine prints by a unit that depends on the material. With this one, scores are closest
    /// to Stockfish 15.1's by the squared difference of the expected results (the book, "A second
    /// teacher").
    pub const UNITS_A_PAWN: i32 = 397;

    /// The second part counts a little more, all of it less where the parts disagree, and the
    /// factor by material is that engine's instead of Stockfish 15.1's.
    pub fn bare(material: i32, positional: i32, board: &Board) -> i32 {
        const ONE: i64 = 128;
        const DELTA: i64 = 3;
        const DISAGREEMENT: i64 = 18_000;
        const FACTOR_ONE: i64 = 77_777;
        const PAWN: i64 = 535;
        let [material, positional] =
            [material, positional].map(|part| i64::from(part / OUTPUT_SCALE));
        let mut units = ((ONE - DELTA) * material + (ONE + DELTA) * positional) / ONE;
        units -= units * (material - positional).abs() / DISAGREEMENT;
        let pawns = board.by_role(Role::Pawn).count() as i64;
        let on_board = PAWN * pawns + i64::from(piece_material(board));
        let counts = material::counts(board);
        let own = i64::from(material::factor(counts));
        (units * (FACTOR_ONE + on_board) * i64::from(material::ONE) / (FACTOR_ONE * own)) as i32
    }
}

/// The midgame values of knights, bishops, rooks and queens on the board, both colours together,
/// in the networks' units.
fn piece_material(board: &Board) -> i32 {
    material::value(material::counts(board))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::types::CastlingMode;

    #[test]
    fn units_are_rounded_to_the_nearest_centipawn_on_both_sides() {
        let centipawns = |units| TeacherEngine::Stockfish15.centipawns(units);
        assert_eq!(centipawns(361), 100);
        assert_eq!(centipawns(-361), -100);
        assert_eq!([centipawns(1), centipawns(2), centipawns(-2)], [0, 1, -1]);
    }

    #[test]
    fn each_engine_weighs_the_parts_as_its_source_does() {
        let start = Position::startpos();
        let pawns = Position::from_fen("4k3/4p3/8/8/8/8/4P3/4K3 w - - 0 1", CastlingMode::Standard)
            .expect("a position");
        let [all, few] = [start.board(), pawns.board()];
        let fifteen = TeacherEngine::Stockfish15;
        // 24 less 16,604 / 9,560 pieces.
        assert_eq!(fifteen.bare(16_000, 0, all), (1024 - 23) * 1000 / 1024);
        assert_eq!(fifteen.bare(0, 16_000, few), (1024 + 24) * 1000 / 1024);
        let seventeen = TeacherEngine::Stockfish17;
        // (125 * 1000 + 131 * 600) / 128 is 1590, which 400 of difference make 1590 - 35; times
        // (77,777 + 535 * 16 + 16,604) / 77,777 and divided by 1407 / 1024.
        assert_eq!(
            seventeen.bare(16_000, 9600, all),
            (1555i64 * 102_941 * 1024 / (77_777 * 1407)) as i32
        );
        assert_eq!(
            seventeen.bare(-16_000, -9600, few),
            (-1555i64 * 78_847 * 1024 / (77_777 * 1064)) as i32
        );
    }

    #[test]
    fn the_piece_material_of_both_sides_counts() {
        // Four each of knights, bishops and rooks and two queens.
        assert_eq!(piece_material(Position::startpos().board()), 16_604);
    }
}
