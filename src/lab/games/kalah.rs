//! Kalah, the mancala game: a move may grant another turn, so sides don't always alternate.
//!
//! Each player has six houses and a store. A move takes all seeds of one of the mover's houses
//! and sows them one by one anticlockwise over the houses and the mover's own store, never the
//! opponent's. A last seed in the store grants another turn. A last seed in an empty house of
//! one's own captures, together with the seeds opposite, if there are any. When a side has no
//! seeds left in its houses, the game ends and the opponent stores what is left in theirs.

use crate::hash::mix;
use crate::lab::game::{GameTree, NodeValue, TreePlayer};

/// Houses of a player.
const HOUSES: usize = 6;
/// Houses and stores on the way round: South's six, South's store, North's six, North's store.
const PITS: usize = 2 * HOUSES + 2;
const SOUTH_STORE: usize = HOUSES;
const NORTH_STORE: usize = PITS - 1;

/// The game, South (who is Max) to move.
#[derive(Clone, Copy, Debug)]
pub struct Kalah {
    /// Seeds in each house at the start, usually 4; at most 18 so that a pit's count fits a byte.
    pub seeds: u8,
}

impl Default for Kalah {
    fn default() -> Kalah {
        Kalah { seeds: 4 }
    }
}

/// Seeds in each pit, and who is to move.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Pits {
    pits: [u8; PITS],
    side: TreePlayer,
}

impl Pits {
    /// The first of a side's houses.
    fn first(side: TreePlayer) -> usize {
        match side {
            TreePlayer::Max => 0,
            TreePlayer::Min => HOUSES + 1,
        }
    }

    fn store(side: TreePlayer) -> usize {
        match side {
            TreePlayer::Max => SOUTH_STORE,
            TreePlayer::Min => NORTH_STORE,
        }
    }

    fn houses(&self, side: TreePlayer) -> &[u8] {
        let first = Pits::first(side);
        &self.pits[first..first + HOUSES]
    }

    fn is_empty(&self, side: TreePlayer) -> bool {
        self.houses(side).iter().all(|seeds| *seeds == 0)
    }

    /// Sows the seeds of a house and returns the pit of the last seed.
    fn sow(&mut self, house: usize) -> usize {
        let skipped = Pits::store(self.side.other());
        let mut at = house;
        for _ in 0..std::mem::take(&mut self.pits[house]) {
            at = (at + 1) % PITS;
            if at == skipped {
                at = (at + 1) % PITS;
            }
            self.pits[at] += 1;
        }
        at
    }

    /// Captures if the last seed fell into an empty house of the mover's.
    fn capture(&mut self, last: usize) {
        let first = Pits::first(self.side);
        let own = (first..first + HOUSES).contains(&last);
        if !own || self.pits[last] != 1 {
            return;
        }
        // Pits 0..6 face 12..=7: opposite places add up to twice the number of houses.
        let opposite = 2 * HOUSES - last;
        if self.pits[opposite] > 0 {
            let store = Pits::store(self.side);
            self.pits[store] +=
                std::mem::take(&mut self.pits[last]) + std::mem::take(&mut self.pits[opposite]);
        }
    }

    /// If a side has run out of seeds, the other stores its own.
    fn finish(&mut self) {
        if !self.is_empty(TreePlayer::Max) && !self.is_empty(TreePlayer::Min) {
            return;
        }
        for side in [TreePlayer::Max, TreePlayer::Min] {
            let left: u8 = self.houses(side).iter().sum();
            let first = Pits::first(side);
            self.pits[first..first + HOUSES].fill(0);
            self.pits[Pits::store(side)] += left;
        }
    }
}

impl GameTree for Kalah {
    type Position = Pits;
    /// A house of the side to move, 0 to 5 in the direction of sowing.
    type Move = u8;

    fn start(&self) -> Pits {
        let mut pits = [self.seeds; PITS];
        pits[SOUTH_STORE] = 0;
        pits[NORTH_STORE] = 0;
        Pits {
            pits,
            side: TreePlayer::Max,
        }
    }

    fn side(&self, pits: &Pits) -> TreePlayer {
        pits.side
    }

    fn moves(&self, pits: &Pits) -> Vec<u8> {
        let houses = pits.houses(pits.side);
        (0..HOUSES as u8)
            .filter(|house| houses[usize::from(*house)] > 0)
            .collect()
    }

