use super::pipeline::Step;
use super::reporter::Conclusion;
use super::*;
use crate::types::Depth;

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
    engine.set_castling(CastlingMode::Chess960).expect("idle");
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
        ponder: None,
        score: None,
        depth: Depth::ZERO,
    };
    engine.set_stage(Place::OpeningBook, stage(Some(answer), 0));
    let found = analyse(&mut engine);
    assert_eq!(found, (Some(moves[9]), None, false, 1));
    engine.set_stage(Place::OpeningBook, None);
    assert!(analyse(&mut engine).2);
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
