//! The trainer's arithmetic against slower, simpler code.

use std::sync::Arc;

use super::export;
use super::kernel::{CHUNK, Worker};
use super::lanes::{Floats, HALF, TILE, Unit, lengthen, upper_half};
use super::layers::TrainedLayers;
use super::loss::{Target, sigmoid};
use super::model::Model;
use super::optimiser::Trained;
use super::quantisation::{FIXED_ONE, FakeQuantisation};
use super::sample::{BUCKETS, MAX_ACTIVE, Sample};
use crate::board::{Position, tests::random_games};
use crate::hash::mix;
use crate::nnue::features::{KingBuckets, PIECE_FEATURES};
use crate::nnue::layers::{FIRST, SECOND, WEIGHT_ONE};
use crate::nnue::single_layer::{QB, Shape};
use crate::nnue::{Accumulators, HIDDEN, Network, synthetic};
use crate::record::{Mailbox, PackedBoard, TeacherHints};

const GAMES: u64 = 12;
const SCALE: f32 = 250.0;
const SMALL: Shape = Shape {
    hidden: 64,
    king_buckets: KingBuckets::Five,
    layered: false,
};
const LAYERED: Shape = Shape {
    layered: true,
    ..SMALL
};

/// Samples with made-up scores from random games, and the positions they stand for.
fn samples() -> Vec<(Position, Sample)> {
    let mut samples = Vec::new();
    random_games(GAMES, |position| {
        let mailbox = Mailbox::unpack(&PackedBoard::pack(position)).expect("a legal position");
        let number = samples.len() as i16;
        let sample = Sample::pack(&mailbox, number % 800 - 400, (number % 3) as u8, 0);
        samples.push((position.clone(), sample));
    });
    samples
}

#[test]
fn trainer_and_engine_evaluate_alike() {
    let flat = synthetic::random(HIDDEN, 11);
    let layered = flat
        .clone()
        .with_layers(synthetic::random_layers(HIDDEN, 12));
    for quantised in [flat, layered] {
        let net = Arc::new(Network::new(&quantised).expect("a valid network"));
        let mut accumulators = Accumulators::new(net);
        for (position, sample) in samples() {
            accumulators.reset(&position);
            let expected = accumulators.evaluate(&position);
            assert_eq!(
                export::evaluate(&quantised, &sample),
                expected,
                "{}",
                position.fen()
            );
        }
    }
}

#[test]
fn floats_and_integers_evaluate_alike() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    for shape in [SMALL, LAYERED] {
        let mut model = Model::random(shape, 3);
        // Rounded once, the parameters are what the integers stand for, so that little is left.
        let net = export::quantise(&model, "test", SCALE as i32);
        let (rms, _) = export::rounding_error(&model, &net, &samples);
        assert!(rms < 10.0, "{rms} cp");
        model = export::restore(&net);
        // Activations are rounded down, which rounding to the nearest once does not foresee.
        model.set_fake_quantisation(FakeQuantisation::On);
        assert_eq!(export::quantise(&model, "test", SCALE as i32), net);
        let (rms, largest) = export::rounding_error(&model, &net, &samples);
        assert!(
            rms < 1.5 && largest < 5.0,
            "{shape:?} {rms} cp, {largest} cp"
        );
    }
}

/// The network in plain 64-bit floats over plain arrays.
struct Plain<'a>(&'a Model);