    fn play(&self, pits: &Pits, house: u8) -> Pits {
        let mut next = *pits;
        let last = next.sow(Pits::first(pits.side) + usize::from(house));
        next.capture(last);
        next.finish();
        if last != Pits::store(pits.side) {
            next.side = pits.side.other();
        }
        next
    }

    /// South's seeds in store, less North's.
    fn value(&self, pits: &Pits) -> NodeValue {
        NodeValue::from(pits.pits[SOUTH_STORE]) - NodeValue::from(pits.pits[NORTH_STORE])
    }

    fn key(&self, pits: &Pits) -> u64 {
        let turn = u64::from(pits.side == TreePlayer::Min);
        pits.pits.iter().fold(turn, |key, seeds| {
            mix(key.rotate_left(8) ^ u64::from(*seeds))
        })
    }

    /// South's houses are A to F, North's a to f.
    fn label(&self, pits: &Pits, house: u8) -> String {
        let first = if pits.side == TreePlayer::Max {
            b'A'
        } else {
            b'a'
        };
        char::from(first + house).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::lab::game::INFINITY;

    fn pits(pits: [u8; PITS], side: TreePlayer) -> Pits {
        Pits { pits, side }
    }

    #[test]
    fn a_last_seed_in_the_store_grants_another_turn() {
        let kalah = Kalah::default();
        let next = kalah.play(&kalah.start(), 2);
        assert_eq!(next.pits, [4, 4, 0, 5, 5, 5, 1, 4, 4, 4, 4, 4, 4, 0]);
        assert_eq!(next.side, TreePlayer::Max);
        assert_eq!(kalah.play(&kalah.start(), 0).side, TreePlayer::Min);
    }

    #[test]
    fn sowing_skips_the_opponents_store_and_may_come_round() {
        let start = pits([0, 0, 0, 0, 0, 9, 0, 1, 0, 0, 0, 0, 0, 3], TreePlayer::Max);
        let next = Kalah::default().play(&start, 5);
        // Past North's store, the ninth seed lands in South's empty second house and captures the
        // one just sown opposite.
        assert_eq!(next.pits, [1, 0, 0, 0, 0, 0, 3, 2, 1, 1, 1, 0, 1, 3]);
        assert_eq!(next.side, TreePlayer::Min);
    }

    #[test]
    fn nothing_opposite_means_no_capture() {
        let start = pits([1, 0, 0, 0, 0, 2, 0, 1, 0, 0, 0, 0, 0, 0], TreePlayer::Max);
        let next = Kalah::default().play(&start, 0);
        assert_eq!(next.pits[1], 1);
        assert_eq!(next.pits[SOUTH_STORE], 0);
    }

    #[test]
    fn the_game_ends_when_a_side_runs_out() {
        let kalah = Kalah::default();
        let start = pits(
            [0, 0, 0, 0, 0, 1, 20, 3, 0, 2, 0, 0, 0, 22],
            TreePlayer::Max,
        );
        let end = kalah.play(&start, 5);
        assert!(kalah.moves(&end).is_empty());
        assert_eq!(kalah.value(&end), 21 - 27);
        assert!(kalah.value(&end).abs() < INFINITY);
    }

    #[test]
    fn north_plays_by_the_same_rules() {
        let kalah = Kalah::default();
        let start = pits([4, 4, 4, 4, 4, 4, 0, 4, 4, 4, 4, 4, 4, 0], TreePlayer::Min);
        let next = kalah.play(&start, 2);
        assert_eq!(next.pits, [4, 4, 4, 4, 4, 4, 0, 4, 4, 0, 5, 5, 5, 1]);
        assert_eq!(next.side, TreePlayer::Min);
        assert_eq!(kalah.label(&start, 2), "c");
    }

    /// Seeds are neither made nor lost.
    #[test]
    fn seeds_are_conserved() {
        let kalah = Kalah::default();
        let mut position = kalah.start();
        let mut random = 7;
        for _ in 0..200 {
            let moves = kalah.moves(&position);
            let Some(count) = std::num::NonZeroU64::new(moves.len() as u64) else {
                break;
            };
            random = mix(random);
            position = kalah.play(&position, moves[(random % count) as usize]);
            assert_eq!(
                position
                    .pits
                    .iter()
                    .map(|seeds| u32::from(*seeds))
                    .sum::<u32>(),
                48
            );
        }
        assert!(kalah.moves(&position).is_empty());
    }
}
