//! Forward and backward pass over a chunk of positions: the loop that takes most of the time.
//!
//! Every position is two views, the side to move's and the other's. All work goes tile by tile,
//! so that a tile's weights, hidden sums and gradients stay near the processor. The first pass
//! sums the 16-bit weight lines of active inputs, in the order of king buckets ([`ByKing`]): once
//! those that the views of neighbouring positions share, then for each view the others. It also
//! adds the tile's part of the outputs. Errors are then computed from the outputs. The second
//! pass turns the sums into their gradients, as floats of 16 bits in the same place, adds up those
//! of neighbours, and adds them up by input: with views and groups listed by input
//! ([`ByInput`]), each weight row's gradient stays in registers while it grows and is written once
//! a chunk.
//!
//! Positions should come sorted by the king buckets of both sides, neighbours together (see
//! `batch`): a chunk then needs few of the weight rows. Within a chunk they are sorted by output
//! bucket and processed in blocks of one bucket, so that its weights stay in registers.

use crate::memory::LargeTable;
use crate::nnue::single_layer::Shape;

use super::lanes::{Floats, HALF, Lanes, Line, Row, TILE, Task, Unit};
use super::layers::{self, SumSlopes, TrainedLayers};
use super::loss::{Losses, Target};
use super::model::{Gradients, Model};
use super::optimiser::table;
use super::quantisation::FIXED_ONE;
use super::sample::{BUCKETS, Sample};
use super::views::{ByInput, ByKing, NEIGHBOURS, Views};

/// The most positions that are processed at once. The more they are, the more often each row of
/// weights and of gradients is used that comes from memory; views must fit 16 bits.
pub const CHUNK: usize = 8192;
const VIEWS: usize = 2 * CHUNK;
/// The most positions in a block: what is kept of them for a tile fits the first-level cache.
const BLOCK: usize = 64;
/// The most groups of views of neighbouring positions; a chunk is a whole number of them.
const GROUPS: usize = VIEWS / NEIGHBOURS;
/// Lines of a tile: one for each view, then one for each group.
const LINES: usize = VIEWS + GROUPS;
/// Rows of gradients ahead of the present one that are fetched into the cache.
const PREFETCH_AHEAD: usize = 4;
/// The hidden sum at which a neuron saturates.
const LARGEST: i16 = FIXED_ONE as i16;
/// Rows of output weights in a tile: one for each bucket and side.
const OUTPUT_ROWS: usize = 2 * BUCKETS;

/// One thread's working memory.
pub struct Worker {
    pub gradients: Gradients,
    shape: Shape,
    unit: Unit,
    /// The chunk's positions by output bucket.
    samples: Vec<Sample>,
    /// Where each of the chunk's positions went.
    places: Vec<u16>,
    blocks: Vec<PositionBlock>,
    views: Views,
    by_king: ByKing,
    by_input: ByInput,
    /// `[N / 32][LINES]`: the views' hidden sums, then their gradients and the groups'.
    lines: LargeTable<Line>,
    /// Each position's output, still to be added up.
    outputs: Vec<Floats>,
    /// The loss's derivative by each position's output.
    slopes: Vec<f32>,
    layers: LayerMemory,
    hint_weight: f32,
    /// Sum over the chunk of the mean squared distances from the teacher's sums.
    hint_loss: f32,
}

/// Positions of one output bucket.
#[derive(Clone, Copy, Debug)]
struct PositionBlock {
    bucket: usize,
    from: usize,
    to: usize,
    /// Pairs of positions in the blocks before.
    pairs: usize,
}

impl PositionBlock {
    /// Pairs of positions, the last of which may lack one.
    const fn count_pairs(&self) -> usize {
        (self.to - self.from).div_ceil(2)
    }

    /// The block's places among the pairs of all blocks.
    const fn pairs(&self) -> std::ops::Range<usize> {
        self.pairs..self.pairs + self.count_pairs()
    }
}