impl Plain<'_> {
    fn weight(&self, input: usize, neuron: usize) -> f64 {
        let row = self.0.tiles[neuron / TILE].row(input);
        f64::from(row[neuron % TILE / HALF].0[neuron % HALF])
    }

    /// Clipped hidden values of a view, in the model's order.
    fn hidden(&self, inputs: &[u16]) -> Vec<f64> {
        let value = |neuron: usize| {
            let inputs = inputs.iter().map(|&input| usize::from(input));
            let inputs = inputs.chain([self.0.shape.features()]);
            let sum: f64 = inputs.map(|input| self.weight(input, neuron)).sum();
            sum.clamp(0.0, 1.0)
        };
        (0..self.0.shape.hidden).map(value).collect()
    }

    /// The sums of the first dense layer.
    fn first(&self, layers: &TrainedLayers, bucket: usize, hidden: &[Vec<f64>; 2]) -> [f64; FIRST] {
        // The square of integers: 127 * 127.002.
        const PRODUCT_ONE: f64 = 65025.0 / 512.0 / 127.0;
        let float = |trained: &Trained, index: usize| f64::from(trained.floats()[index]);
        let arrays = &layers.arrays;
        let mut first: [f64; FIRST] =
            std::array::from_fn(|i| float(&arrays.first_bias, bucket * FIRST + i));
        for slot in 0..self.0.shape.hidden {
            let (tile, side, pair) = (slot / TILE, slot % TILE / HALF, slot % HALF);
            let values = &hidden[side][tile * TILE..];
            let product = values[pair] * values[pair + HALF] * PRODUCT_ONE;
            let tiles = self.0.shape.hidden / TILE;
            let at = ((bucket * tiles + tile) * TILE + slot % TILE) * FIRST;
            for (output, sum) in first.iter_mut().enumerate() {
                *sum += product * float(&arrays.first, at + output);
            }
        }
        first
    }

    /// What the dense layers add, as `nnue::layers` defines it but without rounding.
    fn dense(&self, layers: &TrainedLayers, bucket: usize, first: [f64; FIRST]) -> f64 {
        // The square of integers: 8128 * 8128 / 2^19.
        const SQUARE_ONE: f64 = 66_064_384.0 / 524_288.0 / 127.0;
        let float = |trained: &Trained, index: usize| f64::from(trained.floats()[index]);
        let arrays = &layers.arrays;
        let mut inputs = first.map(|sum| (sum * sum * SQUARE_ONE).min(1.0)).to_vec();
        inputs.extend(first.map(|sum| sum.clamp(0.0, 1.0)));
        let mut output = 0.0;
        for index in 0..SECOND {
            let mut sum = float(&arrays.second_bias, bucket * SECOND + index);
            for (input, value) in inputs.iter().enumerate() {
                let at = (bucket * inputs.len() + input) * SECOND + index;
                sum += value * float(&arrays.second, at);
            }
            output += sum.clamp(0.0, 1.0) * float(&arrays.third, bucket * SECOND + index);
        }
        output
    }

    /// The output, and the sums of the first dense layer if there is one.
    fn output(&self, sample: &Sample) -> (f64, Option<[f64; FIRST]>) {
        let mut views = [[0; MAX_ACTIVE]; 2];
        let [own, other] = &mut views;
        let count = sample.features(self.0.shape.king_buckets, own, other);
        let (bucket, width) = (sample.bucket(), self.0.shape.hidden);
        let hidden = views.map(|inputs| self.hidden(&inputs[..count]));
        let mut output = f64::from(self.0.outputs.bias.floats()[bucket]);
        for (half, values) in hidden.iter().enumerate() {
            let weights = &self.0.outputs.weights.floats()[(2 * bucket + half) * width..];
            for (value, &weight) in values.iter().zip(weights) {
                output += value * value * f64::from(weight);
            }
        }
        let Some(layers) = &self.0.layers else {
            return (output, None);
        };
        let first = self.first(layers, bucket, &hidden);
        (output + self.dense(layers, bucket, first), Some(first))
    }

    /// The mean squared distance of the first sums from the hints.
    fn distance(first: [f64; FIRST], hints: &TeacherHints) -> f64 {
        let square = |(sum, &hint): (&f64, &i8)| match hint {
            127 if *sum > 1.0 => 0.0,
            -127 if *sum < -1.0 => 0.0,
            _ => (sum - f64::from(hint) / 127.0).powi(2),
        };
        first.iter().zip(hints).map(square).sum::<f64>() / FIRST as f64
    }

    fn loss(&self, sample: &Sample, target: Target) -> f64 {
        let score = f64::from(sigmoid(f32::from(sample.score) / target.scale));
        let result = f64::from(sample.half_points) / 2.0;
        let goal = f64::from(target.lambda) * result + (1.0 - f64::from(target.lambda)) * score;
        let (output, first) = self.output(sample);
        let predicted = 1.0 / (1.0 + (-f64::from(target.steepness) * output).exp());
        let distance =
            (first.zip(sample.hints())).map_or(0.0, |(first, hints)| Plain::distance(first, hints));
        (predicted - goal) * (predicted - goal) + f64::from(target.hint_weight) * distance
    }
}

