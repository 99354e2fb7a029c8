use super::*;
use crate::board::is_noisy;
use crate::board::tests::{Random, random_games};
use crate::history::{CONTINUATIONS, PieceTo};
use crate::params::see_value;
use crate::types::{Bitboard, Color, PackedMove, Square};

/// Histories with something in them, so that orders differ.
fn experience() -> Histories {
    let mut histories = Histories::default();
    let mut random = Random(7);
    random_games(3, |position| {
        for m in position.legal_moves() {
            let bonus = random.below(4000) as i32 - 2000;
            let piece = position.moved_piece(m);
            if is_noisy(m) {
                histories.capture.update(piece, m, bonus);
            } else {
                let packed = PackedMove::new(m);
                let color = piece.color;
                histories
                    .butterfly
                    .update(color, Bitboard::EMPTY, packed, bonus);
            }
        }
    });
    histories
}

struct Bench {
    histories: Histories,
    stack: Stack,
}

impl Bench {
    fn new() -> Bench {
        Bench {
            histories: experience(),
            stack: Stack::default(),
        }
    }

    fn next(&self, picker: &mut Picker, position: &Position, legality: &Legality) -> Option<Move> {
        picker.next(&self.histories, &self.stack, position, legality, Ply::ROOT)
    }

    fn drain(&self, picker: &mut Picker, position: &Position, legality: &Legality) -> Vec<Move> {
        std::iter::from_fn(|| self.next(picker, position, legality)).collect()
    }
}

fn sorted(mut moves: Vec<Move>) -> Vec<Move> {
    moves.sort_by_key(|m| PackedMove::new(*m).bits());
    moves
}

fn legal(position: &Position, wanted: impl Fn(Move) -> bool) -> Vec<Move> {
    sorted(
        position
            .legal_moves()
            .into_iter()
            .filter(|m| wanted(*m))
            .collect(),
    )
}

#[test]
fn every_legal_move_comes_once_and_the_table_move_first() {
    let mut bench = Bench::new();
    let (mut random, mut checks) = (Random(3), 0);
    random_games(12, |position| {
        let legality = position.legality();
        let all = legal(position, |_| true);
        checks += usize::from(position.in_check());
        let some_move =
            |random: &mut Random| (!all.is_empty()).then(|| all[random.below(all.len())]);
        if let Some(m) = some_move(&mut random) {
            bench.stack.at_mut(Ply::ROOT).killers[0] = PackedMove::new(m);
        }
        for tt_move in [None, some_move(&mut random)] {
            let mut picker = Picker::all(tt_move);
            let moves = bench.drain(&mut picker, position, &legality);
            assert!(tt_move.is_none() || moves.first() == tt_move.as_ref());
            assert_eq!(sorted(moves), all, "{}", position.fen());
        }
    });
    assert!(checks > 20, "{checks} positions in check");
}

#[test]
fn quiescence_gets_captures_and_promotions_and_all_evasions() {
    let bench = Bench::new();
    random_games(12, |position| {
        let legality = position.legality_for_captures();
        let noisy = legal(position, |m| position.in_check() || is_noisy(m));
        for tt_move in [None, noisy.first().copied()] {
            let mut picker = if position.in_check() {
                Picker::all(tt_move)
            } else {
                Picker::noisy(tt_move)
            };
            let moves = bench.drain(&mut picker, position, &legality);
            assert_eq!(sorted(moves), noisy, "{}", position.fen());
        }
    });
}

#[test]
fn probcut_gets_only_what_wins_the_exchange() {
    let bench = Bench::new();
    random_games(12, |position| {
        let legality = position.legality();
        for threshold in [-100, 1, 300] {
            let good = legal(position, |m| is_noisy(m) && position.see_ge(m, threshold));
            for tt_move in [None, good.last().copied()] {
                let mut picker = Picker::captures(tt_move, threshold);
                let moves = bench.drain(&mut picker, position, &legality);
                assert_eq!(sorted(moves), good, "{}", position.fen());
            }
        }
    });
}

