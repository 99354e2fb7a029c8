//! Files written, read, cut off and changed.

use super::*;
use crate::board::tests::cases;
use crate::hash::fnv1a;
use crate::nnue::format::NAME_BYTES;
use crate::nnue::layers::{MAX_EXTRA_BITS, MAX_WEIGHT};

/// As small as a network can be where Miri interprets every instruction.
const SHAPE: Shape = Shape {
    hidden: HIDDEN_STEP,
    king_buckets: if cfg!(miri) {
        KingBuckets::One
    } else {
        KingBuckets::Five
    },
    layered: false,
};
/// Where the header has the flags, and where the hash stands.
const FLAGS_OFFSET: usize = 36;
const HASH: std::ops::Range<usize> = 40..48;

fn sample() -> QuantisedNet {
    let mut net = QuantisedNet::zeroed("sample", SHAPE, 400);
    for (i, weight) in net.feature_weights.iter_mut().enumerate() {
        *weight = (i % 1009) as i16 - 504;
    }
    for (i, weight) in net.output_weights.iter_mut().enumerate() {
        *weight = (i % 8129) as i16 - MAX_OUTPUT_WEIGHT;
    }
    net.output_bias[3] = -70_000;
    net
}

/// The same with layers, each number another than its neighbours.
fn layered_sample() -> QuantisedNet {
    let mut layers = QuantisedLayers::zeroed(SHAPE.hidden);
    for (i, weight) in layers.first_weights.iter_mut().enumerate() {
        *weight = ((i % 255) as i32 - 127) as i8;
    }
    for part in [&mut layers.second_weights, &mut layers.third_weights] {
        for (i, weight) in part.iter_mut().enumerate() {
            *weight = (i % 2033) as i16 - MAX_WEIGHT;
        }
    }
    for part in [&mut layers.first_bias, &mut layers.second_bias] {
        for (i, bias) in part.iter_mut().enumerate() {
            *bias = i32::MIN + 70_001 * i as i32;
        }
    }
    for (i, bits) in layers.extra_bits.iter_mut().enumerate() {
        *bits = i as u8 % (MAX_EXTRA_BITS + 1);
    }
    sample().with_layers(layers)
}

#[test]
fn a_network_survives_its_file() {
    for net in [sample(), layered_sample()] {
        let bytes = net.to_bytes();
        assert_eq!(QuantisedNet::from_bytes(&bytes).expect("own file"), net);
        let header = Header::parse(&bytes).expect("own header");
        assert_eq!(header.to_bytes(), bytes[..HEADER_BYTES]);
        assert_eq!(bytes.len(), HEADER_BYTES + net.shape.payload_bytes());
    }
}

#[test]
fn layers_follow_the_single_layer_in_the_file() {
    const EXTRA_BITS: usize = 8 * 16;
    const LAYERS: usize =
        8 * (SHAPE.hidden * 16 + 16 * 4 + 32 * 32 * 2 + 32 * 4 + 32 * 2) + EXTRA_BITS;
    let (single, layered) = (sample().to_bytes(), layered_sample().to_bytes());
    assert_eq!((single[8], layered[8]), (1, 3));
    let (payload, layers) = layered[HEADER_BYTES..].split_at(SHAPE.payload_bytes());
    assert!(payload == &single[HEADER_BYTES..]);
    assert_eq!(layers.len(), LAYERS);
    // The first layer's first weights, -127 and -126, the third layer's last one, the extra bits.
    assert_eq!(layers[..2], [0x81, 0x82]);
    let net = layered_sample();
    let last = net.layers.as_ref().and_then(|l| l.third_weights.last());
    let last = *last.expect("weights");
    let (layers, extra_bits) = layers.split_at(LAYERS - EXTRA_BITS);
    assert_eq!(layers[layers.len() - 2..], last.to_le_bytes());
    assert_eq!(extra_bits[..6], [0, 1, 2, 3, 0, 1]);
}

/// Files up to layered-p-1024k10 end with the third layer's weights.
#[test]
fn files_without_extra_bits_are_read() {
    let mut net = layered_sample();
    net.layers.as_mut().expect("layers").extra_bits.fill(0);
    let mut header = net.header();
    header.architecture = LAYERED_WITHOUT_EXTRA_BITS;
    let mut payload = net.payload();
    payload.truncate(payload.len() - EXTRA_BITS_BYTES);
    let read = QuantisedNet::from_bytes(&header.clone().seal(&payload));
    assert_eq!(read.expect("an older file"), net);
    header.flags |= FLAG_PACKED;
    let packed = packing::pack(&payload).expect("packed");
    let read = QuantisedNet::from_bytes(&header.seal(&packed));
    assert_eq!(read.expect("an older file"), net);
}