/// Rounds the weights to what the 16-bit copies hold, so that both sides compute with the same.
fn round_weights(model: &mut Model) {
    for tile in &mut model.tiles {
        for weight in tile.weights.floats_mut() {
            *weight = (*weight * FIXED_ONE).round() / FIXED_ONE;
        }
    }
    for weight in (model.layers.iter_mut()).flat_map(|l| l.arrays.first.floats_mut()) {
        *weight = lengthen(upper_half(*weight));
    }
    model.refresh();
}

/// Late in a run positions are evaluated with the numbers that the network file holds.
#[test]
fn fake_quantisation_rounds_as_the_file_does() {
    let shape = Shape {
        king_buckets: KingBuckets::One,
        ..LAYERED
    };
    let mut model = Model::random(shape, 21);
    // Halves of steps, where ways to round differ.
    let halves = |one: i32| (0..).map(move |i| ((i % 200) as f32 - 100.5) / one as f32);
    let set = |trained: &mut Trained, one| {
        let weights = trained.floats_mut().iter_mut();
        weights
            .zip(halves(one))
            .for_each(|(weight, half)| *weight = half);
    };
    set(&mut model.outputs.weights, QB);
    let layers = model.layers.as_mut().expect("layers");
    set(&mut layers.arrays.third, WEIGHT_ONE);
    // Biases are rounded in the file alone.
    layers.arrays.first_bias.floats_mut().fill(0.0);
    layers.arrays.second_bias.floats_mut().fill(0.0);
    model.set_fake_quantisation(FakeQuantisation::On);
    let mut restored = export::restore(&export::quantise(&model, "rounded", 250));
    assert!(restored.outputs.weights.value[..] == model.outputs.used[..]);
    restored.set_fake_quantisation(FakeQuantisation::On);
    for (_, sample) in samples().iter().take(CHUNK) {
        let mut worker = Worker::new(shape);
        let mut output = |model: &Model| {
            let mut found = 0.0;
            worker.evaluate(model, &[*sample], |_, output| found = output);
            found
        };
        assert!((output(&model) - output(&restored)).abs() < 1e-4);
    }
}

/// None for one in four; otherwise sums of all sizes, some at the ends of their range.
fn made_up_hints(number: usize) -> Option<TeacherHints> {
    let hint = |i: usize| (mix((16 * number + i) as u64) % 500) as i32 - 250;
    (!number.is_multiple_of(4)).then(|| std::array::from_fn(|i| hint(i).clamp(-127, 127) as i8))
}

#[test]
fn gradients_are_those_of_finite_differences() {
    check_gradients(SMALL, 0.0);
}

#[test]
fn gradients_through_layers_are_those_of_finite_differences() {
    check_gradients(LAYERED, 0.0);
}

#[test]
fn gradients_by_hints_are_those_of_finite_differences() {
    check_gradients(LAYERED, 0.7);
}

