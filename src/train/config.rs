//! The settings of a training run and their validation.

use std::path::{Path, PathBuf};

use anyhow::{Context, ensure};
use serde::Serialize;

use crate::files;
use crate::nnue::features::KingBuckets;
use crate::nnue::single_layer::{HIDDEN_STEP, MAX_HIDDEN, MAX_SCALE, Shape};

use super::load::{DataFile, Filter, HoldOut, PER_MILLE};
use super::schedule::{Length, Schedule};

/// Extension of the record that is written next to a network.
const RECORD_EXTENSION: &str = "json";

/// The settings of a run.
#[derive(Clone, Debug, Serialize)]
pub struct Config {
    #[serde(skip)]
    pub data: Vec<DataFile>,
    #[serde(skip)]
    pub output: PathBuf,
    /// Checkpoint to resume, if it exists; written as training goes on.
    #[serde(skip)]
    pub checkpoint: PathBuf,
    /// Checkpoints or network files to begin with instead of random weights: with the mean of
    /// them, if there are several. Neurons that it lacks are added.
    pub init: Vec<PathBuf>,
    /// The file of the network that labelled the data; only its hash is used, for the record.
    #[serde(skip)]
    pub teacher: Option<PathBuf>,
    pub name: String,
    pub hidden: usize,
    pub king_buckets: KingBuckets,
    /// Whether dense layers add to the output.
    pub layers: bool,
    pub batch: usize,
    pub lambda: f64,
    /// K, centipawns for an output of 1.0; `None` fits it to the results.
    pub scale: Option<f64>,
    /// Centipawns of the logistic function by which errors are measured; `None` is K. A smaller
    /// one counts errors near equality for more and those in won positions for less.
    pub loss_scale: Option<f64>,
    /// What the mean squared distance from the teacher's sums counts beside the squared error of
    /// the expectation.
    pub hint_weight: f64,
    /// The same at the end of the run; it falls as the learning rate does.
    pub final_hint_weight: f64,
    pub schedule: Schedule,
    /// Share of the run after which weights are used as the network file rounds them.
    pub round_from: f64,
    pub filter: Filter,
    /// Positions held out of files that are learnt from.
    pub hold_out: HoldOut,
    /// In how many parts the data are in memory, one after the other.
    pub shards: usize,
    pub seed: u64,
    #[serde(skip)]
    pub threads: usize,
    /// Minutes between checkpoints; one is also written after each epoch.
    #[serde(skip)]
    pub checkpoint_minutes: f64,
    /// Training waits while this file exists.
    #[serde(skip)]
    pub pause_file: Option<PathBuf>,
}

impl Config {
    /// The network's shape.
    #[must_use]
    pub const fn shape(&self) -> Shape {
        Shape {
            hidden: self.hidden,
            king_buckets: self.king_buckets,
            layered: self.layers,
        }
    }

    /// Where the run's record is written.
    #[must_use]
    pub fn record(&self) -> PathBuf {
        self.output.with_extension(RECORD_EXTENSION)
    }

    /// Validates the settings, before any work is done.
    ///
    /// # Errors
    /// The first setting that is invalid.
    pub fn check(&self) -> anyhow::Result<()> {
        self.check_numbers()?;
        self.check_paths()
    }

