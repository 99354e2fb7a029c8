//! Forward and backward pass over a chunk of positions: the loop that training time goes to.
//!
//! Every position is two views, the side to move's and the other's. All work goes tile by tile,
//! so that a tile's weights, hidden sums and gradients stay in the second-level cache. The first
//! pass sums the 16-bit weight lines of each view's active inputs and adds what the tile means to
//! the outputs. Errors then follow from the outputs. The second pass turns the sums into their
//! gradients, as floats of 16 bits in the same place, and adds those up by input: with the views
//! listed by input, each weight row's gradient stays in registers while it grows and is written
//! once a chunk.
//!
//! Positions should come sorted by the king buckets of both sides (see `batch`): a chunk then
//! needs few of the weight rows.

use crate::memory::LargeTable;
use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::Shape;

use super::lanes::{Floats, HALF, Lanes, Line, Row, TILE, Task, Unit};
use super::model::{FIXED_ONE, Gradients, Model, table};
use super::sample::{BUCKETS, MAX_ACTIVE, Sample};

/// Positions that are worked on at once: their lines and one tile's weights share the
/// second-level cache.
pub const CHUNK: usize = 2048;
const VIEWS: usize = 2 * CHUNK;
/// The hidden sum at which a neuron stops responding.
const LARGEST: i16 = FIXED_ONE as i16;
/// Rows of output weights in a tile: one for each bucket and side.
const OUTPUT_ROWS: usize = 2 * BUCKETS;

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
    pub fn add_output(&mut self, sample: &Sample, output: f32, target: Target) {
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
    shape: Shape,
    unit: Unit,
    samples: Vec<Sample>,
    /// Active inputs of each view.
    active: Vec<[u16; MAX_ACTIVE]>,
    counts: Vec<u8>,
    /// `[N / 32][VIEWS]`: hidden sums, then their gradients.
    lines: LargeTable<Line>,
    /// Each position's output, still to be added up.
    outputs: Vec<Floats>,
    /// The loss's slope by each position's output.
    slopes: Vec<f32>,
    by_input: ByInput,
}

/// The views that have each input.
struct ByInput {
    /// Where each input's views begin; used while listing.
    next: Vec<u32>,
    /// Inputs that any view has, with the range of their views.
    rows: Vec<(usize, usize, usize)>,
    views: Vec<u16>,
}

impl ByInput {
    fn new(rows: usize) -> ByInput {
        ByInput {
            next: vec![0; rows + 1],
            rows: Vec::with_capacity(rows),
            views: vec![0; VIEWS * (MAX_ACTIVE + 1)],
        }
    }

    /// Counting sort of the views by their inputs; the bias is an input that all have.
    fn list(&mut self, active: &[[u16; MAX_ACTIVE]], counts: &[u8]) {
        let inputs = |view: usize| &active[view][..usize::from(counts[view])];
        let bias = self.next.len() - 2;
        self.next.fill(0);
        for view in 0..active.len() {
            for &input in inputs(view) {
                self.next[usize::from(input) + 1] += 1;
            }
        }
        self.rows.clear();
        let mut from = 0;
        for input in 0..bias {
            let to = from + self.next[input + 1] as usize;
            if from < to {
                self.rows.push((input, from, to));
            }
            self.next[input] = from as u32;
            from = to;
        }
        self.rows.push((bias, from, from + active.len()));
        for view in 0..active.len() {
            for &input in inputs(view) {
                let place = &mut self.next[usize::from(input)];
                self.views[*place as usize] = view as u16;
                *place += 1;
            }
            self.views[from + view] = view as u16;
        }
    }
}

impl Worker {
    /// Memory for a network of this shape, for the fastest instructions of this processor.
    #[must_use]
    pub fn new(shape: Shape) -> Worker {
        Worker::with_unit(shape, Unit::best())
    }

