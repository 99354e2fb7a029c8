//! Incremental equals fresh, and every instruction set equals the reference, along random games.

use super::*;
use crate::board::tests::cases;
use crate::hash::SplitMix;
use crate::nnue::features::output_bucket;
use crate::nnue::layers::products;
use crate::nnue::row::EMBEDDED;
use crate::nnue::single_layer::{QA, QuantisedNet};
use crate::nnue::synthetic;
use crate::types::{CastlingMode, Move};

/// Plies that each walk through random games covers at least.
const PLIES: usize = cases(10_000, 60) as usize;
/// Games end here at the latest, so that there are many.
const LONGEST_GAME: usize = cases(200, 30) as usize;

fn random_net(seed: u64) -> Arc<Network> {
    let net = Network::new(&synthetic::random(super::super::HIDDEN, seed));
    Arc::new(net.expect("a valid network"))
}

fn random_layered_net(seed: u64) -> Arc<Network> {
    let hidden = super::super::HIDDEN;
    let layers = synthetic::random_layers(hidden, seed);
    let net = Network::new(&synthetic::random(hidden, seed).with_layers(layers));
    Arc::new(net.expect("a valid network"))
}

/// A start position: the standard one, or each side with a back rank of its own.
fn start(random: &mut SplitMix) -> Position {
    if random.below(2) == 0 {
        return Position::startpos();
    }
    let rank = |number: u64, white: bool| -> String {
        let board = Board::chess960(number as u32);
        let letter = |square| {
            let letter = board.role_at(square).map_or('p', Role::char);
            if white {
                letter.to_ascii_uppercase()
            } else {
                letter
            }
        };
        Square::ALL[..8]
            .iter()
            .map(|&square| letter(square))
            .collect()
    };
    let (white, black) = (
        rank(random.below(960), true),
        rank(random.below(960), false),
    );
    let fen = format!("{black}/pppppppp/8/8/8/8/PPPPPPPP/{white} w KQkq - 0 1");
    Position::from_fen(&fen, CastlingMode::Chess960).expect("a Chess960 start")
}

/// Kinds of moves seen on the way, to be sure that the walk meets them all.
#[derive(Default)]
struct Seen {
    plies: usize,
    castles: usize,
    en_passants: usize,
    promotions: usize,
}

/// Plays random games and shows every position with the move to it (none at a start).
fn random_games(seed: u64, mut visit: impl FnMut(&Position, Option<&DirtyPieces>)) -> Seen {
    let mut random = SplitMix(seed);
    let mut seen = Seen::default();
    while seen.plies < PLIES {
        let mut position = start(&mut random);
        visit(&position, None);
        for _ in 0..LONGEST_GAME {
            let moves = position.legal_moves();
            if moves.is_empty() {
                break;
            }
            // Rare moves are taken whenever they can be, or the walk would hardly meet them.
            let rare = |m: &&Move| m.is_castle() || m.is_en_passant() || m.is_promotion();
            let any = &moves[random.below(moves.len() as u64) as usize];
            let &chosen = moves.iter().find(rare).unwrap_or(any);
            seen.castles += usize::from(chosen.is_castle());
            seen.en_passants += usize::from(chosen.is_en_passant());
            seen.promotions += usize::from(chosen.is_promotion());
            let dirty = position.dirty_pieces(chosen);
            position = position.play(chosen);
            visit(&position, Some(&dirty));
            seen.plies += 1;
        }
    }
    seen
}

fn assert_current_is_fresh(stack: &Accumulators, position: &Position) {
    for colour in Color::ALL {
        assert_fresh(stack, stack.top, colour, position);
    }
}

/// That the values for one side at this place of the stack are those of the position.
fn assert_fresh(stack: &Accumulators, at: usize, colour: Color, position: &Position) {
    let entry = &stack.stack[at];
    assert!(entry.valid[colour as usize], "{colour} at {at}");
    let fresh = fresh(&stack.net, position.board(), colour);
    assert!(
        entry.values[colour as usize] == fresh,
        "{colour}: {}",
        position.fen()
    );
}

#[test]
fn incremental_equals_fresh_in_random_games() {
    let net = random_layered_net(1);
    let mut stack = Accumulators::new(net.clone());
    let mut random = SplitMix(11);
    let seen = random_games(12, |position, dirty| {
        match dirty {
            None => stack.reset(position),
            Some(dirty) => stack.push(dirty),
        }
        // Now and then a position is skipped, as cutoffs do in a search.
        if random.below(3) > 0 {
            assert_eq!(stack.evaluate(position), net.evaluate(position));
            assert_current_is_fresh(&stack, position);
        }
    });
    assert!(seen.plies >= PLIES);
    let often = |times: usize, least: u64| times as u64 >= cases(least, 0);
    assert!(often(seen.castles, 31), "{} castlings", seen.castles);
    assert!(
        often(seen.en_passants, 11),
        "{} en passant captures",
        seen.en_passants
    );
    assert!(often(seen.promotions, 11), "{} promotions", seen.promotions);
}

