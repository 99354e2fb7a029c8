//! From trained floats to the network file and back.

use crate::nnue::features::KingBuckets;
use crate::nnue::grouping::PairActivity;
use crate::nnue::layers::{
    FIRST, MAX_WEIGHT, QuantisedLayers, SECOND, SECOND_INPUTS, WEIGHT_ONE, products,
    to_output_units,
};
use crate::nnue::single_layer::{MAX_OUTPUT_WEIGHT, QA, QB, QuantisedNet};

use super::extra_bits;
use super::kernel::Worker;
use super::lanes::{HALF, TILE};
use super::layers::{ACTIVE_ONE, TrainedLayers};
use super::model::Model;
use super::sample::{BUCKETS, MAX_ACTIVE, Sample};

/// The nearest whole number of steps, of halves the even one. The product is exact, as that of
/// fused multiplications is, so that these are the numbers of
/// [`FakeQuantisation`](super::quantisation::FakeQuantisation) where the processor has them;
/// elsewhere a weight that is all but half a step may differ by one.
fn to_i16(x: f32, one: i32) -> i16 {
    (f64::from(x) * f64::from(one)).round_ties_even() as i16
}

/// Where the network file has the neuron of a tile's slot: partners stand half the width apart.
const fn file_place(tile: usize, slot: usize, hidden: usize) -> usize {
    slot / HALF * (hidden / 2) + tile * HALF + slot % HALF
}

/// Rounds the parameters to the integers of the network file. `scale` is centipawns for an
/// output of 1.0.
#[must_use]
pub fn quantise(model: &Model, name: &str, scale: i32) -> QuantisedNet {
    let hidden = model.shape.hidden;
    let mut net = QuantisedNet::zeroed(name, model.shape, scale);
    for (tile_index, tile) in model.tiles.iter().enumerate() {
        for row_index in 0..model.shape.rows() {
            let row = tile.row(row_index);
            let into = if row_index == model.shape.features() {
                &mut net.feature_bias[..]
            } else {
                &mut net.feature_weights[row_index * hidden..][..hidden]
            };
            for slot in 0..TILE {
                let weight = row[slot / HALF].0[slot % HALF];
                into[file_place(tile_index, slot, hidden)] = to_i16(weight, QA);
            }
        }
    }
    let limit = MAX_OUTPUT_WEIGHT;
    for (index, &weight) in model.outputs.weights.floats().iter().enumerate() {
        let place = output_place(index, hidden);
        net.output_weights[place] = to_i16(weight, QB).clamp(-limit, limit);
    }
    for (bias, &value) in net.output_bias.iter_mut().zip(model.outputs.bias.floats()) {
        *bias = (value * (QA * QB) as f32).round() as i32;
    }
    net.layers = (model.layers.as_ref()).map(|layers| quantise_layers(layers, hidden));
    net
}

/// Where the network file has an output weight of the model.
const fn output_place(index: usize, hidden: usize) -> usize {
    let (row, tile, slot) = (index / hidden, index % hidden / TILE, index % TILE);
    row * hidden + file_place(tile, slot, hidden)
}

/// Where the network file has a first-layer weight of the model, whose tiles have the products of
/// the side to move, then the other side's.
const fn first_place(index: usize, hidden: usize) -> usize {
    let (row, output) = (index / FIRST, index % FIRST);
    let (bucket, tile, slot) = (row / hidden, row % hidden / TILE, row % TILE);
    (bucket * hidden + file_place(tile, slot, hidden)) * FIRST + output
}

/// The bucket and output, as [`first_ones`] numbers them, of a first-layer weight of the model.
const fn first_output(index: usize, hidden: usize) -> usize {
    index / (hidden * FIRST) * FIRST + index % FIRST
}

/// What stands for 1.0 among the first layer's weights, for each output of each bucket.
fn first_ones(layers: &QuantisedLayers) -> Vec<f32> {
    (layers.extra_bits.iter())
        .map(|&bits| extra_bits::one(bits))
        .collect()
}

/// Where the network file, which has them by output, has a second-layer weight of the model.
const fn second_place(index: usize) -> usize {
    let (row, output) = (index / SECOND, index % SECOND);
    let (bucket, input) = (row / SECOND_INPUTS, row % SECOND_INPUTS);
    (bucket * SECOND + output) * SECOND_INPUTS + input
}

fn quantise_layers(layers: &TrainedLayers, hidden: usize) -> QuantisedLayers {
    let arrays = &layers.arrays;
    let mut into = QuantisedLayers::zeroed(hidden);
    into.extra_bits = layers.extra_bits().concat();
    let ones = first_ones(&into);
    for (index, &weight) in arrays.first.floats().iter().enumerate() {
        let one = ones[first_output(index, hidden)];
        into.first_weights[first_place(index, hidden)] = extra_bits::steps(weight, one) as i8;
    }
    let limit = MAX_WEIGHT;
    for (index, &weight) in arrays.second.floats().iter().enumerate() {
        into.second_weights[second_place(index)] = to_i16(weight, WEIGHT_ONE).clamp(-limit, limit);
    }
    for (into, &weight) in into.third_weights.iter_mut().zip(arrays.third.floats()) {
        *into = to_i16(weight, WEIGHT_ONE).clamp(-limit, limit);
    }
    let rounded = |value: f32, one: f32| (value * one).round() as i32;
    let biases = arrays.first_bias.floats().iter().zip(&ones);
    for (into, (&bias, one)) in into.first_bias.iter_mut().zip(biases) {
        *into = rounded(bias, ACTIVE_ONE * one);
    }
    for (into, &bias) in (into.second_bias.iter_mut()).zip(arrays.second_bias.floats()) {
        *into = rounded(bias, ACTIVE_ONE * WEIGHT_ONE as f32);
    }
    into
}