/// What the dense layers keep for the positions of a chunk or a block.
struct LayerMemory {
    /// By position: sums of the first and of the second layer.
    first: Vec<Floats>,
    second: Vec<Row>,
    /// By pair of positions.
    slopes: Vec<SumSlopes>,
    /// By position of the block: products of a tile, and the loss's slopes by them.
    products: [Line; BLOCK],
    product_slopes: [Row; BLOCK],
    /// By pair of positions of the block: products of each side, interleaved.
    pairs: [[Line; 2]; BLOCK / 2],
}

impl LayerMemory {
    fn new() -> LayerMemory {
        const BLOCKS: usize = CHUNK / BLOCK + BUCKETS;
        LayerMemory {
            first: vec![Floats::ZERO; CHUNK],
            second: vec![[Floats::ZERO; 2]; CHUNK],
            slopes: vec![SumSlopes::ZERO; CHUNK / 2 + BLOCKS],
            products: [Line::ZERO; BLOCK],
            product_slopes: [[Floats::ZERO; 2]; BLOCK],
            pairs: [[Line::ZERO; 2]; BLOCK / 2],
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
            places: Vec::with_capacity(CHUNK),
            blocks: Vec::new(),
            views: Views::new(shape.rows(), VIEWS),
            by_king: ByKing::default(),
            by_input: ByInput::new(shape.rows(), VIEWS),
            lines: table(shape.hidden / TILE * LINES),
            outputs: vec![Floats::ZERO; CHUNK],
            slopes: vec![0.0; CHUNK],
            layers: LayerMemory::new(),
            hint_weight: 0.0,
            hint_loss: 0.0,
        }
    }

    /// Adds the gradients of up to [`CHUNK`] positions to this worker's and returns the losses.
    pub fn learn(&mut self, model: &Model, target: Target, samples: &[Sample]) -> Losses {
        self.hint_weight = target.hint_weight;
        self.load(samples);
        for (input, _) in self.by_input.rows() {
            self.gradients.touched[input] = true;
        }
        let unit = self.unit;
        unit.run(Forward(self, model));
        let mut losses = Losses::default();
        for (index, sample) in self.samples.iter().enumerate() {
            let predicted = target.expectation(self.output(model, index, sample));
            let (goal, score, result) = target.of(sample);
            losses.note(predicted, goal, score, result);
            let slope = target.slope(predicted, goal);
            self.gradients.bias.0[sample.bucket()] += slope;
            self.slopes[index] = slope;
        }
        self.hint_loss = 0.0;
        unit.run(Backward(self, model));
        losses.hints = f64::from(self.hint_loss);
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
        for (sample, &place) in samples.iter().zip(&self.places) {
            each(sample, self.output(model, usize::from(place), sample));
        }
    }

    /// A position's output after the forward pass.
    fn output(&self, model: &Model, index: usize, sample: &Sample) -> f32 {
        let sum: f32 = self.outputs[index].0.iter().sum();
        sum + model.outputs.bias.floats()[sample.bucket()]
    }

    fn load(&mut self, samples: &[Sample]) {
        self.sort(&samples[..samples.len().min(CHUNK)]);
        let buckets = self.shape.king_buckets;
        self.views.load(&self.samples, &self.places, buckets);
        self.by_king.list(self.views.groups(), buckets);
        self.by_input.list(&self.views);
    }

