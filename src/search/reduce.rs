//! Late move reductions: the later a move comes in the order, the less likely it is to
//! be best, and the less deep it is searched at first.

use super::node_state::Node;
use super::node_type::NodeType;
use super::reductions::PLY;
use super::worker::SearchWorker;
use crate::params as p;
use crate::types::Score;

/// What is known of a move when its reduction is decided.
#[derive(Clone, Copy)]
pub(super) struct MoveInfo {
    /// Its place in the order, from 1.
    pub number: usize,
    pub noisy: bool,
    pub killer: bool,
    /// Its history, in the units of the tables.
    pub history: i32,
    /// Its late move reduction in 1/1024 ply, before the discount for a move that gives check.
    pub reduction: i32,
}

impl SearchWorker {
    /// The reduction of a move in 1/1024 ply, before the discount for a move that gives check; may
    /// be negative.
    /// `alpha` is what the move loop has raised it to.
    pub(super) fn reduction<T: NodeType>(
        &self,
        node: &Node<'_>,
        info: &MoveInfo,
        alpha: Score,
    ) -> i32 {
        /// With more cutoffs than this at the next ply, moves are reduced more.
        const MANY_CUTOFFS: u32 = 2;
        let when = |condition: bool, amount: i32| if condition { amount } else { 0 };
        let depth = node.depth.plies();
        let mut reduction = self.reductions.base(info.noisy, depth, info.number);
        reduction += when(node.cut_node, p::lmr_cut_node());
        reduction += when(!node.improving(), p::lmr_not_improving());
        reduction += when(node.tt_noisy() && !info.noisy, p::lmr_tt_noisy());
        reduction -= when(node.tt_pv, p::lmr_tt_pv());
        reduction -= when(T::PV, p::lmr_pv());
        reduction -= when(T::ROOT, p::lmr_root());
        if !node.in_check() {
            reduction += evaluation_reduction(node, alpha);
        }
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

/// What the evaluation of the node adds to every move's reduction, in 1/1024 ply: less the more it
/// has risen, more the further it lies below alpha.
fn evaluation_reduction(node: &Node<'_>, alpha: Score) -> i32 {
    /// Centipawns beyond which neither counts more.
    const MOST_IMPROVEMENT: i32 = 120;
    const MOST_BELOW: i32 = 200;
    let improvement = (node.improvement).clamp(-MOST_IMPROVEMENT, MOST_IMPROVEMENT);
    let below = (alpha - node.static_eval).clamp(-MOST_BELOW, MOST_BELOW);
    below * p::lmr_below_alpha() - improvement * p::lmr_improvement()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::board::Position;
    use crate::search::node_type::{NonPv, Pv, Root};
    use crate::search::tests::{node, worker};
    use crate::search::window::Window;
    use crate::types::Depth;

    const ALPHA: Score = Score::DRAW;

    #[test]
    fn each_condition_changes_the_reduction_by_its_parameter() {
        let position = Position::startpos();
        let mut worker = worker();
        let mut base = node(&position, Depth(8), Window::above(Score::DRAW));
        base.improvement = 1;
        let info = MoveInfo {
            number: 9,
            noisy: false,
            killer: false,
            history: 0,
            reduction: 0,
        };
        let plain = worker.reduction::<NonPv>(&base, &info, ALPHA);
        assert_eq!(
            plain,
            worker.reductions.base(false, 8, 9) - p::lmr_improvement()
        );

        base.cut_node = true;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info, ALPHA),
            plain + p::lmr_cut_node()
        );
        base.cut_node = false;
        base.improvement = 0;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info, ALPHA),
            plain + p::lmr_not_improving() + p::lmr_improvement()
        );
        base.improvement = 1;
        base.tt_pv = true;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info, ALPHA),
            plain - p::lmr_tt_pv()
        );
        base.tt_pv = false;
        let capture = crate::search::tests::position("4k3/8/8/3q4/8/8/3R4/4K3 w - - 0 1");
        base.tt_move = capture.parse_uci("d2d5").ok();
        assert!(base.tt_noisy());
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info, ALPHA),
            plain + p::lmr_tt_noisy()
        );
        base.tt_move = None;
        assert_eq!(
            worker.reduction::<Pv>(&base, &info, ALPHA),
            plain - p::lmr_pv()
        );
        assert_eq!(
            worker.reduction::<Root>(&base, &info, ALPHA),
            plain - p::lmr_pv() - p::lmr_root()
        );
        base.correction = -20;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info, ALPHA),
            plain - 20 * p::lmr_correction()
        );
        base.correction = 0;

        let killer = MoveInfo {
            killer: true,
            ..info
        };
        assert_eq!(
            worker.reduction::<NonPv>(&base, &killer, ALPHA),
            plain - p::lmr_killer()
        );
        for sign in [-1, 1] {
            let history = MoveInfo {
                history: sign * p::lmr_history(),
                ..info
            };
            assert_eq!(
                worker.reduction::<NonPv>(&base, &history, ALPHA),
                plain - sign * PLY
            );
        }
        let child = base.ply.next();
        worker.stack.at_mut(child).cutoffs = 2;
        assert_eq!(worker.reduction::<NonPv>(&base, &info, ALPHA), plain);
        worker.stack.at_mut(child).cutoffs = 3;
        assert_eq!(
            worker.reduction::<NonPv>(&base, &info, ALPHA),
            plain + p::lmr_cutoffs()
        );
    }

    #[test]
    fn improvement_and_the_distance_below_alpha_count_within_bounds() {
        let position = Position::startpos();
        let mut node = node(&position, Depth(8), Window::above(ALPHA));
        assert_eq!(evaluation_reduction(&node, ALPHA), 0);
        assert_eq!(
            evaluation_reduction(&node, ALPHA + 50),
            50 * p::lmr_below_alpha()
        );
        assert_eq!(
            evaluation_reduction(&node, ALPHA - 50),
            -50 * p::lmr_below_alpha()
        );
        assert_eq!(
            evaluation_reduction(&node, ALPHA + 900),
            evaluation_reduction(&node, ALPHA + 200)
        );
        node.improvement = 50;
        assert_eq!(
            evaluation_reduction(&node, ALPHA),
            -50 * p::lmr_improvement()
        );
        node.improvement = 900;
        assert_eq!(
            evaluation_reduction(&node, ALPHA),
            -120 * p::lmr_improvement()
        );
    }

    #[test]
    fn in_check_the_evaluation_does_not_count() {
        let check = crate::search::tests::position("4k3/8/8/8/8/8/4r3/4K3 w - - 0 1");
        let mut node = node(&check, Depth(8), Window::above(ALPHA));
        let info = MoveInfo {
            number: 2,
            noisy: false,
            killer: false,
            history: 0,
            reduction: 0,
        };
        node.improvement = 1;
        let near = worker().reduction::<NonPv>(&node, &info, ALPHA);
        node.improvement = 100;
        let far = worker().reduction::<NonPv>(&node, &info, ALPHA + 150);
        assert_eq!(near, far);
    }
}