fn check_gradients(shape: Shape, hint_weight: f32) {
    const STEP: f32 = 1e-3;
    let target = Target {
        scale: SCALE,
        steepness: 1.6,
        lambda: 0.3,
        hint_weight,
    };
    let samples: Vec<Sample> = samples()
        .into_iter()
        .step_by(17)
        .enumerate()
        .map(|(number, (_, sample))| sample.with_hints(made_up_hints(number)))
        .take(40)
        .collect();
    let mut model = Model::random(shape, 5);
    round_weights(&mut model);
    let mut worker = Worker::new(shape);
    worker.learn(&model, target, &samples);
    let loss = |model: &Model| -> f64 {
        samples
            .iter()
            .map(|sample| Plain(model).loss(sample, target))
            .sum()
    };
    let slope = |change: &dyn Fn(&mut Model, f32)| {
        let (mut up, mut down) = (model.clone(), model.clone());
        change(&mut up, STEP);
        change(&mut down, -STEP);
        (loss(&up) - loss(&down)) / (2.0 * f64::from(STEP))
    };
    let close = |found: f32, expected: f64, what: &str| {
        let error = (f64::from(found) - expected).abs();
        assert!(
            error < 2e-3 + 0.03 * expected.abs(),
            "{what}: {found}, expected {expected}"
        );
    };
    let mut views = [[0; MAX_ACTIVE]; 2];
    let [own, other] = &mut views;
    samples[3].features(shape.king_buckets, own, other);
    let rows = [
        usize::from(own[0]),
        usize::from(own[2]),
        usize::from(other[1]),
        shape.features(),
    ];
    for (row, slot) in rows
        .iter()
        .flat_map(|&row| [0, 1, 15, 16, 31].map(|slot| (row, slot)))
    {
        for tile in 0..2 {
            let parts = worker.gradients.tiles[tile * shape.rows() + row];
            let found = parts[slot / HALF].0[slot % HALF];
            let expected = slope(&|model: &mut Model, step| {
                model.tiles[tile].weights.floats_mut()[row * TILE + slot] += step;
            });
            close(
                found,
                expected,
                &format!("tile {tile} row {row} slot {slot}"),
            );
        }
    }
    let bucket = samples[3].bucket();
    let weights: &[f32] = bytemuck::cast_slice(&worker.gradients.weights);
    for index in [0, 7, 40, 64, 127].map(|index| 128 * bucket + index) {
        let expected = slope(&|model: &mut Model, step| {
            model.outputs.weights.floats_mut()[index] += step;
        });
        close(weights[index], expected, &format!("output weight {index}"));
    }
    let expected =
        slope(&|model: &mut Model, step| model.outputs.bias.floats_mut()[bucket] += step);
    close(worker.gradients.bias.0[bucket], expected, "output bias");
    let Some(gradients) = &worker.gradients.layers else {
        return;
    };
    for (array, gradients) in gradients.each().into_iter().enumerate() {
        let gradients: &[f32] = bytemuck::cast_slice(gradients);
        let length = gradients.len() / BUCKETS;
        let mut alive = 0;
        for index in (0..7).map(|part| bucket * length + part * (length / 7) + part) {
            let expected = slope(&|model: &mut Model, step| {
                let layers = model.layers.as_mut().expect("layers");
                layers.arrays.each_mut()[array].floats_mut()[index] += step;
            });
            alive += usize::from(expected.abs() > 1e-2);
            close(
                gradients[index],
                expected,
                &format!("array {array}, {index}"),
            );
        }
        assert!(
            alive > 0,
            "array {array}: all slopes are too small to tell anything"
        );
    }
}

/// Everything that a worker computes for some positions.
fn learnt(unit: Unit, model: &Model, samples: &[Sample]) -> (f64, Vec<f32>) {
    let mut worker = Worker::with_unit(model.shape, unit);
    let target = Target {
        scale: SCALE,
        steepness: 1.0,
        lambda: 0.3,
        hint_weight: 0.1,
    };
    let losses = worker.learn(model, target, samples);
    let gradients = &worker.gradients;
    let layers = gradients.layers.iter().flat_map(|layers| layers.each());
    let floats: Vec<f32> = (gradients.tiles.iter().flatten())
        .chain(&gradients.weights)
        .chain(layers.flatten())
        .flat_map(|floats| floats.0)
        .collect();
    (losses.target, floats)
}

#[test]
fn all_instruction_sets_learn_alike() {
    let samples: Vec<Sample> = (samples().into_iter().enumerate())
        .map(|(number, (_, sample))| sample.with_hints(made_up_hints(number)))
        .collect();
    let samples = &samples[..300];
    for shape in [SMALL, LAYERED] {
        let model = Model::random(shape, 17);
        let (loss, gradients) = learnt(Unit::Portable, &model, samples);
        let size =
            |values: &mut dyn Iterator<Item = f32>| values.map(|x| f64::from(x * x)).sum::<f64>();
        let whole = size(&mut gradients.iter().copied());
        for unit in Unit::available() {
            let (other_loss, others) = learnt(unit, &model, samples);
            assert!((loss - other_loss).abs() < 1e-4 * loss, "{unit:?}");
            let error = size(&mut gradients.iter().zip(&others).map(|(a, b)| a - b));
            assert!(error < 1e-6 * whole, "{unit:?}: {error} of {whole}");
        }
    }
}