#[test]
fn quiet_moves_can_be_left_out_at_any_time() {
    let bench = Bench::new();
    random_games(6, |position| {
        let legality = position.legality();
        let mut picker = Picker::all(None);
        let mut moves = Vec::new();
        while let Some(m) = bench.next(&mut picker, position, &legality) {
            moves.push(m);
            if !is_noisy(m) {
                picker.skip_quiets();
            }
        }
        let quiet = moves.iter().filter(|m| !is_noisy(**m)).count();
        assert!(quiet <= 1);
        moves.retain(|m| is_noisy(*m));
        assert_eq!(
            sorted(moves),
            legal(position, is_noisy),
            "{}",
            position.fen()
        );
    });
}

#[test]
fn the_promised_exchange_value_holds() {
    let bench = Bench::new();
    let mut promises = 0;
    random_games(12, |position| {
        let legality = position.legality();
        let mut picker = Picker::all(None);
        while let Some(m) = bench.next(&mut picker, position, &legality) {
            if picker.proven_see() != UNPROVEN {
                promises += 1;
                assert!(
                    position.see_ge(m, picker.proven_see()),
                    "{}",
                    position.fen()
                );
            }
        }
    });
    assert!(promises > 100);
}

#[test]
fn quiet_moves_come_in_the_order_of_their_histories() {
    let position = Position::startpos();
    let legality = position.legality();
    let mut bench = Bench::new();
    bench.histories = Histories::default();
    let m = |text: &str| position.parse_uci(text).expect("legal");
    let best = [("b1c3", 900), ("g1h3", 600), ("a2a3", 300)];
    for (text, bonus) in best {
        let packed = PackedMove::new(m(text));
        let color = position.turn();
        bench
            .histories
            .butterfly
            .update(color, legality.threats, packed, bonus);
    }
    bench.stack.at_mut(Ply::ROOT).killers[0] = PackedMove::new(m("h2h4"));
    let moves = bench.drain(&mut Picker::all(None), &position, &legality);
    let expected = ["h2h4", "b1c3", "g1h3", "a2a3"].map(m);
    assert_eq!(moves[..4], expected);
}

/// The pieces of a color and of some roles that attack a square.
fn attackers(position: &Position, color: Color, roles: &[Role], to: Square) -> Bitboard {
    let board = position.board();
    let roles = roles
        .iter()
        .fold(Bitboard::EMPTY, |all, role| all | board.by_role(*role));
    board.attacks_to(to, color, board.occupied()) & roles
}

/// A quiet move's score from the definitions, each move by itself.
fn quiet_score(bench: &Bench, position: &Position, legality: &Legality, ply: Ply, m: Move) -> i32 {
    let h = &bench.histories;
    let (piece, packed) = (position.moved_piece(m), PackedMove::new(m));
    let now = PieceTo::new(piece, m.to());
    let [one, two, four, six] = CONTINUATIONS.map(|back| {
        let earlier = bench.stack.before(ply, back).played;
        h.continuation.after(earlier).get(now)
    });
    let butterfly = h.butterfly.get(piece.color, legality.threats, packed);
    let pawn = h.pawn.with(position.keys().pawns).get(now);
    let unit = p::SHARE_UNIT;
    let sum = unit * (2 * butterfly + one + two) + unit / 2 * (four + six);
    let mut score = (sum + p::order_pawn() * pawn) / unit;
    let killers = bench.stack.at(ply).killers;
    if packed == killers[0] {
        score += p::order_killer();
    } else if packed == killers[1] {
        score += p::order_second_killer();
    }
    let (lesser, worth): (&[Role], i32) = match piece.role {
        Role::Knight | Role::Bishop => (&[Role::Pawn], p::order_escape_minor()),
        Role::Rook => (
            &[Role::Pawn, Role::Knight, Role::Bishop],
            p::order_escape_rook(),
        ),
        Role::Queen => (
            &[Role::Pawn, Role::Knight, Role::Bishop, Role::Rook],
            p::order_escape_queen(),
        ),
        _ => (&[], 0),
    };
    for (square, sign) in [(packed.from(), 1), (packed.to(), -1)] {
        if attackers(position, !piece.color, lesser, square).any() {
            score += sign * worth;
        }
    }
    if position.gives_direct_check(m) && position.see_ge(m, -see_value(Role::Pawn)) {
        score += p::order_check();
    }
    score
}

