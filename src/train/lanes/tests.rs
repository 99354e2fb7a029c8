//! Every processor's instructions against portable code.

use super::*;
use crate::hash::mix;

/// Runs every operation on some numbers.
struct Everything;

#[derive(Debug)]
struct Results {
    lines: Vec<Line>,
    floats: Vec<Row>,
}

impl Task for Everything {
    type Output = Results;

    fn run<L: Lanes>(self, l: L) -> Results {
        let random = |seed: u64| Line(std::array::from_fn(|i| mix(seed << 8 | i as u64) as i16));
        let (mut lines, mut floats) = (Vec::new(), Vec::new());
        let mut keep_line = |line| {
            let mut kept = Line::ZERO;
            l.put_line(&mut kept, line);
            lines.push(kept);
        };
        let mut keep = |row: [L::Floats; 2]| {
            let mut kept = [Floats::ZERO; 2];
            l.put_floats(&mut kept[0], row[0]);
            l.put_floats(&mut kept[1], row[1]);
            floats.push(kept);
        };
        let (a, b) = (l.line(&random(1)), l.line(&random(2)));
        keep_line(l.add_lines(a, b));
        let (x, y) = (l.clamp_to_floats(a, 2040), l.to_floats(b));
        keep_line(l.to_line(y));
        keep_line(l.to_line(y.map(|y| l.add(y, y))));
        keep(x);
        keep(y);
        let both = |f: &dyn Fn(L::Floats, L::Floats) -> L::Floats| [f(x[0], y[0]), f(x[1], y[1])];
        keep(both(&|a, b| l.mul(a, b)));
        keep(both(&|a, b| l.add(a, b)));
        keep(both(&|a, b| l.mul_add(a, b, l.splat(0.5))));
        keep(both(&|a, b| l.inside(b, a, 2040.0)));
        let (short_x, short_y) = (l.shorten(x), l.shorten(y));
        keep_line(short_x);
        keep_line(short_y);
        keep(l.add_short_pair([l.splat(1.0), l.splat(2.0)], short_x, short_y));
        keep(y.map(|y| l.clip(y, 10_000.0)));
        keep(x.map(|x| l.floor(l.mul(x, l.splat(0.01)))));
        let interleaved = l.interleave(short_x, short_y);
        interleaved.into_iter().for_each(&mut keep_line);
        let mut pairs = Line::ZERO;
        l.put_line(&mut pairs, interleaved[1]);
        keep(
            pairs.pairs()[..2]
                .as_array::<2>()
                .expect("two")
                .map(|pair| l.dot_pairs(x[0], pair, interleaved[0])),
        );
        Results { lines, floats }
    }
}

#[test]
fn all_units_compute_alike() {
    let expected = Everything.run(PortableLanes);
    for unit in Unit::available() {
        let found = unit.run(Everything);
        assert_eq!(found.lines, expected.lines, "{unit:?}");
        for (index, (a, b)) in found.floats.iter().zip(&expected.floats).enumerate() {
            for (a, b) in a.as_flattened_floats().zip(b.as_flattened_floats()) {
                assert!((a - b).abs() <= 1e-4 * b.abs(), "{unit:?} {index}: {a} {b}");
            }
        }
    }
}

trait Flatten {
    fn as_flattened_floats(&self) -> impl Iterator<Item = f32>;
}

impl Flatten for Row {
    fn as_flattened_floats(&self) -> impl Iterator<Item = f32> {
        self.iter().flat_map(|floats| floats.0)
    }
}

#[test]
fn slots_are_a_permutation_of_neurons() {
    let mut seen = [false; TILE];
    for slot in 0..TILE {
        assert!(!std::mem::replace(&mut seen[neuron(slot)], true));
    }
}
