//! The units of the weights that the trainer keeps as integers, and whether it rounds as the
//! network file does.

use crate::nnue::single_layer::QA;

/// Steps of the 16-bit copy of the feature weights for one of the finished network's.
pub const FINER: i32 = 8;
/// What stands for 1.0 in that copy; there is room for hidden sums up to 16.
pub const FIXED_ONE: f32 = (FINER * QA) as f32;

/// Whether positions are evaluated with the rounded numbers that the network file will hold
/// ("fake quantisation").
///
/// Towards the end of a run they are, while the trained floats go on moving beneath by the
/// gradients found with the rounded ones (a "straight-through estimator", Bengio, Léonard and
/// Courville 2013). The weights then settle where rounding increases the loss least.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum FakeQuantisation {
    #[default]
    Off,
    On,
}