#[test]
fn the_widest_network_of_every_kind_may_be_read() {
    for king_buckets in KingBuckets::ALL {
        let widest = Shape {
            hidden: MAX_HIDDEN,
            king_buckets,
            layered: true,
        };
        assert!(HEADER_BYTES + widest.payload_bytes() <= MAX_FILE_BYTES);
    }
}

#[test]
fn every_truncation_is_noticed() {
    for net in [sample(), layered_sample()] {
        let bytes = net.to_bytes();
        let ends = [0, 8, HEADER_BYTES, bytes.len() - 1];
        let step = bytes.len().div_ceil(cases(6000, 20) as usize);
        for length in (0..bytes.len()).step_by(step).chain(ends) {
            let error = QuantisedNet::from_bytes(&bytes[..length]).expect_err("truncated");
            assert!(
                matches!(error, NetError::TooShort { .. }),
                "{length}: {error}"
            );
        }
        let mut longer = bytes;
        longer.push(0);
        let error = QuantisedNet::from_bytes(&longer).expect_err("too long");
        assert!(matches!(error, NetError::TooLong { .. }));
    }
}

#[test]
fn every_flipped_bit_is_noticed() {
    for net in [sample(), layered_sample()] {
        let bytes = net.to_bytes();
        let header = (0..HEADER_BYTES * 8).step_by(if cfg!(miri) { 61 } else { 1 });
        let bits = HEADER_BYTES * 8..bytes.len() * 8;
        // An odd step comes to every bit of a byte.
        let step = (bits.len() / cases(1000, 3) as usize) | 1;
        for bit in header.chain(bits.step_by(step)) {
            let mut flipped = bytes.clone();
            flipped[bit / 8] ^= 1 << (bit % 8);
            assert!(QuantisedNet::from_bytes(&flipped).is_err(), "bit {bit}");
        }
    }
}

#[test]
fn an_architecture_needs_its_own_payload() {
    let refused = |net: QuantisedNet, layered: bool| {
        let mut header = net.header();
        header.architecture = if layered { LAYERED } else { SINGLE_LAYER };
        QuantisedNet::from_bytes(&header.seal(&net.payload())).expect_err("another size")
    };
    let error = refused(sample(), true);
    assert!(matches!(error, NetError::TooShort { .. }), "{error}");
    let error = refused(layered_sample(), false);
    assert!(matches!(error, NetError::TooLong { .. }), "{error}");
    // Layers came after the coarse output weights.
    let mut header = layered_sample().header();
    header.qb = COARSE_QB as u32;
    let error = QuantisedNet::from_bytes(&header.seal(&layered_sample().payload()));
    let text = error.expect_err("coarse").to_string();
    assert!(text.contains("QB is 64, expected 2048 or 512"), "{text}");
}

#[test]
fn files_with_an_older_hash_are_read() {
    let mut bytes = sample().to_bytes();
    bytes[FLAGS_OFFSET] = (FLAGS | FLAG_BARE) as u8;
    let hash = fnv1a(&bytes[HEADER_BYTES..]);
    bytes[HASH].copy_from_slice(&hash.to_le_bytes());
    assert_eq!(
        QuantisedNet::from_bytes(&bytes).expect("an older file"),
        sample()
    );
}

#[test]
fn coarse_output_weights_keep_their_value() {
    let older = [
        (sample(), COARSE_QB),
        (sample(), FORMER_QB),
        (layered_sample(), FORMER_QB),
    ];
    for (mut net, qb) in older {
        let finer = QB / qb;
        for weight in &mut net.output_weights {
            *weight /= finer as i16;
        }
        let mut header = net.header();
        header.qb = qb as u32;
        let read = QuantisedNet::from_bytes(&header.seal(&net.payload())).expect("a network");
        for (fine, coarse) in read.output_weights.iter().zip(&net.output_weights) {
            assert_eq!(i32::from(*fine), finer * i32::from(*coarse));
        }
        assert_eq!(read.output_bias[3], finer * net.output_bias[3]);
        assert_eq!(read.layers, net.layers);
    }
}

#[test]
fn every_number_of_king_buckets_is_read() {
    // With all of them the test had not ended after 40 minutes under Miri.
    let tried = if cfg!(miri) {
        1
    } else {
        KingBuckets::ALL.len()
    };
    for king_buckets in KingBuckets::ALL.into_iter().take(tried) {
        let shape = Shape {
            king_buckets,
            ..SHAPE
        };
        let net = QuantisedNet::zeroed("buckets", shape, 400);
        let read = QuantisedNet::from_bytes(&net.to_bytes()).expect("own file");
        assert_eq!(read, net);
    }
    let header = Header {
        features: 7 * PIECE_FEATURES as u32,
        ..sample().header()
    };
    let error = QuantisedNet::from_bytes(&header.seal(&[])).expect_err("seven");
    assert!(error.to_string().contains("features is 5376"), "{error}");
}

