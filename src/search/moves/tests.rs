use super::*;
use crate::search::tests::{node, position, worker};

fn progress(alpha: i32, best: i32, depth: i32) -> MoveLoop {
    MoveLoop {
        alpha: Score::cp(alpha),
        depth: Depth(depth),
        best: Score::cp(best),
        best_move: None,
        best_number: 0,
        number: 2,
    }
}

/// A quiet move that no rule prunes by its own.
fn quiet(number: usize) -> MoveInfo {
    MoveInfo {
        number,
        noisy: false,
        killer: false,
        history: 0,
        reduction: 0,
    }
}

#[test]
fn late_move_pruning_begins_at_its_count() {
    let position = position("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1");
    let m = position.parse_uci("d2d3").expect("legal");
    for depth in 1..8 {
        for improvement in [-10, 10] {
            let mut node = node(&position, Depth(depth), Window::above(Score::DRAW));
            node.static_eval = Score::cp(2000);
            node.improvement = improvement;
            let allowed = late_moves(depth, improvement > 0);
            let first = (allowed as usize).div_ceil(MOVE_UNIT as usize);
            let verdict = |number| {
                let mut so_far = progress(0, -100, depth);
                worker().prune_move(&node, m, &quiet(number), 0, &mut so_far)
            };
            assert!(verdict(first - 1) == MoveDecision::Search, "depth {depth}");
            assert!(verdict(first) == MoveDecision::SkipQuiets, "depth {depth}");
        }
    }
}

#[test]
fn more_moves_are_allowed_deeper_and_when_improving() {
    for depth in 1..12 {
        assert!(late_moves(depth, true) > late_moves(depth, false));
        assert!(late_moves(depth + 1, false) > late_moves(depth, false));
    }
}

#[test]
fn futility_pruning_begins_where_the_value_does_not_exceed_alpha() {
    let position = position("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1");
    let m = position.parse_uci("d2d3").expect("legal");
    let depth = 2;
    let margin = p::futility_base() + p::futility_margin() * depth;
    let mut node = node(&position, Depth(depth), Window::above(Score::DRAW));
    let verdict = |node: &Node<'_>| {
        let mut so_far = progress(0, -500, depth);
        let verdict = worker().prune_move(node, m, &quiet(2), 0, &mut so_far);
        (verdict, so_far.best)
    };
    node.static_eval = Score::cp(-margin);
    let (pruned, best) = verdict(&node);
    assert!(
        pruned == MoveDecision::SkipQuiets && best == Score::DRAW,
        "{best:?}"
    );
    node.static_eval = Score::cp(1 - margin);
    assert!(verdict(&node).0 == MoveDecision::Search);
}

#[test]
fn capture_futility_pruning_counts_the_captured_piece() {
    let position = position("4k3/8/8/3p4/8/8/3R4/4K3 w - - 0 1");
    let m = position.parse_uci("d2d5").expect("legal");
    let depth = 2;
    let margin = p::capture_futility_base()
        + p::capture_futility_margin() * depth
        + p::see_value(crate::types::Role::Pawn);
    let capture = MoveInfo {
        noisy: true,
        ..quiet(2)
    };
    let verdict = |static_eval: i32| {
        let mut node = node(&position, Depth(depth), Window::above(Score::DRAW));
        node.static_eval = Score::cp(static_eval);
        worker().prune_move(&node, m, &capture, 0, &mut progress(0, -500, depth))
    };
    assert!(verdict(-margin) == MoveDecision::Skip);
    assert!(verdict(1 - margin) == MoveDecision::Search);
}

#[test]
fn checks_are_spared_from_all_but_see_pruning() {
    let position = position("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1");
    let node = node(&position, Depth(1), Window::above(Score::DRAW));
    let bad = MoveInfo {
        history: -16_000,
        ..quiet(60)
    };
    let verdict = |text: &str| {
        let m = position.parse_uci(text).expect("legal");
        let mut so_far = progress(0, -500, 1);
        worker().prune_move(&node, m, &bad, i32::MIN, &mut so_far)
    };
    assert!(verdict("d2d3") == MoveDecision::SkipQuiets);
    assert!(verdict("d2e2") == MoveDecision::Search, "a safe check");
    assert!(
        verdict("d2d8") == MoveDecision::Skip,
        "a check that loses the rook"
    );
}

#[test]
fn history_pruning_takes_out_moves_below_its_margin() {
    let position = position("4k3/8/8/8/8/8/3R4/4K3 w - - 0 1");
    let m = position.parse_uci("d2d3").expect("legal");
    let depth = 3;
    let mut node = node(&position, Depth(depth), Window::above(Score::DRAW));
    node.static_eval = Score::cp(2000);
    let verdict = |history| {
        let info = MoveInfo {
            history,
            ..quiet(2)
        };
        worker().prune_move(&node, m, &info, 0, &mut progress(0, -500, depth))
    };
    let margin = -p::history_pruning_margin() * depth;
    assert!(verdict(margin) == MoveDecision::Search);
    assert!(verdict(margin - 1) == MoveDecision::Skip);
}

