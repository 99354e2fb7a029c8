//! The network's parameters while they are trained, and the optimiser that moves them.
//!
//! The hidden layer is cut into tiles of 32 neurons. A tile's feature weights for one input are
//! then one cache line as 16-bit integers, and a whole tile fits the second-level cache, which
//! decides the speed of training: see `kernel`.
//!
//! Neurons of a tile are kept in the order 0, 2, .. 30, 1, 3, .. 31 wherever they are floats,
//! and in plain order in the integer lines, so that the lower halves of a line's 32-bit words
//! are the first sixteen floats and the upper halves the others. Nothing outside needs to know
//! except that `tile * 32 + slot` names the same neuron in all arrays of floats.

use wide::{f32x16, i16x32, i32x16};

use crate::nnue::format::{MAX_OUTPUT_WEIGHT, QA, QB};

use super::sample::{BUCKETS, FEATURES};
use super::shuffle::mix;

/// Neurons in a tile.
pub const TILE: usize = 32;
/// Half a tile: the neurons in one half of a line's words.
pub const HALF: usize = TILE / 2;
/// Rows of a tile: one an input, then the bias, then padding up to a power of two, which lets
/// the kernels index without a bounds check.
pub const ROWS: usize = 4096;
/// The row that is active in every position.
pub const BIAS_ROW: usize = FEATURES;
/// Rows that are trained.
pub const USED_ROWS: usize = FEATURES + 1;
/// Steps of the 16-bit copy of the feature weights for one of the finished network's.
const FINER: i32 = 8;
/// What stands for 1.0 in that copy; there is room for hidden sums up to 16.
pub const FIXED_ONE: f32 = (FINER * QA) as f32;
/// Bound of all weights, so that the quantised ones fit their integers.
pub const WEIGHT_LIMIT: f32 = 1.98;
/// Inputs that are active in a typical position: the fan-in for the initial weights.
const TYPICAL_ACTIVE: f32 = 32.0;

/// A cache line of 16-bit integers.
pub type Line = i16x32;
/// Half a tile's floats.
pub type Floats = f32x16;
/// A row of a tile in floats.
pub type Row = [Floats; 2];

/// Numbers with their first and second moments, as Adam keeps them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Trained {
    pub value: Vec<Floats>,
    pub mean: Vec<Floats>,
    pub square: Vec<Floats>,
}

impl Trained {
    fn zeroed(len: usize) -> Trained {
        let zeros = vec![Floats::ZERO; len.div_ceil(HALF)];
        Trained {
            value: zeros.clone(),
            mean: zeros.clone(),
            square: zeros,
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

    /// One step of AdamW (Loshchilov and Hutter 2019) with weights held within `limit`;
    /// `gradient` is multiplied by `factor` and set to zero.
    fn step(&mut self, gradients: &mut [&mut [Floats]], factor: f32, rate: &Rate, limit: f32) {
        let Some((first, others)) = gradients.split_first_mut() else {
            return;
        };
        for other in others {
            for (sum, part) in first.iter_mut().zip(other.iter_mut()) {
                *sum += *part;
                *part = Floats::ZERO;
            }
        }
        let (top, bottom) = (Floats::splat(limit), Floats::splat(-limit));
        let cells = self
            .value
            .iter_mut()
            .zip(&mut self.mean)
            .zip(&mut self.square);
        for (((value, mean), square), sum) in cells.zip(first.iter_mut()) {
            let gradient = *sum * factor;
            *sum = Floats::ZERO;
            *mean = *mean * rate.beta1 + gradient * (1.0 - rate.beta1);
            *square = *square * rate.beta2 + gradient * gradient * (1.0 - rate.beta2);
            let direction = *mean * rate.correct1 / ((*square * rate.correct2).sqrt() + EPSILON);
            let moved = *value * rate.keep - direction * rate.learning;
            *value = moved.fast_max(bottom).fast_min(top);
        }
    }
}

const BETA1: f32 = 0.9;
const BETA2: f32 = 0.999;
const EPSILON: f32 = 1e-8;
const DECAY: f32 = 0.01;

/// What one optimiser step needs to know.
#[derive(Clone, Copy, Debug)]
pub struct Rate {
    learning: f32,
    keep: f32,
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
            keep: (1.0 - f64::from(DECAY) * learning) as f32,
            beta1: BETA1,
            beta2: BETA2,
            correct1: correct(BETA1),
            correct2: correct(BETA2),
        }
    }
}

