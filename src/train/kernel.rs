//! Forward and backward pass over a chunk of positions: the loop that training time goes to.
//!
//! Every position is two views, the side to move's and the other's. The first pass sums, tile
//! by tile, the 16-bit weight lines of each view's active inputs. The second goes through the
//! positions: output, error, the output layer's gradient, and the hidden sums' gradients, which
//! replace the sums as truncated floats of 16 bits. The third adds those gradients up by input:
//! with the views listed by input, each weight row's gradient stays in registers while it grows
//! and is written once a chunk.

use wide::{f32x16, i32x16};

use super::model::{
    BIAS_ROW, FIXED_ONE, Floats, Gradients, HALF, Line, Model, ROWS, Row, TILE, USED_ROWS,
};
use super::sample::{MAX_ACTIVE, Sample};

/// Positions that are worked on at once: their lines and one tile's weights share the
/// second-level cache.
pub const CHUNK: usize = 2048;
const VIEWS: usize = 2 * CHUNK;
const ROW_MASK: usize = ROWS - 1;
/// Upper half of a 32-bit word: what is left of a float cut to 16 bits.
const UPPER: i32 = 0xffff_0000u32 as i32;
/// Added before the lower half is cut off, to round to the nearest.
const HALF_UNIT: i32 = 0x8000;
const LOWER: i32 = 0xffff;
const LARGEST: i16 = FIXED_ONE as i16;

/// What positions are to be evaluated as.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Centipawns for an output of 1.0.
    pub scale: f32,
    /// Share of the game's result in the target; the rest is the score.
    pub lambda: f32,
}

impl Target {
    /// Expectations between 0 and 1: the goal, the score's and the result.
    fn of(self, sample: &Sample) -> (f32, f32, f32) {
        let score = sigmoid(f32::from(sample.score) / self.scale);
        let result = f32::from(sample.half_points) / 2.0;
        (
            self.lambda * result + (1.0 - self.lambda) * score,
            score,
            result,
        )
    }
}

/// Sums over positions.
#[derive(Clone, Copy, Debug, Default)]
pub struct Losses {
    pub positions: f64,
    /// Squared error against the target.
    pub target: f64,
    /// Squared error against the score's expectation.
    pub score: f64,
    /// Squared error against the result.
    pub result: f64,
}

impl Losses {
    /// Adds another sum.
    pub fn add(&mut self, other: &Losses) {
        self.positions += other.positions;
        self.target += other.target;
        self.score += other.score;
        self.result += other.result;
    }

    /// The mean of a sum over the positions; zero when there are none.
    #[must_use]
    pub fn mean(&self, sum: f64) -> f64 {
        if self.positions > 0.0 {
            sum / self.positions
        } else {
            0.0
        }
    }

    /// Counts what an output (without its logistic function) gets wrong.
    pub fn judge(&mut self, sample: &Sample, output: f32, target: Target) {
        let (goal, score, result) = target.of(sample);
        self.note(sigmoid(output), goal, score, result);
    }

    fn note(&mut self, predicted: f32, target: f32, score: f32, result: f32) {
        let squared = |x: f32| f64::from((predicted - x) * (predicted - x));
        self.positions += 1.0;
        self.target += squared(target);
        self.score += squared(score);
        self.result += squared(result);
    }
}

/// The logistic function: expectation between 0 and 1 of an output.
#[must_use]
pub fn sigmoid(x: f32) -> f32 {
    1.0 / (1.0 + (-x).exp())
}

/// One thread's working memory.
pub struct Worker {
    pub gradients: Gradients,
    picks: Vec<usize>,
    samples: Vec<Sample>,
    /// Active inputs of each view.
    active: Vec<[u16; MAX_ACTIVE]>,
    counts: Vec<u8>,
    /// `[N / 32][VIEWS]`: hidden sums, then their gradients.
    lines: Vec<Line>,
    /// Views by input: those with input `f` are `by_input[starts[f]..starts[f + 1]]`.
    starts: Vec<u32>,
    by_input: Vec<u16>,
}

impl Worker {
    /// Memory for a network with `hidden` neurons.
    #[must_use]
    pub fn new(hidden: usize) -> Worker {
        Worker {
            gradients: Gradients::new(hidden),
            picks: Vec::with_capacity(CHUNK),
            samples: Vec::with_capacity(CHUNK),
            active: vec![[0; MAX_ACTIVE]; VIEWS],
            counts: vec![0; VIEWS],
            lines: vec![Line::ZERO; hidden / TILE * VIEWS],
            starts: vec![0; USED_ROWS + 1],
            by_input: vec![0; VIEWS * (MAX_ACTIVE + 1)],
        }
    }

