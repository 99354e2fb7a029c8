//! Late move reductions: the later a move comes in the order, the less likely it is to
//! be best, and the less deep it is searched at first.

use super::node_state::Node;
use super::node_type::NodeType;
use super::reductions::PLY;
use super::worker::SearchWorker;
use crate::params as p;

/// What is known of a move when its reduction is decided.
#[derive(Clone, Copy)]
pub(super) struct MoveInfo {
    /// Its place in the order, from 1.
    pub number: usize,
    pub noisy: bool,
    pub killer: bool,
    /// Its history, in the units of the tables.
    pub history: i32,
    /// Its late move reduction in 1/1024 ply, but for what a check takes off.
    pub reduction: i32,
}

impl SearchWorker {
    /// The reduction of a move in 1/1024 ply, but for what a check takes off; may be negative.
    pub(super) fn reduction<T: NodeType>(&self, node: &Node<'_>, info: &MoveInfo) -> i32 {
        /// Children that failed high at this ply before it counts.
        const MANY_CUTOFFS: u32 = 2;
        let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
        let depth = node.depth.plies();
        let mut reduction = self.reductions.base(info.noisy, depth, info.number);
        reduction += when(node.cut_node, p::lmr_cut_node());
        reduction += when(!node.improving(), p::lmr_not_improving());
        reduction += when(node.tt_noisy() && !info.noisy, p::lmr_tt_noisy());
        reduction -= when(node.tt_pv, p::lmr_tt_pv());
        reduction -= when(T::PV, p::lmr_pv());
        reduction -= when(info.killer, p::lmr_killer());
        let cutoffs = self.stack.at(node.ply.next()).cutoffs;
        reduction += when(cutoffs > MANY_CUTOFFS, p::lmr_cutoffs());
        let one_ply = if info.noisy {
            p::lmr_noisy_history()
        } else {
            p::lmr_history()
        };
        reduction -= info.history * PLY / one_ply;
        reduction - node.correction.abs() * p::lmr_correction()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::node_type::{NonPv, Pv};
    use crate::search::tests::{node, worker};
    use crate::search::window::Window;
    use crate::types::{Depth, Score};

    #[test]
    fn each_condition_changes_the_reduction_by_its_parameter() {
        let position = Position::startpos();
        let mut worker = worker();
        let mut base = node(&position, Depth(8), Window::above(Score::DRAW));
        base.improvement = 10;
        let info = MoveInfo {
            number: 9,
            noisy: false,
            killer: false,
            history: 0,
            reduction: 0,
        };
        let plain = worker.reduction::<NonPv>(&base, &info);
        assert_eq!(plain, worker.reductions.base(false, 8, 9));

        base.cut_node = true;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info),
            plain + p::lmr_cut_node()
        );
        base.cut_node = false;
        base.improvement = 0;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info),
            plain + p::lmr_not_improving()
        );
        base.improvement = 10;
        base.tt_pv = true;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info),
            plain - p::lmr_tt_pv()
        );
        base.tt_pv = false;
        let capture = crate::search::tests::position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        base.tt_move = capture.parse_uci("d2d5").ok();
        assert!(base.tt_noisy());
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info),
            plain + p::lmr_tt_noisy()
        );
        base.tt_move = None;
        assert_eq!(worker.reduction::<Pv>(&base, &info), plain - p::lmr_pv());
        base.correction = -20;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info),
            plain - 20 * p::lmr_correction()
        );
        base.correction = 0;

        let killer = MoveInfo {
            killer: true,
            ..info
        };
        assert_eq!(
            worker.reduction::<NonPv>(&base, &killer),
            plain - p::lmr_killer()
        );
        for sign in [-1, 1] {
            let history = MoveInfo {
                history: sign * p::lmr_history(),
                ..info
            };
            assert_eq!(
                worker.reduction::<NonPv>(&base, &history),
                plain - sign * PLY
            );
        }
        let child = base.ply.next();
        worker.stack.at_mut(child).cutoffs = 2;
        assert_eq!(worker.reduction::<NonPv>(&base, &info), plain);
        worker.stack.at_mut(child).cutoffs = 3;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info),
            plain + p::lmr_cutoffs()
        );
    }
}