/// Teaches every history that orders quiet moves something about all of a position, and sets moves
/// before `ply` and killers at it.
fn teach_quiets(
    bench: &mut Bench,
    position: &Position,
    legality: &Legality,
    ply: Ply,
    random: &mut Random,
) {
    for back in 1..=ply.index() {
        let square = Square::new(random.below(Square::ALL.len()) as u32);
        let earlier = PieceTo::new(Color::White.knight(), square);
        bench.stack.at_mut(Ply(ply.index() - back)).played = earlier;
    }
    let quiets = legal(position, |m| !is_noisy(m));
    let mut bonus = || random.below(20_000) as i32 - 10_000;
    for &m in &quiets {
        let piece = position.moved_piece(m);
        let (now, packed) = (PieceTo::new(piece, m.to()), PackedMove::new(m));
        let h = &mut bench.histories;
        h.butterfly
            .update(piece.color, legality.threats, packed, bonus());
        h.pawn.update(position.keys().pawns, now, bonus());
        for back in CONTINUATIONS {
            let earlier = bench.stack.before(ply, back).played;
            h.continuation.update(earlier, now, bonus());
        }
    }
    if !quiets.is_empty() {
        let killers = [(); 2].map(|()| PackedMove::new(quiets[random.below(quiets.len())]));
        bench.stack.at_mut(ply).killers = killers;
    }
}

#[test]
fn quiet_moves_come_in_the_order_of_their_scores() {
    let ply = Ply(6);
    let mut bench = Bench::new();
    let (mut random, mut castlings, mut checks) = (Random(11), 0, 0);
    random_games(12, |position| {
        let legality = position.legality();
        teach_quiets(&mut bench, position, &legality, ply, &mut random);
        let mut moves = ScoredMoves::default();
        list_quiets(
            &bench.histories,
            &bench.stack,
            position,
            &legality,
            ply,
            None,
            &mut moves,
        );
        let moves: Vec<Move> = std::iter::from_fn(|| moves.take_best()).collect();
        let scores = moves
            .iter()
            .map(|m| quiet_score(&bench, position, &legality, ply, *m));
        let scores: Vec<i32> = scores.collect();
        assert!(
            scores.is_sorted_by(|a, b| a >= b),
            "{} {scores:?}",
            position.fen()
        );
        castlings += moves.iter().filter(|m| m.is_castle()).count();
        checks += moves
            .iter()
            .filter(|m| position.gives_direct_check(**m))
            .count();
    });
    assert!(
        cfg!(miri) || castlings > 5 && checks > 50,
        "{castlings} {checks}"
    );
}

#[test]
fn captures_come_in_the_order_of_victims_and_histories() {
    let mut bench = Bench::new();
    let (mut random, mut by_history) = (Random(13), 0);
    random_games(12, |position| {
        let legality = position.legality();
        for m in legal(position, is_noisy) {
            let bonus = random.below(20_000) as i32 - 10_000;
            let piece = position.moved_piece(m);
            bench.histories.capture.update(piece, m, bonus);
        }
        let mut moves = ScoredMoves::default();
        list_noisy(&bench.histories, position, &legality, None, &mut moves);
        let material = |m: Move| {
            let won = [m.capture(), m.promotion()].into_iter().flatten();
            won.map(see_value).sum::<i32>()
        };
        let score = |m: Move| {
            let history = bench.histories.capture.get(position.moved_piece(m), m);
            material(m) * p::order_victim() + history
        };
        let moves: Vec<Move> = std::iter::from_fn(|| moves.take_best()).collect();
        let in_order = moves.is_sorted_by(|a, b| score(*a) >= score(*b));
        assert!(in_order, "{} {moves:?}", position.fen());
        by_history += usize::from(!moves.is_sorted_by(|a, b| material(*a) >= material(*b)));
    });
    assert!(cfg!(miri) || by_history > 50, "{by_history}");
}
