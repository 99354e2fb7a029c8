//! The trainer's arithmetic against slower, plainer code.

use std::sync::Arc;

use super::export;
use super::kernel::{CHUNK, Target, Worker, sigmoid};
use super::lanes::{Floats, HALF, TILE, Unit};
use super::model::{FIXED_ONE, FakeQuantisation, Model};
use super::sample::{MAX_ACTIVE, Sample};
use crate::board::{Position, tests::random_games};
use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::Shape;
use crate::nnue::{Accumulators, HIDDEN, Network, synthetic};
use crate::record::{Mailbox, PackedBoard};

const GAMES: u64 = 12;
const SCALE: f32 = 250.0;
const SMALL: Shape = Shape {
    hidden: 64,
    king_buckets: KingBuckets::Five,
    layered: false,
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
    let quantised = synthetic::random(HIDDEN, 11);
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

#[test]
fn floats_and_integers_evaluate_alike() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let mut model = Model::random(SMALL, 3);
    // Rounded once, the parameters are what the integers stand for, so that little is left.
    let net = export::quantise(&model, "test", SCALE as i32);
    let (rms, _) = export::rounding_error(&model, &net, &samples);
    assert!(rms < 10.0, "{rms} cp");
    model = export::restore(&net);
    assert_eq!(export::quantise(&model, "test", SCALE as i32), net);
    let (rms, largest) = export::rounding_error(&model, &net, &samples);
    assert!(rms < 1.5 && largest < 5.0, "{rms} cp, {largest} cp");
}

/// The network in plain 64-bit floats over plain arrays.
struct Plain<'a>(&'a Model);

impl Plain<'_> {
    fn weight(&self, input: usize, neuron: usize) -> f64 {
        let row = self.0.tiles[neuron / TILE].row(input);
        f64::from(row[neuron % TILE / HALF].0[neuron % HALF])
    }

    fn loss(&self, sample: &Sample, target: Target) -> f64 {
        let mut views = [[0; MAX_ACTIVE]; 2];
        let [own, other] = &mut views;
        let count = sample.features(KingBuckets::Five, own, other);
        let (bucket, hidden) = (sample.bucket(), self.0.shape.hidden);
        let mut output = f64::from(self.0.outputs.bias.floats()[bucket]);
        for (half, view) in views.iter().enumerate() {
            for neuron in 0..hidden {
                let inputs = view[..count].iter().map(|&input| usize::from(input));
                let sum: f64 = inputs
                    .chain([self.0.shape.features()])
                    .map(|input| self.weight(input, neuron))
                    .sum();
                let value = sum.clamp(0.0, 1.0);
                let index = (2 * bucket + half) * hidden + neuron;
                output += value * value * f64::from(self.0.outputs.weights.floats()[index]);
            }
        }
        let score = f64::from(sigmoid(f32::from(sample.score) / target.scale));
        let result = f64::from(sample.half_points) / 2.0;
        let goal = f64::from(target.lambda) * result + (1.0 - f64::from(target.lambda)) * score;
        let predicted = 1.0 / (1.0 + (-output).exp());
        (predicted - goal) * (predicted - goal)
    }
}

/// Rounds the weights to what the 16-bit copies hold, so that both sides compute with the same.
fn round_weights(model: &mut Model) {
    for tile in &mut model.tiles {
        for weight in tile.weights.floats_mut() {
            *weight = (*weight * FIXED_ONE).round() / FIXED_ONE;
        }
    }
    model.refresh();
}

