//! The network's parameters while they are trained.
//!
//! The hidden layer is cut into tiles of 32 neurons. A tile's feature weights for one input are
//! then one cache line as 16-bit integers, and the rows that a few king buckets need fit the
//! second-level cache, which decides the speed of training: see `kernel`. The order of a tile's
//! neurons in arrays of floats is that of `lanes`.
//!
//! With several king buckets the weights are factorised: each input's is the sum of one for its
//! king bucket and one that all buckets share, so that what they have in common is learnt from all
//! positions. Both are trained; evaluation and the network file use the sum. (The factoriser is
//! nnue-pytorch's.)

use crate::memory::LargeTable;
use crate::nnue::single_layer::{MAX_OUTPUT_WEIGHT, PIECE_FEATURES, QA, QB, Shape};

use super::lanes::{Floats, HALF, Lanes, Line, Row, TILE, Task, Unit};
use super::layers::{LayerGradients, TrainedLayers};
use super::normal::Normal;
use super::optimiser::{NO_FRACTION, Rate, Trained, WEIGHT_LIMIT, add, clamp, round, table};
use super::quantisation::{FINER, FIXED_ONE, FakeQuantisation};
use super::sample::BUCKETS;

/// Inputs that are active in a typical position: the fan-in for the initial weights.
const TYPICAL_ACTIVE: f32 = 32.0;

/// 32 hidden neurons with all their input weights.
#[derive(Clone, Debug)]
pub struct Tile {
    /// `[features + 1][TILE]`: a row an input, then the bias.
    pub weights: Trained,
    /// `[PIECE_FEATURES][TILE]`: what all king buckets share, added to each one's rows.
    pub shared: Trained,
}

impl Tile {
    /// The weights of an input, or the bias, in the order of slots.
    #[must_use]
    pub fn row(&self, input: usize) -> Row {
        let [low, high] = &self.weights.rows()[input];
        if input + 1 == self.weights.rows().len() {
            return [*low, *high];
        }
        let shared = &self.shared.rows()[input % PIECE_FEATURES];
        [add_clamped(low, &shared[0]), add_clamped(high, &shared[1])]
    }

    /// Rounds the weights to integers, a line a row.
    #[inline(always)]
    fn round_weights<L: Lanes>(&self, l: L, lines: &mut [Line], quantisation: FakeQuantisation) {
        let (steps, finer) = match quantisation {
            FakeQuantisation::Off => (l.splat(FIXED_ONE), l.splat(1.0)),
            FakeQuantisation::On => (l.splat(QA as f32), l.splat(FINER as f32)),
        };
        let (up, down) = (l.splat(NO_FRACTION), l.splat(-NO_FRACTION));
        for (input, line) in lines[..self.weights.rows().len()].iter_mut().enumerate() {
            let row = self.row(input);
            let mut whole = [up; 2];
            for half in 0..2 {
                let rounded = l.add(l.mul_add(l.floats(&row[half]), steps, up), down);
                whole[half] = l.mul(rounded, finer);
            }
            l.put_line(line, l.to_line(whole));
        }
    }

    /// One optimiser step: `gradients` holds a row an input and the bias's.
    #[inline(always)]
    fn step(&mut self, gradients: &mut [Row], update: &Update) {
        let features = gradients.len() - 1;
        if features > PIECE_FEATURES {
            let mut shared = vec![[Floats::ZERO; 2]; PIECE_FEATURES];
            for bucket in gradients[..features].chunks_exact(PIECE_FEATURES) {
                for (sum, part) in shared.iter_mut().zip(bucket) {
                    *sum = [add(&sum[0], &part[0]), add(&sum[1], &part[1])];
                }
            }
            let shared = shared.as_flattened_mut();
            self.shared
                .step(shared, update.factor, &update.rate, WEIGHT_LIMIT);
        }
        let gradients = gradients.as_flattened_mut();
        self.weights
            .step(gradients, update.factor, &update.rate, WEIGHT_LIMIT);
    }
}

/// What one optimiser step does to every tile.
#[derive(Clone, Copy, Debug)]
struct Update {
    /// One over the positions that the gradients are sums over.
    factor: f32,
    rate: Rate,
    quantisation: FakeQuantisation,
}

/// A tile, its rounded weights and the threads' gradients of it.
type TileParts<'a> = ((&'a mut Tile, &'a mut [Line]), Vec<&'a mut [Row]>);

/// Optimiser steps of some tiles.
struct StepTiles<'a, 'b> {
    tiles: &'a mut [TileParts<'b>],
    /// Rows that each part holds gradients of.
    touched: &'a [&'a [bool]],
    update: &'a Update,
}

