//! Playing below full strength, as a client sees it.

use std::ops::ControlFlow;
use std::time::{Duration, Instant};

use pleach::board::{Game, GameEnd, Position};
use pleach::engine::{Analysis, Engine, Event, Request};
use pleach::types::{CastlingMode, Color};

fn engine(elo: i32) -> Engine {
    let mut engine = Engine::new();
    engine
        .set_strength(|strength| {
            strength.limited = true;
            strength.elo = elo;
        })
        .expect("at rest");
    engine
}

fn game(fen: &str) -> Game {
    Game::from(Position::from_fen(fen, CastlingMode::Standard).expect("legal"))
}

fn analyse(engine: &mut Engine, game: &Game, request: &Request) -> Analysis {
    engine
        .analyse(game, request, |_| ControlFlow::Continue(()))
        .expect("a search")
}

/// Plays a level against full strength's defence.
fn mates(fen: &str, elo: i32) {
    let (mut level, mut defence) = (engine(elo), Engine::new());
    let few_nodes = Request {
        nodes: Some(1000),
        ..Request::default()
    };
    let mut game = game(fen);
    while game.end().is_none() {
        let analysis = match game.position().turn() {
            Color::White => analyse(&mut level, &game, &Request::default()),
            Color::Black => analyse(&mut defence, &game, &few_nodes),
        };
        game.play(analysis.best.expect("a move"));
    }
    let winner = Color::White;
    assert_eq!(game.end(), Some(GameEnd::Checkmate { winner }), "{fen}");
}

#[test]
fn weak_levels_mate_with_queen_and_with_rook() {
    mates("8/8/8/3k4/8/8/8/Q3K3 w - - 0 1", 600);
    mates("8/8/8/3k4/8/8/8/R3K3 w - - 0 1", 600);
}

#[test]
fn a_level_shows_one_line_and_plays_it() {
    let mut engine = engine(1000);
    let mut numbers = Vec::new();
    let analysis = engine
        .analyse(&Game::default(), &Request::default(), |event| {
            if let Event::Line(line) = event {
                numbers.push(line.info.multi_pv);
            }
            ControlFlow::Continue(())
        })
        .expect("a search");
    assert!(!numbers.is_empty() && numbers.iter().all(|&number| number == 1));
    assert_eq!(analysis.lines.len(), 1);
    assert_eq!(analysis.lines[0].pv.first().copied(), analysis.best);
}

#[test]
fn a_level_takes_its_time_unless_it_is_stopped() {
    const TRIES: usize = 5;
    /// What this level takes with much time on the clock.
    const LONGEST: Duration = Duration::from_secs(8);
    let mut engine = engine(1000);
    let clock = Request {
        white_time: Some(30_000),
        black_time: Some(30_000),
        ..Request::default()
    };
    let started = Instant::now();
    analyse(&mut engine, &Game::default(), &clock);
    assert!(started.elapsed() >= Duration::from_millis(150));
    let long = Request {
        white_time: Some(3_000_000),
        ..clock
    };
    // Unless it is stopped, it takes `LONGEST` each time; a starved machine may be late once.
    let times: Vec<Duration> = (0..TRIES)
        .map(|_| stopped_search(&mut engine, &long))
        .take_while(|&time| time >= LONGEST)
        .collect();
    assert!(times.len() < TRIES, "{times:?}");
}

/// How long a search takes that is stopped at once.
fn stopped_search(engine: &mut Engine, request: &Request) -> Duration {
    let started = Instant::now();
    engine.set_game(Game::default());
    engine.go(request).expect("at rest");
    engine.stop();
    loop {
        let event = engine.events().recv().expect("an event");
        engine.received(&event);
        if matches!(event, Event::Finished(_)) {
            return started.elapsed();
        }
    }
}
