//! A training run from start to finish.

use std::fs;
use std::panic::resume_unwind;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread::ScopedJoinHandle;
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::Serialize;

use crate::files;
use crate::hash::fnv1a;
use crate::nnue::single_layer::QuantisedNet;
use crate::progress::ProgressReporter;

use super::batch::Batch;
use super::checkpoint::{self, LossPoint, Progress};
use super::config::{Config, check_scale};
use super::export;
use super::fit;
use super::kernel::{CHUNK, Worker};
use super::load::{self, DataFile, Dataset, FileSummary};
use super::loss::{Losses, Target};
use super::model::Model;
use super::pace::Pace;
use super::quantisation::FakeQuantisation;
use super::sample::Sample;
use super::schedule::half_cosine;
use super::shards::{self, ShardPass, Shards};
use super::shuffle::GroupOrder;
use super::start::begin;
use super::views::NEIGHBOURS;

/// Positions that the quantised network is compared on.
const COMPARED: usize = 4096;
/// Positions that say which pairs of hidden units are active together.
const GROUPED_BY: usize = 10_000;
/// Steps of the progress bar for a whole run.
const PROGRESS_STEPS: u64 = 10_000;
const SECONDS_A_MINUTE: f64 = 60.0;
const PAUSE_POLL: Duration = Duration::from_millis(200);

/// What is written next to the finished network.
#[derive(Debug, Serialize)]
struct Record<'a> {
    config: &'a Config,
    command: Vec<String>,
    commit: Option<&'static str>,
    /// Name and hash of the teacher's file.
    teacher: Option<(String, String)>,
    files: &'a [FileSummary],
    /// Positions learnt from, of all files.
    positions: u64,
    held_out: usize,
    scale: f64,
    fitted_scale: Option<f64>,
    steps: u64,
    epochs: f64,
    training_seconds: f64,
    losses: &'a [LossPoint],
    train_loss: f64,
    held_out_loss: HeldOut,
    rounding_error_rms_cp: f64,
    rounding_error_max_cp: f64,
    network_hash: String,
}

/// Mean squared errors on held-out positions.
#[derive(Clone, Debug, Serialize)]
pub struct HeldOut {
    pub target: f64,
    pub score: f64,
    pub result: f64,
    /// Squared error against the score by file, for files that hold any positions out.
    pub score_by_file: Vec<(String, f64)>,
}

/// Trains a network and writes it with its record.
///
/// # Errors
/// Data, checkpoint or outputs that cannot be read or written, or settings in conflict.
pub fn run(config: &Config) -> anyhow::Result<()> {
    config.check()?;
    let mut trainer = Trainer::new(config)?;
    trainer.train()?;
    trainer.finish()
}

struct Trainer<'a> {
    config: &'a Config,
    shards: Shards,
    pass: ShardPass,
    /// The positions of a shard, and those held out.
    data: Dataset,
    /// The pass that the shard was loaded for.
    loaded: u64,
    /// All files read so far, for the record.
    files: Vec<FileSummary>,
    model: Model,
    workers: Vec<Worker>,
    batch: Batch,
    reporter: ProgressReporter,
    scale: f64,
    fitted: Option<f64>,
    fingerprint: u64,
    /// Seconds trained before this process and, so far, in it.
    seconds: f64,
    running: Losses,
    held_out: HeldOut,
    /// Held-out losses at every checkpoint.
    losses: Vec<LossPoint>,
    teacher: Option<(String, String)>,
}