    /// Sorts the positions by output bucket and divides them into blocks.
    fn sort(&mut self, samples: &[Sample]) {
        let mut ends = [0; BUCKETS];
        for sample in samples {
            ends[sample.bucket()] += 1;
        }
        let mut starts = [0; BUCKETS];
        self.blocks.clear();
        let (mut start, mut pairs) = (0, 0);
        for bucket in 0..BUCKETS {
            starts[bucket] = start;
            let end = start + ends[bucket];
            for from in (start..end).step_by(BLOCK) {
                let to = (from + BLOCK).min(end);
                let block = PositionBlock {
                    bucket,
                    from,
                    to,
                    pairs,
                };
                pairs += block.count_pairs();
                self.blocks.push(block);
            }
            start = end;
        }
        self.samples.resize(samples.len(), Sample::default());
        self.places.clear();
        for sample in samples {
            let place = &mut starts[sample.bucket()];
            self.samples[*place] = *sample;
            self.places.push(*place as u16);
            *place += 1;
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
        worker.layers.first[..positions].fill(Floats::ZERO);
        for tile in 0..model.tiles.len() {
            let weights = output_rows(&model.outputs.used, model.shape.hidden, tile);
            worker.sum_views(l, model, tile);
            for index in 0..worker.blocks.len() {
                worker.add_block(l, model, tile, &weights, index);
            }
        }
        let unit = l.splat(1.0 / (FIXED_ONE * FIXED_ONE));
        for output in &mut worker.outputs[..positions] {
            let scaled = l.mul(l.floats(output), unit);
            l.put_floats(output, scaled);
        }
        let Some(layers) = &model.layers else {
            return;
        };
        let memory = &mut worker.layers;
        for block in &worker.blocks {
            for position in block.from..block.to {
                let sums = (&mut memory.first[position], &mut memory.second[position]);
                let rounding = model.is_rounding();
                let added = layers::forward(l, layers, block.bucket, rounding, sums);
                let output = &mut worker.outputs[position];
                let sum = l.add(l.floats(output), added);
                l.put_floats(output, sum);
            }
        }
    }
}

impl Worker {
    /// A tile's hidden sums.
    #[inline(always)]
    fn sum_views<L: Lanes>(&mut self, l: L, model: &Model, tile: usize) {
        let rows = model.tile_lines(tile);
        let bias = l.line(&rows[model.shape.features()]);
        let lines = &mut self.lines[tile * LINES..][..VIEWS];
        // One after the other they come faster than when a sum waits for each.
        for (input, _) in self.by_input.rows() {
            l.prefetch(&rows[input]);
        }
        for &index in self.by_king.order() {
            let group = &self.views.groups()[usize::from(index)];
            let row = |input: u16| l.line(&rows[usize::from(input)]);
            let mut shared = bias;
            for &input in group.shared() {
                shared = l.add_lines(shared, row(input));
            }
            // All views at once: separate loops would end at different times, and each end costs
            // a wrongly predicted branch.
            let mut sums = [shared; NEIGHBOURS];
            for inputs in self.views.beside(group) {
                for (sum, &input) in sums.iter_mut().zip(inputs) {
                    *sum = l.add_lines(*sum, row(input));
                }
            }
            for (&view, sum) in group.views().iter().zip(sums) {
                l.put_line(&mut lines[usize::from(view)], sum);
            }
        }
    }

    /// The gradients of each group's sum: those of its views, added up.
    #[inline(always)]
    fn sum_groups<L: Lanes>(&mut self, l: L, tile: usize) {
        let (views, groups) = self.lines[tile * LINES..][..LINES].split_at_mut(VIEWS);
        for (group, into) in self.views.groups().iter().zip(groups) {
            let mut row = [Floats::ZERO; 2];
            sum_gradients(l, views, group.views(), &mut row);
            let sum = [l.floats(&row[0]), l.floats(&row[1])];
            l.put_line(into, l.shorten(sum));
        }
    }