    /// Adds the gradients of up to [`CHUNK`] positions, picked from `pool` by index, to this worker's and returns the losses.
    pub fn learn(
        &mut self,
        model: &Model,
        target: Target,
        pool: &[Sample],
        picks: impl Iterator<Item = usize>,
    ) -> Losses {
        self.load(pool, picks);
        self.list_by_input();
        self.forward(model);
        let losses = self.outputs(model, target);
        self.backward();
        losses
    }

    /// Evaluates up to [`CHUNK`] positions; `each` gets them and their output (centipawns are
    /// the output times the scale).
    pub fn evaluate(
        &mut self,
        model: &Model,
        samples: &[Sample],
        mut each: impl FnMut(&Sample, f32),
    ) {
        self.load(samples, 0..samples.len());
        self.forward(model);
        for (index, sample) in self.samples.iter().enumerate() {
            let bucket = sample.bucket();
            let weights = &model.outputs.used;
            let sum = output(&self.lines, weights, model.hidden, bucket, index);
            each(sample, sum + model.outputs.bias.floats()[bucket]);
        }
    }

    fn load(&mut self, pool: &[Sample], picks: impl Iterator<Item = usize>) {
        // Indices first: the fetches that follow then overlap, each from anywhere in memory.
        self.picks.clear();
        self.picks.extend(picks.take(CHUNK));
        self.samples.clear();
        self.samples
            .extend(self.picks.iter().map(|&index| pool[index]));
        let views = self.active.as_chunks_mut::<2>().0;
        for ((sample, [own, other]), counts) in self
            .samples
            .iter()
            .zip(views)
            .zip(self.counts.as_chunks_mut::<2>().0)
        {
            let count = sample.features(own, other) as u8;
            *counts = [count; 2];
        }
    }

    /// Counting sort of the views by their inputs; the bias is an input that all have.
    fn list_by_input(&mut self) {
        let views = 2 * self.samples.len();
        self.starts.fill(0);
        let views_active = || self.active.iter().zip(&self.counts).take(views);
        for (active, &count) in views_active() {
            for &input in &active[..usize::from(count)] {
                self.starts[usize::from(input) + 1] += 1;
            }
        }
        self.starts[BIAS_ROW + 1] = views as u32;
        let mut sum = 0;
        for start in &mut self.starts {
            sum += *start;
            *start = sum;
        }
        let mut next = [0u32; USED_ROWS];
        next.copy_from_slice(&self.starts[..USED_ROWS]);
        for (view, (active, &count)) in views_active().enumerate() {
            for &input in &active[..usize::from(count)] {
                let place = &mut next[usize::from(input)];
                self.by_input[*place as usize] = view as u16;
                *place += 1;
            }
        }
        let bias = next[BIAS_ROW] as usize;
        for (view, place) in self.by_input[bias..bias + views].iter_mut().enumerate() {
            *place = view as u16;
        }
    }

    fn forward(&mut self, model: &Model) {
        let views = 2 * self.samples.len();
        for (tile, lines) in model.tiles.iter().zip(self.lines.chunks_exact_mut(VIEWS)) {
            let Ok(rows) = <&[Line; ROWS]>::try_from(&tile.lines[..]) else {
                continue;
            };
            let inputs = self.active.iter().zip(&self.counts);
            for (line, (active, &count)) in lines[..views].iter_mut().zip(inputs) {
                let mut sums = rows[BIAS_ROW];
                for &input in &active[..usize::from(count)] {
                    sums = sums.saturating_add(rows[usize::from(input) & ROW_MASK]);
                }
                *line = sums;
            }
        }
    }

    fn outputs(&mut self, model: &Model, target: Target) -> Losses {
        let hidden = model.hidden;
        let weights = &model.outputs.used;
        let mut losses = Losses::default();
        for (index, sample) in self.samples.iter().enumerate() {
            let bucket = sample.bucket();
            let sum = output(&self.lines, weights, hidden, bucket, index);
            let predicted = sigmoid(sum + model.outputs.bias.floats()[bucket]);
            let (goal, score, result) = target.of(sample);
            losses.note(predicted, goal, score, result);
            let slope = 2.0 * (predicted - goal) * predicted * (1.0 - predicted);
            self.gradients.bias[bucket] += slope;
            for half in 0..2 {
                let from = (2 * bucket + half) * hidden / HALF;
                let weights = &weights[from..from + hidden / HALF];
                let gradients = &mut self.gradients.weights[from..from + hidden / HALF];
                let lines = self.lines[2 * index + half..].iter_mut().step_by(VIEWS);
                let tiles = weights.as_chunks::<2>().0.iter();
                let tiles = tiles.zip(gradients.as_chunks_mut::<2>().0);
                for (line, (weights, gradients)) in lines.zip(tiles) {
                    differentiate(line, weights, gradients, slope);
                }
            }
        }
        losses
    }

