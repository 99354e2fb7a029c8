//! The teacher on a synthetic network: narrow, but with all the parts of a published one.

use std::io::Write as _;
use std::sync::Arc;

use sha2::{Digest as _, Sha256};

use crate::board::Position;
use crate::board::tests::{Random, random_games};
use crate::nnue::simd::Isa;
use crate::record::TeacherHints;
use crate::types::Color;

use super::engine::TeacherEngine;
use super::features::{INPUTS, TeacherView};
use super::format::TeacherError;
use super::format::{FIRST, SECOND, STACKS, TeacherShape, stack_hash, transformer_hash};
use super::{Teacher, TeacherNet};

const NARROW: usize = 64;
/// What compressed numbers begin with.
const MARK: &[u8] = b"COMPRESSED_LEB128";
const SHAPES: [TeacherShape; 1] = [TeacherShape {
    engine: TeacherEngine::Stockfish15,
    width: NARROW,
}];

/// The numbers of a file in their order, read by code that shares nothing with the reader under
/// test.
struct Numbers {
    bias: Vec<i16>,
    weights: Vec<i16>,
    values: Vec<i32>,
    stacks: Vec<Layers>,
}

struct Layers {
    first_bias: Vec<i32>,
    first: Vec<i8>,
    second_bias: Vec<i32>,
    second: Vec<i8>,
    third_bias: i32,
    third: Vec<i8>,
}

fn numbers() -> Numbers {
    let mut random = Random(15);
    let mut below = |limit: i32| random.below(2 * limit as usize + 1) as i32 - limit;
    let mut i32s =
        |count: usize, limit: i32| -> Vec<i32> { (0..count).map(|_| below(limit)).collect() };
    let i16s = |numbers: Vec<i32>| numbers.into_iter().map(|n| n as i16).collect();
    let i8s = |numbers: Vec<i32>| numbers.into_iter().map(|n| n as i8).collect();
    Numbers {
        bias: i16s(i32s(NARROW, 100)),
        weights: i16s(i32s(NARROW * INPUTS, 40)),
        values: i32s(STACKS * INPUTS, 4000),
        stacks: (0..STACKS)
            .map(|_| Layers {
                first_bias: i32s(FIRST, 3000),
                first: i8s(i32s(FIRST * NARROW, 127)),
                second_bias: i32s(SECOND, 3000),
                second: i8s(i32s(SECOND * SECOND, 127)),
                third_bias: i32s(1, 3000)[0],
                third: i8s(i32s(SECOND, 127)),
            })
            .collect(),
    }
}

fn file(numbers: &Numbers) -> Vec<u8> {
    written(numbers, |bytes, _| bytes)
}

/// The same with the transformer's numbers compressed.
fn compressed_file(numbers: &Numbers) -> Vec<u8> {
    written(numbers, |_, numbers| {
        let packed: Vec<u8> = numbers.iter().flat_map(|&number| leb128(number)).collect();
        let length = (packed.len() as u32).to_le_bytes();
        [MARK, length.as_slice(), &packed].concat()
    })
}

/// A number in signed LEB128.
fn leb128(mut number: i32) -> Vec<u8> {
    let mut bytes = Vec::new();
    while !(-64..64).contains(&number) {
        bytes.push(number as u8 | 128);
        number >>= 7;
    }
    bytes.push(number as u8 & 127);
    bytes
}

/// A file; `transformer` chooses how the numbers of the transformer are written, given their
/// bytes and their values.
fn written(numbers: &Numbers, transformer: impl Fn(Vec<u8>, &[i32]) -> Vec<u8>) -> Vec<u8> {
    const DESCRIPTION: &[u8] = b"made up";
    let mut bytes = Vec::new();
    let mut put = |part: &[u8]| bytes.extend_from_slice(part);
    let le32 = |numbers: &[i32]| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    let le16 = |numbers: &[i16]| -> Vec<u8> {
        numbers
            .iter()
            .flat_map(|number| number.to_le_bytes())
            .collect()
    };
    let le8 = |numbers: &[i8]| -> Vec<u8> { numbers.iter().map(|&n| n as u8).collect() };
    let widened = |numbers: &[i16]| -> Vec<i32> { numbers.iter().map(|&n| n.into()).collect() };
    let (features, stack) = (transformer_hash(NARROW), stack_hash(NARROW));
    put(&0x7af3_2f20u32.to_le_bytes());
    put(&(features ^ stack).to_le_bytes());
    put(&(DESCRIPTION.len() as u32).to_le_bytes());
    put(DESCRIPTION);
    put(&features.to_le_bytes());
    put(&transformer(le16(&numbers.bias), &widened(&numbers.bias)));
    put(&transformer(
        le16(&numbers.weights),
        &widened(&numbers.weights),
    ));
    put(&transformer(le32(&numbers.values), &numbers.values));
    for layers in &numbers.stacks {
        put(&stack.to_le_bytes());
        put(&le32(&layers.first_bias));
        put(&le8(&layers.first));
        put(&le32(&layers.second_bias));
        put(&le8(&layers.second));
        put(&layers.third_bias.to_le_bytes());
        put(&le8(&layers.third));
    }
    bytes
}

