//! The numbers of search and evaluation that a tuner may vary, one line each: name, default,
//! smallest and largest sensible value, and the step that a tuner begins with. Beside them the
//! off-switches of whole techniques, for ablation. Limits of a single step, which nobody varies, are
//! constants where they are used.
//!
//! In a normal build each is a constant. With the feature `tune` each is an atomic that [`set`]
//! or [`switch`] changes at run time: the UCI loop shows them as options, for SPSA and for
//! matches with a technique switched off.

use crate::types::Role;

/// A parameter as tuners see it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameter {
    pub name: &'static str,
    pub default: i32,
    pub min: i32,
    pub max: i32,
    pub step: i32,
}

/// The whole, for parameters in 1/64: shares of bonuses, weights of histories, margins.
pub const SHARE_UNIT: i32 = 64;
/// The whole of a history, for parameters in 1/1024 of it.
pub const HISTORY_UNIT: i32 = 1024;

macro_rules! parameters {
    ($($(#[$doc:meta])* $name:ident = $default:literal, $min:literal, $max:literal, $step:literal;)*) => {
        /// Every parameter, in the order of this file.
        pub const PARAMETERS: &[Parameter] = &[$(Parameter {
            name: stringify!($name), default: $default, min: $min, max: $max, step: $step,
        }),*];

        #[cfg(not(feature = "tune"))]
        mod values {
            $($(#[$doc])* #[inline(always)] #[must_use] pub const fn $name() -> i32 { $default })*

            pub(super) const fn store(_name: &str, _value: i32) -> bool {
                false
            }
        }

        /// Every value, in the order of this file.
        #[cfg(all(test, feature = "tune"))]
        fn current_values() -> Vec<i32> {
            vec![$($name()),*]
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

            pub(super) fn store(name: &str, value: i32) -> bool {
                match name {
                    $(stringify!($name) => cells::$name.store(value, Relaxed),)*
                    _ => return false,
                }
                true
            }
        }

        pub use values::*;
    };
}

/// The techniques that can be switched off, all on by default. Each is asked in one place, where
/// the technique lives, so that off means wholly off.
macro_rules! switches {
    ($($(#[$doc:meta])* $name:ident;)*) => {
        /// Every off-switch, in the order of this file.
        pub const SWITCHES: &[&str] = &[$(stringify!($name)),*];

        /// The state of every switch, in the order of this file.
        #[cfg(all(test, feature = "tune"))]
        fn current_switches() -> Vec<bool> {
            vec![$($name()),*]
        }

        #[cfg(not(feature = "tune"))]
        mod switch_values {
            $($(#[$doc])* #[inline(always)] #[must_use] pub const fn $name() -> bool { true })*

            pub(super) const fn store(_name: &str, _on: bool) -> bool {
                false
            }
        }

        #[cfg(feature = "tune")]
        mod switch_values {
            use std::sync::atomic::{AtomicBool, Ordering::Relaxed};

            #[expect(non_upper_case_globals)]
            mod cells {
                use super::AtomicBool;
                $(pub static $name: AtomicBool = AtomicBool::new(true);)*
            }

            $($(#[$doc])* #[inline(always)] #[must_use] pub fn $name() -> bool { cells::$name.load(Relaxed) })*

            pub(super) fn store(name: &str, on: bool) -> bool {
                match name {
                    $(stringify!($name) => cells::$name.store(on, Relaxed),)*
                    _ => return false,
                }
                true
            }
        }

        pub use switch_values::*;
    };
}

switches! {
    /// Aspiration windows.
    use_aspiration;
    /// Principal variation search: a zero window for all but the first move.
    use_zero_window;
    /// The transposition table's move first.
    use_tt_move;
    /// Cutoffs by the transposition table in the main search.
    use_tt_cutoffs;
    /// The table's score in place of the static evaluation, where its bound allows.
    use_tt_eval;
    /// Butterfly history.
    use_butterfly;
    /// Capture history.
    use_capture_history;
    /// Continuation histories.
    use_continuation;
    /// Pawn history.
    use_pawn_history;
    /// Killer moves.
    use_killers;
    /// Captures that lose the exchange last.
    use_see_split;
    /// Correction histories.
    use_correction;
    /// Razoring.
    use_razoring;
    /// Reverse futility pruning.
    use_reverse_futility;
    /// Null move pruning.
    use_null_move;
    /// Internal iterative reductions.
    use_internal_reductions;
    /// ProbCut.
    use_probcut;
    /// Hindsight depth adjustment.
    use_hindsight;
    /// Late move pruning.
    use_late_move_pruning;
    /// Futility pruning of quiet moves.
    use_futility;
    /// History pruning.
    use_history_pruning;
    /// SEE pruning in the main search.
    use_see_pruning;
    /// Singular extensions, with multi-cut and negative extensions.
    use_singular;
    /// Late move reductions.
    use_reductions;
    /// The transposition table in the quiescence search.
    use_qsearch_tt;
    /// Pruning of captures in the quiescence search.
    use_qsearch_pruning;
    /// A draw score for a repetition one move ahead.
    use_upcoming_repetition;
    /// The soft time bound scaled by how clear the best move is.
    use_time_scaling;
    /// Quiet moves out of and into attacks by lesser pieces.
    use_threat_ordering;
    /// Quiet checks ordered early.
    use_check_ordering;
    /// Futility pruning of captures.
    use_capture_futility;
    /// Less depth for the moves after one that raised alpha.
    use_raise_reduction;
    /// Quiescence scores above beta blended with beta.
    use_qsearch_blend;
}

parameters! {
    /// Material values of exchange evaluation and of capture ordering, in centipawns.
    see_pawn = 105, 60, 160, 8;
    see_knight = 288, 200, 500, 15;
    see_bishop = 330, 200, 500, 15;
    see_rook = 500, 350, 800, 25;
    see_queen = 950, 700, 1400, 40;

    /// Aspiration: half width of the first window, and what squared scores add to it.
    aspiration_width = 15, 4, 30, 2;
    aspiration_variance = 9_000, 2_000, 60_000, 2_000;
    /// Growth after a failure, in 1/256.
    aspiration_growth = 160, 96, 256, 8;

    /// Reverse futility pruning: deepest, margin a ply, what improving takes off it, what an
    /// attacked piece adds, what the size of the correction adds (in 1/64), and how much of what
    /// lies above beta is kept (in 1/64).
    rfp_depth = 9, 5, 14, 1;
    rfp_margin = 39, 15, 120, 6;
    rfp_improving = 52, 20, 120, 8;
    rfp_attacked = 11, -60, 80, 6;
    rfp_correction = 27, 0, 128, 10;
    rfp_blend = 31, 0, 64, 4;
    /// Razoring: deepest, margin, margin a ply.
    razor_depth = 4, 2, 8, 1;
    razor_base = 110, 30, 250, 15;
    razor_margin = 270, 60, 400, 20;
    /// Null move: least depth, static margin and its share a ply, base reduction, plies for
    /// one more ply of reduction, centipawns above beta for one more, the most of those.
    null_depth = 3, 2, 5, 1;
    null_margin = 81, 0, 200, 12;
    null_margin_depth = 8, 0, 25, 2;
    null_base = 4, 2, 6, 1;
    null_divisor = 3, 2, 5, 1;
    null_eval = 147, 30, 320, 16;
    null_eval_most = 4, 2, 6, 1;
    /// Verification of null moves starts here.
    null_verify_depth = 15, 8, 30, 1;
    /// Internal iterative reductions: least depth.
    iir_depth = 4, 2, 8, 1;
    /// ProbCut: least depth, margin above beta, what improving takes off, its reduction.
    probcut_depth = 5, 3, 9, 1;
    probcut_margin = 148, 40, 300, 14;
    probcut_improving = 60, 0, 150, 10;
    probcut_reduction = 4, 3, 6, 1;
    /// Hindsight: reduction (1/1024 ply) of the parent from which a turn of the evaluation
    /// deepens the search again, and the sum of both evaluations that shortens it.
    hindsight_deeper = 3072, 1024, 5120, 256;
    hindsight_shallower = 1024, 512, 4096, 256;
    hindsight_margin = 80, 20, 200, 10;

    /// Late move pruning: moves allowed, in 1/128: base and per squared ply, when not improving
    /// and when improving.
    lmp_base = 640, 200, 1400, 64;
    lmp_scale = 103, 30, 200, 8;
    lmp_improving_base = 800, 300, 1600, 64;
    lmp_improving_scale = 200, 80, 400, 16;
    /// Futility: depth (after reduction) from which on it does not apply, margin, margin a ply,
    /// share of the history (1/1024).
    futility_depth = 7, 4, 12, 1;
    futility_base = 40, 20, 200, 10;
    futility_margin = 60, 30, 150, 8;
    futility_history = 8, 0, 24, 2;
    /// Futility of captures: margin, margin a ply, share of the history (1/1024).
    capture_futility_base = 70, 20, 300, 10;
    capture_futility_margin = 74, 20, 200, 8;
    capture_futility_history = 16, 0, 64, 3;
    /// History pruning: depth (after reduction) from which on it does not apply, history a ply.
    history_pruning_depth = 6, 3, 10, 1;
    history_pruning_margin = 4950, 1500, 8000, 300;
    /// SEE pruning: deepest, margins for quiet moves (a squared ply to be searched) and captures,
    /// each with its share of the history (1/1024).
    see_depth = 10, 5, 16, 1;
    see_quiet = 19, 6, 60, 3;
    see_quiet_history = 9, -32, 64, 4;
    see_noisy = 96, 40, 180, 8;
    see_noisy_history = 23, 8, 128, 6;

    /// Singular extensions: least depth, margin a ply (1/64), how many plies shallower the table
    /// may be; margin of double extensions, and what a capture takes off it; margin of triple
    /// extensions; most double extensions on a line; plies less for a table move that is not
    /// singular, where the table's score fails high, and in other cut nodes.
    singular_depth = 6, 4, 9, 1;
    singular_margin = 50, 24, 140, 6;
    singular_tt_depth = 3, 2, 5, 1;
    double_margin = 12, 2, 50, 3;
    double_noisy = 5, -20, 14, 5;
    triple_margin = 66, 40, 200, 10;
    double_limit = 10, 4, 20, 1;
    negative_extension = 3, 1, 4, 1;
    negative_cut_extension = 2, 0, 3, 1;

    /// Late move reductions, in 1/1024 ply. Base and slope of the logarithmic table.
    lmr_quiet_base = 900, 200, 1800, 80;
    lmr_quiet_slope = 404, 200, 700, 16;
    lmr_noisy_base = 360, -400, 900, 80;
    lmr_noisy_slope = 330, 180, 500, 16;
    lmr_cut_node = 1750, 500, 3000, 128;
    lmr_not_improving = 660, 0, 1400, 90;
    lmr_tt_noisy = 880, 0, 1600, 90;
    lmr_tt_pv = 1070, 200, 2000, 100;
    lmr_pv = 830, 0, 1600, 90;
    lmr_check = 1020, 0, 1800, 90;
    lmr_killer = 730, 0, 1800, 90;
    lmr_cutoffs = 739, 0, 1800, 90;
    /// History that is worth one ply of reduction.
    lmr_history = 10100, 4000, 16000, 600;
    lmr_noisy_history = 10000, 4000, 20000, 800;
    /// What a centipawn of correction takes off.
    lmr_correction = 8, 0, 24, 2;
    /// Less at the root; what a centipawn of improvement takes off, and what one adds by which the
    /// evaluation lies below alpha.
    lmr_root = 138, -600, 600, 90;
    lmr_improvement = 3, -16, 16, 3;
    lmr_below_alpha = 4, -16, 16, 2;
    /// Plies less for the other moves once one has raised alpha.
    raise_reduction = 2, 1, 3, 1;
    /// Re-search one ply deeper or shallower by how far the reduced search beat the best score.
    lmr_deeper = 51, 15, 120, 6;
    lmr_shallower = 9, 2, 30, 2;

    /// What beta counts in a score above it, where each ply of depth counts 64 for the score.
    fail_high_beta = 36, 0, 200, 12;

    /// What butterfly and pawn history count in reductions and pruning, where a continuation
    /// counts 64.
    history_butterfly = 38, 0, 160, 8;
    history_pawn = 36, 0, 160, 8;

    /// History bonus and malus, in units of the tables: what a ply adds, what is taken off that,
    /// and the most.
    bonus_margin = 285, 100, 600, 20;
    bonus_offset = 120, -100, 400, 30;
    bonus_most = 2180, 1000, 3500, 120;
    malus_margin = 427, 150, 600, 20;
    malus_offset = 60, -100, 400, 30;
    malus_most = 1150, 700, 3000, 120;
    /// Shares of a bonus or malus (1/64) that go to pawn history and to the continuations of one,
    /// two, four and six plies; share of a bonus or malus that a re-search gives to continuations.
    update_pawn = 70, 0, 160, 6;
    update_one = 58, 0, 160, 6;
    update_two = 69, 0, 160, 6;
    update_four = 74, 0, 160, 6;
    update_six = 64, 0, 160, 6;
    update_re_search = 52, 0, 200, 10;
    /// A move that a fail-low proves good for the opponent: share of the bonus (1/128), what is
    /// added to it for a move late in the order, and the part of it (1/64) for butterfly history.
    prior_bonus = 107, 0, 200, 12;
    prior_late = 26, 0, 160, 16;
    prior_butterfly = 76, 0, 200, 8;
    /// Evaluation-difference bonus for the move just played: history a centipawn, and most.
    eval_difference = 29, 0, 80, 5;
    eval_difference_most = 1350, 400, 3000, 150;

    /// Ordering of captures: weight of the victim, share of history in the exchange threshold
    /// (1/1024); ordering of quiet moves: what pawn history counts, where a continuation of one ply
    /// counts 64; killers, threats.
    order_victim = 24, 8, 64, 3;
    order_see_history = 8, 0, 32, 2;
    order_pawn = 52, 0, 160, 8;
    order_killer = 6000, 0, 20000, 1000;
    order_second_killer = 4000, 0, 20000, 1000;
    order_escape_queen = 15300, 0, 30000, 1200;
    order_escape_rook = 9000, 0, 30000, 1000;
    order_escape_minor = 7000, 0, 30000, 800;
    order_check = 10100, 0, 20000, 800;

    /// Quiescence: futility margin, exchange floor, moves looked at.
    qsearch_futility = 102, 50, 300, 14;
    qsearch_see = 40, 0, 150, 8;
    qsearch_moves = 3, 2, 6, 1;

    /// Correction histories: weights in centipawns at full deflection; bonus a ply (1/8).
    correction_pawn = 29, 8, 80, 3;
    correction_minor = 22, 4, 80, 3;
    correction_non_pawn = 33, 8, 80, 3;
    correction_continuation = 30, 4, 80, 3;
    correction_bonus = 4, 1, 12, 1;

    /// Evaluation: its factor without pieces and what material adds to it (1/1024); half-moves
    /// without progress at which nothing of it would be left.
    eval_base = 1064, 700, 1500, 30;
    eval_slope = 130, 0, 250, 12;
    eval_fade = 176, 110, 600, 16;

    /// Time: soft bound's factor (1/100) from the best move's share of the nodes (base and
    /// slope), by the iterations it has stayed best, and by how far the score has dropped.
    time_node_base = 205, 150, 300, 8;
    time_node_slope = 150, 80, 220, 8;
    time_stability_base = 140, 100, 220, 6;
    time_stability_step = 8, 2, 15, 1;
    time_drop = 60, 0, 150, 8;
}

/// The material value of a role for exchanges; the king's is beyond any sum of the others.
#[inline]
#[must_use]
pub fn see_value(role: Role) -> i32 {
    const KING: i32 = 20_000;
    match role {
        Role::Pawn => see_pawn(),
        Role::Knight => see_knight(),
        Role::Bishop => see_bishop(),
        Role::Rook => see_rook(),
        Role::Queen => see_queen(),
        Role::King => KING,
    }
}

/// Changes a parameter. Returns false if there is none of that name, the value is out of range,
/// or this build's parameters are constants.
pub fn set(name: &str, value: i32) -> bool {
    let Some(parameter) = PARAMETERS.iter().find(|p| p.name == name) else {
        return false;
    };
    (parameter.min..=parameter.max).contains(&value) && values::store(name, value)
}

/// Switches a technique on or off. Returns false if there is no switch of that name, or this
/// build's switches are constants.
pub fn switch(name: &str, on: bool) -> bool {
    switch_values::store(name, on)
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

    /// In a build without the feature both come from the same text.
    #[cfg(feature = "tune")]
    #[test]
    fn a_tuning_build_begins_with_the_defaults() {
        let defaults: Vec<i32> = PARAMETERS.iter().map(|p| p.default).collect();
        assert_eq!(current_values(), defaults);
        assert_eq!(current_switches(), vec![true; SWITCHES.len()]);
    }

    #[test]
    fn only_a_tuning_build_changes_values() {
        let tunable = cfg!(feature = "tune");
        for p in PARAMETERS {
            assert_eq!(set(p.name, p.default), tunable, "{}", p.name);
            assert!(!set(p.name, p.max + 1), "{}", p.name);
        }
        for name in SWITCHES {
            assert_eq!(switch(name, true), tunable, "{name}");
        }
        assert!(!set("no_such_parameter", 1) && !switch("no_such_switch", true));
    }
}