/// 32 hidden neurons with all their input weights.
#[derive(Clone, Debug)]
pub struct Tile {
    /// `[USED_ROWS][TILE]` floats.
    pub weights: Trained,
    /// The weights rounded to 16 bits, [`ROWS`] lines.
    pub lines: Vec<Line>,
}

impl Tile {
    fn refresh_lines(&mut self, grain: Grain) {
        let (steps, finer) = match grain {
            Grain::Fine => (FIXED_ONE, 1),
            Grain::Network => (QA as f32, FINER),
        };
        let fixed = |x: Floats| (x * steps).fast_round_int() * finer;
        let low_half = i32x16::splat(0xffff);
        for (line, [low, high]) in self.lines.iter_mut().zip(self.weights.value.as_chunks().0) {
            let words = fixed(*low) & low_half | fixed(*high) << 16;
            *line = bytemuck::cast(words);
        }
    }
}

/// How finely the weights that positions are evaluated with follow the trained ones.
///
/// Towards the end of a run evaluation uses the numbers that the network file will hold, while
/// the trained floats go on moving beneath them by the gradients found with the rounded ones (a
/// "straight-through estimator", Bengio, Léonard and Courville 2013). The weights then settle
/// where rounding does least harm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Grain {
    #[default]
    Fine,
    Network,
}

/// The output layers.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// `[BUCKETS][2][N]`, the side to move's half first.
    pub weights: Trained,
    /// The weights as evaluation uses them; see [`Grain`].
    pub used: Vec<Floats>,
    /// `[BUCKETS]`, then padding.
    pub bias: Trained,
}

impl Outputs {
    fn refresh_used(&mut self, grain: Grain) {
        let (steps, limit) = (QB as f32, f32::from(MAX_OUTPUT_WEIGHT));
        for (used, value) in self.used.iter_mut().zip(&self.weights.value) {
            *used = match grain {
                Grain::Fine => *value,
                Grain::Network => {
                    let whole = (*value * steps).round_ties_even();
                    whole
                        .fast_max(Floats::splat(-limit))
                        .fast_min(Floats::splat(limit))
                        / steps
                }
            };
        }
    }
}

/// All parameters with the optimiser's state.
#[derive(Clone, Debug)]
pub struct Model {
    /// Width of the hidden layer, N.
    pub hidden: usize,
    /// N / 32 tiles.
    pub tiles: Vec<Tile>,
    pub outputs: Outputs,
    /// Optimiser steps taken.
    pub steps: u64,
    grain: Grain,
}

/// Gradients as one thread gathers them.
#[derive(Clone, Debug)]
pub struct Gradients {
    /// `[N / 32][USED_ROWS]`.
    pub tiles: Vec<Row>,
    /// `[BUCKETS][2][N]`.
    pub weights: Vec<Floats>,
    /// `[BUCKETS]`, then padding.
    pub bias: [f32; HALF],
}

impl Gradients {
    /// Zeros for a network with `hidden` neurons.
    #[must_use]
    pub fn new(hidden: usize) -> Gradients {
        Gradients {
            tiles: vec![[Floats::ZERO; 2]; hidden / TILE * USED_ROWS],
            weights: vec![Floats::ZERO; BUCKETS * 2 * hidden / HALF],
            bias: [0.0; HALF],
        }
    }
}

impl Model {
    /// Random weights, normally distributed with variance 2 / fan-in (He et al. 2015).
    #[must_use]
    pub fn random(hidden: usize, seed: u64) -> Model {
        let mut model = Model::zeroed(hidden);
        let mut normal = Normal { state: mix(seed) };
        let deviation = (2.0 / TYPICAL_ACTIVE).sqrt();
        for tile in &mut model.tiles {
            for weight in &mut tile.weights.floats_mut()[..FEATURES * TILE] {
                *weight = (normal.next() * deviation).clamp(-WEIGHT_LIMIT, WEIGHT_LIMIT);
            }
        }
        let deviation = (2.0 / (2 * hidden) as f32).sqrt();
        for weight in model.outputs.weights.floats_mut() {
            *weight = normal.next() * deviation;
        }
        model.refresh();
        model
    }

    /// A network of zeros.
    #[must_use]
    pub fn zeroed(hidden: usize) -> Model {
        let tile = Tile {
            weights: Trained::zeroed(USED_ROWS * TILE),
            lines: vec![Line::ZERO; ROWS],
        };
        let weights = Trained::zeroed(BUCKETS * 2 * hidden);
        Model {
            hidden,
            tiles: vec![tile; hidden / TILE],
            outputs: Outputs {
                used: weights.value.clone(),
                weights,
                bias: Trained::zeroed(BUCKETS),
            },
            steps: 0,
            grain: Grain::Fine,
        }
    }