#[test]
fn see_pruning_takes_out_what_loses_more_than_its_floor() {
    // The rook can be taken for nothing on d5 and by a pawn on f5.
    let position = position("3qk3/8/6p1/5R2/8/8/8/4K3 w - - 0 1");
    let m = position.parse_uci("f5d5").expect("legal");
    let depth = 2;
    let mut node = node(&position, Depth(depth), Window::above(Score::DRAW));
    node.static_eval = Score::cp(2000);
    let verdict = |depth, proven| {
        worker().prune_move(&node, m, &quiet(2), proven, &mut progress(0, -500, depth))
    };
    assert!(verdict(depth, i32::MIN) == MoveDecision::Skip);
    assert!(
        verdict(depth, 0) == MoveDecision::Search,
        "proven not to lose"
    );
    let lost = p::see_value(crate::types::Role::Rook);
    let searched = (1..).find(|depth| p::see_quiet() * depth * depth >= lost);
    let enough = 1 + searched.expect("a depth");
    assert!(verdict(enough, i32::MIN) == MoveDecision::Search);
    assert!(verdict(enough - 1, i32::MIN) == MoveDecision::Skip);
}

#[test]
fn see_pruning_begins_one_centipawn_below_its_floor() {
    use crate::types::Role;
    // The rook takes a pawn that another pawn defends.
    let position = position("4k3/8/4p3/3p4/8/8/3R4/4K3 w - - 0 1");
    let m = position.parse_uci("d2d5").expect("legal");
    let lost = p::see_value(Role::Rook) - p::see_value(Role::Pawn);
    let depth = 2;
    let mut node = node(&position, Depth(depth), Window::above(Score::DRAW));
    node.static_eval = Score::cp(2000);
    // The history that brings the floor to a certain loss.
    let info = |floor: i32| MoveInfo {
        noisy: true,
        history: ((floor - p::see_noisy() * depth) as u32 * p::HISTORY_UNIT as u32)
            .div_ceil(p::see_noisy_history() as u32) as i32,
        ..quiet(2)
    };
    let verdict = |info: &MoveInfo| {
        worker().prune_move(&node, m, info, i32::MIN, &mut progress(0, -500, depth))
    };
    for floor in [lost, lost - 1] {
        assert_eq!(see_floor(&info(floor), depth, 0), -floor);
    }
    assert!(verdict(&info(lost)) == MoveDecision::Search);
    assert!(verdict(&info(lost - 1)) == MoveDecision::Skip);
}

#[test]
fn see_floors_fall_with_depth_and_never_exceed_zero() {
    let noisy = |history| MoveInfo {
        noisy: true,
        history,
        ..quiet(2)
    };
    assert_eq!(see_floor(&quiet(2), 5, 0), 0);
    assert!(see_floor(&quiet(2), 5, 3) < see_floor(&quiet(2), 5, 2));
    assert!(see_floor(&noisy(0), 5, 0) < see_floor(&noisy(0), 4, 0));
    assert!(see_floor(&noisy(9000), 4, 0) < see_floor(&noisy(0), 4, 0));
    assert_eq!(see_floor(&noisy(-16_000), 1, 0), 0);
    let good = MoveInfo {
        history: 9000,
        ..quiet(2)
    };
    assert!(see_floor(&good, 5, 3) < see_floor(&quiet(2), 5, 3));
}

#[test]
fn a_raise_takes_depth_from_the_other_moves_at_medium_depths() {
    let worker = worker();
    let cp = Score::cp;
    for depth in 3..14 {
        let after = worker.depth_after_raise(Depth(depth), cp(10), cp(20));
        assert_eq!(after, Depth(depth) - p::raise_reduction());
    }
    for depth in [1, 2, 14, 30] {
        let after = worker.depth_after_raise(Depth(depth), cp(10), cp(20));
        assert_eq!(after, Depth(depth));
    }
    let open = worker.depth_after_raise(Depth(8), cp(10), Score::INFINITE);
    assert_eq!(open, Depth(8));
}

#[test]
fn no_move_is_mate_stalemate_or_the_excluded_move() {
    let mut worker = worker();
    let mut finish = |fen: &str, excluded: bool| {
        let position = position(fen);
        let mut node = node(&position, Depth(3), Window::above(Score::cp(7)));
        if excluded {
            node.excluded = PackedMove::from_bits(1);
        }
        let so_far = MoveLoop {
            number: 0,
            ..progress(7, -500, 3)
        };
        worker
            .finish::<crate::search::node_type::NonPv>(&node, so_far, &SearchedMoves::default())
            .expect("not stopped")
    };
    let stalemate = "k7/8/1Q6/8/8/8/8/4K3 b - - 0 1";
    assert_eq!(finish(stalemate, false), Score::DRAW);
    assert_eq!(finish(stalemate, true), Score::cp(7));
    let mate = "k7/1Q6/1K6/8/8/8/8/8 b - - 0 1";
    assert_eq!(finish(mate, false), Score::mated_in(crate::types::Ply(1)));
}
