//! The last two plies of a count, where nearly all of its time goes: compiled once for any
//! processor and, on x86-64, once more with instructions for counting and clearing bits, which the
//! oldest of these processors lack.

#![allow(unsafe_code)]

use crate::board::position::Position;

/// How many lines of two legal moves the position has.
pub(super) fn count(position: &Position) -> u64 {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt") && is_x86_feature_detected!("bmi1") {
        // SAFETY: the processor has the instructions.
        return unsafe { count_with_bit_instructions(position) };
    }
    count_portably(position)
}

#[inline(always)]
fn count_portably(position: &Position) -> u64 {
    let mut replies = 0;
    // An iterator's sum would be a function of its own, without the instructions.
    for m in position.legal_moves() {
        replies += position.count_replies(m);
    }
    replies
}

#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,bmi1")]
fn count_with_bit_instructions(position: &Position) -> u64 {
    count_portably(position)
}
