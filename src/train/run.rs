//! A training run from start to finish.

use std::fs;
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use anyhow::{Context, bail, ensure};
use serde::Serialize;

use crate::files;
use crate::nnue::format::fnv1a;
use crate::nnue::single_layer::QuantisedNet;

use super::batch::Batch;
use super::checkpoint::{self, LossPoint, Progress};
use super::config::{Config, check_scale};
use super::export;
use super::kernel::{CHUNK, Worker};
use super::load::{self, Dataset, FileSummary, LoadProgress};
use super::loss::{Losses, Target};
use super::model::{FakeQuantisation, Model};
use super::report::Reporter;
use super::sample::Sample;
use super::shuffle::Permutation;

/// Positions that the quantised network is compared on.
const COMPARED: usize = 4096;
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
    positions: usize,
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
    let started = Instant::now();
    let progress = LoadProgress::default();
    let data = load::load(
        &config.data,
        &config.filter,
        config.hold_out,
        config.threads,
        &progress,
    )?;
    let mut trainer = Trainer::new(config, data)?;
    trainer.reporter.line(&format!(
        "{} positions to learn from, {} held out, from {} files in {:.0} s; K {:.1}, fitted {:.1}",
        trainer.data.train.len(),
        trainer.data.held_out.len(),
        trainer.data.files.len(),
        started.elapsed().as_secs_f64(),
        trainer.scale,
        trainer.fitted.unwrap_or(f64::NAN),
    ));
    trainer.train()?;
    trainer.finish()
}