    /// The same with chosen instructions.
    #[must_use]
    pub fn with_unit(shape: Shape, unit: Unit) -> Worker {
        Worker {
            gradients: Gradients::new(shape),
            shape,
            unit,
            samples: Vec::with_capacity(CHUNK),
            active: vec![[0; MAX_ACTIVE]; VIEWS],
            counts: vec![0; VIEWS],
            lines: table(shape.hidden / TILE * VIEWS),
            outputs: vec![Floats::ZERO; CHUNK],
            slopes: vec![0.0; CHUNK],
            by_input: ByInput::new(shape.rows()),
        }
    }

    /// Adds the gradients of up to [`CHUNK`] positions to this worker's and returns the losses.
    pub fn learn(&mut self, model: &Model, target: Target, samples: &[Sample]) -> Losses {
        self.load(samples);
        let views = 2 * self.samples.len();
        self.by_input
            .list(&self.active[..views], &self.counts[..views]);
        for &(input, _, _) in &self.by_input.rows {
            self.gradients.touched[input] = true;
        }
        let unit = self.unit;
        unit.run(Forward(self, model));
        let mut losses = Losses::default();
        for (index, sample) in self.samples.iter().enumerate() {
            let predicted = sigmoid(self.output(model, index, sample));
            let (goal, score, result) = target.of(sample);
            losses.note(predicted, goal, score, result);
            let slope = 2.0 * (predicted - goal) * predicted * (1.0 - predicted);
            self.gradients.bias.0[sample.bucket()] += slope;
            self.slopes[index] = slope;
        }
        unit.run(Backward(self, model));
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
        self.load(samples);
        let unit = self.unit;
        unit.run(Forward(self, model));
        for (index, sample) in self.samples.iter().enumerate() {
            each(sample, self.output(model, index, sample));
        }
    }

    /// A position's output after the forward pass.
    fn output(&self, model: &Model, index: usize, sample: &Sample) -> f32 {
        let sum: f32 = self.outputs[index].0.iter().sum();
        sum / (FIXED_ONE * FIXED_ONE) + model.outputs.bias.floats()[sample.bucket()]
    }

    fn load(&mut self, samples: &[Sample]) {
        self.samples.clear();
        self.samples.extend(samples.iter().take(CHUNK));
        let buckets: KingBuckets = self.shape.king_buckets;
        let views = self.active.as_chunks_mut::<2>().0;
        for ((sample, [own, other]), counts) in
            (self.samples.iter().zip(views)).zip(self.counts.as_chunks_mut::<2>().0)
        {
            let count = sample.features(buckets, own, other) as u8;
            *counts = [count; 2];
        }
    }
}

/// A tile's part of the output layers' weights, `[BUCKETS][2]`.
fn output_rows(weights: &[Floats], hidden: usize, tile: usize) -> [Row; OUTPUT_ROWS] {
    std::array::from_fn(|row| {
        let at = row * hidden / HALF + 2 * tile;
        [weights[at], weights[at + 1]]
    })
}

/// Hidden sums and outputs.
struct Forward<'a>(&'a mut Worker, &'a Model);

impl Task for Forward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Forward(worker, model) = self;
        let positions = worker.samples.len();
        worker.outputs[..positions].fill(Floats::ZERO);
        let bias = model.shape.features();
        let tiles = model.tiles.iter().zip(worker.lines.chunks_exact_mut(VIEWS));
        for (number, (tile, lines)) in tiles.enumerate() {
            let weights = output_rows(&model.outputs.used, model.shape.hidden, number);
            let rows = &tile.lines[..];
            let bias = l.line(&rows[bias]);
            for (position, sample) in worker.samples.iter().enumerate() {
                let bucket = sample.bucket();
                let output = &mut worker.outputs[position];
                let mut parts = [l.floats(output), l.splat(0.0)];
                for side in 0..2 {
                    let view = 2 * position + side;
                    let count = usize::from(worker.counts[view]);
                    let mut sums = bias;
                    for &input in &worker.active[view][..count] {
                        sums = l.add_lines(sums, l.line(&rows[usize::from(input)]));
                    }
                    l.put_line(&mut lines[view], sums);
                    let inputs = l.clamp_to_floats(sums, LARGEST);
                    for half in 0..2 {
                        let weight = l.floats(&weights[2 * bucket + side][half]);
                        let weighted = l.mul(inputs[half], weight);
                        parts[half] = l.mul_add(weighted, inputs[half], parts[half]);
                    }
                }
                l.put_floats(output, l.add(parts[0], parts[1]));
            }
        }
    }
}

