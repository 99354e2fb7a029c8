//! Plain Rust over arrays, which the compiler vectorises where it can.

use super::{Floats, HALF, HALF_UNIT, Lanes, Line, TILE, neuron};

/// Needs nothing of the processor.
#[derive(Clone, Copy, Debug)]
pub struct PortableLanes;

/// Computes each element from its index.
#[inline(always)]
fn each(f: impl Fn(usize) -> f32) -> Floats {
    Floats(std::array::from_fn(f))
}

/// The float whose upper half is `bits`.
#[inline(always)]
pub fn lengthen(bits: i16) -> f32 {
    f32::from_bits(u32::from(bits as u16) << 16)
}

/// A float's upper half, rounded to the nearest.
#[inline(always)]
pub fn upper_half(value: f32) -> i16 {
    (value.to_bits().wrapping_add(HALF_UNIT as u32) >> 16) as i16
}

impl Lanes for PortableLanes {
    type Line = Line;
    type Floats = Floats;

    #[inline(always)]
    fn line(self, from: &Line) -> Line {
        *from
    }

    #[inline(always)]
    fn put_line(self, to: &mut Line, value: Line) {
        *to = value;
    }

    #[inline(always)]
    fn floats(self, from: &Floats) -> Floats {
        *from
    }

    #[inline(always)]
    fn put_floats(self, to: &mut Floats, value: Floats) {
        *to = value;
    }

    #[inline(always)]
    fn splat(self, value: f32) -> Floats {
        Floats([value; HALF])
    }

    #[inline(always)]
    fn add_lines(self, a: Line, b: Line) -> Line {
        Line(std::array::from_fn(|i| a.0[i].saturating_add(b.0[i])))
    }

    #[inline(always)]
    fn clamp_to_floats(self, line: Line, limit: i16) -> [Floats; 2] {
        self.to_floats(Line(line.0.map(|value| value.clamp(0, limit))))
    }

    #[inline(always)]
    fn to_floats(self, line: Line) -> [Floats; 2] {
        [0, HALF].map(|first| each(|i| f32::from(line.0[neuron(first + i)])))
    }

    #[inline(always)]
    fn to_line(self, row: [Floats; 2]) -> Line {
        let mut line = Line::ZERO;
        for slot in 0..TILE {
            line.0[neuron(slot)] = row[slot / HALF].0[slot % HALF] as i16;
        }
        line
    }

    #[inline(always)]
    fn mul(self, a: Floats, b: Floats) -> Floats {
        each(|i| a.0[i] * b.0[i])
    }

    #[inline(always)]
    fn add(self, a: Floats, b: Floats) -> Floats {
        each(|i| a.0[i] + b.0[i])
    }

    #[inline(always)]
    fn mul_add(self, a: Floats, b: Floats, c: Floats) -> Floats {
        each(|i| a.0[i] * b.0[i] + c.0[i])
    }

    #[inline(always)]
    fn inside(self, value: Floats, test: Floats, limit: f32) -> Floats {
        each(|i| {
            if test.0[i] > 0.0 && test.0[i] < limit {
                value.0[i]
            } else {
                0.0
            }
        })
    }

    #[inline(always)]
    fn shorten(self, row: [Floats; 2]) -> Line {
        let mut line = Line::ZERO;
        for slot in 0..TILE {
            line.0[neuron(slot)] = upper_half(row[slot / HALF].0[slot % HALF]);
        }
        line
    }

    #[inline(always)]
    fn add_short_pair(self, sums: [Floats; 2], a: Line, b: Line) -> [Floats; 2] {
        std::array::from_fn(|half| {
            each(|i| {
                let at = neuron(half * HALF + i);
                sums[half].0[i] + (lengthen(a.0[at]) + lengthen(b.0[at]))
            })
        })
    }

    #[inline(always)]
    fn clip(self, value: Floats, limit: f32) -> Floats {
        each(|i| value.0[i].max(0.0).min(limit))
    }

    #[inline(always)]
    fn floor(self, value: Floats) -> Floats {
        each(|i| value.0[i] as i32 as f32)
    }

    #[inline(always)]
    fn interleave(self, a: Line, b: Line) -> [Line; 2] {
        [0, HALF].map(|first| {
            Line(std::array::from_fn(|i| {
                let at = neuron(first + i / 2);
                if i % 2 == 0 { a.0[at] } else { b.0[at] }
            }))
        })
    }

    #[inline(always)]
    fn dot_pairs(self, sums: Floats, pair: i32, line: Line) -> Floats {
        let (low, high) = (lengthen(pair as i16), lengthen((pair >> 16) as i16));
        each(|i| {
            let products = low * lengthen(line.0[2 * i]) + high * lengthen(line.0[2 * i + 1]);
            sums.0[i] + products
        })
    }
}