#[test]
#[cfg_attr(miri, ignore = "compressed by C code")]
fn packed_files_hold_the_same_network() {
    let layered = layered_sample();
    let packed = layered.to_packed_bytes().expect("packed");
    assert_eq!(
        QuantisedNet::from_bytes(&packed).expect("own file"),
        layered
    );
    let net = sample();
    let packed = net.to_packed_bytes().expect("packed");
    assert!(packed.len() < net.to_bytes().len());
    assert_eq!(QuantisedNet::from_bytes(&packed).expect("own file"), net);
    for length in [HEADER_BYTES, packed.len() / 2, packed.len() - 1] {
        let error = QuantisedNet::from_bytes(&packed[..length]).expect_err("truncated");
        assert!(matches!(error, NetError::HashMismatch { .. }), "{error}");
    }
    for byte in (0..packed.len()).step_by(131) {
        let mut flipped = packed.clone();
        flipped[byte] ^= 4;
        assert!(QuantisedNet::from_bytes(&flipped).is_err(), "byte {byte}");
    }
    // A payload that fits its hash but not the shape: shorter, longer, or no compressed data.
    for payload in [
        packing::pack(&[0; 64]),
        packing::pack(&vec![0; 1 << 22]),
        Ok(vec![1, 2]),
    ] {
        let mut header = net.header();
        header.flags |= FLAG_PACKED;
        let bytes = header.seal(&payload.expect("packed"));
        let error = QuantisedNet::from_bytes(&bytes).expect_err("another size");
        assert!(matches!(error, NetError::BadPacking), "{error}");
    }
}

#[test]
fn foreign_files_are_named_as_such() {
    let png = b"\x89PNG\r\n\x1a\n and then some";
    assert!(matches!(
        QuantisedNet::from_bytes(png),
        Err(NetError::WrongMagic)
    ));
    let mut newer = sample().to_bytes();
    newer[8] = 4;
    assert!(matches!(
        QuantisedNet::from_bytes(&newer),
        Err(NetError::OtherArchitecture {
            field: "architecture",
            found: 4,
            ..
        })
    ));
    let mut narrow = sample().to_bytes();
    narrow[16] = 65;
    let error = QuantisedNet::from_bytes(&narrow).expect_err("width");
    assert!(error.to_string().contains("hidden is 65"), "{error}");
    let error = QuantisedNet::load(Path::new("no/such/net")).expect_err("missing");
    assert!(error.to_string().contains("no/such/net"));
}

#[test]
fn output_weights_must_fit_the_kernels() {
    const TOO_MUCH: i16 = -MAX_OUTPUT_WEIGHT - 1;
    let mut net = sample();
    net.output_weights[5] = TOO_MUCH;
    let error = QuantisedNet::from_bytes(&net.to_bytes()).err();
    assert!(matches!(
        error,
        Some(NetError::WeightOutOfRange {
            value: TOO_MUCH,
            ..
        })
    ));
}

#[test]
fn layers_weights_must_fit_the_kernels() {
    let refused = |change: fn(&mut QuantisedLayers)| {
        let mut net = layered_sample();
        change(net.layers.as_mut().expect("layers"));
        let error = QuantisedNet::from_bytes(&net.to_bytes()).expect_err("refused");
        error.to_string()
    };
    let text = refused(|layers| layers.first_weights[9] = i8::MIN);
    assert_eq!(text, "first layer weight -128 is outside -127..=127");
    let text = refused(|layers| layers.second_weights[9] = MAX_WEIGHT + 1);
    assert_eq!(text, "second layer weight 1017 is outside -1016..=1016");
    let text = refused(|layers| layers.third_weights[9] = i16::MIN);
    assert_eq!(text, "third layer weight -32768 is outside -1016..=1016");
    let text = refused(|layers| layers.extra_bits[9] = MAX_EXTRA_BITS + 1);
    assert!(text.ends_with("extra bits is 4, expected 0 to 3"), "{text}");
}

#[test]
fn long_names_are_cut_between_characters() {
    let mut net = sample();
    net.name = format!("x{}", "ä".repeat(NAME_BYTES));
    let read = QuantisedNet::from_bytes(&net.to_bytes()).expect("own file");
    assert_eq!(read.name, format!("x{}", "ä".repeat(31)));
}

#[cfg(unix)]
#[test]
fn only_regular_files_of_a_networks_size_are_read() {
    let directory = tempfile::tempdir().expect("a temporary directory");
    let device = QuantisedNet::load(Path::new("/dev/zero")).expect_err("a device");
    assert!(
        device.to_string().contains("not a regular file"),
        "{device}"
    );
    let path = directory.path().join("sparse");
    let file = fs::File::create(&path).expect("a file");
    file.set_len(1 << 40).expect("a sparse file");
    let large = QuantisedNet::load(&path).expect_err("too large");
    assert!(matches!(large, NetError::TooLong { .. }), "{large}");
}
