//! Whole runs on a small file of random games.

use std::path::PathBuf;

use super::*;
use crate::board::Position;
use crate::board::tests::Random;
use crate::nnue::features::KingBuckets;
use crate::record::tests::{random_game, write_games};
use crate::train::lanes::Floats;
use crate::train::load::{DataFile, Filter, HoldOut};
use crate::train::schedule::{Length, Schedule};
use crate::train::start;

/// A directory of its own for a test, removed when dropped.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Scratch {
        let path = std::env::temp_dir().join(format!("pleach-{name}-{}", std::process::id()));
        fs::create_dir_all(&path).expect("a temporary directory");
        Scratch(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// Random games whose scores are the material's.
fn write_material_games(path: &Path, games: u64) {
    const LONGEST: usize = 60;
    let material = |_: &mut Random, position: &Position| {
        let white = position.board().white().count() as i16;
        let black = position.board().black().count() as i16;
        100 * (white - black)
    };
    let game = |seed| random_game(&mut Random(seed), Position::startpos(), LONGEST, material).0;
    write_games(path, &(0..games).map(game).collect::<Vec<_>>());
}

fn config(directory: &Path, name: &str) -> Config {
    let data = directory.join("games.vf.zst");
    if !data.exists() {
        write_material_games(&data, 60);
    }
    Config {
        data: vec![DataFile {
            path: data,
            scaled: false,
            held_out: false,
        }],
        output: directory.join(format!("{name}.pnn")),
        checkpoint: directory.join(format!("{name}.checkpoint")),
        init: Vec::new(),
        teacher: None,
        name: "test".to_owned(),
        hidden: 64,
        king_buckets: KingBuckets::Five,
        layers: false,
        batch: 256,
        lambda: 0.0,
        hint_weight: 0.0,
        final_hint_weight: 0.0,
        scale: Some(200.0),
        loss_scale: None,
        schedule: Schedule {
            length: Length::Epochs(24.0),
            start: 4e-3,
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
        // Threads share work as it comes, so that only one alone adds in the same order.
        threads: 1,
        checkpoint_minutes: 1000.0,
        pause_file: None,
    }
}

fn trainer(config: &Config) -> Trainer<'_> {
    config.check().expect("a valid configuration");
    Trainer::new(config).expect("the games just written")
}

/// Steps until the run is over.
fn finish_steps(trainer: &mut Trainer) {
    while trainer.advance().expect("a step").is_some() {}
}

#[test]
fn equal_files_of_a_shard_are_all_in_the_list() {
    let file = |name: &str| FileSummary {
        name: name.to_owned(),
        scaled: false,
        hash: String::new(),
        games: 1,
        plies: 1,
        kept: 1,
        held_out: 0,
    };
    let (a, b) = (file("a"), file("b"));
    let mut files = Vec::new();
    // The second shard is met again in a later pass.
    let second = [a.clone(), b.clone()];
    for read in [&[a.clone(), a.clone()][..], &second, &second] {
        add_new(&mut files, read);
    }
    assert_eq!(files, [a.clone(), a, b]);
}

#[test]
fn a_run_learns_and_leaves_net_and_record() {
    check_run(false);
}

#[test]
fn the_weight_of_hints_falls_to_its_end() {
    let scratch = Scratch::new("hint-weight");
    let config = Config {
        hint_weight: 0.5,
        final_hint_weight: 0.25,
        ..config(&scratch.0, "net")
    };
    let mut trainer = trainer(&config);
    assert_eq!(trainer.target().hint_weight, 0.5);
    trainer.train().expect("a run");
    assert_eq!(trainer.target().hint_weight, 0.25);
}

#[test]
fn a_layered_run_learns_and_leaves_net_and_record() {
    check_run(true);
}

fn check_run(layers: bool) {
    let scratch = Scratch::new(&format!("run-{layers}"));
    let config = Config {
        layers,
        ..config(&scratch.0, "net")
    };
    let mut trainer = trainer(&config);
    trainer.measure();
    let before = trainer.held_out.target;
    trainer.train().expect("a run");
    trainer.finish().expect("outputs");
    let (learnt, unseen) = (
        trainer.running.mean(trainer.running.target),
        trainer.held_out.target,
    );
    assert!(
        learnt < 0.3 * before && unseen < before,
        "{before} to {learnt} and {unseen}"
    );
    let net = QuantisedNet::load(&config.output).expect("a network");
    assert_eq!((net.shape, net.scale), (config.shape(), 200));
    let record = fs::read_to_string(config.output.with_extension("json")).expect("a record");
    let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
    assert_eq!(record["config"]["layers"], layers);
    assert_eq!(record["files"][0]["games"], 60);
    // One loss an epoch, the last of them the network's.
    let losses = record["losses"].as_array().expect("losses on the way");
    assert_eq!(losses.len(), 24);
    let last = &losses[23];
    assert_eq!(last["held_out"], record["held_out_loss"]["target"]);
    assert!(
        record["rounding_error_rms_cp"]
            .as_f64()
            .is_some_and(|rms| rms < 1.5)
    );
}

#[test]
fn a_resumed_run_equals_an_uninterrupted_one() {
    let scratch = Scratch::new("resume");
    let whole_config = Config {
        layers: true,
        ..config(&scratch.0, "whole")
    };
    let mut whole = trainer(&whole_config);
    finish_steps(&mut whole);
    let cut_config = Config {
        // Both runs are the same except for the paths of their files.
        layers: true,
        ..config(&scratch.0, "cut")
    };
    let mut first = trainer(&cut_config);
    for _ in 0..whole.model.steps / 2 + 1 {
        first.advance().expect("a step");
    }
    first.save().expect("a checkpoint");
    drop(first);
    let mut second = trainer(&cut_config);
    assert!(second.model.steps > 0);
    finish_steps(&mut second);
    assert_eq!(second.model.steps, whole.model.steps);
    assert!(second.model.layers.is_some());
    assert!(second.model.arrays().eq(whole.model.arrays()));
}

/// A run that is started again when it is done writes the same record again.
#[test]
fn a_finished_run_started_again_changes_nothing() {
    let scratch = Scratch::new("again");
    let config = Config {
        layers: true,
        schedule: Schedule {
            length: Length::Epochs(2.0),
            ..config(&scratch.0, "net").schedule
        },
        ..config(&scratch.0, "net")
    };
    let record = || {
        run(&config).expect("a run");
        let record = fs::read_to_string(config.record()).expect("a record");
        let record: serde_json::Value = serde_json::from_str(&record).expect("JSON");
        let net = fs::read(&config.output).expect("a network");
        (record, net)
    };
    let (first, first_net) = record();
    assert!(first["train_loss"].as_f64() > Some(0.0));
    let (again, again_net) = record();
    assert_eq!(again, first);
    assert!(again_net == first_net);
}

#[test]
fn the_file_held_out_is_named_however_many_there_are() {
    const FILES: usize = 300;
    let scratch = Scratch::new("many");
    let first = scratch.0.join("first.vf.zst");
    write_material_games(&first, 1);
    let seen = |number: usize| {
        let path = scratch.0.join(format!("seen-{number}.vf.zst"));
        fs::copy(&first, &path).expect("copied");
        DataFile {
            path,
            scaled: false,
            held_out: false,
        }
    };
    let path = scratch.0.join("unseen.vf.zst");
    write_material_games(&path, 2);
    let unseen = DataFile {
        path,
        scaled: false,
        held_out: true,
    };
    let config = Config {
        data: (0..FILES).map(seen).chain([unseen]).collect(),
        hold_out: HoldOut {
            per_mille: 0,
            seed: 5,
        },
        ..config(&scratch.0, "many")
    };
    let mut trainer = trainer(&config);
    trainer.measure();
    let by_file = &trainer.held_out.score_by_file;
    let names: Vec<&str> = by_file.iter().map(|(name, _)| name.as_str()).collect();
    assert_eq!(names, ["unseen.vf.zst"]);
}

#[test]
fn shards_are_passed_over_in_turn_and_a_resumed_run_goes_on_with_the_right_one() {
    let scratch = Scratch::new("shards");
    let file = |name: &str, games, held_out| {
        let path = scratch.0.join(name);
        write_material_games(&path, games);
        DataFile {
            path,
            scaled: false,
            held_out,
        }
    };
    let data = vec![
        file("a.vf.zst", 20, false),
        file("b.vf.zst", 22, false),
        file("c.vf.zst", 24, false),
        file("d.vf.zst", 26, false),
        file("unseen.vf.zst", 10, true),
    ];
    let config = |name: &str| Config {
        data: data.clone(),
        shards: 2,
        hold_out: HoldOut {
            per_mille: 0,
            seed: 5,
        },
        schedule: Schedule {
            length: Length::Epochs(2.0),
            ..config(&scratch.0, name).schedule
        },
        ..config(&scratch.0, name)
    };
    let whole_config = config("whole");
    let mut whole = trainer(&whole_config);
    let unseen = whole.data.held_out.clone();
    assert_eq!(
        whole.data.files.len(),
        3,
        "half of the files and the unseen"
    );
    let mut in_memory = vec![whole.data.train.len()];
    while whole.advance().expect("a step").is_some() {
        let now = whole.data.train.len();
        if in_memory.last() != Some(&now) {
            in_memory.push(now);
        }
    }
    // Two passes over each shard, one after the other; together they hold every position to learn.
    assert_eq!(whole.pass.number, 4);
    assert_eq!(in_memory.len(), 4, "{in_memory:?}");
    assert_eq!(in_memory[..2], in_memory[2..]);
    let learnt: u64 = whole.files.iter().map(|file| file.kept).sum();
    assert_eq!((in_memory[0] + in_memory[1]) as u64, learnt);
    assert_eq!(whole.data.held_out, unseen);
    assert_eq!(whole.files.len(), 5);
    // The same run, cut in the second pass.
    let cut_config = config("cut");
    let mut first = trainer(&cut_config);
    while first.pass.number < 1 || first.pass.batch < 2 {
        first.advance().expect("a step");
    }
    first.save().expect("a checkpoint");
    let mut second = trainer(&cut_config);
    assert_eq!(second.pass, first.pass);
    assert_eq!(second.data.train, first.data.train);
    finish_steps(&mut second);
    assert!(second.model.arrays().eq(whole.model.arrays()));
    assert_eq!(second.files.len(), 5);
}

#[test]
fn a_foreign_checkpoint_is_refused() {
    let scratch = Scratch::new("foreign");
    let config = config(&scratch.0, "net");
    let mut first = trainer(&config);
    first.advance().expect("a step");
    first.save().expect("a checkpoint");
    let other = Config {
        seed: 8,
        ..config.clone()
    };
    let error = Trainer::new(&other)
        .err()
        .expect("another run's checkpoint");
    assert!(error.to_string().contains("another run") || error.to_string().contains("other data"));
    fs::write(&config.checkpoint, b"PLEACHXX\x02\0\0\0{}").expect("a file");
    let error = begin(&config, 0).expect_err("no checkpoint");
    assert!(error.to_string().contains("no checkpoint"), "{error}");
}

#[test]
fn a_narrower_start_is_widened_and_a_wider_one_refused() {
    let scratch = Scratch::new("widen");
    let narrow = config(&scratch.0, "narrow");
    let mut first = trainer(&narrow);
    first.train().expect("a run");
    first.finish().expect("outputs");
    let wide = Config {
        hidden: 128,
        king_buckets: KingBuckets::Ten,
        layers: true,
        schedule: Schedule {
            length: Length::Epochs(2.0),
            ..narrow.schedule
        },
        init: vec![narrow.output.clone()],
        ..config(&scratch.0, "wide")
    };
    let mut second = trainer(&wide);
    second.measure();
    // The network file rounds what the first run measured.
    let (before, after) = (first.held_out.target, second.held_out.target);
    assert_eq!(second.model.shape.hidden, 128);
    assert!(
        (before - after).abs() < 0.02 * before,
        "{before} to {after}"
    );
    second.train().expect("a run");
    let still = |tile: &crate::train::model::Tile| {
        tile.weights.first_moment.iter().all(|m| *m == Floats::ZERO)
    };
    assert!(!second.model.tiles.iter().any(still), "every neuron learns");
    let zeros = |part: &[Floats]| part.iter().all(|floats| *floats == Floats::ZERO);
    let mut arrays = second.model.arrays();
    assert!(
        !arrays.any(|array| zeros(&array.second_moment)),
        "every array learns"
    );
    second.save().expect("a network");
    let back = Config {
        init: vec![wide.output.clone()],
        ..config(&scratch.0, "back")
    };
    let error = begin(&back, 0).expect_err("too wide a start");
    assert!(error.to_string().contains("128"), "{error}");
    let flat = Config {
        layers: false,
        init: vec![wide.output.clone()],
        checkpoint: back.checkpoint,
        ..wide
    };
    let error = begin(&flat, 0).expect_err("a start with layers");
    assert!(error.to_string().contains("--layers"), "{error}");
}

#[test]
fn a_network_that_learnt_the_factor_for_material_is_no_start() {
    let scratch = Scratch::new("scaled");
    let model = Model::random(config(&scratch.0, "scaled").shape(), 1);
    let mut net = export::quantise(&model, "scaled", 250);
    let path = scratch.0.join("scaled.pnn");
    net.save(&path).expect("saved");
    start::read(&path).expect("a start");
    net.bare = false;
    net.save(&path).expect("saved");
    let error = start::read(&path)
        .map(drop)
        .expect_err("refused")
        .to_string();
    assert!(error.contains("factor for material"), "{error}");
}

#[test]
fn several_starts_give_their_mean_if_their_shapes_agree() {
    let scratch = Scratch::new("mean");
    let at = |name: &str, seed: u64, hidden: usize| {
        let config = Config {
            seed,
            hidden,
            ..config(&scratch.0, name)
        };
        trainer(&config).save().expect("a checkpoint");
        config.checkpoint
    };
    let paths = [at("a", 1, 64), at("b", 2, 64), at("c", 3, 64)];
    let mean = start::mean(&paths).expect("read").expect("a start");
    let models = (paths.each_ref()).map(|path| start::read(path).expect("read"));
    let values = |model: &Model| -> Vec<f32> {
        model
            .arrays()
            .flat_map(|array| array.floats().to_vec())
            .collect()
    };
    let [a, b, c] = models.each_ref().map(values);
    assert_ne!(a, b);
    for (i, value) in values(&mean).into_iter().enumerate() {
        let expected = (a[i] + b[i] + c[i]) / 3.0;
        assert!((value - expected).abs() < 1e-6, "{value} for {expected}");
    }
    // What evaluation uses follows the weights.
    let from_mean = Config {
        init: paths.to_vec(),
        ..config(&scratch.0, "mean")
    };
    let mut trainer = trainer(&from_mean);
    trainer.measure();
    let measured = trainer.held_out.target;
    trainer.model.refresh();
    trainer.measure();
    assert_eq!(measured, trainer.held_out.target);
    let wide = at("wide", 1, 128);
    let error = start::mean(&[scratch.0.join("a.checkpoint"), wide]).err();
    let error = error.expect("different shapes").to_string();
    assert!(error.contains("differ in shape"), "{error}");
}