    fn check_numbers(&self) -> anyhow::Result<()> {
        ensure!(
            self.hidden != 0 && self.hidden.is_multiple_of(HIDDEN_STEP),
            "the hidden width must be a multiple of {HIDDEN_STEP}, not {}",
            self.hidden
        );
        ensure!(
            self.hidden <= MAX_HIDDEN,
            "the hidden width must be at most {MAX_HIDDEN}, not {}",
            self.hidden
        );
        ensure!(self.batch != 0, "a batch needs at least one position");
        ensure!(self.threads != 0, "training needs at least one thread");
        for scale in [self.scale, self.loss_scale].into_iter().flatten() {
            check_scale(scale)?;
        }
        let schedule = &self.schedule;
        match schedule.length {
            Length::Epochs(epochs) => check_positive("epochs", epochs)?,
            Length::Minutes(minutes) => check_positive("minutes", minutes)?,
        }
        check_positive("learning rate", schedule.start)?;
        check_positive("final learning rate", schedule.end)?;
        ensure!(
            schedule.end <= schedule.start,
            "the final learning rate {} is above the first, {}",
            schedule.end,
            schedule.start
        );
        check_positive("minutes between checkpoints", self.checkpoint_minutes)?;
        for weight in [self.hint_weight, self.final_hint_weight] {
            ensure!(
                weight >= 0.0 && weight.is_finite(),
                "the weight of hints must not be negative, but is {weight}"
            );
        }
        check_share("share of the result in the target", self.lambda)?;
        check_share("share of the run before rounding", self.round_from)?;
        ensure!(
            self.hold_out.per_mille < PER_MILLE,
            "{} of {PER_MILLE} games held out leave none to learn from",
            self.hold_out.per_mille
        );
        self.check_held_out()?;
        self.check_shards()
    }

    /// What is learnt from would be no measure of what was not seen.
    fn check_held_out(&self) -> anyhow::Result<()> {
        let (held_out, learnt): (Vec<_>, Vec<_>) = self.data.iter().partition(|file| file.held_out);
        for file in held_out {
            let path = file.path.as_path();
            for other in &learnt {
                ensure!(
                    !are_one(path, &other.path)?,
                    "{} is held out and also to be learnt from: name it once",
                    path.display()
                );
            }
        }
        Ok(())
    }

    /// With several shards only whole files can be held out: the others are not all in memory.
    fn check_shards(&self) -> anyhow::Result<()> {
        let held_out = self.data.iter().filter(|file| file.held_out).count();
        let learnt = self.data.len() - held_out;
        ensure!(learnt > 0, "there is no file to learn from");
        ensure!(
            (1..=learnt).contains(&self.shards),
            "{learnt} files cannot be dealt to {} shards",
            self.shards
        );
        ensure!(
            self.shards == 1 || held_out > 0 && self.hold_out.per_mille == 0,
            "with several shards, hold out whole files (--held-out FILE) and no share of the others"
        );
        Ok(())
    }

    /// No file of the run may be written over another one.
    fn check_paths(&self) -> anyhow::Result<()> {
        let outputs = [
            ("network", place(&self.output)?),
            ("record", place(&self.record())?),
            ("checkpoint", place(&self.checkpoint)?),
        ];
        let inputs = self.inputs();
        for (index, (what, path)) in outputs.iter().enumerate() {
            ensure!(
                !path.is_dir(),
                "the {what} cannot be written to {}: it is a directory",
                path.display()
            );
            ensure!(
                path.parent().is_some_and(Path::is_dir),
                "the {what} cannot be written to {}: there is no such directory",
                path.display()
            );
            for (other, other_path) in &outputs[..index] {
                ensure!(
                    !are_one(path, other_path)?,
                    "{other} and {what} would both be written to {}: name the output FILE.pnn \
                     or the checkpoint otherwise",
                    path.display()
                );
            }
            for (input, input_path) in &inputs {
                ensure!(
                    !are_one(path, input_path)?,
                    "the {what} would overwrite the {input} {}",
                    input_path.display()
                );
            }
        }
        Ok(())
    }

    /// The files that are read, or only looked for, and what they are.
    fn inputs(&self) -> Vec<(&'static str, &Path)> {
        let data = (self.data.iter()).map(|file| ("data", file.path.as_path()));
        let starts = (self.init.iter()).map(|path| ("start network", path.as_path()));
        let teacher = (self.teacher.iter()).map(|path| ("teacher", path.as_path()));
        let pause_file = (self.pause_file.iter()).map(|path| ("pause file", path.as_path()));
        data.chain(starts)
            .chain(teacher)
            .chain(pause_file)
            .collect()
    }
}

