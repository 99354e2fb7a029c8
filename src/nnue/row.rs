//! One value per hidden unit, and how many hidden units this build has.

use bytemuck::Zeroable;

include!(concat!(env!("OUT_DIR"), "/network.rs"));

/// One value per hidden unit, aligned to a cache line and to the widest registers.
#[derive(Clone, Debug, PartialEq, Eq, Zeroable)]
#[repr(C, align(64))]
pub struct Row(pub [i16; HIDDEN]);

impl Row {
    /// A row of zeros.
    pub const ZERO: Row = Row([0; HIDDEN]);

    /// A row of these values, which are [`HIDDEN`].
    pub(super) fn from_slice(values: &[i16]) -> Row {
        let mut row = Row::ZERO;
        row.0.copy_from_slice(values);
        row
    }
}
