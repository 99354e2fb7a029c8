//! Networks made by rule rather than by training: one that counts material, for builds that
//! have no trained network yet, and random ones for tests and measurements.

pub use crate::hash::SplitMix;

use super::features::KingBuckets;
use super::layers::{MAX_EXTRA_BITS, MAX_FIRST_WEIGHT, MAX_WEIGHT, QuantisedLayers};
use super::single_layer::{BUCKETS, MAX_OUTPUT_WEIGHT, PIECE_FEATURES, QA, QuantisedNet, Shape};

/// Inputs for one colour: six roles on 64 squares.
const COLOUR_FEATURES: usize = PIECE_FEATURES / 2;
/// Own pawn, knight, bishop, rook, queen and king, each in sixths of a pawn.
const MATERIAL: [i16; 6] = [6, 19, 20, 31, 59, 0];
/// Centipawns for an output of 1.0; the weights below are chosen for it.
const SCALE: i32 = 400;
/// Hidden units that count material, and their output weight: together 100 centipawns a pawn.
const MATERIAL_UNITS: usize = 3;
const MATERIAL_WEIGHT: i16 = 3648;
/// Output weight of the unit for the placement of pieces: about 5 centipawns a step.
const PLACEMENT_WEIGHT: i16 = 3264;

/// A network with the values of the pieces that prefers them near the centre, kings at
/// the edge and pawns advanced.
///
/// A hidden unit holds one half plus what its perspective is ahead by, `d`. The squared units of
/// both sides differ by `(1/2 + d)^2 - (1/2 - d)^2 = 2d`: exactly linear, as material should be.
#[must_use]
pub fn material(hidden: usize) -> QuantisedNet {
    let mut net = QuantisedNet::zeroed("material", shape(hidden), SCALE);
    let half = (QA / 2) as i16;
    for feature in 0..shape(hidden).features() {
        let (role, square) = (feature % COLOUR_FEATURES / 64, feature % 64);
        let own = feature % PIECE_FEATURES < COLOUR_FEATURES;
        // The enemy's pieces stand on squares seen from our side: pawns advance towards rank 1.
        let square = if own { square } else { square ^ 56 };
        let sign = if own { 1 } else { -1 };
        let row = &mut net.feature_weights[feature * hidden..][..hidden];
        row[..MATERIAL_UNITS].fill(sign * MATERIAL[role]);
        row[MATERIAL_UNITS] = sign * placement(role, square);
    }
    net.feature_bias[..=MATERIAL_UNITS].fill(half);
    for bucket in 0..BUCKETS {
        let weights = &mut net.output_weights[bucket * 2 * hidden..][..2 * hidden];
        let (own, other) = weights.split_at_mut(hidden);
        own[..MATERIAL_UNITS].fill(MATERIAL_WEIGHT);
        own[MATERIAL_UNITS] = PLACEMENT_WEIGHT;
        other[..MATERIAL_UNITS].fill(-MATERIAL_WEIGHT);
        other[MATERIAL_UNITS] = -PLACEMENT_WEIGHT;
    }
    net
}

/// Several king buckets, so that a king's moves change them; one where Miri interprets every
/// instruction.
const fn shape(hidden: usize) -> Shape {
    Shape {
        hidden,
        king_buckets: if cfg!(miri) {
            KingBuckets::One
        } else {
            KingBuckets::Five
        },
        layered: false,
    }
}

/// The value of a square (a1 = 0, seen from its owner) for a piece, in steps of 5 centipawns.
fn placement(role: usize, square: usize) -> i16 {
    let (file, rank) = ((square % 8) as i16, (square / 8) as i16);
    let from_edge = |x: i16| x.min(7 - x);
    let centre = from_edge(file) + from_edge(rank);
    match role {
        0 => rank - 1 + i16::from(from_edge(file) == 3 && rank == 3) * 3,
        1 => 2 * centre - 6,
        2 => centre - 3,
        3 => i16::from(rank == 6) * 4,
        4 => 0,
        _ => -2 * rank - 2 * i16::from(from_edge(file) == 3),
    }
}

/// A network of pseudo-random integers in the ranges that training keeps to, `seed` and
/// `hidden` deciding every one of them.
#[must_use]
pub fn random(hidden: usize, seed: u64) -> QuantisedNet {
    const MAX_FEATURE_WEIGHT: i16 = 60;
    const MAX_BIAS: i32 = 3_200_000;
    let mut random = SplitMix(seed);
    let mut within = |limit: i32| random.below(2 * limit as u64 + 1) as i32 - limit;
    let mut net = QuantisedNet::zeroed(&format!("random-{hidden}-{seed}"), shape(hidden), SCALE);
    let feature = i32::from(MAX_FEATURE_WEIGHT);
    net.feature_weights.fill_with(|| within(feature) as i16);
    net.feature_bias.fill_with(|| within(feature) as i16);
    net.output_weights
        .fill_with(|| within(i32::from(MAX_OUTPUT_WEIGHT)) as i16);
    net.output_bias.fill_with(|| within(MAX_BIAS));
    net
}

/// Layers of pseudo-random integers, of all that a file may hold: weights up to their limits, and
/// biases that the sums stay below for the most part. `seed` and `hidden` decide every one of
/// them.
#[must_use]
pub fn random_layers(hidden: usize, seed: u64) -> QuantisedLayers {
    const MAX_FIRST_BIAS: i32 = 30_000;
    const MAX_SECOND_BIAS: i32 = 100_000;
    let mut random = SplitMix(seed);
    let mut within = |limit: i32| random.below(2 * limit as u64 + 1) as i32 - limit;
    let mut layers = QuantisedLayers::zeroed(hidden);
    let (first, others) = (i32::from(MAX_FIRST_WEIGHT), i32::from(MAX_WEIGHT));
    layers.first_weights.fill_with(|| within(first) as i8);
    layers.first_bias.fill_with(|| within(MAX_FIRST_BIAS));
    layers
        .extra_bits
        .fill_with(|| within(MAX_EXTRA_BITS.into()).unsigned_abs() as u8);
    layers.second_weights.fill_with(|| within(others) as i16);
    layers.second_bias.fill_with(|| within(MAX_SECOND_BIAS));
    layers.third_weights.fill_with(|| within(others) as i16);
    layers
}

/// A single-layer network with layers that add nothing to its output yet, for they end in weights
/// of zero: to measure what layers cost, and to train them.
#[must_use]
pub fn layered(net: &QuantisedNet, seed: u64) -> QuantisedNet {
    let mut layers = random_layers(net.shape.hidden, seed);
    layers.third_weights.fill(0);
    net.clone().with_layers(layers)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn random_networks_are_valid_and_reproducible() {
        let net = random(64, 7);
        assert_eq!(
            QuantisedNet::from_bytes(&net.to_bytes()).expect("valid"),
            random(64, 7)
        );
        assert_ne!(net, random(64, 8));
        let net = net.with_layers(random_layers(64, 7));
        let read = QuantisedNet::from_bytes(&net.to_bytes()).expect("valid");
        assert_eq!(read, random(64, 7).with_layers(random_layers(64, 7)));
        assert_ne!(random_layers(64, 7), random_layers(64, 8));
    }
}
