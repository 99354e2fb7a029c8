use super::*;
use crate::board::{Game, Start};
use crate::types::CastlingMode;

fn game(fen: &str, moves: &str) -> Game {
    let moves: Vec<String> = moves.split_whitespace().map(str::to_owned).collect();
    let start = match fen {
        "" => Start::Initial,
        fen => Start::Fen(fen.to_owned()),
    };
    Game::new(&start, &moves, CastlingMode::Standard).expect("legal")
}

fn legal(game: &Game) -> Vec<Move> {
    game.position().legal_moves().to_vec()
}

fn parsed(game: &Game, text: &str) -> Move {
    game.position().parse_uci(text).expect("legal")
}

#[test]
fn the_curve_rises() {
    for pair in CURVE.windows(2) {
        let [lower, upper] = pair else { continue };
        assert!(lower.elo < upper.elo && lower.nodes <= upper.nodes);
        assert!(lower.spread >= upper.spread && lower.plainness >= upper.plainness);
    }
    let (first, last) = (CURVE[0], CURVE[CURVE.len() - 1]);
    assert_eq!((first.elo, last.elo), (ELO_MIN, ELO_MAX));
}

#[test]
fn ratings_between_rows_are_between_them() {
    for elo in (ELO_MIN..=ELO_MAX).step_by(10) {
        let level = Level::from_elo(elo);
        assert_eq!(level.row.elo, elo);
        let next = Level::from_elo(elo + 10);
        assert!(level.row.nodes <= next.row.nodes && level.row.spread >= next.row.spread);
    }
    assert_eq!(Level::from_elo(0).row.elo, ELO_MIN);
    assert_eq!(Level::from_elo(9000).row.elo, ELO_MAX);
}

#[test]
fn skills_are_ratings() {
    assert_eq!(Level::from_skill(0), Some(Level::from_elo(ELO_MIN)));
    assert_eq!(Level::from_skill(19), Some(Level::from_elo(2875)));
    assert_eq!(Level::from_skill(20), None);
}

#[test]
fn a_mate_in_one_is_played_and_none_is_allowed() {
    let level = Level::from_elo(ELO_MIN);
    let mating = game("6k1/5ppp/8/8/8/8/8/R5K1 w - - 0 1", "");
    let plan = level.plan(mating.position(), &legal(&mating), 1);
    assert_eq!(plan.moves, [parsed(&mating, "a1a8")]);
    // Without an escape square for the king, Black's rook mates on the first rank.
    let threatened = game("r5k1/8/8/8/8/8/4rPPP/1R4K1 w - - 0 1", "");
    let plan = level.plan(threatened.position(), &legal(&threatened), 1);
    assert!(plan.moves.contains(&parsed(&threatened, "h2h3")));
    assert!(!plan.moves.contains(&parsed(&threatened, "b1b7")));
}

#[test]
fn against_a_bare_king_judgement_is_sound() {
    let level = Level::from_elo(ELO_MIN);
    let ending = game("8/8/8/3k4/8/8/8/R3K3 w - - 0 1", "");
    let plan = level.plan(ending.position(), &legal(&ending), 1);
    assert_eq!(plan.misjudgement, None);
    assert!(plan.nodes >= NODES_TO_MATE);
    let start = game("", "");
    let plan = level.plan(start.position(), &legal(&start), 1);
    assert!(plan.misjudgement.is_some_and(|errors| errors.spread > 0));
}

#[test]
fn natural_moves_win_ties_but_not_pieces() {
    let level = Level::from_elo(1000);
    let game = game("", "e2e4 e7e5 g1f3 b8c6 f1b5 a7a6 b5c6");
    let (recapture, other) = (parsed(&game, "d7c6"), parsed(&game, "g8f6"));
    let lines = |gap: i32| [(other, Score::cp(gap)), (recapture, Score::cp(0))];
    assert_eq!(
        level.choose(game.position(), game.moves(), &lines(20)),
        Some(recapture)
    );
    assert_eq!(
        level.choose(game.position(), game.moves(), &lines(200)),
        Some(other)
    );
    assert_eq!(level.choose(game.position(), game.moves(), &[]), None);
    let strongest = Level::from_elo(ELO_MAX);
    assert_eq!(
        strongest.choose(game.position(), game.moves(), &lines(20)),
        Some(other)
    );
}

#[test]
fn what_people_do_is_natural() {
    let open = game("", "e2e4 e7e5 g1f3 b8c6 f1c4 f8c5");
    let bonus = |text: &str| natural::bonus(open.position(), open.moves(), parsed(&open, text));
    assert!(bonus("e1g1") > bonus("d2d3"));
    assert!(bonus("b1c3") > bonus("d1e2"));
    assert!(bonus("e1e2") < bonus("d2d3"));
    assert!(bonus("c4f1") < bonus("d2d3"));
    let check = game("4k3/8/8/8/8/8/4q3/3QK3 w - - 0 1", "");
    assert!(natural::bonus(check.position(), check.moves(), parsed(&check, "d1e2")) > 0);
}

#[test]
fn thinking_takes_a_part_of_the_clock() {
    let level = Level::from_elo(1200);
    let bounds = TimeBounds {
        soft: Duration::from_secs(4),
        hard: Duration::from_secs(12),
        fixed: false,
    };
    let position = Position::startpos();
    let time = level
        .thinking_time(Some(bounds), 20, &position)
        .expect("a clock");
    assert!(time >= bounds.soft / 5 && time < bounds.soft);
    let forced = level
        .thinking_time(Some(bounds), 1, &position)
        .expect("a clock");
    assert!(forced < time);
    assert_eq!(level.thinking_time(None, 20, &position), None);
}