#[test]
fn instruction_sets_agree_bit_for_bit() {
    let net = random_net(2);
    let mut stacks: Vec<Accumulators> = Isa::available()
        .into_iter()
        .map(|isa| Accumulators::with_isa(net.clone(), isa))
        .collect();
    random_games(13, |position, dirty| {
        let mut reference = None;
        for stack in &mut stacks {
            match dirty {
                None => stack.reset(position),
                Some(dirty) => stack.push(dirty),
            }
            let value = stack.evaluate(position);
            let reference = *reference.get_or_insert(value);
            assert_eq!(value, reference, "{} at {}", stack.isa, position.fen());
            assert_current_is_fresh(stack, position);
        }
    });
}

/// The output layer's sum over a position in 64 bits, which nothing makes wrap around.
fn wide_sum(quantised: &QuantisedNet, net: &Network, position: &Position) -> i64 {
    let board = position.board();
    let sides = [position.turn(), !position.turn()].map(|side| fresh(net, board, side));
    let bucket = output_bucket(board.occupied().count(), quantised.bare);
    let hidden = sides[0].0.iter().chain(&sides[1].0);
    let width = 2 * super::super::HIDDEN;
    let weights = &quantised.output_weights[bucket * width..][..width];
    hidden
        .zip(weights)
        .map(|(&value, &weight)| {
            let value = i64::from(value).clamp(0, QA.into());
            value * value / 4 * i64::from(weight)
        })
        .sum()
}

/// Sums that leave 16 and 32 bits wrap around everywhere alike.
#[test]
fn instruction_sets_agree_on_extreme_networks() {
    let mut net = synthetic::random(super::super::HIDDEN, 3);
    net.feature_weights
        .iter_mut()
        .for_each(|weight| *weight = weight.wrapping_mul(997));
    net.output_weights
        .iter_mut()
        .for_each(|weight| *weight = weight.abs());
    let network = Network::new(&net).expect("a valid network");
    let sum = wide_sum(&net, &network, &Position::startpos());
    assert!(i32::try_from(sum).is_err(), "{sum}");
    instruction_sets_agree_at_starts(&net);
}

#[test]
fn instruction_sets_agree_on_layered_networks() {
    for seed in 0..cases(3, 1) {
        let hidden = super::super::HIDDEN;
        let layers = synthetic::random_layers(hidden, seed);
        instruction_sets_agree_at_starts(&synthetic::random(hidden, seed).with_layers(layers));
    }
}

fn instruction_sets_agree_at_starts(net: &QuantisedNet) {
    let net = Arc::new(Network::new(net).expect("a valid network"));
    let mut random = SplitMix(14);
    for _ in 0..cases(200, 4) {
        let position = start(&mut random);
        let values: Vec<i32> = Isa::available()
            .into_iter()
            .map(|isa| {
                let mut stack = Accumulators::with_isa(net.clone(), isa);
                stack.reset(&position);
                stack.evaluate(&position)
            })
            .collect();
        assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
    }
}

/// An evaluation brings the line up to date, back to the move that changed the view: the white king
/// changes wing here, and what follows is captures, or castling.
#[test]
fn an_evaluation_fills_the_positions_on_the_way() {
    for (moves, king_move) in [
        ("d2d4 d7d5 d1d3 e7e5 d4e5 d8d6 e1d1 d6e5 d3d5 b8c6 d5e5", 7),
        ("e2e4 e7e5 e1e2 f8c5 e2d3 g8f6 a2a3 e8g8", 5),
    ] {
        let mut stack = Accumulators::new(random_layered_net(4));
        let mut line = vec![Position::startpos()];
        stack.reset(&line[0]);
        for text in moves.split(' ') {
            let position = &line[line.len() - 1];
            let m = position.parse_uci(text).expect("legal");
            stack.push(&position.dirty_pieces(m));
            line.push(position.play(m));
        }
        stack.evaluate(&line[stack.top]);
        assert!(stack.stack[king_move].needs_refresh[Color::White as usize]);
        for (at, position) in line.iter().enumerate().skip(king_move) {
            assert_fresh(&stack, at, Color::White, position);
        }
        assert!(!stack.stack[king_move - 1].valid[Color::White as usize]);
    }
}

/// Follows every line of a small tree, as a search does: siblings share what their parent holds.
#[test]
fn pop_returns_to_the_parent() {
    fn walk(stack: &mut Accumulators, position: &Position, depth: u64, random: &mut SplitMix) {
        if random.below(2) == 0 {
            assert_eq!(
                stack.evaluate(position),
                stack.net.clone().evaluate(position)
            );
        }
        if depth == 0 {
            return;
        }
        for m in position.legal_moves() {
            stack.push(&position.dirty_pieces(m));
            walk(stack, &position.play(m), depth - 1, random);
            stack.pop();
        }
        assert_eq!(
            stack.evaluate(position),
            stack.net.clone().evaluate(position)
        );
    }
    // Castling both ways, promotions, and kings about to cross the middle.
    let fens = [
        "r3k2r/1P4p1/8/2pP4/8/8/1p4P1/R3K2R w KQkq c6 0 1",
        "3k4/1P6/8/8/8/8/6p1/4K3 b - - 0 1",
    ];
    let mut random = SplitMix(15);
    for fen in fens {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("a legal position");
        let mut stack = Accumulators::new(random_net(4));
        stack.reset(&position);
        walk(&mut stack, &position, cases(3, 1), &mut random);
        assert_eq!(stack.top, 0);
    }
}