    /// What a tile's hidden sums of a block of positions add to the outputs and to the sums of the
    /// dense layers.
    #[inline(always)]
    fn add_block<L: Lanes>(
        &mut self,
        l: L,
        model: &Model,
        tile: usize,
        weights: &[Row; OUTPUT_ROWS],
        index: usize,
    ) {
        let block = self.blocks[index];
        let weights = &weights[2 * block.bucket..][..2];
        let lines = &self.lines[tile * LINES..][..VIEWS];
        let rounding = model.is_rounding();
        for position in block.from..block.to {
            let output = &mut self.outputs[position];
            let mut parts = [l.floats(output), l.splat(0.0)];
            let mut inputs = [[l.splat(0.0); 2]; 2];
            for side in 0..2 {
                let sums = l.line(&lines[2 * position + side]);
                inputs[side] = l.clamp_to_floats(sums, LARGEST);
                for half in 0..2 {
                    let weight = l.floats(&weights[side][half]);
                    let weighted = l.mul(inputs[side][half], weight);
                    parts[half] = l.mul_add(weighted, inputs[side][half], parts[half]);
                }
            }
            l.put_floats(output, l.add(parts[0], parts[1]));
            if model.layers.is_some() {
                let products = layers::products(l, inputs, rounding);
                l.put_line(&mut self.layers.products[position - block.from], products);
            }
        }
        if let Some(layers) = &model.layers {
            let sums = &mut self.layers.first[block.from..block.to];
            let at = (block.bucket, tile);
            layers::add_products(l, layers, at, &self.layers.products, sums);
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
        if let Some(layers) = &model.layers {
            worker.backward_small(l, layers, model.is_rounding());
        }
        for tile in 0..model.tiles.len() {
            let weights = output_rows(&model.outputs.used, hidden, tile);
            let mut sums = [[Floats::ZERO; 2]; OUTPUT_ROWS];
            for index in 0..worker.blocks.len() {
                worker.differentiate_block(l, model, tile, &weights, &mut sums, index);
            }
            let into = &mut worker.gradients.weights;
            for (row, sums) in sums.iter().enumerate() {
                let at = row * hidden / HALF + 2 * tile;
                for half in 0..2 {
                    let sum = l.add(l.floats(&into[at + half]), l.floats(&sums[half]));
                    l.put_floats(&mut into[at + half], sum);
                }
            }
            worker.sum_groups(l, tile);
            let lines = &worker.lines[tile * LINES..][..LINES];
            let gradients = &mut worker.gradients.tiles[tile * rows..][..rows];
            sum_rows(l, &worker.by_input, lines, gradients);
        }
    }
}

impl Worker {
    /// Gradients of the small dense layers, and the slopes by their first sums.
    #[inline(always)]
    fn backward_small<L: Lanes>(&mut self, l: L, layers: &TrainedLayers, rounding: bool) {
        let Some(gradients) = &mut self.gradients.layers else {
            return;
        };
        let memory = &mut self.layers;
        for block in &self.blocks {
            for pair in 0..block.count_pairs() {
                let first = block.from + 2 * pair;
                let mut by_sums = [l.splat(0.0); 2];
                for position in first..block.to.min(first + 2) {
                    let sums = (&memory.first[position], &memory.second[position]);
                    let slope = self.slopes[position];
                    let bucket = block.bucket;
                    let mut by_hints = Floats::ZERO;
                    if self.hint_weight > 0.0
                        && let Some(hints) = self.samples[position].hints()
                    {
                        self.hint_loss +=
                            layers::hint_slopes(sums.0, hints, self.hint_weight, &mut by_hints);
                    }
                    let slopes = (slope, &by_hints);
                    by_sums[position - first] =
                        layers::backward(l, layers, bucket, sums, slopes, gradients, rounding);
                }
                memory.slopes[block.pairs + pair] = layers::pair_slopes(l, by_sums);
            }
        }
    }

