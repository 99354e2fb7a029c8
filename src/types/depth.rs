//! How far a search still looks ([`Depth`]) and how far it has come ([`Ply`]): two numbers that
//! are easily confused and therefore two types.

use std::fmt;
use std::ops::{Add, AddAssign, Sub, SubAssign};

use serde::Serialize;

/// Deepest iteration, in plies.
pub const MAX_DEPTH: Depth = Depth(240);

/// Longest line that a search can follow, in plies from the root.
pub const MAX_PLY: usize = 246;

/// Remaining search depth in plies; zero or less means quiescence search.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
pub struct Depth(pub i32);

impl Depth {
    pub const ZERO: Depth = Depth(0);
    pub const ONE: Depth = Depth(1);

    /// The number of plies.
    #[must_use]
    pub const fn plies(self) -> i32 {
        self.0
    }
}

impl Add<i32> for Depth {
    type Output = Depth;
    fn add(self, plies: i32) -> Depth {
        Depth(self.0 + plies)
    }
}

impl Sub<i32> for Depth {
    type Output = Depth;
    fn sub(self, plies: i32) -> Depth {
        Depth(self.0 - plies)
    }
}

impl Sub for Depth {
    type Output = i32;
    fn sub(self, other: Depth) -> i32 {
        self.0 - other.0
    }
}

impl AddAssign<i32> for Depth {
    fn add_assign(&mut self, plies: i32) {
        self.0 += plies;
    }
}

impl SubAssign<i32> for Depth {
    fn sub_assign(&mut self, plies: i32) {
        self.0 -= plies;
    }
}

impl fmt::Display for Depth {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Distance from the root in plies: 0 at the root, at most [`MAX_PLY`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Ply(pub usize);

impl Ply {
    pub const ROOT: Ply = Ply(0);

    /// The ply as an index into per-ply tables.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0
    }

    /// One ply further from the root.
    #[must_use]
    pub const fn next(self) -> Ply {
        Ply(self.0 + 1)
    }
}