struct Trainer<'a> {
    config: &'a Config,
    data: Dataset,
    model: Model,
    workers: Vec<Worker>,
    batch: Batch,
    reporter: Reporter,
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
    fn new(config: &'a Config, data: Dataset) -> anyhow::Result<Trainer<'a>> {
        let fitted = load::fit_scale(&data.train);
        let Some(scale) = config.scale.or(fitted) else {
            bail!("no scale can be fitted to these results: give one with --scale");
        };
        check_scale(scale)?;
        let described = serde_json::to_vec(&(config, &data.files))?;
        let fingerprint = fnv1a(&described);
        let (model, progress) = begin(config, fingerprint)?;
        let teacher = config.teacher.as_deref().map(name_and_hash).transpose()?;
        let workers = (0..config.threads.max(1))
            .map(|_| Worker::new(config.shape()))
            .collect();
        let held_out = HeldOut {
            target: 0.0,
            score: 0.0,
            result: 0.0,
            score_by_file: Vec::new(),
        };
        Ok(Trainer {
            config,
            data,
            model,
            workers,
            batch: Batch::default(),
            reporter: Reporter::new(),
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

    fn target(&self) -> Target {
        Target {
            scale: self.scale as f32,
            lambda: self.config.lambda as f32,
        }
    }

    fn steps_an_epoch(&self) -> usize {
        // The rest of an epoch that fills no batch is left for the next, differently shuffled.
        (self.data.train.len() / self.config.batch).max(1)
    }

    fn done(&self) -> f64 {
        let an_epoch = self.steps_an_epoch() as f64;
        self.config
            .schedule
            .done(self.model.steps, an_epoch, self.seconds)
    }

    fn train(&mut self) -> anyhow::Result<()> {
        let an_epoch = self.steps_an_epoch() as u64;
        let mut last_saved = Instant::now();
        let mut pace = Pace::new(self.model.steps);
        self.measure();
        loop {
            self.wait_while_paused();
            let Some(done) = self.advance() else {
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
            if self.model.steps.is_multiple_of(an_epoch)
                || minutes >= self.config.checkpoint_minutes
            {
                self.measure();
                self.note_losses();
                self.save()?;
                last_saved = Instant::now();
            }
        }
    }

    /// One step further, if the run is not over. Returns how much of the run was done before.
    fn advance(&mut self) -> Option<f64> {
        let done = self.done();
        if done >= 1.0 {
            return None;
        }
        let begun = Instant::now();
        self.model
            .set_fake_quantisation(if done >= self.config.round_from {
                FakeQuantisation::On
            } else {
                FakeQuantisation::Off
            });
        let an_epoch = self.steps_an_epoch() as u64;
        let (epoch, batch) = (self.model.steps / an_epoch, self.model.steps % an_epoch);
        let order = Permutation::new(self.data.train.len(), self.config.seed, epoch);
        let rate = self.config.schedule.rate(done, self.model.steps);
        let losses = self.learn(&order, batch as usize, rate);
        self.note(&losses);
        self.seconds += begun.elapsed().as_secs_f64();
        Some(done)
    }

    /// Shows progress; `speed` is in positions a second.
    fn tell(&mut self, done: f64, speed: f64) {
        let epochs = self.model.steps as f64 / self.steps_an_epoch() as f64;
        let (running, held_out) = (self.running, &self.held_out);
        self.reporter.update(done, || {
            format!(
                "epoch {epochs:.2}  loss {:.6}  held out {:.6} (score {:.6}, result {:.5})  {:.0} k/s",
                running.mean(running.target),
                held_out.target,
                held_out.score,
                held_out.result,
                speed / 1000.0,
            )
        });
    }

    /// One optimiser step over a batch of the epoch's order.
    fn learn(&mut self, order: &Permutation, index: usize, rate: f64) -> Losses {
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
                if let Ok(losses) = handle.join() {
                    total.add(&losses);
                }
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
        let files = self.data.files.len().min(usize::from(u8::MAX) + 1);
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
                let parts = handle.join().unwrap_or_default();
                for (sum, part) in by_file.iter_mut().zip(&parts) {
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
                training: self.running.mean(self.running.target),
                held_out: self.held_out.target,
            });
        }
    }

    /// Writes the checkpoint and the network as it is now.
    fn save(&self) -> anyhow::Result<QuantisedNet> {
        let progress = Progress {
            hidden: self.config.hidden,
            king_buckets: self.config.king_buckets.count(),
            layered: self.config.layers,
            steps: self.model.steps,
            seconds: self.seconds,
            fingerprint: self.fingerprint,
            scale: self.scale,
            losses: self.losses.clone(),
        };
        checkpoint::save(&self.config.checkpoint, &self.model, &progress)?;
        let net = export::quantise(&self.model, &self.config.name, self.scale.round() as i32);
        net.save(&self.config.output)?;
        Ok(net)
    }

    fn finish(&mut self) -> anyhow::Result<()> {
        self.measure();
        self.note_losses();
        let net = self.save()?;
        let held_out = &self.data.held_out;
        let sample = if held_out.is_empty() {
            &self.data.train
        } else {
            held_out
        };
        let stride = sample.len().div_ceil(COMPARED).max(1);
        let sample: Vec<Sample> = sample.iter().step_by(stride).copied().collect();
        let (rms, largest) = export::rounding_error(&self.model, &net, &sample);
        let record = Record {
            config: self.config,
            command: std::env::args().collect(),
            commit: option_env!("PLEACH_COMMIT"),
            teacher: self.teacher.clone(),
            files: &self.data.files,
            positions: self.data.train.len(),
            held_out: held_out.len(),
            scale: self.scale,
            fitted_scale: self.fitted,
            steps: self.model.steps,
            epochs: self.model.steps as f64 / self.steps_an_epoch() as f64,
            training_seconds: self.seconds,
            losses: &self.losses,
            train_loss: self.running.mean(self.running.target),
            held_out_loss: self.held_out.clone(),
            rounding_error_rms_cp: rms,
            rounding_error_max_cp: largest,
            network_hash: format!("{:016x}", fnv1a(&net.to_bytes())),
        };
        let path = self.config.record();
        let json = serde_json::to_vec_pretty(&record)?;
        files::replace(&path, &json).with_context(|| format!("cannot write {}", path.display()))?;
        self.reporter.finish();
        self.reporter.line(&format!(
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

/// How many steps are made a second, measured once a second.
struct Pace {
    since: Instant,
    steps: u64,
    speed: f64,
}

impl Pace {
    fn new(steps: u64) -> Pace {
        Pace {
            since: Instant::now(),
            steps,
            speed: 0.0,
        }
    }

    fn batches(&mut self, steps: u64) -> f64 {
        let elapsed = self.since.elapsed().as_secs_f64();
        if elapsed > 1.0 {
            let made = (steps - self.steps) as f64;
            *self = Pace {
                since: Instant::now(),
                steps,
                speed: made / elapsed,
            };
        }
        self.speed
    }
}

/// A file's name and the FNV-1a hash of its bytes.
fn name_and_hash(path: &Path) -> anyhow::Result<(String, String)> {
    let bytes = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    Ok((name.into_owned(), format!("{:016x}", fnv1a(&bytes))))
}

/// The parameters to begin with and how far the run has come.
fn begin(config: &Config, fingerprint: u64) -> anyhow::Result<(Model, Progress)> {
    if config.checkpoint.exists() {
        let (model, progress) = checkpoint::load(&config.checkpoint)?;
        if progress.fingerprint != fingerprint {
            bail!(
                "{} belongs to a run with other data or settings: remove it or name another",
                config.checkpoint.display()
            );
        }
        return Ok((model, progress));
    }
    let Some(path) = &config.init else {
        let model = Model::random(config.shape(), config.seed);
        return Ok((model, Progress::default()));
    };
    let model = initial(path)?;
    let shape = config.shape();
    if model.shape == shape {
        return Ok((model, Progress::default()));
    }
    ensure!(
        model.shape.hidden <= shape.hidden,
        "the network to start from has {} hidden neurons, more than {}",
        model.shape.hidden,
        shape.hidden
    );
    ensure!(
        model.shape.king_buckets.count() <= shape.king_buckets.count(),
        "the network to start from has {} king buckets, more than {}",
        model.shape.king_buckets.count(),
        shape.king_buckets.count()
    );
    ensure!(
        shape.layered || !model.shape.layered,
        "the network to start from has dense layers: give --layers"
    );
    Ok((model.widened(shape, config.seed), Progress::default()))
}

/// Parameters from a checkpoint or a network file, the optimiser fresh.
fn initial(path: &Path) -> anyhow::Result<Model> {
    let start = fs::read(path).with_context(|| format!("cannot read {}", path.display()))?;
    if !start.starts_with(&checkpoint::MAGIC) {
        return Ok(export::restore(&QuantisedNet::from_bytes(&start)?));
    }
    let (mut model, _) = checkpoint::load(path)?;
    model.forget();
    Ok(model)
}

#[cfg(test)]
#[path = "run_tests.rs"]
mod tests;
