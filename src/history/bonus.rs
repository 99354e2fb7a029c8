//! How much a result changes a move's histories.

use crate::params as p;
use crate::types::Depth;

/// What a refuting move gains at a depth.
#[must_use]
pub fn bonus(depth: Depth) -> i32 {
    (p::bonus_margin() * depth.plies() - p::bonus_offset()).clamp(0, p::bonus_most())
}

/// What a move loses that was searched without becoming best.
#[must_use]
pub fn malus(depth: Depth) -> i32 {
    (p::malus_margin() * depth.plies() - p::malus_offset()).clamp(0, p::malus_most())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::types::MAX_DEPTH;

    #[test]
    fn bonus_and_malus_grow_with_depth_within_their_bounds() {
        let most = [p::bonus_most(), p::malus_most()];
        for (sizes, most) in [bonus, malus].into_iter().zip(most) {
            assert_eq!(sizes(Depth(-3)), 0);
            assert_eq!(sizes(MAX_DEPTH), most);
            for depth in 0..MAX_DEPTH.plies() {
                assert!(sizes(Depth(depth)) <= sizes(Depth(depth + 1)));
            }
        }
    }
}