/// A narrow network for tests elsewhere.
pub fn narrow_net() -> Arc<TeacherNet> {
    net(&numbers())
}

fn net(numbers: &Numbers) -> Arc<TeacherNet> {
    Arc::new(TeacherNet::parse(&file(numbers), &SHAPES).expect("a sound file"))
}

/// The definition, number by number: both parts, sixteen for a unit, and the hints.
fn by_definition(numbers: &Numbers, position: &Position) -> (i32, i32, TeacherHints) {
    let board = position.board();
    let stack = (board.occupied().count() - 1) / 4;
    let sides = [position.turn(), !position.turn()].map(|color: Color| {
        let view = TeacherView::new(color, board.king_of(color).expect("a king"));
        let mut neurons: Vec<i32> = numbers.bias.iter().map(|&b| i32::from(b)).collect();
        let mut value = 0;
        for square in board.occupied() {
            let input = view.input(board.piece_at(square).expect("a piece"), square);
            for (neuron, sum) in neurons.iter_mut().enumerate() {
                *sum += i32::from(numbers.weights[input * NARROW + neuron]);
            }
            value += numbers.values[input * STACKS + stack];
        }
        (neurons, value)
    });
    let material = (sides[0].1 - sides[1].1) / 2;
    let mut inputs = Vec::new();
    for (neurons, _) in &sides {
        for (left, right) in neurons[..NARROW / 2].iter().zip(&neurons[NARROW / 2..]) {
            inputs.push((*left).clamp(0, 127) * (*right).clamp(0, 127) / 128);
        }
    }
    let layers = &numbers.stacks[stack];
    let first: Vec<i32> = (0..FIRST)
        .map(|output| {
            let row = &layers.first[output * NARROW..][..NARROW];
            let products = row.iter().zip(&inputs).map(|(w, x)| i32::from(*w) * x);
            layers.first_bias[output] + products.sum::<i32>()
        })
        .collect();
    let mut activated: Vec<i32> = Vec::new();
    activated.extend(first[..15].iter().map(|&s| {
        let square = i64::from(s) * i64::from(s) / 4096 / 128;
        square.min(127) as i32
    }));
    activated.extend(first[..15].iter().map(|&s| s.div_euclid(64).clamp(0, 127)));
    let second = (0..SECOND).map(|output| {
        let row = &layers.second[output * SECOND..][..SECOND];
        let products = row.iter().zip(&activated).map(|(w, x)| i32::from(*w) * x);
        (layers.second_bias[output] + products.sum::<i32>())
            .div_euclid(64)
            .clamp(0, 127)
    });
    let last = second.zip(&layers.third).map(|(x, w)| i32::from(*w) * x);
    let positional = layers.third_bias + last.sum::<i32>() + first[15] * 9600 / 8128;
    let hints = std::array::from_fn(|i| first[i].div_euclid(64).clamp(-127, 127) as i8);
    (material, positional, hints)
}

#[test]
fn lines_are_evaluated_as_the_definition_says_on_every_instruction_set() {
    let numbers = numbers();
    let net = net(&numbers);
    let mut teachers: Vec<Teacher> = Isa::available()
        .into_iter()
        .map(|isa| Teacher::with_isa(Arc::clone(&net), isa))
        .collect();
    let mut random = Random(4);
    let mut checked = 0;
    random_games(4, |position| {
        let expected = by_definition(&numbers, position);
        let moves = position.legal_moves();
        for teacher in &mut teachers {
            teacher.reset(position);
            let found = teacher.evaluate(position);
            assert_eq!(
                (found.material, found.positional, found.hints),
                expected,
                "{}",
                position.fen()
            );
        }
        // A line of three moves, evaluated at its end only or also on the way, or settled.
        let mut line = vec![position.clone()];
        for _ in 0..3 {
            let last = line.last().expect("a position");
            let moves = last.legal_moves();
            if moves.is_empty() {
                break;
            }
            let m = moves[random.below(moves.len())];
            let dirty = last.dirty_pieces(m);
            let next = last.play(m);
            for (index, teacher) in teachers.iter_mut().enumerate() {
                teacher.push(&dirty);
                if (checked + index) % 3 == 0 {
                    teacher.evaluate(&next);
                }
                if (checked + index) % 5 == 0 {
                    teacher.settle();
                }
            }
            line.push(next);
        }
        let last = line.last().expect("a position");
        let expected = by_definition(&numbers, last);
        for teacher in &mut teachers {
            let found = teacher.evaluate(last);
            assert_eq!(
                (found.material, found.positional, found.hints),
                expected,
                "{}",
                last.fen()
            );
        }
        checked += moves.len().min(1);
    });
    assert!(checked > 100);
}