/// Where a file is or would be, by the folder's own name.
fn place(path: &Path) -> anyhow::Result<PathBuf> {
    let path = std::path::absolute(path).with_context(|| format!("bad path {}", path.display()))?;
    let folder = path.parent().and_then(|folder| folder.canonicalize().ok());
    Ok(match (folder, path.file_name()) {
        (Some(folder), Some(name)) => folder.join(name),
        _ => path,
    })
}

/// Whether two paths name one file, which need not exist yet.
fn are_one(one: &Path, other: &Path) -> anyhow::Result<bool> {
    Ok(place(one)? == place(other)? || files::are_same(one, other))
}

/// Checks that a network file can hold the scale, which it rounds to whole centipawns.
///
/// # Errors
/// The scale is not a number from 1 to [`MAX_SCALE`].
pub fn check_scale(scale: f64) -> anyhow::Result<()> {
    ensure!(
        (1.0..=f64::from(MAX_SCALE)).contains(&scale),
        "the scale must be 1 to {MAX_SCALE} centipawns, not {scale}"
    );
    Ok(())
}

fn check_positive(what: &str, value: f64) -> anyhow::Result<()> {
    ensure!(
        value.is_finite() && value > 0.0,
        "{what} must be a positive number, not {value}"
    );
    Ok(())
}