fn restore_layers(layers: &mut TrainedLayers, net: &QuantisedLayers, hidden: usize) {
    let arrays = &mut layers.arrays;
    let ones = first_ones(net);
    for (index, weight) in arrays.first.floats_mut().iter_mut().enumerate() {
        let steps = f32::from(net.first_weights[first_place(index, hidden)]);
        *weight = steps / ones[first_output(index, hidden)];
    }
    for (index, weight) in arrays.second.floats_mut().iter_mut().enumerate() {
        *weight = f32::from(net.second_weights[second_place(index)]) / WEIGHT_ONE as f32;
    }
    for (weight, &from) in (arrays.third.floats_mut().iter_mut()).zip(&net.third_weights) {
        *weight = f32::from(from) / WEIGHT_ONE as f32;
    }
    let biases = net.first_bias.iter().zip(&ones);
    for (bias, (&from, one)) in arrays.first_bias.floats_mut().iter_mut().zip(biases) {
        *bias = from as f32 / (ACTIVE_ONE * one);
    }
    for (bias, &from) in (arrays.second_bias.floats_mut().iter_mut()).zip(&net.second_bias) {
        *bias = from as f32 / (ACTIVE_ONE * WEIGHT_ONE as f32);
    }
}

/// Parameters to continue training from a network file, whose output is taken for
/// [`QuantisedNet::bare`], as that of a model is; the optimiser is reset, and the mean of
/// the king buckets' weights becomes their shared weights.
#[must_use]
pub fn restore(net: &QuantisedNet) -> Model {
    let shape = net.shape;
    let hidden = shape.hidden;
    let mut model = Model::zeroed(shape);
    for (tile_index, tile) in model.tiles.iter_mut().enumerate() {
        for (row_index, row) in tile
            .weights
            .floats_mut()
            .as_chunks_mut::<TILE>()
            .0
            .iter_mut()
            .enumerate()
        {
            let from = if row_index == shape.features() {
                &net.feature_bias[..]
            } else {
                &net.feature_weights[row_index * hidden..][..hidden]
            };
            for (slot, weight) in row.iter_mut().enumerate() {
                *weight = f32::from(from[file_place(tile_index, slot, hidden)]) / QA as f32;
            }
        }
    }
    for (index, weight) in model.outputs.weights.floats_mut().iter_mut().enumerate() {
        *weight = f32::from(net.output_weights[output_place(index, hidden)]) / QB as f32;
    }
    for (value, &bias) in model
        .outputs
        .bias
        .floats_mut()
        .iter_mut()
        .zip(&net.output_bias)
    {
        *value = bias as f32 / (QA * QB) as f32;
    }
    if let (Some(layers), Some(net)) = (&mut model.layers, &net.layers) {
        restore_layers(layers, net, hidden);
    }
    if shape.king_buckets != KingBuckets::One {
        model.factorise();
    }
    model.refresh();
    model
}

/// Centipawns that the quantised network, which is [`QuantisedNet::bare`], gives a sample, in the
/// engine's arithmetic.
#[must_use]
pub fn evaluate(net: &QuantisedNet, sample: &Sample) -> i32 {
    let (bucket, width) = (sample.bucket(), net.shape.hidden);
    debug_assert!(bucket < BUCKETS);
    let hidden = hidden_layers(net, sample);
    let mut sum = 0i64;
    for (side, values) in hidden.iter().enumerate() {
        let weights = &net.output_weights[(2 * bucket + side) * width..][..width];
        for (&value, &weight) in values.iter().zip(weights) {
            let value = i32::from(value).clamp(0, QA);
            sum += i64::from(value * value / 4 * i32::from(weight));
        }
    }
    let mut total = 4 * sum / i64::from(QA) + i64::from(net.output_bias[bucket]);
    if let Some(layers) = &net.layers {
        let products = products([&hidden[0], &hidden[1]]);
        total += to_output_units(layers.forward(&products, bucket));
    }
    (total * i64::from(net.scale) / i64::from(QA * QB)) as i32
}

/// The hidden layers of the side to move and of the other side.
fn hidden_layers(net: &QuantisedNet, sample: &Sample) -> [Vec<i16>; 2] {
    let mut views = [[0; MAX_ACTIVE]; 2];
    let [own, other] = &mut views;
    let count = sample.features(net.shape.king_buckets, own, other);
    views.map(|inputs| net.hidden_layer(inputs[..count].iter().map(|&input| usize::from(input))))
}

/// The network with its pairs of hidden units in an order in which those active together on the
/// samples are neighbours, so that more of the first dense layer is passed over; equal in every
/// output.
#[must_use]
pub fn group_pairs(net: QuantisedNet, samples: &[Sample]) -> QuantisedNet {
    let mut activity = PairActivity::new(net.shape.hidden);
    for sample in samples {
        let hidden = hidden_layers(&net, sample);
        activity.observe([&hidden[0], &hidden[1]]);
    }
    net.with_pairs_in_order(&activity.order())
}

/// How far the quantised network differs from the floats, in centipawns: root mean square and
/// largest difference.
#[must_use]
pub fn rounding_error(model: &Model, net: &QuantisedNet, samples: &[Sample]) -> (f64, f64) {
    let mut worker = Worker::new(model.shape);
    let (mut squares, mut largest, mut count) = (0.0, 0f64, 0u32);
    for chunk in samples.chunks(super::kernel::CHUNK) {
        worker.evaluate(model, chunk, |sample, output| {
            let float = f64::from(output) * f64::from(net.scale);
            let error = float - f64::from(evaluate(net, sample));
            squares += error * error;
            largest = largest.max(error.abs());
            count += 1;
        });
    }
    ((squares / f64::from(count.max(1))).sqrt(), largest)
}
