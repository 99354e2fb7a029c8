//! Cost of the board: `cargo bench --bench board`. Times are per leaf, move or position, as each
//! group says.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use pleach::board::{MoveSet, Position, perft};
use pleach::types::{CastlingMode, Move, MoveList};

/// A start, a middlegame full of tactics, an endgame, and promotions.
const FENS: [&str; 4] = [
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "r3k2r/Pppp1ppp/1b3nbN/nP6/BBP1P3/q4N2/Pp1P2PP/R2Q1RK1 w kq - 0 1",
];
/// Deep enough that the leaves, not the first call, are measured.
const PERFT_DEPTH: u32 = 3;

fn positions() -> Vec<Position> {
    let parse = |fen| Position::from_fen(fen, CastlingMode::Standard).expect("a legal position");
    FENS.map(parse).to_vec()
}

fn board(criterion: &mut Criterion) {
    let positions = positions();
    let moves: Vec<(&Position, Move)> = positions
        .iter()
        .flat_map(|position| {
            position
                .legal_moves()
                .into_iter()
                .map(move |m| (position, m))
        })
        .collect();
    let mut group = criterion.benchmark_group("board");

    let leaves = positions
        .iter()
        .map(|position| perft(position, PERFT_DEPTH))
        .sum();
    group.throughput(Throughput::Elements(leaves));
    group.bench_function("perft, per leaf", |bencher| {
        bencher.iter(|| -> u64 {
            let count = |position| perft(black_box(position), PERFT_DEPTH);
            positions.iter().map(count).sum()
        });
    });

    group.throughput(Throughput::Elements(positions.len() as u64));
    let stages = [
        ("noisy", MoveSet::Noisy),
        ("quiet", MoveSet::Quiet),
        ("all", MoveSet::All),
    ];
    for (name, stage) in stages {
        group.bench_function(format!("generate {name} moves, per position"), |bencher| {
            bencher.iter(|| {
                for position in &positions {
                    let mut list = MoveList::new();
                    position.generate(&position.legality(), stage, &mut list);
                    black_box(&list);
                }
            });
        });
    }

    group.throughput(Throughput::Elements(moves.len() as u64));
    group.bench_function("play, per move", |bencher| {
        bencher.iter(|| {
            for &(position, m) in &moves {
                black_box(position.play(m));
            }
        });
    });
    group.bench_function("delta, per move", |bencher| {
        bencher.iter(|| {
            for &(position, m) in &moves {
                black_box(position.dirty_pieces(m));
            }
        });
    });
    group.bench_function("static exchange, per move", |bencher| {
        bencher.iter(|| {
            for &(position, m) in &moves {
                black_box(position.see_ge(m, 0));
            }
        });
    });
    group.finish();
}

criterion_group!(benches, board);
criterion_main!(benches);