fn check_share(what: &str, value: f64) -> anyhow::Result<()> {
    ensure!(
        (0.0..=1.0).contains(&value),
        "{what} must be 0 to 1, not {value}"
    );
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> Config {
        let directory = std::env::temp_dir();
        Config {
            data: vec![DataFile {
                path: directory.join("games.vf.zst"),
                scaled: false,
                held_out: false,
            }],
            output: directory.join("net.pnn"),
            checkpoint: directory.join("net.checkpoint"),
            init: Vec::new(),
            teacher: None,
            name: "test".to_owned(),
            hidden: 64,
            king_buckets: KingBuckets::Five,
            layers: false,
            batch: 256,
            lambda: 0.0,
            scale: Some(200.0),
            loss_scale: None,
            hint_weight: 0.0,
            final_hint_weight: 0.0,
            schedule: Schedule {
                length: Length::Epochs(1.0),
                start: 1e-3,
                end: 1e-5,
                warm_up: 4,
            },
            round_from: 0.5,
            filter: Filter {
                keep_checks: false,
                skip_tactical: false,
                max_score: 5000,
                min_ply: 0,
                min_pieces: 3,
                contradiction: None,
                thin_beyond: None,
            },
            hold_out: HoldOut {
                per_mille: 100,
                seed: 5,
            },
            shards: 1,
            seed: 7,
            threads: 1,
            checkpoint_minutes: 1.0,
            pause_file: None,
        }
    }

    /// The refusal of a valid configuration after one change.
    fn refusal(change: impl FnOnce(&mut Config)) -> String {
        let mut config = config();
        config.check().expect("valid before the change");
        change(&mut config);
        let error = config.check().expect_err("refused");
        error.to_string()
    }

    #[test]
    fn numbers_that_cannot_be_honoured_are_refused() {
        assert!(refusal(|c| c.hidden = 8256).contains("at most 8192"));
        assert!(refusal(|c| c.hidden = 100).contains("multiple of 64"));
        assert!(refusal(|c| c.hidden = 0).contains("multiple of 64"));
        assert!(refusal(|c| c.batch = 0).contains("batch"));
        assert!(refusal(|c| c.threads = 0).contains("thread"));
        for scale in [0.0, 0.4, -250.0, 10_001.0, f64::NAN, f64::INFINITY] {
            assert!(refusal(|c| c.scale = Some(scale)).contains("scale"));
            assert!(refusal(|c| c.loss_scale = Some(scale)).contains("scale"));
        }
        for bad in [0.0, -1.0, f64::NAN, f64::INFINITY] {
            assert!(refusal(|c| c.schedule.length = Length::Epochs(bad)).contains("epochs"));
            assert!(refusal(|c| c.schedule.length = Length::Minutes(bad)).contains("minutes"));
            assert!(refusal(|c| c.schedule.start = bad).contains("learning rate"));
            assert!(refusal(|c| c.schedule.end = bad).contains("final learning rate"));
            assert!(refusal(|c| c.checkpoint_minutes = bad).contains("checkpoints"));
        }
        for bad in [-0.1, 1.1, f64::NAN] {
            assert!(refusal(|c| c.lambda = bad).contains("result"));
            assert!(refusal(|c| c.round_from = bad).contains("rounding"));
        }
        assert!(refusal(|c| c.schedule.end = 1.0).contains("above the first"));
        assert!(refusal(|c| c.hold_out.per_mille = 1000).contains("held out"));
        assert!(refusal(|c| c.shards = 0).contains("0 shards"));
        assert!(refusal(|c| c.shards = 2).contains("2 shards"));
        assert!(refusal(|c| c.data[0].held_out = true).contains("no file to learn from"));
        let both = |c: &mut Config| {
            c.data.push(DataFile {
                held_out: true,
                ..c.data[0].clone()
            });
        };
        assert!(refusal(both).contains("name it once"));
        let twice = |c: &mut Config| {
            c.data.push(c.data[0].clone());
            c.shards = 2;
        };
        assert!(refusal(twice).contains("--held-out"));
    }

    #[test]
    fn files_that_would_overwrite_each_other_are_refused() {
        let directory = std::env::temp_dir();
        let json = refusal(|c| c.output = directory.join("net.json"));
        assert!(json.contains("network and record"), "{json}");
        let checkpoint = refusal(|c| c.output = directory.join("net.checkpoint"));
        assert!(
            checkpoint.contains("network and checkpoint"),
            "{checkpoint}"
        );
        let record = refusal(|c| c.checkpoint = directory.join("net.json"));
        assert!(record.contains("record and checkpoint"), "{record}");
        let data = refusal(|c| c.output = directory.join("games.vf.zst"));
        assert!(data.contains("overwrite the data"), "{data}");
        let init = refusal(|c| c.init = vec![directory.join("a.pnn"), directory.join("net.pnn")]);
        assert!(init.contains("overwrite the start network"), "{init}");
        let teacher = refusal(|c| c.teacher = Some(c.checkpoint.clone()));
        assert!(teacher.contains("overwrite the teacher"), "{teacher}");
        let pause = refusal(|c| c.pause_file = Some(c.output.clone()));
        assert!(pause.contains("overwrite the pause file"), "{pause}");
        let missing = refusal(|c| c.output = directory.join("no/such/place/net.pnn"));
        assert!(missing.contains("no such directory"), "{missing}");
        let folder = refusal(|c| c.output = directory.clone());
        assert!(folder.contains("directory"), "{folder}");
    }

    #[cfg(unix)]
    #[test]
    fn other_names_of_the_same_file_are_noticed() {
        let folder = tempfile::tempdir().expect("a folder");
        let inner = folder.path().join("inner");
        std::fs::create_dir(&inner).expect("a folder");
        let start = folder.path().join("start.pnn");
        std::fs::write(&start, b"").expect("written");
        let link = folder.path().join("link.pnn");
        std::os::unix::fs::symlink(&start, &link).expect("a link");
        for output in [inner.join("../start.pnn"), link] {
            let init = refusal(|c| (c.init, c.output) = (vec![start.clone()], output));
            assert!(init.contains("overwrite the start network"), "{init}");
        }
        let both = refusal(|c| {
            c.output = inner.join("../new.pnn");
            c.checkpoint = folder.path().join("new.pnn");
        });
        assert!(both.contains("network and checkpoint"), "{both}");
    }
}
