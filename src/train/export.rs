//! From trained floats to the network file and back.

use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::{MAX_OUTPUT_WEIGHT, QA, QB, QuantisedNet};

use super::kernel::Worker;
use super::lanes::{HALF, TILE, neuron};
use super::model::Model;
use super::sample::{BUCKETS, MAX_ACTIVE, Sample};

fn to_i16(x: f32, one: i32) -> i16 {
    (x * one as f32).round() as i16
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
                into[tile_index * TILE + neuron(slot)] = to_i16(weight, QA);
            }
        }
    }
    let limit = MAX_OUTPUT_WEIGHT;
    for (index, &weight) in model.outputs.weights.floats().iter().enumerate() {
        let (base, slot) = (index / TILE * TILE, index % TILE);
        net.output_weights[base + neuron(slot)] = to_i16(weight, QB).clamp(-limit, limit);
    }
    for (bias, &value) in net.output_bias.iter_mut().zip(model.outputs.bias.floats()) {
        *bias = (value * (QA * QB) as f32).round() as i32;
    }
    net
}

/// Parameters to go on training from a network file; the optimiser starts afresh, and what the
/// king buckets have in common becomes their shared weights.
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
                *weight = f32::from(from[tile_index * TILE + neuron(slot)]) / QA as f32;
            }
        }
    }
    for (index, weight) in model.outputs.weights.floats_mut().iter_mut().enumerate() {
        let (base, slot) = (index / TILE * TILE, index % TILE);
        *weight = f32::from(net.output_weights[base + neuron(slot)]) / QB as f32;
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
    if shape.king_buckets != KingBuckets::One {
        model.factorise();
    }
    model.refresh();
    model
}

/// Centipawns that the quantised network gives a sample, in the engine's arithmetic.
#[must_use]
pub fn evaluate(net: &QuantisedNet, sample: &Sample) -> i32 {
    let mut views = [[0; MAX_ACTIVE]; 2];
    let [own, other] = &mut views;
    let count = sample.features(net.shape.king_buckets, own, other);
    let bucket = sample.bucket();
    debug_assert!(bucket < BUCKETS);
    let mut sum = 0i64;
    for (half, inputs) in views.iter().enumerate() {
        let weights =
            &net.output_weights[(2 * bucket + half) * net.shape.hidden..][..net.shape.hidden];
        for (neuron, &weight) in weights.iter().enumerate() {
            let hidden: i32 = inputs[..count]
                .iter()
                .map(|&input| {
                    i32::from(net.feature_weights[usize::from(input) * net.shape.hidden + neuron])
                })
                .sum();
            let value = (hidden + i32::from(net.feature_bias[neuron])).clamp(0, QA);
            sum += i64::from(value * value / 4 * i32::from(weight));
        }
    }
    let total = 4 * sum / i64::from(QA) + i64::from(net.output_bias[bucket]);
    (total * i64::from(net.scale) / i64::from(QA * QB)) as i32
}

/// How far the quantised network strays from the floats, in centipawns: root mean square and
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
