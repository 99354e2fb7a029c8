//! Random numbers for the initial weights.

use crate::hash::mix;

/// Normally distributed numbers by the sum of uniform ones, which has no far tails.
pub(super) struct Normal {
    state: u64,
}

impl Normal {
    pub fn new(seed: u64) -> Normal {
        Normal { state: mix(seed) }
    }

    pub fn next(&mut self) -> f32 {
        const TERMS: usize = 12;
        let uniform = |state: &mut u64| {
            *state = mix(*state);
            (*state >> 40) as f32 / (1u64 << 24) as f32
        };
        (0..TERMS).map(|_| uniform(&mut self.state)).sum::<f32>() - TERMS as f32 / 2.0
    }
}