#[test]
fn a_move_taken_back_leaves_no_trace() {
    let numbers = numbers();
    let mut teacher = Teacher::new(net(&numbers));
    let position = Position::startpos();
    teacher.reset(&position);
    let before = teacher.evaluate(&position);
    for m in position.legal_moves() {
        teacher.push(&position.dirty_pieces(m));
        let next = position.play(m);
        let found = teacher.evaluate(&next);
        assert_eq!(
            (found.material, found.positional, found.hints),
            by_definition(&numbers, &next)
        );
        teacher.pop();
        assert_eq!(teacher.evaluate(&position), before);
    }
}

#[test]
fn truncated_and_longer_files_are_refused() {
    let bytes = file(&numbers());
    for length in (0..bytes.len())
        .step_by(99_991)
        .chain([3, 11, bytes.len() - 1])
    {
        let error = TeacherNet::parse(&bytes[..length], &SHAPES).expect_err("cut off");
        assert!(
            matches!(error, TeacherError::TooShort(_)),
            "{length}: {error}"
        );
    }
    let mut endless = bytes.clone();
    endless[8..12].copy_from_slice(&u32::MAX.to_le_bytes());
    let error = TeacherNet::parse(&endless, &SHAPES).expect_err("a long description");
    assert!(matches!(error, TeacherError::LongDescription(_)), "{error}");
    let mut longer = bytes;
    longer.push(0);
    let error = TeacherNet::parse(&longer, &SHAPES).expect_err("too long");
    assert!(matches!(error, TeacherError::TooLong(1)), "{error}");
}

#[test]
fn foreign_files_are_refused() {
    let other = [TeacherShape {
        width: 2 * NARROW,
        ..SHAPES[0]
    }];
    let bytes = file(&numbers());
    let error = TeacherNet::parse(&bytes, &other).expect_err("another width");
    assert!(
        matches!(error, TeacherError::Architecture { part: "head", .. }),
        "{error}"
    );
    let error = TeacherNet::parse(b"PLEACHNN and more", &SHAPES).expect_err("another format");
    assert!(matches!(error, TeacherError::Version { .. }), "{error}");
    let own = crate::nnue::synthetic::random(64, 1).to_bytes();
    assert!(TeacherNet::parse(&own, &SHAPES).is_err());
}

#[test]
fn a_compressed_file_holds_the_same_network() {
    let numbers = numbers();
    let bytes = compressed_file(&numbers);
    assert!(bytes.len() < file(&numbers).len());
    let net = Arc::new(TeacherNet::parse(&bytes, &SHAPES).expect("a sound file"));
    let mut teacher = Teacher::new(net);
    random_games(2, |position| {
        teacher.reset(position);
        let found = teacher.evaluate(position);
        assert_eq!(
            (found.material, found.positional, found.hints),
            by_definition(&numbers, position)
        );
    });
    for length in (0..bytes.len()).step_by(99_991) {
        assert!(TeacherNet::parse(&bytes[..length], &SHAPES).is_err());
    }
    // The number of compressed biases' bytes: one more leaves a number behind.
    let at = bytes
        .windows(MARK.len())
        .position(|window| window == MARK)
        .expect("a compressed part")
        + MARK.len();
    let mut longer = bytes;
    longer[at] += 1;
    let error = TeacherNet::parse(&longer, &SHAPES).expect_err("a byte too many");
    assert!(
        matches!(error, TeacherError::BadCompression("transformer")),
        "{error}"
    );
}

#[test]
fn a_flipped_bit_is_refused_by_the_digest_in_the_name() {
    // The width of real files is not needed to see that names are compared with contents.
    let bytes = file(&numbers());
    let digest = |bytes: &[u8]| -> String {
        Sha256::digest(bytes)[..6]
            .iter()
            .map(|byte| format!("{byte:02x}"))
            .collect()
    };
    let folder = tempfile::tempdir().expect("a folder");
    let path = folder.path().join(format!("nn-{}.nnue", digest(&bytes)));
    let mut damaged = bytes.clone();
    damaged[bytes.len() / 2] ^= 16;
    for (content, sound) in [(&bytes, true), (&damaged, false)] {
        let mut file = std::fs::File::create(&path).expect("a file");
        file.write_all(content).expect("written");
        let loaded = TeacherNet::load_shaped(&path, &SHAPES);
        assert_eq!(loaded.is_ok(), sound);
        if let Err(error) = loaded {
            assert!(matches!(error, TeacherError::Unknown { .. }), "{error}");
        }
    }
    assert!(matches!(
        TeacherNet::load(folder.path()),
        Err(TeacherError::NoFile(_))
    ));
    let none = folder.path().join("none");
    assert!(matches!(
        TeacherNet::load(&none),
        Err(TeacherError::Io { .. })
    ));
}