impl<'a> Trainer<'a> {
    fn new(config: &'a Config) -> anyhow::Result<Trainer<'a>> {
        let described = serde_json::to_vec(&(config, shards::identities(&config.data)?))?;
        let teacher = config.teacher.as_deref().map(name_and_hash).transpose()?;
        let fingerprint = fnv1a(&described);
        let (model, progress) = begin(config, fingerprint)?;
        let shards = Shards::new(config)?;
        let started = Instant::now();
        let data = load_files(config, &shards.with_held_out(progress.pass.number))?;
        let fitted = fit::fit_scale(&data.train);
        // A run that goes on may have begun with another shard.
        let known = (progress.scale > 0.0).then_some(progress.scale);
        let Some(scale) = config.scale.or(known).or(fitted) else {
            bail!("no scale can be fitted to these results: give one with --scale");
        };
        check_scale(scale)?;
        let reporter = ProgressReporter::new(PROGRESS_STEPS);
        reporter.line(&format!(
            "{}, {} held out; K {scale:.1}, fitted {:.1}",
            loaded(&data, started),
            data.held_out.len(),
            fitted.unwrap_or(f64::NAN),
        ));
        let workers = (0..config.threads.max(1))
            .map(|_| Worker::new(config.shape()))
            .collect();
        let held_out = HeldOut {
            target: 0.0,
            score: 0.0,
            result: 0.0,
            score_by_file: Vec::new(),
        };
        let mut files = progress.files;
        add_new(&mut files, &data.files);
        Ok(Trainer {
            config,
            shards,
            pass: progress.pass,
            loaded: progress.pass.number,
            data,
            files,
            model,
            workers,
            batch: Batch::default(),
            reporter,
            scale,
            fitted,
            fingerprint,
            seconds: progress.seconds,
            running: Losses::default(),
            held_out,
            losses: progress.losses,
            teacher,
        })
    }

    /// What is learnt at the present point of the run.
    fn target(&self) -> Target {
        let config = self.config;
        let hint_weight = half_cosine(config.hint_weight, config.final_hint_weight, self.done());
        let scale = config.loss_scale.unwrap_or(self.scale);
        Target {
            scale: scale as f32,
            steepness: (self.scale / scale) as f32,
            lambda: config.lambda as f32,
            hint_weight: hint_weight as f32,
        }
    }

    fn batches_a_pass(&self) -> u64 {
        // The rest of a pass that fills no batch is left for the next, differently shuffled.
        (self.data.train.len() / self.config.batch).max(1) as u64
    }

    fn epochs(&self) -> f64 {
        self.pass.epochs(self.batches_a_pass(), self.shards.count())
    }

    fn done(&self) -> f64 {
        self.config.schedule.done(self.epochs(), self.seconds)
    }

    fn train(&mut self) -> anyhow::Result<()> {
        let mut last_saved = Instant::now();
        let mut pace = Pace::new(self.model.steps);
        self.set_rounding(self.done());
        self.measure();
        loop {
            self.wait_while_paused();
            let Some(done) = self.advance()? else {
                return Ok(());
            };
            // The checkpoint and the network file still have the weights from before.
            ensure!(
                self.running.target.is_finite(),
                "training diverged at step {}: lower the learning rate",
                self.model.steps
            );
            let speed = pace.batches(self.model.steps) * self.config.batch as f64;
            self.tell(done, speed);
            let minutes = last_saved.elapsed().as_secs_f64() / SECONDS_A_MINUTE;
            if self.pass.batch == 0 || minutes >= self.config.checkpoint_minutes {
                self.measure();
                ensure!(
                    self.data.held_out.is_empty() || self.held_out.target.is_finite(),
                    "training diverged at step {}: lower the learning rate",
                    self.model.steps
                );
                self.note_losses();
                self.save()?;
                last_saved = Instant::now();
            }
        }
    }

    /// Exchanges the positions to learn from if the present pass belongs to another shard.
    fn load_shard(&mut self) -> anyhow::Result<()> {
        let shard = self.shards.of_pass(self.pass.number);
        if shard == self.shards.of_pass(self.loaded) {
            return Ok(());
        }
        let started = Instant::now();
        // The memory is needed for the next shard.
        self.data.train = Vec::new();
        let data = load_files(self.config, shard)?;
        self.reporter.line(&loaded(&data, started));
        add_new(&mut self.files, &data.files);
        self.data.train = data.train;
        self.loaded = self.pass.number;
        Ok(())
    }

    /// Rounds weights or not, as at this point of the run. A run that never rounds before its end
    /// does not at its end either.
    fn set_rounding(&mut self, done: f64) {
        let from = self.config.round_from;
        let quantisation = if done >= from && from < 1.0 {
            FakeQuantisation::On
        } else {
            FakeQuantisation::Off
        };
        self.model.set_fake_quantisation(quantisation);
    }

    /// One step further, if the run is not over. Returns how much of the run was done before.
    fn advance(&mut self) -> anyhow::Result<Option<f64>> {
        let done = self.done();
        if done >= 1.0 {
            return Ok(None);
        }
        self.load_shard()?;
        let begun = Instant::now();
        self.set_rounding(done);
        let ShardPass { number, batch } = self.pass;
        let len = self.data.train.len();
        let order = GroupOrder::new(len, NEIGHBOURS, self.config.seed, number);
        let rate = self.config.schedule.rate(done, self.model.steps);
        let losses = self.learn(&order, batch as usize, rate);
        self.note(&losses);
        self.pass = self.pass.next(self.batches_a_pass());
        self.seconds += begun.elapsed().as_secs_f64();
        Ok(Some(done))
    }

    /// Shows progress; `speed` is in positions a second.
    fn tell(&mut self, done: f64, speed: f64) {
        let epochs = self.epochs();
        let (running, held_out) = (self.running, &self.held_out);
        let message = format!(
            "epoch {epochs:.2}  loss {:.6}  hints {:.5}  held out {:.6} (score {:.6}, result {:.5})  \
             {:.0} k/s",
            running.mean(running.target),
            running.mean(running.hints),
            held_out.target,
            held_out.score,
            held_out.result,
            speed / 1000.0,
        );
        let steps = (done * PROGRESS_STEPS as f64) as u64;
        self.reporter.update(steps, &message);
    }

    /// One optimiser step over a batch of the epoch's order.
    fn learn(&mut self, order: &GroupOrder, index: usize, rate: f64) -> Losses {
        let first = index * self.config.batch;
        let end = (first + self.config.batch).min(self.data.train.len());
        let target = self.target();
        let model = &self.model;
        let samples = self.batch.fill(
            &self.data.train,
            order,
            first..end,
            self.workers.len(),
            self.config.king_buckets,
        );
        let next = AtomicUsize::new(0);
        let mut total = Losses::default();
        std::thread::scope(|scope| {
            let handles: Vec<_> = self
                .workers
                .iter_mut()
                .map(|worker| {
                    let next = &next;
                    scope.spawn(move || {
                        let mut losses = Losses::default();
                        loop {
                            let from = next.fetch_add(CHUNK, Ordering::Relaxed);
                            if from >= samples.len() {
                                return losses;
                            }
                            let to = (from + CHUNK).min(samples.len());
                            losses.add(&worker.learn(model, target, &samples[from..to]));
                        }
                    })
                })
                .collect();
            for handle in handles {
                total.add(&joined(handle));
            }
        });
        let mut gradients: Vec<_> = self
            .workers
            .iter_mut()
            .map(|worker| &mut worker.gradients)
            .collect();
        self.model
            .step(&mut gradients, 1.0 / (end - first) as f32, rate);
        total
    }

    /// Keeps a decaying mean of the training loss.
    fn note(&mut self, losses: &Losses) {
        const KEEP: f64 = 0.99;
        let running = &mut self.running;
        for sum in [
            &mut running.positions,
            &mut running.target,
            &mut running.score,
            &mut running.result,
            &mut running.hints,
        ] {
            *sum *= KEEP;
        }
        running.add(losses);
    }

    fn wait_while_paused(&self) {
        if let Some(path) = &self.config.pause_file {
            while path.exists() {
                std::thread::sleep(PAUSE_POLL);
            }
        }
    }

    /// Losses on all held-out positions.
    fn measure(&mut self) {
        let held_out = &self.data.held_out;
        let target = self.target();
        let model = &self.model;
        let share = held_out.len().div_ceil(self.workers.len()).max(1);
        let files = self.data.files.len().min(usize::from(u16::MAX) + 1);
        let mut by_file = vec![Losses::default(); files];
        std::thread::scope(|scope| {
            let handles: Vec<_> = self
                .workers
                .iter_mut()
                .zip(held_out.chunks(share))
                .map(|(worker, part)| {
                    scope.spawn(move || {
                        let mut by_file = vec![Losses::default(); files];
                        for chunk in part.chunks(CHUNK) {
                            worker.evaluate(model, chunk, |sample, output| {
                                by_file[usize::from(sample.source)]
                                    .add_output(sample, output, target);
                            });
                        }
                        by_file
                    })
                })
                .collect();
            for handle in handles {
                for (sum, part) in by_file.iter_mut().zip(&joined(handle)) {
                    sum.add(part);
                }
            }
        });
        let mut total = Losses::default();
        by_file.iter().for_each(|losses| total.add(losses));
        self.held_out = HeldOut {
            target: total.mean(total.target),
            score: total.mean(total.score),
            result: total.mean(total.result),
            score_by_file: self
                .data
                .files
                .iter()
                .zip(&by_file)
                .filter(|(_, losses)| losses.positions > 0.0)
                .map(|(file, losses)| (file.name.clone(), losses.mean(losses.score)))
                .collect(),
        };
    }

    /// Adds the current losses to the record.
    fn note_losses(&mut self) {
        let steps = self.model.steps;
        if self.losses.last().is_none_or(|last| last.steps < steps) {
            self.losses.push(LossPoint {
                steps,
                training: self.train_loss(),
                held_out: self.held_out.target,
            });
        }
    }

    /// The mean loss over the last steps, or the one noted before if this process made no step.
    fn train_loss(&self) -> f64 {
        let noted = self.losses.last().map_or(0.0, |point| point.training);
        if self.running.positions > 0.0 {
            self.running.mean(self.running.target)
        } else {
            noted
        }
    }

    /// Writes the checkpoint and the network as it is now, which is not compressed: that takes half
    /// a minute in which nothing is learnt.
    fn save(&self) -> anyhow::Result<QuantisedNet> {
        let progress = Progress {
            hidden: self.config.hidden,
            king_buckets: self.config.king_buckets.count(),
            layered: self.config.layers,
            steps: self.model.steps,
            pass: self.pass,
            files: self.files.clone(),
            seconds: self.seconds,
            fingerprint: self.fingerprint,
            scale: self.scale,
            losses: self.losses.clone(),
        };
        checkpoint::save(&self.config.checkpoint, &self.model, &progress)?;
        let net = export::quantise(&self.model, &self.config.name, self.scale.round() as i32);
        let path = &self.config.output;
        files::replace(path, &net.to_bytes())
            .with_context(|| format!("cannot write {}", path.display()))?;
        Ok(net)
    }

    /// About so many samples, of those held out if there are any.
    fn some_samples(&self, count: usize) -> Vec<Sample> {
        let held_out = &self.data.held_out;
        let samples = if held_out.is_empty() {
            &self.data.train
        } else {
            held_out
        };
        let stride = samples.len().div_ceil(count).max(1);
        samples.iter().step_by(stride).copied().collect()
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        // As a run that is begun again at its end would measure.
        self.set_rounding(self.done());
        self.measure();
        self.note_losses();
        let mut net = self.save()?;
        if net.shape.layered {
            net = export::group_pairs(net, &self.some_samples(GROUPED_BY));
        }
        net.save(&self.config.output)?;
        let compared = self.some_samples(COMPARED);
        let (rms, largest) = export::rounding_error(&self.model, &net, &compared);
        let record = Record {
            config: self.config,
            command: std::env::args_os()
                .map(|word| word.to_string_lossy().into_owned())
                .collect(),
            commit: option_env!("PLEACH_COMMIT"),
            teacher: self.teacher.clone(),
            files: &self.files,
            positions: self.files.iter().map(|file| file.kept).sum(),
            held_out: self.data.held_out.len(),
            scale: self.scale,
            fitted_scale: self.fitted,
            steps: self.model.steps,
            epochs: self.epochs(),
            training_seconds: self.seconds,
            losses: &self.losses,
            train_loss: self.train_loss(),
            held_out_loss: self.held_out.clone(),
            rounding_error_rms_cp: rms,
            rounding_error_max_cp: largest,
            network_hash: format!("{:016x}", fnv1a(&net.to_bytes())),
        };
        let path = self.config.record();
        let json = serde_json::to_vec_pretty(&record)?;
        files::replace(&path, &json).with_context(|| format!("cannot write {}", path.display()))?;
        self.reporter.finish(&format!(
            "{}: {} steps in {:.0} s, held out {:.6} (score {:.6}, result {:.5}); rounding moves \
             evaluations by {rms:.2} cp (root mean square; at most {largest:.1})",
            self.config.output.display(),
            self.model.steps,
            self.seconds,
            self.held_out.target,
            self.held_out.score,
            self.held_out.result,
        ));
        Ok(())
    }
}

/// What a thread returns; its panic goes on in this one.
fn joined<T>(handle: ScopedJoinHandle<T>) -> T {
    handle.join().unwrap_or_else(|panic| resume_unwind(panic))
}

/// A file's name and the FNV-1a hash of its bytes.
fn name_and_hash(path: &Path) -> anyhow::Result<(String, String)> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), format!("{:016x}", fnv1a(&bytes))))
}

/// Reads files with the settings of a run.
fn load_files(config: &Config, files: &[DataFile]) -> anyhow::Result<Dataset> {
    let (filter, hold_out) = (&config.filter, config.hold_out);
    Ok(load::load(files, filter, hold_out, config.threads)?)
}

/// A line about what was read.
fn loaded(data: &Dataset, started: Instant) -> String {
    format!(
        "{} positions to learn from, from {} files in {:.0} s",
        data.train.len(),
        data.files.len(),
        started.elapsed().as_secs_f64(),
    )
}

/// Adds those files of a shard that are not in the list yet. Equal files that are read together, under
/// one name in two folders for instance, are learnt from each, and so each is in the list.
fn add_new(files: &mut Vec<FileSummary>, read: &[FileSummary]) {
    for (file, number) in read.iter().zip(1..) {
        let count = |files: &[FileSummary]| files.iter().filter(|other| *other == file).count();
        if count(files) < count(&read[..number]) {
            files.push(file.clone());
        }
    }
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