#[test]
fn gradients_are_those_of_finite_differences() {
    const STEP: f32 = 1e-3;
    let target = Target {
        scale: SCALE,
        lambda: 0.3,
    };
    let samples: Vec<Sample> = samples()
        .into_iter()
        .step_by(17)
        .map(|(_, sample)| sample)
        .take(40)
        .collect();
    let mut model = Model::random(SMALL, 5);
    round_weights(&mut model);
    let mut worker = Worker::new(SMALL);
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
    samples[3].features(KingBuckets::Five, own, other);
    let rows = [
        usize::from(own[0]),
        usize::from(own[2]),
        usize::from(other[1]),
        SMALL.features(),
    ];
    for (row, slot) in rows
        .iter()
        .flat_map(|&row| [0, 1, 15, 16, 31].map(|slot| (row, slot)))
    {
        for tile in 0..2 {
            let parts = worker.gradients.tiles[tile * SMALL.rows() + row];
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
}

/// Everything that a worker finds out about some positions.
fn learnt(unit: Unit, model: &Model, samples: &[Sample]) -> (f64, Vec<f32>) {
    let mut worker = Worker::with_unit(model.shape, unit);
    let target = Target {
        scale: SCALE,
        lambda: 0.3,
    };
    let losses = worker.learn(model, target, samples);
    let rows = worker.gradients.tiles.iter().flatten();
    let floats: Vec<f32> = rows
        .chain(&worker.gradients.weights)
        .flat_map(|floats| floats.0)
        .collect();
    (losses.target, floats)
}

#[test]
fn all_instruction_sets_learn_alike() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let samples = &samples[..300];
    let model = Model::random(SMALL, 17);
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
}

#[test]
fn shared_weights_learn_from_all_king_buckets() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let samples = &samples[..CHUNK.min(samples.len())];
    let mut model = Model::random(SMALL, 29);
    let mut worker = Worker::new(SMALL);
    let target = Target {
        scale: SCALE,
        lambda: 0.0,
    };
    worker.learn(&model, target, samples);
    model.step(
        &mut [&mut worker.gradients],
        1.0 / samples.len() as f32,
        1e-3,
    );
    // Of the five rows of a piece on a square those without a position stay, their sums move.
    let tile = &model.tiles[0];
    let fresh = Model::random(SMALL, 29);
    let moved = |row: usize| tile.row(row) != fresh.tiles[0].row(row);
    let decayed = |row: usize| tile.weights.mean[2 * row] == Floats::ZERO;
    assert!((0..SMALL.features()).any(|row| decayed(row) && moved(row)));
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
    let mut model = Model::random(SMALL, 21);
    model.set_fake_quantisation(FakeQuantisation::On);
    let net = export::quantise(&model, "test", SCALE as i32);
    let (rms, largest) = export::rounding_error(&model, &net, &samples);
    assert!(rms < 1.5 && largest < 5.0, "{rms} cp, {largest} cp");
}

#[test]
fn chunks_do_not_remember_each_other() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let model = Model::random(SMALL, 9);
    let evaluate = |worker: &mut Worker, part: &[Sample]| {
        let mut outputs = Vec::new();
        worker.evaluate(&model, part, |_, output| outputs.push(output));
        outputs
    };
    let mut worker = Worker::new(SMALL);
    let whole = evaluate(&mut worker, &samples[..CHUNK.min(samples.len())]);
    let tail = evaluate(&mut worker, &samples[100..110]);
    assert_eq!(tail, whole[100..110]);
}

#[test]
fn evaluation_follows_every_step() {
    let samples: Vec<Sample> = samples().into_iter().map(|(_, sample)| sample).collect();
    let mut model = Model::random(SMALL, 33);
    let mut worker = Worker::new(SMALL);
    let batch = CHUNK.min(samples.len());
    for _ in 0..3 {
        worker.learn(
            &model,
            Target {
                scale: SCALE,
                lambda: 0.0,
            },
            &samples[..batch],
        );
        model.step(&mut [&mut worker.gradients], 1.0 / batch as f32, 1e-2);
        let mut fresh = model.clone();
        fresh.refresh();
        assert_eq!(model.outputs.used, fresh.outputs.used);
        assert!(
            model
                .tiles
                .iter()
                .zip(&fresh.tiles)
                .all(|(a, b)| a.lines == b.lines)
        );
    }
}
