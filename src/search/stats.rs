//! Counts of what a search does: the shape of its tree, and how often each step applies.

use std::ops::AddAssign;

macro_rules! stats {
    ($($(#[$doc:meta])* $name:ident,)*) => {
        /// Counters of one search, or of several added up.
        #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
        pub struct Stats { $($(#[$doc])* pub $name: u64,)* }

        impl AddAssign for Stats {
            fn add_assign(&mut self, other: Stats) { $(self.$name += other.$name;)* }
        }

        impl Stats {
            /// Every counter with its name, in the order of the steps.
            #[must_use]
            pub fn rows(&self) -> Vec<(&'static str, u64)> {
                vec![$((stringify!($name), self.$name)),*]
            }
        }
    };
}

/// Distances from the root that are counted apart.
pub const PLIES: usize = 32;

/// Kinds of nodes (by the result) at one distance from the root.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PlyStats {
    /// PV nodes.
    pub pv_nodes: u64,
    /// Of those, nodes whose first move was best.
    pub pv_first_best: u64,
    /// Cut nodes.
    pub cut_nodes: u64,
    /// Of those, nodes in which the first move failed high.
    pub cut_first: u64,
    /// All nodes.
    pub all_nodes: u64,
}

stats! {
    /// Nodes of the main search.
    interior,
    /// Nodes of the quiescence search.
    quiescence,
    /// Nodes of the main search decided by the transposition table.
    tt_cutoffs,
    /// Nodes decided by razoring.
    razored,
    /// Nodes decided by reverse futility pruning.
    reverse_futility,
    /// Null moves searched.
    null_tried,
    /// Null moves that failed high, whatever their verification found.
    null_cuts,
    /// Nodes decided by ProbCut.
    probcut_cuts,
    /// Nodes searched one ply less for want of a table move.
    internal_reductions,
    /// Nodes in which late move pruning skipped the remaining quiet moves.
    late_pruned,
    /// Captures skipped by futility pruning, and nodes in which it skipped the remaining quiet
    /// moves.
    futility_pruned,
    /// Moves skipped by history pruning.
    history_pruned,
    /// Moves skipped by exchange evaluation.
    see_pruned,
    /// Singular searches run.
    singular_tried,
    /// Moves extended as singular.
    singular_extended,
    /// Nodes decided by multi-cut.
    multi_cuts,
    /// Moves searched with reduced depth.
    reduced,
    /// Reduced searches that failed high and were repeated.
    re_searched,
    /// PV nodes (by the result) in which every move was searched or skipped.
    pv_nodes,
    /// Of those, nodes whose first move was best.
    pv_first_best,
    /// Cut nodes (by the result): a move failed high.
    cut_nodes,
    /// Of those, nodes in which the first move failed high.
    cut_first,
    /// Nodes of the quiescence search in which a move failed high.
    quiescence_cut_nodes,
    /// Of those, nodes in which the first move did.
    quiescence_cut_first,
    /// All nodes (by the result): no move raised alpha.
    all_nodes,
}

impl Stats {
    /// Share of cut nodes whose first searched move failed high; theory asks for nine in ten.
    #[must_use]
    pub fn first_move_cuts(&self) -> f64 {
        share(self.cut_first, self.cut_nodes)
    }

    /// Share of PV nodes whose first move stayed best.
    #[must_use]
    pub fn first_move_best(&self) -> f64 {
        share(self.pv_first_best, self.pv_nodes)
    }

    /// Share of reduced searches that had to be repeated.
    #[must_use]
    pub fn re_search_rate(&self) -> f64 {
        share(self.re_searched, self.reduced)
    }
}

fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 {
        0.0
    } else {
        part as f64 / whole as f64
    }
}
