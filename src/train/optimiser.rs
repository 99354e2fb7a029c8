//! Trained numbers and the optimiser that updates them.

use crate::memory::LargeTable;

use super::lanes::{Floats, HALF, Row};

/// Bound of all weights, so that the quantised ones fit their integers.
pub const WEIGHT_LIMIT: f32 = 1.98;

/// Numbers with their first and second moments, as Adam keeps them.
#[derive(Clone, Debug, PartialEq)]
pub struct Trained {
    pub value: LargeTable<Floats>,
    pub first_moment: LargeTable<Floats>,
    pub second_moment: LargeTable<Floats>,
}

impl Trained {
    pub(super) fn zeroed(len: usize) -> Trained {
        let zeros = || table(len.div_ceil(HALF));
        Trained {
            value: zeros(),
            first_moment: zeros(),
            second_moment: zeros(),
        }
    }

    /// The values one by one.
    #[must_use]
    pub fn floats(&self) -> &[f32] {
        bytemuck::cast_slice(&self.value)
    }

    /// The values one by one, to be set.
    pub fn floats_mut(&mut self) -> &mut [f32] {
        bytemuck::cast_slice_mut(&mut self.value)
    }

    /// The values of a tile's rows.
    pub(super) fn rows(&self) -> &[Row] {
        self.value.as_chunks().0
    }

    /// One step of AdamW (Loshchilov and Hutter 2019) with weights held within `limit`;
    /// `gradients` are multiplied by `factor` and set to zero.
    #[inline(always)]
    pub(super) fn step(&mut self, gradients: &mut [Floats], factor: f32, rate: &Rate, limit: f32) {
        let cells = (self.value.iter_mut().zip(&mut self.first_moment[..]))
            .zip(&mut self.second_moment[..])
            .zip(gradients);
        for (((value, first), second), gradients) in cells {
            for i in 0..HALF {
                let gradient = gradients.0[i] * factor;
                let m = first.0[i] * rate.beta1 + gradient * (1.0 - rate.beta1);
                let s = second.0[i] * rate.beta2 + gradient * gradient * (1.0 - rate.beta2);
                let direction = m * rate.correct1 / ((s * rate.correct2).sqrt() + EPSILON);
                let moved = value.0[i] * rate.decay_factor - direction * rate.learning;
                value.0[i] = clamp(moved, limit);
                first.0[i] = m;
                second.0[i] = s;
            }
            *gradients = Floats::ZERO;
        }
    }
}

/// `x` brought between `-limit` and `limit`; comparisons that vectorise, unlike `f32::clamp`'s.
#[inline(always)]
pub(super) fn clamp(x: f32, limit: f32) -> f32 {
    let below = if x > limit { limit } else { x };
    if below < -limit { -limit } else { below }
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;
const DECAY: f32 = 0.01;

/// What one optimiser step needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    learning: f32,
    /// What weights are multiplied by for their decay.
    decay_factor: f32,
    beta1: f32,
    beta2: f32,
    correct1: f32,
    correct2: f32,
}

impl Rate {
    /// The rate for the `step`-th step, counted from 1, at learning rate `learning`.
    #[must_use]
    pub fn new(learning: f64, step: u64) -> Rate {
        let power = i32::try_from(step).unwrap_or(i32::MAX);
        let correct = |beta: f32| (1.0 / (1.0 - f64::from(beta).powi(power))) as f32;
        Rate {
            learning: learning as f32,
            decay_factor: (1.0 - f64::from(DECAY) * learning) as f32,
            beta1: BETA1,
            beta2: BETA2,
            correct1: correct(BETA1),
            correct2: correct(BETA2),
        }
    }
}

/// A float of about this size, 1.5 * 2^23, has no bits for fractions.
pub(super) const NO_FRACTION: f32 = 12_582_912.0;

/// The nearest whole number, of halves the even one, for numbers below 2^22: by adding
/// [`NO_FRACTION`], which vectorises everywhere.
#[inline(always)]
pub(super) fn round(x: f32) -> f32 {
    (x + NO_FRACTION) - NO_FRACTION
}

/// Zeros on huge pages.
///
/// # Panics
/// If the system refuses the memory, without which no training is possible.
pub(super) fn table<T: bytemuck::Zeroable>(len: usize) -> LargeTable<T> {
    LargeTable::new(len).expect("memory for training")
}

/// Sums place by place.
#[inline(always)]
pub(super) fn add(a: &Floats, b: &Floats) -> Floats {
    Floats(std::array::from_fn(|i| a.0[i] + b.0[i]))
}
