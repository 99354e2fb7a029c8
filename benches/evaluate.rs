//! Cost of the network: `cargo bench --bench evaluate`.
//!
//! The width is that of the embedded network; for others, `EVALFILE=random-512.pnn cargo bench
//! ...` with a file that the example `synthetic_net` writes. Times are per position.

use std::hint::black_box;

use criterion::{BenchmarkId, Criterion, Throughput, criterion_group, criterion_main};
use pleach::board::{DirtyPieces, Position};
use pleach::nnue::synthetic::SplitMix;
use pleach::nnue::{Accumulators, HIDDEN, Isa, Network};

/// Plies of the random game that is walked: long enough to touch most of the weights.
const PLIES: usize = 240;

/// A random game: its start, and every move's delta with the position after it.
fn game(seed: u64) -> (Position, Vec<(DirtyPieces, Position)>) {
    let mut random = SplitMix(seed);
    let start = Position::startpos();
    let mut line = Vec::new();
    let mut position = start.clone();
    while line.len() < PLIES {
        let moves = position.legal_moves();
        if moves.is_empty() {
            return game(seed + 1);
        }
        let m = moves[random.below(moves.len() as u64) as usize];
        let delta = position.dirty_pieces(m);
        position = position.play(m);
        line.push((delta, position.clone()));
    }
    (start, line)
}

/// All moves of a position and where they lead, and the move that the game went on with.
type Family = (Vec<(DirtyPieces, Position)>, DirtyPieces);

fn families(start: &Position, line: &[(DirtyPieces, Position)]) -> Vec<Family> {
    /// Enough for every kind of piece to move everywhere.
    const POSITIONS: usize = 60;
    let positions = std::iter::once(start).chain(line.iter().map(|(_, position)| position));
    let children = |position: &Position| -> Vec<(DirtyPieces, Position)> {
        let child = |m| (position.dirty_pieces(m), position.play(m));
        position.legal_moves().into_iter().map(child).collect()
    };
    let family = |(position, (next, _)): (&Position, &(DirtyPieces, Position))| {
        (children(position), next.clone())
    };
    positions.zip(line).take(POSITIONS).map(family).collect()
}

fn children(families: &[Family]) -> u64 {
    families.iter().map(|(moves, _)| moves.len() as u64).sum()
}

fn evaluate(criterion: &mut Criterion) {
    let (start, line) = game(1);
    let families = families(&start, &line);
    for isa in Isa::available() {
        let mut stack = Accumulators::with_isa(Network::embedded(), isa);
        let mut group = criterion.benchmark_group(format!("evaluate-{HIDDEN}"));
        group.throughput(Throughput::Elements(PLIES as u64));

        // Every position of the game: both sides updated (a refresh where a king crosses the
        // middle), then the output.
        group.bench_function(BenchmarkId::new("update+output", isa), |bencher| {
            bencher.iter(|| {
                stack.reset(&start);
                for (delta, position) in &line {
                    stack.push(delta);
                    black_box(stack.evaluate(position));
                }
            });
        });
        // Every child of the game's first positions, as siblings in a search: little of what one
        // needs of the weights is in the nearest cache from another.
        group.throughput(Throughput::Elements(children(&families)));
        group.bench_function(BenchmarkId::new("siblings", isa), |bencher| {
            bencher.iter(|| {
                stack.reset(&start);
                for (moves, next) in &families {
                    for (delta, position) in moves {
                        stack.push(delta);
                        black_box(stack.evaluate(position));
                        stack.pop();
                    }
                    stack.push(next);
                }
            });
        });
        group.throughput(Throughput::Elements(PLIES as u64));
        // The output alone: the values are valid already.
        group.bench_function(BenchmarkId::new("output", isa), |bencher| {
            let (_, position) = &line[PLIES / 2];
            stack.reset(position);
            bencher.iter(|| {
                for _ in 0..PLIES {
                    black_box(stack.evaluate(black_box(position)));
                }
            });
        });
        // Both sides from the table of refreshed boards, a move apart, then the output.
        group.bench_function(BenchmarkId::new("refresh+output", isa), |bencher| {
            bencher.iter(|| {
                for (_, position) in &line {
                    stack.reset(position);
                    black_box(stack.evaluate(position));
                }
            });
        });
        group.finish();
    }
}

criterion_group!(benches, evaluate);
criterion_main!(benches);
