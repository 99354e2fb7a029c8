//! Cost of the search: `cargo bench --bench search` runs the positions of `pleach bench` to a
//! small depth. Throughput is in nodes, so this shows nodes per second with an interval.
//!
//! Times depend on what else the machine does. Where hardware counters can be read,
//! `perf stat -e instructions:u target/release/pleach bench` is steadier; elsewhere
//! `valgrind --tool=callgrind` counts instructions function by function (it knows no AVX-512:
//! build with `RUSTFLAGS="-C target-cpu=x86-64-v3"`, and the AVX2 kernels are chosen).

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pleach::bench::{self, Limit, Options};
use std::ops::ControlFlow;

/// Small, so that a sample takes a fraction of a second.
const DEPTH: i32 = 6;
/// Few samples: each is long compared to the clock's resolution.
const SAMPLES: usize = 10;

fn search(criterion: &mut Criterion) {
    let options = Options {
        limit: Limit::Depth(DEPTH),
        ..Options::default()
    };
    let run = || {
        bench::run(&options, |_| ControlFlow::Continue(()))
            .expect("memory for a small hash table")
            .expect("nobody stops the bench")
    };
    let mut group = criterion.benchmark_group("search");
    group.sample_size(SAMPLES);
    group.throughput(Throughput::Elements(run().nodes));
    group.bench_function(
        format!("bench positions to depth {DEPTH}, per node"),
        |bencher| {
            bencher.iter(run);
        },
    );
    group.finish();
}

criterion_group!(benches, search);
criterion_main!(benches);