impl Task for StepTiles<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        for ((tile, lines), parts) in self.tiles.iter_mut() {
            let Some((first, others)) = parts.split_first_mut() else {
                continue;
            };
            for (other, touched) in others.iter_mut().zip(&self.touched[1..]) {
                for (index, _) in touched.iter().enumerate().filter(|(_, touched)| **touched) {
                    let (sum, part) = (&mut first[index], &mut other[index]);
                    *sum = [add(&sum[0], &part[0]), add(&sum[1], &part[1])];
                    *part = [Floats::ZERO; 2];
                }
            }
            tile.step(first, self.update);
            tile.round_weights(l, lines, self.update.quantisation);
        }
    }
}

/// One optimiser step of the dense layers.
struct StepLayers<'a, 'b>(
    &'a mut TrainedLayers,
    Vec<&'b mut LayerGradients>,
    &'a Update,
);

impl Task for StepLayers<'_, '_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, _lanes: L) {
        let StepLayers(layers, mut parts, update) = self;
        layers.step(&mut parts, update.factor, &update.rate);
        layers.refresh(update.quantisation);
    }
}

/// Recomputes the integers of all tiles.
struct RefreshTiles<'a>(&'a mut Model);

impl Task for RefreshTiles<'_> {
    type Output = ();

    #[inline(always)]
    fn run<L: Lanes>(self, l: L) {
        let RefreshTiles(model) = self;
        let lines = model.lines.chunks_exact_mut(model.shape.rows() + 1);
        for (tile, lines) in model.tiles.iter().zip(lines) {
            tile.round_weights(l, lines, model.quantisation);
        }
    }
}

#[inline(always)]
fn add_clamped(a: &Floats, b: &Floats) -> Floats {
    Floats(std::array::from_fn(|i| {
        clamp(a.0[i] + b.0[i], WEIGHT_LIMIT)
    }))
}

/// The output layers.
#[derive(Clone, Debug)]
pub struct Outputs {
    /// `[BUCKETS][2][N]`, the side to move's half first.
    pub weights: Trained,
    /// The weights as evaluation uses them; see [`FakeQuantisation`].
    pub used: LargeTable<Floats>,
    /// `[BUCKETS]`, then padding.
    pub bias: Trained,
}

impl Outputs {
    fn refresh_used(&mut self, quantisation: FakeQuantisation) {
        let (steps, limit) = (QB as f32, f32::from(MAX_OUTPUT_WEIGHT));
        for (used, value) in self.used.iter_mut().zip(&self.weights.value[..]) {
            *used = match quantisation {
                FakeQuantisation::Off => *value,
                FakeQuantisation::On => Floats(
                    value
                        .0
                        .map(|value| clamp(round(value * steps), limit) / steps),
                ),
            };
        }
    }
}

/// All parameters with the optimiser's state.
#[derive(Clone, Debug)]
pub struct Model {
    pub shape: Shape,
    /// N / 32 tiles.
    pub tiles: Vec<Tile>,
    /// Their weights and biases rounded to 16 bits and a line of zeros, `[N / 32][rows + 1]`: one
    /// table, which is large enough for huge pages.
    lines: LargeTable<Line>,
    pub outputs: Outputs,
    pub layers: Option<TrainedLayers>,
    /// Optimiser steps taken.
    pub steps: u64,
    quantisation: FakeQuantisation,
}

/// Gradients as one thread gathers them.
#[derive(Debug)]
pub struct Gradients {
    /// `[N / 32][rows]`.
    pub tiles: LargeTable<Row>,
    /// Rows that have a gradient, in every tile alike.
    pub touched: Vec<bool>,
    /// `[BUCKETS][2][N]`.
    pub weights: Vec<Floats>,
    /// `[BUCKETS]`, then padding.
    pub bias: Floats,
    pub layers: Option<LayerGradients>,
}

impl Gradients {
    /// Zeros for a network of this shape.
    #[must_use]
    pub fn new(shape: Shape) -> Gradients {
        Gradients {
            tiles: table(shape.hidden / TILE * shape.rows()),
            touched: vec![false; shape.rows()],
            weights: vec![Floats::ZERO; BUCKETS * 2 * shape.hidden / HALF],
            bias: Floats::ZERO,
            layers: shape.layered.then(|| LayerGradients::zeroed(shape)),
        }
    }
}

impl Model {
    /// Random weights, normally distributed with variance 2 / fan-in (He et al. 2015).
    #[must_use]
    pub fn random(shape: Shape, seed: u64) -> Model {
        let mut model = Model::zeroed(shape);
        let mut normal = Normal::new(seed);
        let deviation = (2.0 / TYPICAL_ACTIVE).sqrt();
        for tile in &mut model.tiles {
            for weight in &mut tile.weights.floats_mut()[..shape.features() * TILE] {
                *weight = (normal.next() * deviation).clamp(-WEIGHT_LIMIT, WEIGHT_LIMIT);
            }
        }
        let deviation = (2.0 / (2 * shape.hidden) as f32).sqrt();
        for weight in model.outputs.weights.floats_mut() {
            *weight = normal.next() * deviation;
        }
        model.layers = (shape.layered).then(|| TrainedLayers::random(shape, &mut normal));
        model.refresh();
        model
    }

