//! Every tunable number of search and evaluation, one line each: name, default, smallest and
//! largest sensible value, and the step that is worth about two Elo.
//!
//! In a normal build each is a constant. With the feature `tune` each is an atomic that
//! [`set`] changes at run time: the UCI loop shows them as spin options, for SPSA and for
//! matches with a technique switched off.

/// A parameter as tuners see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
    pub max: i32,
    pub step: i32,
}

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident = $default:literal, $min:literal, $max:literal, $step:literal;)*) => {
        /// Every parameter, in the order of this file.
        pub const PARAMETERS: &[Parameter] = &[$(Parameter {
            name: stringify!($name), default: $default, min: $min, max: $max, step: $step,
        }),*];

        #[cfg(not(feature = "tune"))]
        mod values {
            $($(#[$doc])* #[inline(always)] #[must_use] pub const fn $name() -> i32 { $default })*
        }

        #[cfg(feature = "tune")]
        mod values {
            use std::sync::atomic::{AtomicI32, Ordering::Relaxed};

            #[expect(non_upper_case_globals)]
            mod cells {
                use super::AtomicI32;
                $(pub static $name: AtomicI32 = AtomicI32::new($default);)*
            }

            $($(#[$doc])* #[inline(always)] #[must_use] pub fn $name() -> i32 { cells::$name.load(Relaxed) })*

            pub(super) fn cell(name: &str) -> Option<&'static AtomicI32> {
                match name {
                    $(stringify!($name) => Some(&cells::$name),)*
                    _ => None,
                }
            }
        }

        pub use values::*;
    };
}

parameters! {
    /// Material values of exchange evaluation and of capture ordering, in centipawns.
    see_pawn = 100, 60, 160, 8;
    see_knight = 310, 200, 500, 15;
    see_bishop = 330, 200, 500, 15;
    see_rook = 500, 350, 800, 25;
    see_queen = 950, 700, 1400, 40;
}

/// The material value of a role for exchanges; the king's is beyond any sum of the others.
#[inline]
#[must_use]
pub fn see_value(role: shakmaty::Role) -> i32 {
    const KING: i32 = 20_000;
    match role {
        shakmaty::Role::Pawn => see_pawn(),
        shakmaty::Role::Knight => see_knight(),
        shakmaty::Role::Bishop => see_bishop(),
        shakmaty::Role::Rook => see_rook(),
        shakmaty::Role::Queen => see_queen(),
        shakmaty::Role::King => KING,
    }
}

/// Changes a parameter. Returns false if there is none of that name or the value is out of range.
#[cfg(feature = "tune")]
pub fn set(name: &str, value: i32) -> bool {
    let Some(parameter) = PARAMETERS.iter().find(|p| p.name == name) else {
        return false;
    };
    let in_range = (parameter.min..=parameter.max).contains(&value);
    if let Some(cell) = values::cell(name).filter(|_| in_range) {
        cell.store(value, std::sync::atomic::Ordering::Relaxed);
    }
    in_range
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn defaults_lie_in_their_ranges() {
        for p in PARAMETERS {
            assert!(
                (p.min..=p.max).contains(&p.default) && p.step > 0,
                "{}",
                p.name
            );
        }
    }
}
