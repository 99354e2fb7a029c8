//! Squares that bishops, rooks and queens attack, computed instead of looked up.
//!
//! Shakmaty looks them up by magic multiplication, in tables of 0.7 MB, which share the caches with the
//! network's weights and the histories. A search is faster with computed attacks, perft with looked up
//! ones (see the book's record of tests, "Speed").
//!
//! Files and diagonals: "hyperbola quintessence" (Aleks Peshkov, Gerd Isenberg). With a line's
//! occupied squares `o` and the slider `s` as numbers, `o - 2s` borrows from `s` up to the first
//! occupied square beyond it, so that `o ^ (o - 2s)` has the squares between and that one. The other
//! direction is the same on the board upside down, which one instruction turns. Ranks, which stay
//! what they are upside down, come from a table of 512 bytes.

use shakmaty::{Bitboard, Square};

const SQUARES: usize = 64;
const FILES: usize = 8;

/// The lines through a square that are no rank, without the square itself.
#[derive(Clone, Copy)]
#[repr(C, align(32))]
struct Lines {
    file: u64,
    diagonal: u64,
    antidiagonal: u64,
}

static LINES: [Lines; SQUARES] = {
    let mut lines = [Lines {
        file: 0,
        diagonal: 0,
        antidiagonal: 0,
    }; SQUARES];
    let mut from = 0;
    while from < SQUARES {
        let mut to = 0;
        while to < SQUARES {
            let (file, rank) = (from % FILES, from / FILES);
            let (to_file, to_rank) = (to % FILES, to / FILES);
            let square = if to == from { 0 } else { 1 << to };
            if to_file == file {
                lines[from].file |= square;
            }
            if to_file + rank == file + to_rank {
                lines[from].diagonal |= square;
            }
            if to_file + to_rank == file + rank {
                lines[from].antidiagonal |= square;
            }
            to += 1;
        }
        from += 1;
    }
    lines
};

/// A rank's inner squares: those on the edges are attacked or not, whether occupied or not.
const INNER: u64 = 0b0111_1110;

/// By the occupied inner squares of a rank and the file of a rook there, the files that it attacks.
static RANK_ATTACKS: [[u8; FILES]; 1 << (FILES - 2)] = {
    let mut attacks = [[0; FILES]; 1 << (FILES - 2)];
    let mut inner = 0;
    while inner < attacks.len() {
        let occupied = inner << 1;
        let mut file = 0;
        while file < FILES {
            let mut to = file;
            while to + 1 < FILES && (to == file || occupied >> to & 1 == 0) {
                to += 1;
                attacks[inner][file] |= 1 << to;
            }
            to = file;
            while to > 0 && (to == file || occupied >> to & 1 == 0) {
                to -= 1;
                attacks[inner][file] |= 1 << to;
            }
            file += 1;
        }
        inner += 1;
    }
    attacks
};

/// What a slider attacks on a file or diagonal.
#[inline(always)]
const fn along(line: u64, from: Square, occupied: u64) -> u64 {
    /// Turns a square's number upside down.
    const UPSIDE_DOWN: u32 = 56;
    let occupied = occupied & line;
    let up = occupied.wrapping_sub(2 << from.to_u32());
    let down = occupied
        .swap_bytes()
        .wrapping_sub(2 << (from.to_u32() ^ UPSIDE_DOWN))
        .swap_bytes();
    (up ^ down) & line
}

/// What a slider attacks on its rank.
#[inline(always)]
fn along_rank(from: Square, occupied: u64) -> u64 {
    let rank = from.to_u32() & !(FILES as u32 - 1);
    let inner = (occupied >> rank & INNER) >> 1;
    let attacks = RANK_ATTACKS[inner as usize][from.to_usize() % FILES];
    u64::from(attacks) << rank
}

/// The squares that a bishop attacks, up to and including the first occupied one of each direction.
#[must_use]
#[inline(always)]
pub fn bishop_attacks(from: Square, occupied: Bitboard) -> Bitboard {
    let lines = &LINES[from.to_usize()];
    let diagonal = along(lines.diagonal, from, occupied.0);
    Bitboard(diagonal | along(lines.antidiagonal, from, occupied.0))
}

/// As [`bishop_attacks`] for a rook.
#[must_use]
#[inline(always)]
pub fn rook_attacks(from: Square, occupied: Bitboard) -> Bitboard {
    let lines = &LINES[from.to_usize()];
    Bitboard(along(lines.file, from, occupied.0) | along_rank(from, occupied.0))
}

/// As [`bishop_attacks`] for a queen.
#[must_use]
#[inline(always)]
pub fn queen_attacks(from: Square, occupied: Bitboard) -> Bitboard {
    bishop_attacks(from, occupied) | rook_attacks(from, occupied)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::tests::{Random, cases};
    use shakmaty::attacks;

    #[test]
    fn computed_attacks_are_those_of_the_tables() {
        let mut random = Random(41);
        for from in Square::ALL {
            for density in 0..cases(300, 20) {
                // From crowded to empty boards, the slider's own square occupied or not.
                let mut occupied = Bitboard(random.next());
                for _ in 0..density % 5 {
                    occupied &= Bitboard(random.next());
                }
                let (bishop, rook) = (bishop_attacks(from, occupied), rook_attacks(from, occupied));
                assert_eq!(bishop, attacks::bishop_attacks(from, occupied), "{from}");
                assert_eq!(rook, attacks::rook_attacks(from, occupied), "{from}");
                assert_eq!(queen_attacks(from, occupied), bishop | rook, "{from}");
            }
        }
    }
}