/// Gradients of output and input weights.
struct Backward<'a>(&'a mut Worker, &'a Model);

impl Task for Backward<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let Backward(worker, model) = self;
        let (hidden, rows) = (model.shape.hidden, model.shape.rows());
        let lines = worker.lines.chunks_exact_mut(VIEWS);
        let tiles = worker.gradients.tiles.chunks_exact_mut(rows);
        for (number, (lines, gradients)) in lines.zip(tiles).enumerate() {
            let weights = output_rows(&model.outputs.used, hidden, number);
            let mut sums = [[Floats::ZERO; 2]; OUTPUT_ROWS];
            for (position, sample) in worker.samples.iter().enumerate() {
                let slope = worker.slopes[position];
                for side in 0..2 {
                    let row = 2 * sample.bucket() + side;
                    let line = &mut lines[2 * position + side];
                    differentiate(l, line, &weights[row], &mut sums[row], slope);
                }
            }
            let into = &mut worker.gradients.weights;
            for (row, sums) in sums.iter().enumerate() {
                let at = row * hidden / HALF + 2 * number;
                for half in 0..2 {
                    let sum = l.add(l.floats(&into[at + half]), l.floats(&sums[half]));
                    l.put_floats(&mut into[at + half], sum);
                }
            }
            for &(input, from, to) in &worker.by_input.rows {
                let views = &worker.by_input.views[from..to];
                sum_views(l, lines, views, &mut gradients[input]);
            }
        }
    }
}

/// Replaces a line of hidden sums by their gradients and adds to the output weights' gradients.
#[inline(always)]
fn differentiate<L: Lanes>(l: L, line: &mut Line, weights: &Row, sums: &mut Row, slope: f32) {
    let per_square = l.splat(slope / (FIXED_ONE * FIXED_ONE));
    let per_sum = l.splat(2.0 * slope / FIXED_ONE);
    let inputs = l.clamp_to_floats(l.line(line), LARGEST);
    let gradient = |half: usize, sum: &mut Floats| {
        let input = inputs[half];
        let scaled = l.mul(input, per_square);
        l.put_floats(sum, l.mul_add(scaled, input, l.floats(sum)));
        let weighted = l.mul(l.floats(&weights[half]), per_sum);
        // A neuron at either end of its range does not respond.
        l.inside(l.mul(weighted, input), input, FIXED_ONE)
    };
    let [low, high] = sums;
    let row = [gradient(0, low), gradient(1, high)];
    l.put_line(line, l.shorten(row));
}

/// Adds the gradients of the listed views to an input's row.
#[inline(always)]
fn sum_views<L: Lanes>(l: L, lines: &[Line], views: &[u16], row: &mut Row) {
    let line = |view: u16| l.line(&lines[usize::from(view)]);
    // Two sums at a time: additions that wait for each other set the pace.
    let mut sums = [l.floats(&row[0]), l.floats(&row[1])];
    let mut others = [l.splat(0.0); 2];
    let (fours, rest) = views.as_chunks::<4>();
    for &[a, b, c, d] in fours {
        sums = l.add_short_pair(sums, line(a), line(b));
        others = l.add_short_pair(others, line(c), line(d));
    }
    for &view in rest {
        sums = l.add_short_pair(sums, line(view), l.line(&Line::ZERO));
    }
    for half in 0..2 {
        l.put_floats(&mut row[half], l.add(sums[half], others[half]));
    }
}
