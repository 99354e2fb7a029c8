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
    // Material values, for exchanges, the order of captures and the futility of captures.
    /// Value of a pawn, in centipawns.
    see_pawn = 105, 60, 160, 8;
    /// Value of a knight, in centipawns.
    see_knight = 288, 200, 500, 15;
    /// Value of a bishop, in centipawns.
    see_bishop = 330, 200, 500, 15;
    /// Value of a rook, in centipawns.
    see_rook = 500, 350, 800, 25;
    /// Value of a queen, in centipawns.
    see_queen = 950, 700, 1400, 40;

    // Aspiration windows.
    /// Half width of the first window around a score near 0, in centipawns.
    aspiration_width = 15, 4, 30, 2;
    /// Mean square of the scores, in squared centipawns, that widens the first window by one
    /// centipawn on either side: larger is narrower.
    aspiration_variance = 9_000, 2_000, 60_000, 2_000;
    /// Growth of the width with each score outside the window, in 1/256 of the width.
    aspiration_growth = 160, 96, 256, 8;

    // Reverse futility pruning.
    /// Largest depth for reverse futility pruning, in plies.
    rfp_depth = 9, 5, 14, 1;
    /// Margin above beta for each ply of depth, in centipawns.
    rfp_margin = 39, 15, 120, 6;
    /// Taken off the margin if the evaluation is improving, in centipawns.
    rfp_improving = 52, 20, 120, 8;
    /// Added to the margin if the enemy attacks a piece (not a pawn or the king), in centipawns.
    rfp_attacked = 11, -60, 80, 6;
    /// Added to the margin for each centipawn of correction, up or down, in 1/64 centipawn.
    rfp_correction = 27, 0, 128, 10;
    /// Share of the evaluation's excess over beta that the returned score keeps, in 1/64.
    rfp_blend = 31, 0, 64, 4;

    // Razoring.
    /// Largest depth for razoring, in plies.
    razor_depth = 4, 2, 8, 1;
    /// Margin below alpha at depth 0, in centipawns.
    razor_base = 110, 30, 250, 15;
    /// Added to `razor_base` for each ply of depth, in centipawns.
    razor_margin = 270, 60, 400, 20;

    // Null move pruning.
    /// Least depth for a null move, in plies.
    null_depth = 3, 2, 5, 1;
    /// Margin of the static evaluation above beta at depth 0, in centipawns.
    null_margin = 81, 0, 200, 12;
    /// Taken off `null_margin` for each ply of depth, in centipawns.
    null_margin_depth = 8, 0, 25, 2;
    /// Base of the null move's reduction, in plies.
    null_base = 4, 2, 6, 1;
    /// Plies of depth for each further ply of reduction: larger reduces less.
    null_divisor = 3, 2, 5, 1;
    /// Centipawns of evaluation above beta for each further ply of reduction: larger reduces less.
    null_eval = 147, 30, 320, 16;
    /// Most plies of reduction that the evaluation above beta adds.
    null_eval_most = 4, 2, 6, 1;
    /// Least depth at which a fail high is verified by a search without null moves, in plies.
    null_verify_depth = 15, 8, 30, 1;

    // Internal iterative reductions.
    /// Least depth for the reduction of a node without a table move, in plies.
    iir_depth = 4, 2, 8, 1;

    // ProbCut.
    /// Least depth for ProbCut, in plies.
    probcut_depth = 5, 3, 9, 1;
    /// Margin above beta that a capture's shallow search must reach, in centipawns.
    probcut_margin = 148, 40, 300, 14;
    /// Taken off `probcut_margin` if the evaluation is improving, in centipawns.
    probcut_improving = 60, 0, 150, 10;
    /// Plies by which the shallow search is less deep than the node.
    probcut_reduction = 4, 3, 6, 1;

    // Hindsight.
    /// Reduction of the parent's move, in plies, from which a move that lost nothing by the
    /// evaluations before and after it deepens the search.
    hindsight_deeper = 3, 1, 5, 1;
    /// Reduction of the parent's move, in plies, from which a loss by it shortens the search.
    hindsight_shallower = 1, 1, 4, 1;
    /// Loss by the parent's move above which the search is shortened, in centipawns.
    hindsight_margin = 80, 20, 200, 10;

    // Late move pruning.
    /// Move number from which quiet moves are skipped at depth 0 if not improving, in 1/128 move.
    lmp_base = 640, 200, 1400, 64;
    /// Added to `lmp_base` for each squared ply of depth, in 1/128 move.
    lmp_scale = 103, 30, 200, 8;
    /// Move number from which quiet moves are skipped at depth 0 if improving, in 1/128 move.
    lmp_improving_base = 800, 300, 1600, 64;
    /// Added to `lmp_improving_base` for each squared ply of depth, in 1/128 move.
    lmp_improving_scale = 200, 80, 400, 16;

    // Futility pruning of quiet moves.
    /// Depth after reduction, in plies, from which futility prunes no quiet move and no capture.
    futility_depth = 7, 4, 12, 1;
    /// Margin above the static evaluation at depth 0, in centipawns.
    futility_base = 40, 20, 200, 10;
    /// Added to the margin for each ply of depth after reduction, in centipawns.
    futility_margin = 60, 30, 150, 8;
    /// Added to the margin for each unit of history, in 1/1024 centipawn.
    futility_history = 8, 0, 24, 2;

    // Futility pruning of captures.
    /// Margin above the static evaluation and the captured piece at depth 0, in centipawns.
    capture_futility_base = 70, 20, 300, 10;
    /// Added to the margin for each ply of depth after reduction, in centipawns.
    capture_futility_margin = 74, 20, 200, 8;
    /// Added to the margin for each unit of capture history, in 1/1024 centipawn.
    capture_futility_history = 16, 0, 64, 3;

    // History pruning.
    /// Depth after reduction, in plies, from which history pruning does not apply.
    history_pruning_depth = 6, 3, 10, 1;
    /// How far below 0 a quiet move's history must be, for each ply of depth, in history units.
    history_pruning_margin = 4950, 1500, 8000, 300;

    // SEE pruning.
    /// Largest unreduced depth for SEE pruning, in plies.
    see_depth = 10, 5, 16, 1;
    /// Loss allowed to a quiet move for each squared ply it would be searched to, in centipawns.
    see_quiet = 19, 6, 60, 3;
    /// Loss allowed to a quiet move for each unit of its history, in 1/1024 centipawn.
    see_quiet_history = 9, -32, 64, 4;
    /// Loss allowed to a capture or promotion for each ply of unreduced depth, in centipawns.
    see_noisy = 96, 40, 180, 8;
    /// Loss allowed to a capture or promotion for each unit of its history, in 1/1024 centipawn.
    see_noisy_history = 23, 8, 128, 6;

    // Singular extensions.
    /// Least depth, in plies; one more in a node that is or was on a principal variation.
    singular_depth = 6, 4, 9, 1;
    /// Distance of the singular bound below the table's score for each ply of depth, in 1/64
    /// centipawn: larger extends less.
    singular_margin = 50, 24, 140, 6;
    /// Plies by which the table's entry may be less deep than the node.
    singular_tt_depth = 3, 2, 5, 1;
    /// How far below the singular bound all others must stay for two plies, in centipawns.
    double_margin = 12, 2, 50, 3;
    /// Taken off `double_margin` if the table's move captures or promotes, in centipawns.
    double_noisy = 5, -20, 14, 5;
    /// How far below the singular bound all others must stay for three plies, which only a quiet
    /// move is extended by, in centipawns.
    triple_margin = 66, 40, 200, 10;
    /// Number of double and triple extensions on a line after which all are of one ply.
    double_limit = 10, 4, 20, 1;
    /// Plies less for a table move that is not singular, if the table's score reaches beta.
    negative_extension = 3, 1, 4, 1;
    /// Plies less for a table move that is not singular, in other expected cut nodes.
    negative_cut_extension = 2, 0, 3, 1;

    // Late move reductions.
    /// Base of the reduction of quiet moves, in 1/1024 ply.
    lmr_quiet_base = 900, 200, 1800, 80;
    /// Factor of ln(depth) * ln(move number) for quiet moves, in 1/1024 ply.
    lmr_quiet_slope = 404, 200, 700, 16;
    /// Base of the reduction of captures and promotions, in 1/1024 ply.
    lmr_noisy_base = 360, -400, 900, 80;
    /// Factor of ln(depth) * ln(move number) for captures and promotions, in 1/1024 ply.
    lmr_noisy_slope = 330, 180, 500, 16;
    /// More reduction in expected cut nodes, in 1/1024 ply.
    lmr_cut_node = 1750, 500, 3000, 128;
    /// More reduction in check and where the evaluation is not improving, in 1/1024 ply.
    lmr_not_improving = 660, 0, 1400, 90;
    /// More reduction of quiet moves if the table's move captures or promotes, in 1/1024 ply.
    lmr_tt_noisy = 880, 0, 1600, 90;
    /// Less reduction in nodes that are or were on a principal variation, in 1/1024 ply.
    lmr_tt_pv = 1070, 200, 2000, 100;
    /// Less reduction in PV nodes, in 1/1024 ply.
    lmr_pv = 830, 0, 1600, 90;
    /// Less reduction of a move that gives check, in 1/1024 ply; the pruning of moves ignores it.
    lmr_check = 1020, 0, 1800, 90;
    /// Less reduction of a killer move, in 1/1024 ply.
    lmr_killer = 730, 0, 1800, 90;
    /// More reduction if several nodes at the next ply have failed high, in 1/1024 ply.
    lmr_cutoffs = 739, 0, 1800, 90;
    /// History of a quiet move for one ply less, in history units: larger makes it count less.
    lmr_history = 10100, 4000, 16000, 600;
    /// History of a capture for one ply less, in history units: larger makes it count less.
    lmr_noisy_history = 10000, 4000, 20000, 800;
    /// Less reduction for each centipawn of correction, up or down, in 1/1024 ply.
    lmr_correction = 8, 0, 24, 2;
    /// Less reduction at the root, in addition to `lmr_pv`, in 1/1024 ply.
    lmr_root = 138, -600, 600, 90;
    /// Less reduction for each centipawn that the evaluation has risen, in 1/1024 ply.
    lmr_improvement = 3, -16, 16, 3;
    /// More reduction for each centipawn of static evaluation below alpha, in 1/1024 ply.
    lmr_below_alpha = 4, -16, 16, 2;

    // After a move has raised alpha.
    /// Plies less for the later moves each time that a move raises alpha, at medium depths.
    raise_reduction = 2, 1, 3, 1;

    // Re-search of a reduced move that beat alpha.
    /// Lead over the best score above which the re-search is one ply deeper, in centipawns.
    lmr_deeper = 51, 15, 120, 6;
    /// Lead over the best score below which the re-search is one ply less deep, in centipawns.
    lmr_shallower = 9, 2, 30, 2;

    // The score of a node that fails high.
    /// Weight of beta against a score above it, in 1/64: the score weighs 1 for each ply of depth.
    fail_high_beta = 36, 0, 200, 12;

    // Histories of quiet moves, as reductions and pruning add them up.
    /// Weight of butterfly history, in 1/64: a continuation history weighs 1.
    history_butterfly = 38, 0, 160, 8;
    /// Weight of pawn history, in 1/64: a continuation history weighs 1.
    history_pawn = 36, 0, 160, 8;

    // History bonus of the best move, and malus of the other moves searched.
    /// Bonus for each ply of depth, in history units.
    bonus_margin = 285, 100, 600, 20;
    /// Taken off the bonus at every depth, in history units.
    bonus_offset = 120, -100, 400, 30;
    /// Largest bonus, in history units.
    bonus_most = 2180, 1000, 3500, 120;
    /// Malus for each ply of depth, in history units.
    malus_margin = 427, 150, 600, 20;
    /// Taken off the malus at every depth, in history units.
    malus_offset = 60, -100, 400, 30;
    /// Largest malus, in history units.
    malus_most = 1150, 700, 3000, 120;

    // Shares of the bonus or malus of a quiet move; butterfly history takes all of it.
    /// Share of the bonus or malus that goes to pawn history, in 1/64.
    update_pawn = 70, 0, 160, 6;
    /// Share of each change that goes to the continuation history one ply back, in 1/64.
    update_one = 58, 0, 160, 6;
    /// Share of each change that goes to the continuation history two plies back, in 1/64.
    update_two = 69, 0, 160, 6;
    /// Share of each change that goes to the continuation history four plies back, in 1/64.
    update_four = 74, 0, 160, 6;
    /// Share of each change that goes to the continuation history six plies back, in 1/64.
    update_six = 64, 0, 160, 6;
    /// Share of a bonus that the continuation histories gain or lose by a re-search, in 1/64.
    update_re_search = 52, 0, 200, 10;

    // The quiet move that led to a node without a move above alpha.
    /// Share of the bonus that the move's continuation histories gain, in 1/128.
    prior_bonus = 107, 0, 200, 12;
    /// Added to `prior_bonus` for a move late in the order, in 1/128.
    prior_late = 26, 0, 160, 16;
    /// Share of that gain that the move's butterfly history gains, in 1/64.
    prior_butterfly = 76, 0, 200, 8;

    // The change of the evaluation by a quiet move.
    /// Butterfly history for each centipawn that the move gained or lost, in history units.
    eval_difference = 29, 0, 80, 5;
    /// Largest change of butterfly history for that, up or down, in history units.
    eval_difference_most = 1350, 400, 3000, 150;

    // Ordering of captures and promotions.
    /// Weight of a centipawn of the captured piece and of the promotion piece, in history units.
    order_victim = 24, 8, 64, 3;
    /// Loss allowed to a good capture for each unit of its history, in 1/1024 centipawn.
    order_see_history = 8, 0, 32, 2;

    // Ordering of quiet moves.
    /// Weight of pawn history, in 1/64: the continuation history one ply back weighs 1.
    order_pawn = 52, 0, 160, 8;
    /// Added for the first killer move, in history units.
    order_killer = 6000, 0, 20000, 1000;
    /// Added for the second killer move, in history units.
    order_second_killer = 4000, 0, 20000, 1000;
    /// Added for a queen that leaves an attack by a pawn, minor piece or rook, taken off for one
    /// that enters it, in history units.
    order_escape_queen = 15300, 0, 30000, 1200;
    /// Added for a rook that leaves an attack by a pawn or minor piece, taken off for one that
    /// enters it, in history units.
    order_escape_rook = 9000, 0, 30000, 1000;
    /// Added for a minor piece that leaves an attack by a pawn, taken off for one that enters it,
    /// in history units.
    order_escape_minor = 7000, 0, 30000, 800;
    /// Added for a direct check that loses no more than a pawn, in history units.
    order_check = 10100, 0, 20000, 800;

    // Quiescence search.
    /// Margin of futility pruning above the static evaluation, in centipawns.
    qsearch_futility = 102, 50, 300, 14;
    /// Largest loss in exchange with which a capture or promotion is searched, in centipawns.
    qsearch_see = 40, 0, 150, 8;
    /// Number of moves searched after which only recaptures and promotions are looked at.
    qsearch_moves = 3, 2, 6, 1;

    // Correction histories.
    /// Correction by the pawn structure with its cell at the limit, in centipawns.
    correction_pawn = 29, 8, 80, 3;
    /// Correction by knights, bishops and kings with their cell at the limit, in centipawns.
    correction_minor = 22, 4, 80, 3;
    /// Correction by one colour's pieces but pawns with their cell at the limit, in centipawns.
    correction_non_pawn = 33, 8, 80, 3;
    /// Correction by the last two moves with their cell at the limit, in centipawns.
    correction_continuation = 30, 4, 80, 3;
    /// Change of a cell for each ply of depth and centipawn of error, in 1/8 of the cell's unit.
    correction_bonus = 4, 1, 12, 1;

    // Evaluation.
    /// Factor of a bare network's output with only kings and pawns on the board, in 1/1024.
    eval_base = 1064, 700, 1500, 30;
    /// Added to `eval_base` for each `UNIT` of piece material (`nnue::material`), in 1/1024.
    eval_slope = 130, 0, 250, 12;
    /// Half-moves without progress at which nothing would be left of the evaluation.
    eval_fade = 176, 110, 600, 16;

    // Time: the soft bound is multiplied by three factors.
    /// First factor with none of the nodes in the best move, in percent.
    time_node_base = 205, 150, 300, 8;
    /// Taken off `time_node_base` with all of the nodes in the best move, in percent.
    time_node_slope = 150, 80, 220, 8;
    /// Second factor if the last iteration found another best move, in percent.
    time_stability_base = 140, 100, 220, 6;
    /// Taken off `time_stability_base` for each iteration with the same best move, in percent.
    time_stability_step = 8, 2, 15, 1;
    /// Added to the third factor, 100, at a full drop of the score, in percent; a rise takes off.
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