#[test]
fn more_king_buckets_and_shared_weights_change_no_evaluation() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let samples = &samples[..300];
    let evaluate = |model: &Model| {
        let mut outputs = Vec::new();
        let mut worker = Worker::new(model.shape);
        worker.evaluate(model, samples, |_, output| outputs.push(output));
        outputs
    };
    let close = |a: &[f32], b: &[f32]| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 0.02);
    let mut model = Model::random(SMALL, 23);
    let before = evaluate(&model);
    model.factorise();
    model.refresh();
    assert!(model.tiles[0].shared.floats().iter().any(|&x| x != 0.0));
    assert!(close(&before, &evaluate(&model)));
    let ten = Shape {
        hidden: 128,
        king_buckets: KingBuckets::Ten,
        layered: false,
    };
    assert!(close(&before, &evaluate(&model.widened(ten, 1))));
    for wider in [SMALL, ten] {
        let layered = Shape {
            layered: true,
            ..wider
        };
        assert!(close(&before, &evaluate(&model.widened(layered, 1))));
    }
    let model = Model::random(LAYERED, 5);
    let wider = Shape {
        layered: true,
        ..ten
    };
    assert!(close(
        &evaluate(&model),
        &evaluate(&model.widened(wider, 1))
    ));
}

#[test]
fn shared_weights_learn_from_all_king_buckets() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let samples = &samples[..CHUNK.min(samples.len())];
    let mut model = Model::random(SMALL, 29);
    let mut worker = Worker::new(SMALL);
    let target = Target {
        scale: SCALE,
        steepness: 1.0,
        lambda: 0.0,
        hint_weight: 0.0,
    };
    worker.learn(&model, target, samples);
    model.step(
        &mut [&mut worker.gradients],
        1.0 / samples.len() as f32,
        1e-3,
    );
    // Of the five rows of a piece on a square some have no position; what they share has learnt.
    let tile = &model.tiles[0];
    let has_learnt = |trained: &Trained, row: usize| trained.first_moment[2 * row] != Floats::ZERO;
    assert!((0..SMALL.features()).any(|row| {
        !has_learnt(&tile.weights, row) && has_learnt(&tile.shared, row % PIECE_FEATURES)
    }));
    assert!(
        worker
            .gradients
            .tiles
            .iter()
            .all(|row| *row == [Floats::ZERO; 2])
    );
    assert!(worker.gradients.touched.iter().all(|touched| !touched));
}

#[test]
fn rounded_evaluation_is_the_network_file_s() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    for shape in [SMALL, LAYERED] {
        let mut model = Model::random(shape, 21);
        model.set_fake_quantisation(FakeQuantisation::On);
        let net = export::quantise(&model, "test", SCALE as i32);
        let (rms, largest) = export::rounding_error(&model, &net, &samples);
        assert!(
            rms < 1.5 && largest < 5.0,
            "{shape:?} {rms} cp, {largest} cp"
        );
    }
}

#[test]
fn chunks_do_not_remember_each_other() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let model = Model::random(LAYERED, 9);
    let evaluate = |worker: &mut Worker, part: &[Sample]| {
        let mut outputs = Vec::new();
        worker.evaluate(&model, part, |_, output| outputs.push(output));
        outputs
    };
    let mut worker = Worker::new(LAYERED);
    let whole = evaluate(&mut worker, &samples[..CHUNK.min(samples.len())]);
    let tail = evaluate(&mut worker, &samples[100..110]);
    assert_eq!(tail, whole[100..110]);
}

#[test]
fn evaluation_follows_every_step() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let mut model = Model::random(LAYERED, 33);
    let mut worker = Worker::new(LAYERED);
    let batch = CHUNK.min(samples.len());
    for _ in 0..3 {
        worker.learn(
            &model,
            Target {
                scale: SCALE,
                steepness: 1.0,
                lambda: 0.0,
                hint_weight: 0.0,
            },
            &samples[..batch],
        );
        model.step(&mut [&mut worker.gradients], 1.0 / batch as f32, 1e-2);
        let mut fresh = model.clone();
        fresh.refresh();
        assert_eq!(model.outputs.used, fresh.outputs.used);
        assert_eq!(model.layers, fresh.layers);
        for tile in 0..model.tiles.len() {
            assert_eq!(model.tile_lines(tile), fresh.tile_lines(tile));
        }
    }
}
