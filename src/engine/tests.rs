use super::conclusion::Conclusion;
use super::pipeline::{Revision, Step};
use super::root_tablebases::play_instead;
use super::*;
use crate::types::{Depth, Move};

impl Engine {
    /// Everything that options set, as text.
    pub(crate) fn configuration(&self) -> String {
        let own = (&self.settings, self.castling, self.hash_mib, self.threads);
        let book = (self.book.own, self.book.depth, self.book.best_only);
        format!(
            "{own:?} {book:?} {:?} {:?}",
            self.tablebase_use, self.strength
        )
    }
}

#[test]
fn a_refused_position_is_not_searched() {
    let mut engine = Engine::new();
    let bad = Start::Fen("nonsense".to_owned());
    assert!(engine.set_position(&bad, &[]).is_err());
    assert!(matches!(
        engine.go(&Request::to_depth(1)),
        Err(EngineError::NoPosition(_))
    ));
    assert!(engine.set_position(&Start::Initial, &[]).is_ok());
    assert!(engine.go(&Request::to_depth(1)).is_ok());
}

#[test]
fn a_new_game_is_set_up_in_the_chosen_notation() {
    let mut engine = Engine::new();
    engine.set_castling(CastlingMode::Chess960);
    engine.new_game().expect("idle");
    let position = engine.game.position();
    assert_eq!(position.castling_mode(), CastlingMode::Chess960);
}

/// Answers with a move, and changes what a search found.
struct TestStage {
    answer: Option<Conclusion>,
    revised: Score,
}

impl Stage for TestStage {
    fn before_search(&self, request: &mut SearchRequest, note: &mut dyn FnMut(String)) -> Step {
        note("before".to_owned());
        if let Some(answer) = &self.answer {
            return Step::Answer(answer.clone());
        }
        request.limits.root_moves = request.root.legal_moves().get(3..4).map(<[_]>::to_vec);
        let revised = self.revised;
        Step::Revise(Box::new(move |analysis| analysis.score = Some(revised)))
    }
}

#[test]
fn stages_come_in_order_and_may_answer() {
    let mut engine = Engine::new();
    let game = Game::default();
    let moves = game.position().legal_moves();
    let stage = |answer: Option<Conclusion>, revised| {
        let revised = Score::cp(revised);
        Some(Arc::new(TestStage { answer, revised }) as Arc<dyn Stage>)
    };
    let analyse = |engine: &mut Engine| {
        let mut notes = 0;
        let found = engine.analyse(&game, &Request::to_depth(2), |event| {
            notes += usize::from(matches!(event, Event::Note(_)));
            ControlFlow::Continue(())
        });
        let found = found.expect("an analysis");
        (found.best, found.score, found.nodes > 0, notes)
    };
    engine.set_stage(Place::StrengthLimit, stage(None, 7));
    engine.set_stage(Place::RootTablebases, stage(None, 5));
    let only = moves.get(3).copied();
    let found = analyse(&mut engine);
    assert_eq!(found, (only, Some(Score::cp(7)), true, 2));
    let answer = Conclusion {
        pv: vec![moves[9]],
        score: None,
        depth: Depth::ZERO,
    };
    engine.set_stage(Place::OpeningBook, stage(Some(answer), 0));
    let found = analyse(&mut engine);
    assert_eq!(found, (Some(moves[9]), None, false, 1));
    engine.set_stage(Place::OpeningBook, None);
    assert!(analyse(&mut engine).2);
}

/// Changes what a search found.
struct Reviser(fn() -> Revision);

impl Stage for Reviser {
    fn before_search(&self, _request: &mut SearchRequest, _note: &mut dyn FnMut(String)) -> Step {
        Step::Revise((self.0)())
    }
}

#[test]
fn a_search_whose_thread_panics_ends_with_an_error() {
    let mut engine = Engine::new();
    let panics: fn() -> Revision = || Box::new(|_| panic!("on purpose"));
    engine.set_stage(Place::StrengthLimit, Some(Arc::new(Reviser(panics))));
    let analyse = |engine: &mut Engine| {
        let go_on = |_: &Event| ControlFlow::Continue(());
        engine.analyse(&Game::default(), &Request::to_depth(2), go_on)
    };
    let failed = analyse(&mut engine);
    assert!(matches!(failed, Err(EngineError::NoThreads)), "{failed:?}");
    engine.set_stage(Place::StrengthLimit, None);
    assert!(analyse(&mut engine).is_ok(), "the next has new threads");
}

#[test]
fn without_a_new_pool_the_old_evaluation_searches() {
    /// More than any machine has, in MiB.
    const TOO_MUCH: usize = usize::MAX;
    let found = |engine: &mut Engine| {
        let go_on = |_: &Event| ControlFlow::Continue(());
        let found = engine.analyse(&Game::default(), &Request::to_depth(4), go_on);
        let found = found.expect("an analysis");
        (found.score, found.nodes)
    };
    let mut sound = Engine::new();
    sound.set_hash(HASH_LAST_RESORT).expect("memory");
    let mut engine = Engine::new();
    engine.hash_mib = TOO_MUCH;
    assert!(engine.set_tapered().is_err());
    assert_eq!(engine.eval_name(), sound.eval_name());
    assert_eq!(found(&mut engine), found(&mut sound));
}

#[test]
fn a_move_without_a_line_comes_before_the_lines() {
    let mut engine = Engine::new();
    engine.settings.multi_pv = 3;
    let go_on = |_: &Event| ControlFlow::Continue(());
    let found = engine.analyse(&Game::default(), &Request::to_depth(3), go_on);
    let mut found = found.expect("an analysis");
    let firsts = |analysis: &Analysis| -> Vec<(usize, Move)> {
        let lines = analysis.lines.iter();
        lines.map(|line| (line.info.multi_pv, line.pv[0])).collect()
    };
    let before = firsts(&found);
    let listed = |m: &Move| before.iter().any(|(_, first)| first == m);
    let moves = engine.position().legal_moves();
    let m = *moves.iter().find(|m| !listed(m)).expect("a move");
    let second = found.lines[0].pv.clone();
    play_instead(m, &mut found);
    assert_eq!((found.best, found.ponder), (Some(m), None));
    assert_eq!(firsts(&found), [(1, m), (2, before[0].1), (3, before[1].1)]);
    assert_eq!(
        found.lines[1].pv, second,
        "the line of the best move is kept"
    );
}

#[test]
fn every_search_ends_once_with_a_legal_move() {
    let mut engine = Engine::new();
    for depth in 1..4 {
        let mut lines = 0;
        let finished = engine
            .analyse(&Game::default(), &Request::to_depth(depth), |event| {
                lines +=
                    usize::from(matches!(event, Event::Line(line) if line.info.bound.is_none()));
                ControlFlow::Continue(())
            })
            .expect("a search");
        let best = finished.best.expect("a move");
        assert!(lines > 0 && engine.position().legal_moves().contains(&best));
        assert!(!engine.is_searching() && engine.events().is_empty());
    }
}