    /// Forgets the optimiser's state, as for a new run from these weights.
    pub fn forget(&mut self) {
        self.steps = 0;
        let outputs = [&mut self.outputs.weights, &mut self.outputs.bias];
        for trained in self
            .tiles
            .iter_mut()
            .map(|tile| &mut tile.weights)
            .chain(outputs)
        {
            trained.mean.fill(Floats::ZERO);
            trained.square.fill(Floats::ZERO);
        }
    }

    /// This network with random neurons added up to `hidden`, which nothing listens to yet: it
    /// gives every position the same output as before ("Net2Net", Chen, Goodfellow and Shlens
    /// 2015). The optimiser starts afresh.
    #[must_use]
    pub fn widened(&self, hidden: usize, seed: u64) -> Model {
        let mut wide = Model::random(hidden, seed);
        for (into, from) in wide.tiles.iter_mut().zip(&self.tiles) {
            into.weights.value.copy_from_slice(&from.weights.value);
        }
        wide.outputs.weights.value.fill(Floats::ZERO);
        let narrow = self.outputs.weights.floats().chunks_exact(self.hidden);
        let widened = wide.outputs.weights.floats_mut().chunks_exact_mut(hidden);
        for (into, from) in widened.zip(narrow) {
            into[..self.hidden].copy_from_slice(from);
        }
        let bias = &mut wide.outputs.bias.value;
        bias.copy_from_slice(&self.outputs.bias.value);
        wide.refresh();
        wide
    }

    /// Makes the copies that evaluation uses anew after weights were set.
    pub fn refresh(&mut self) {
        self.tiles
            .iter_mut()
            .for_each(|tile| tile.refresh_lines(self.grain));
        self.outputs.refresh_used(self.grain);
    }

    /// Sets how finely evaluation follows the trained weights.
    pub fn set_grain(&mut self, grain: Grain) {
        if self.grain != grain {
            self.grain = grain;
            self.refresh();
        }
    }

    /// Moves every weight along the gradients gathered by all threads, which become zero;
    /// `factor` scales them (1 / positions).
    pub fn step(&mut self, gradients: &mut [&mut Gradients], factor: f32, learning: f64) {
        self.steps += 1;
        let rate = Rate::new(learning, self.steps);
        let threads = gradients.len();
        let mut weights: Vec<_> = Vec::with_capacity(threads);
        let mut bias = Floats::ZERO;
        let mut tiles: Vec<_> = Vec::with_capacity(threads);
        for part in gradients.iter_mut() {
            weights.push(&mut part.weights[..]);
            bias += Floats::new(std::mem::take(&mut part.bias));
            tiles.push(part.tiles.chunks_exact_mut(USED_ROWS));
        }
        self.outputs
            .weights
            .step(&mut weights, factor, &rate, WEIGHT_LIMIT);
        self.outputs
            .bias
            .step(&mut [&mut [bias]], factor, &rate, f32::INFINITY);
        self.outputs.refresh_used(self.grain);
        let mut jobs: Vec<_> = self
            .tiles
            .iter_mut()
            .map(|tile| (tile, parts_of(&mut tiles)))
            .collect();
        let grain = self.grain;
        let share = jobs.len().div_ceil(threads.max(1)).max(1);
        std::thread::scope(|scope| {
            for jobs in jobs.chunks_mut(share) {
                scope.spawn(move || {
                    for (tile, parts) in jobs {
                        tile.weights.step(parts, factor, &rate, WEIGHT_LIMIT);
                        tile.refresh_lines(grain);
                    }
                });
            }
        });
    }
}

/// The next tile's gradients of every thread, as plain runs of floats.
fn parts_of<'a>(tiles: &mut [std::slice::ChunksExactMut<'a, Row>]) -> Vec<&'a mut [Floats]> {
    let rows = tiles.iter_mut().filter_map(Iterator::next);
    rows.map(|rows| rows.as_flattened_mut()).collect()
}

/// Normally distributed numbers by the sum of uniform ones, which has no far tails.
struct Normal {
    state: u64,
}

impl Normal {
    fn next(&mut self) -> f32 {
        const TERMS: usize = 12;
        let uniform = |state: &mut u64| {
            *state = mix(*state);
            (*state >> 40) as f32 / (1u64 << 24) as f32
        };
        (0..TERMS).map(|_| uniform(&mut self.state)).sum::<f32>() - TERMS as f32 / 2.0
    }
}