    /// A network of zeros.
    #[must_use]
    pub fn zeroed(shape: Shape) -> Model {
        let tile = || Tile {
            weights: Trained::zeroed(shape.rows() * TILE),
            shared: Trained::zeroed(PIECE_FEATURES * TILE),
        };
        let weights = Trained::zeroed(BUCKETS * 2 * shape.hidden);
        Model {
            shape,
            tiles: (0..shape.hidden / TILE).map(|_| tile()).collect(),
            lines: table(shape.hidden / TILE * (shape.rows() + 1)),
            outputs: Outputs {
                used: weights.value.clone(),
                weights,
                bias: Trained::zeroed(BUCKETS),
            },
            layers: shape.layered.then(|| TrainedLayers::zeroed(shape)),
            steps: 0,
            quantisation: FakeQuantisation::Off,
        }
    }

    /// The rounded weights of a tile, a line a row, then a line of zeros.
    #[inline(always)]
    #[must_use]
    pub fn tile_lines(&self, tile: usize) -> &[Line] {
        let lines = self.shape.rows() + 1;
        &self.lines[tile * lines..][..lines]
    }

    /// All trained arrays, in the order of a checkpoint.
    pub fn arrays(&self) -> impl Iterator<Item = &Trained> {
        let tiles = self
            .tiles
            .iter()
            .flat_map(|tile| [&tile.weights, &tile.shared]);
        let layers = self.layers.iter().flat_map(|layers| layers.arrays.each());
        tiles
            .chain([&self.outputs.weights, &self.outputs.bias])
            .chain(layers)
    }

    /// The same, to be set.
    pub fn arrays_mut(&mut self) -> impl Iterator<Item = &mut Trained> {
        let tiles = (self.tiles.iter_mut()).flat_map(|tile| [&mut tile.weights, &mut tile.shared]);
        let layers = (self.layers.iter_mut()).flat_map(|layers| layers.arrays.each_mut());
        tiles
            .chain([&mut self.outputs.weights, &mut self.outputs.bias])
            .chain(layers)
    }

    /// Resets the optimiser's state, as for a new run from these weights.
    pub fn reset_optimiser(&mut self) {
        self.steps = 0;
        for trained in self.arrays_mut() {
            trained.first_moment.fill(Floats::ZERO);
            trained.second_moment.fill(Floats::ZERO);
        }
    }

    /// Moves every parameter by this share of its distance from the other network's, which has the
    /// same shape. The optimiser's state stays.
    ///
    /// One network after another, with shares of 1/2, 1/3 and so on, gives the mean of all. The
    /// mean of networks that one start has led to is often better than each of them (Wortsman and
    /// others 2022, "Model soups"). Of networks with hidden units in different orders it is of no
    /// use.
    pub fn interpolate(&mut self, other: &Model, share: f32) {
        for (array, target) in self.arrays_mut().zip(other.arrays()) {
            for (value, target) in array.floats_mut().iter_mut().zip(target.floats()) {
                *value += (target - *value) * share;
            }
        }
        self.refresh();
    }

    /// Moves into the shared weights what the king buckets have in common, their mean; the
    /// network stays the same.
    pub fn factorise(&mut self) {
        let buckets = self.shape.king_buckets.count();
        for tile in &mut self.tiles {
            let length = PIECE_FEATURES * TILE;
            let weights = &mut tile.weights.floats_mut()[..buckets * length];
            for (index, shared) in tile.shared.floats_mut().iter_mut().enumerate() {
                let places = || (0..buckets).map(|bucket| bucket * length + index);
                let mean = places().map(|at| weights[at]).sum::<f32>() / buckets as f32;
                places().for_each(|at| weights[at] -= mean);
                *shared += mean;
            }
        }
    }