    /// Replaces a tile's hidden sums of a block by their gradients and adds to the gradients of the
    /// output weights and of the first dense layer.
    #[inline(always)]
    fn differentiate_block<L: Lanes>(
        &mut self,
        l: L,
        model: &Model,
        tile: usize,
        weights: &[Row; OUTPUT_ROWS],
        sums: &mut [Row; OUTPUT_ROWS],
        index: usize,
    ) {
        let block = self.blocks[index];
        let rows = 2 * block.bucket..2 * block.bucket + 2;
        let (weights, sums) = (&weights[rows.clone()], &mut sums[rows]);
        let lines = &mut self.lines[tile * LINES..][..VIEWS];
        let memory = &mut self.layers;
        let slopes = &memory.slopes[block.pairs()];
        let count = block.to - block.from;
        let at = (block.bucket, tile);
        if let Some(layers) = &model.layers {
            let into = &mut memory.product_slopes[..count];
            layers::product_slopes(l, layers, at, slopes, into);
        }
        for position in 0..count {
            let views = &mut lines[2 * (block.from + position)..][..2];
            // Written out: the compiler calls a closure of `map` without the vector instructions.
            let inputs = [
                l.clamp_to_floats(l.line(&views[0]), LARGEST),
                l.clamp_to_floats(l.line(&views[1]), LARGEST),
            ];
            let mut by_product = None;
            if model.layers.is_some() {
                let products = layers::products(l, inputs, model.is_rounding());
                l.put_line(&mut memory.products[position], products);
                by_product = Some(memory.product_slopes[position]);
            }
            for side in 0..2 {
                let slope = self.slopes[block.from + position];
                let mut gradient =
                    square_gradients(l, inputs[side], &weights[side], &mut sums[side], slope);
                if let Some(by_product) = &by_product {
                    let by_product = l.floats(&by_product[side]);
                    let more = layers::partner_slopes(l, inputs[side], by_product);
                    gradient = [l.add(gradient[0], more[0]), l.add(gradient[1], more[1])];
                }
                // A neuron at either end of its range has no gradient.
                let inside = |half: usize| l.inside(gradient[half], inputs[side][half], FIXED_ONE);
                l.put_line(&mut views[side], l.shorten([inside(0), inside(1)]));
            }
        }
        if let Some(gradients) = &mut self.gradients.layers {
            if count < BLOCK {
                memory.products[count] = Line::ZERO;
            }
            let pairs = &mut memory.pairs[..block.count_pairs()];
            for (pair, products) in pairs.iter_mut().zip(memory.products.as_chunks::<2>().0) {
                let interleaved = l.interleave(l.line(&products[0]), l.line(&products[1]));
                for side in 0..2 {
                    l.put_line(&mut pair[side], interleaved[side]);
                }
            }
            let into = gradients.of_tile(block.bucket, tile);
            layers::add_first_gradients(l, pairs, slopes, into);
        }
    }
}

/// Slopes by a view's hidden values through their squares; adds to the output weights' gradients.
#[inline(always)]
fn square_gradients<L: Lanes>(
    l: L,
    inputs: [L::Floats; 2],
    weights: &Row,
    sums: &mut Row,
    slope: f32,
) -> [L::Floats; 2] {
    let per_square = l.splat(slope / (FIXED_ONE * FIXED_ONE));
    let per_sum = l.splat(2.0 * slope / FIXED_ONE);
    let gradient = |half: usize, sum: &mut Floats| {
        let input = inputs[half];
        let scaled = l.mul(input, per_square);
        l.put_floats(sum, l.mul_add(scaled, input, l.floats(sum)));
        let weighted = l.mul(l.floats(&weights[half]), per_sum);
        l.mul(weighted, input)
    };
    let [low, high] = sums;
    [gradient(0, low), gradient(1, high)]
}

/// Adds the gradients of a tile's lines to the rows of the inputs that they have.
#[inline(always)]
fn sum_rows<L: Lanes>(l: L, by_input: &ByInput, lines: &[Line], gradients: &mut [Row]) {
    let last = gradients.len() - 1;
    let ahead = by_input.rows().skip(PREFETCH_AHEAD);
    let ahead = ahead.map(|(input, _)| input).chain(std::iter::repeat(last));
    for ((input, having), next) in by_input.rows().zip(ahead) {
        gradients[next].iter().for_each(|half| l.prefetch(half));
        sum_gradients(l, lines, having, &mut gradients[input]);
    }
}

/// Adds the gradients of the listed lines to an input's row.
#[inline(always)]
fn sum_gradients<L: Lanes>(l: L, lines: &[Line], listed: &[u16], row: &mut Row) {
    let line = |number: u16| l.line(&lines[usize::from(number)]);
    // Two sums at a time: a single chain of additions would be limited by their latency.
    let mut sums = [l.floats(&row[0]), l.floats(&row[1])];
    let mut others = [l.splat(0.0); 2];
    let (fours, rest) = listed.as_chunks::<4>();
    for &[a, b, c, d] in fours {
        sums = l.add_short_pair(sums, line(a), line(b));
        others = l.add_short_pair(others, line(c), line(d));
    }
    for &number in rest {
        sums = l.add_short_pair(sums, line(number), l.line(&Line::ZERO));
    }
    for half in 0..2 {
        l.put_floats(&mut row[half], l.add(sums[half], others[half]));
    }
}