#[test]
fn null_moves_change_only_the_point_of_view() {
    let mut stack = Accumulators::new(random_net(5));
    let position = Position::startpos();
    stack.reset(&position);
    let before = stack.evaluate(&position);
    let passed = position.play_null().expect("not in check");
    assert_eq!(stack.evaluate(&passed), stack.net.clone().evaluate(&passed));
    assert_eq!(stack.evaluate(&position), before);
}

/// What the layers add is the reference's, in the unit and with the scale of the whole output.
#[test]
fn layers_add_to_the_output() {
    let hidden = super::super::HIDDEN;
    let mut net = synthetic::random(hidden, 8);
    net.output_weights.fill(0);
    net.output_bias.fill(0);
    let quantised = net.with_layers(synthetic::random_layers(hidden, 8));
    let layers = quantised.layers.clone().expect("layers");
    let net = Network::new(&quantised).expect("a valid network");
    let mut random = SplitMix(16);
    let mut least_and_most = (i32::MAX, i32::MIN);
    for _ in 0..cases(20, 3) {
        let position = start(&mut random);
        let board = position.board();
        let sides = [position.turn(), !position.turn()].map(|side| fresh(&net, board, side));
        let products = products([&sides[0].0, &sides[1].0]);
        let bucket = output_bucket(board.occupied().count(), quantised.bare);
        let output = f64::from(layers.forward(&products, bucket)) / (4064.0 * 512.0);
        let expected = output * f64::from(quantised.scale);
        let found = net.evaluate(&position);
        assert!(
            (expected - f64::from(found)).abs() < 1.01,
            "{expected} {found}"
        );
        least_and_most = (least_and_most.0.min(found), least_and_most.1.max(found));
    }
    assert!(
        cfg!(miri) || least_and_most.1 - least_and_most.0 > 100,
        "{least_and_most:?}"
    );
}

#[test]
fn layers_that_end_in_zeros_change_nothing() {
    let single = synthetic::random(super::super::HIDDEN, 9);
    let layered = Network::new(&synthetic::layered(&single, 1)).expect("a valid network");
    let single = Network::new(&single).expect("a valid network");
    let mut random = SplitMix(17);
    for _ in 0..cases(50, 4) {
        let position = start(&mut random);
        assert_eq!(layered.evaluate(&position), single.evaluate(&position));
    }
}

#[test]
fn material_network_counts_material() {
    let net = Network::new(&synthetic::material(super::super::HIDDEN)).expect("a valid network");
    let value = |fen: &str| {
        net.evaluate(&Position::from_fen(fen, CastlingMode::Standard).expect("a legal position"))
    };
    assert_eq!(net.evaluate(&Position::startpos()), 0);
    let queen_up = value("4k3/8/8/8/8/8/8/3QK3 w - - 0 1");
    assert!((850..1150).contains(&queen_up), "{queen_up}");
    // Both signs, both colours, both sides to move.
    assert_eq!(value("4k3/8/8/8/8/8/8/3QK3 b - - 0 1"), -queen_up);
    assert_eq!(value("3qk3/8/8/8/8/8/8/4K3 b - - 0 1"), queen_up);
    assert_eq!(value("3qk3/8/8/8/8/8/8/4K3 w - - 0 1"), -queen_up);
}

/// A sum that wraps around would turn the greatest advantage into the greatest disadvantage.
#[test]
#[cfg_attr(miri, ignore = "compressed by C code")]
fn sums_of_the_embedded_network_stay_far_within_32_bits() {
    const EXTREMES: [&str; 6] = [
        "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
        "4k3/8/8/8/QQQQ4/QQQQ4/8/RNBQKBNR b KQ - 0 1",
        "3QQQQQ/3QQQQ1/8/8/8/8/8/k1K5 b - - 0 1",
        "k7/8/8/2K5/8/5QQQ/5QQQ/5QQQ b - - 0 1",
        "rnbqkbnr/8/qqqq4/qqqq4/8/8/8/4K3 w kq - 0 1",
        "8/8/8/RRRRRRRR/RR6/BBNN4/8/k1K4Q b - - 0 1",
    ];
    let quantised = QuantisedNet::from_undamaged_bytes(EMBEDDED).expect("a network");
    let net = Network::new(&quantised).expect("a valid network");
    for fen in EXTREMES {
        let position = Position::from_fen(fen, CastlingMode::Standard).expect("a position");
        let sum = wide_sum(&quantised, &net, &position);
        // With layered-b-mean an eighth at most.
        assert!(sum.abs() < i64::from(i32::MAX / 4), "{fen}: {sum}");
    }
}