    /// This network with more neurons or king buckets or with dense layers, which gives every
    /// position the same output as before ("Net2Net", Chen, Goodfellow and Shlens 2015). New
    /// neurons and new layers have random input weights and output weights of zero; new king
    /// buckets have the weights of the one that their squares belonged to. The optimiser is reset.
    #[must_use]
    pub fn widened(&self, shape: Shape, seed: u64) -> Model {
        let mut wide = Model::random(shape, seed);
        let hidden = self.shape.hidden;
        for (into, from) in wide.tiles.iter_mut().zip(&self.tiles) {
            into.shared.value.copy_from_slice(&from.shared.value);
            let weights = into.weights.value.as_chunks_mut::<2>().0;
            for (input, row) in weights.iter_mut().enumerate() {
                let (bucket, piece) = (input / PIECE_FEATURES, input % PIECE_FEATURES);
                *row = if input == shape.features() {
                    from.weights.rows()[self.shape.features()]
                } else {
                    let square = shape.king_buckets.square_of(bucket);
                    let bucket = self.shape.king_buckets.of(square);
                    from.weights.rows()[bucket * PIECE_FEATURES + piece]
                };
            }
        }
        wide.outputs.weights.value.fill(Floats::ZERO);
        let narrow = self.outputs.weights.floats().chunks_exact(hidden);
        let widened = wide
            .outputs
            .weights
            .floats_mut()
            .chunks_exact_mut(shape.hidden);
        for (into, from) in widened.zip(narrow) {
            into[..hidden].copy_from_slice(from);
        }
        let bias = &mut wide.outputs.bias.value;
        bias.copy_from_slice(&self.outputs.bias.value);
        if let Some(layers) = &mut wide.layers {
            match &self.layers {
                Some(narrow) => layers.widen(narrow),
                None => layers.arrays.third.value.fill(Floats::ZERO),
            }
        }
        wide.refresh();
        wide
    }

    /// Recomputes the copies that evaluation uses after weights were set.
    pub fn refresh(&mut self) {
        Unit::best().run(RefreshTiles(self));
        self.outputs.refresh_used(self.quantisation);
        if let Some(layers) = &mut self.layers {
            layers.refresh(self.quantisation);
        }
    }

    /// Whether evaluation rounds as the network file does.
    #[must_use]
    pub fn is_rounding(&self) -> bool {
        self.quantisation == FakeQuantisation::On
    }

    /// Sets whether evaluation rounds as the network file does.
    pub fn set_fake_quantisation(&mut self, quantisation: FakeQuantisation) {
        if self.quantisation != quantisation {
            self.quantisation = quantisation;
            self.refresh();
        }
    }

    /// Moves every weight along the gradients gathered by all threads, which become zero;
    /// `factor` scales them (1 / positions).
    pub fn step(&mut self, gradients: &mut [&mut Gradients], factor: f32, learning: f64) {
        self.steps += 1;
        let rate = Rate::new(learning, self.steps);
        let update = Update {
            factor,
            rate,
            quantisation: self.quantisation,
        };
        self.step_outputs(gradients, &update);
        if let Some(layers) = &mut self.layers {
            let parts = gradients.iter_mut().filter_map(|part| part.layers.as_mut());
            Unit::best().run(StepLayers(layers, parts.collect(), &update));
        }
        self.step_tiles(gradients, &update);
    }

    /// The step of the output weights and biases, on this thread.
    fn step_outputs(&mut self, gradients: &mut [&mut Gradients], update: &Update) {
        let mut bias = Floats::ZERO;
        let mut weights = vec![Floats::ZERO; self.outputs.weights.value.len()];
        for part in gradients.iter_mut() {
            bias = add(&bias, &std::mem::replace(&mut part.bias, Floats::ZERO));
            for (sum, part) in weights.iter_mut().zip(&mut part.weights) {
                *sum = add(sum, &std::mem::replace(part, Floats::ZERO));
            }
        }
        let Update { factor, rate, .. } = update;
        let outputs = &mut self.outputs;
        outputs
            .weights
            .step(&mut weights, *factor, rate, WEIGHT_LIMIT);
        outputs.bias.step(&mut [bias], *factor, rate, f32::INFINITY);
        outputs.refresh_used(update.quantisation);
    }

    /// The step of the hidden layer's tiles, shared by as many threads as gathered gradients.
    fn step_tiles(&mut self, gradients: &mut [&mut Gradients], update: &Update) {
        let threads = gradients.len().max(1);
        let rows = self.shape.rows();
        let (mut tiles, mut touched) = (Vec::with_capacity(threads), Vec::with_capacity(threads));
        for part in gradients.iter_mut() {
            let Gradients {
                tiles: t,
                touched: r,
                ..
            } = &mut **part;
            tiles.push(t.chunks_exact_mut(rows));
            touched.push(&mut r[..]);
        }
        let lines = self.lines.chunks_exact_mut(rows + 1);
        let mut jobs: Vec<_> = (self.tiles.iter_mut().zip(lines))
            .map(|tile| (tile, tiles.iter_mut().filter_map(Iterator::next).collect()))
            .collect();
        let share = jobs.len().div_ceil(threads).max(1);
        let flags: Vec<&[bool]> = touched.iter().map(|touched| &touched[..]).collect();
        let flags = &flags[..];
        std::thread::scope(|scope| {
            for tiles in jobs.chunks_mut(share) {
                scope.spawn(move || {
                    Unit::best().run(StepTiles {
                        tiles,
                        touched: flags,
                        update,
                    });
                });
            }
        });
        touched.iter_mut().for_each(|touched| touched.fill(false));
    }
}