    fn backward(&mut self) {
        let tiles = self.gradients.tiles.chunks_exact_mut(USED_ROWS);
        for (lines, gradients) in self.lines.chunks_exact(VIEWS).zip(tiles) {
            let Ok(lines) = <&[Line; VIEWS]>::try_from(lines) else {
                continue;
            };
            for (input, row) in gradients.iter_mut().enumerate() {
                let from = self.starts[input] as usize;
                let to = self.starts[input + 1] as usize;
                if from < to {
                    gather(lines, &self.by_input[from..to], row);
                }
            }
        }
    }
}

/// The lower halves' numbers and the upper halves' numbers of a line of hidden sums, clamped to
/// the range in which neurons respond, as floats in units of 1 / [`FIXED_ONE`].
#[inline(always)]
fn unpack(line: Line) -> Row {
    let words: i32x16 = bytemuck::cast(line.max(Line::ZERO).min(Line::splat(LARGEST)));
    [
        f32x16::from_i32x16(words & i32x16::splat(LOWER)),
        f32x16::from_i32x16(words >> 16),
    ]
}

/// One position's output without the bias.
#[inline(always)]
fn output(lines: &[Line], weights: &[Floats], hidden: usize, bucket: usize, index: usize) -> f32 {
    let mut sums = [Floats::ZERO; 2];
    for half in 0..2 {
        let from = (2 * bucket + half) * hidden / HALF;
        let weights = weights[from..from + hidden / HALF].as_chunks::<2>().0;
        let lines = lines[2 * index + half..].iter().step_by(VIEWS);
        for (line, weights) in lines.zip(weights) {
            let [low, high] = unpack(*line);
            sums[0] = (low * low).mul_add(weights[0], sums[0]);
            sums[1] = (high * high).mul_add(weights[1], sums[1]);
        }
    }
    (sums[0] + sums[1]).reduce_add() / (FIXED_ONE * FIXED_ONE)
}

/// Replaces a line of hidden sums by their gradients and adds to the output weights' gradients.
#[inline(always)]
fn differentiate(line: &mut Line, weights: &Row, gradients: &mut Row, slope: f32) {
    let per_square = Floats::splat(slope / (FIXED_ONE * FIXED_ONE));
    let per_sum = Floats::splat(2.0 * slope / FIXED_ONE);
    let one = Floats::splat(FIXED_ONE);
    let inputs = unpack(*line);
    let mut bits = [i32x16::ZERO; 2];
    for side in 0..2 {
        let input = inputs[side];
        gradients[side] = (input * per_square).mul_add(input, gradients[side]);
        // A neuron at either end of its range does not respond; at 0 the factor itself is 0.
        let responding = input & input.simd_lt(one);
        let gradient = weights[side] * per_sum * responding;
        bits[side] = bytemuck::cast::<Floats, i32x16>(gradient) + i32x16::splat(HALF_UNIT);
    }
    let low = (bits[0] >> 16) & i32x16::splat(LOWER);
    *line = bytemuck::cast(low | bits[1] & i32x16::splat(UPPER));
}

/// Adds the gradients of the listed views to an input's row.
#[inline(always)]
fn gather(lines: &[Line; VIEWS], views: &[u16], row: &mut Row) {
    let words = |view: u16| -> i32x16 { bytemuck::cast(lines[usize::from(view) % VIEWS]) };
    let low = |words: i32x16| -> Floats { bytemuck::cast(words << 16) };
    let high = |words: i32x16| -> Floats { bytemuck::cast(words & i32x16::splat(UPPER)) };
    let [mut low_sum, mut high_sum] = *row;
    // Four at a time, added as a tree: additions that wait for each other set the pace.
    let (fours, rest) = views.as_chunks::<4>();
    for four in fours {
        let [a, b, c, d] = four.map(words);
        low_sum += (low(a) + low(b)) + (low(c) + low(d));
        high_sum += (high(a) + high(b)) + (high(c) + high(d));
    }
    for &view in rest {
        let words = words(view);
        low_sum += low(words);
        high_sum += high(words);
    }
    *row = [low_sum, high_sum];
}
