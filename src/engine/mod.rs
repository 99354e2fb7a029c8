//! The engine as its users see it: options, a position, go, stop and ponderhit in; [`Event`]s
//! out. UCI, bench and the command line all talk to this one facade.

mod analysis;
mod best_so_far;
mod conclusion;
mod own_book;
mod pipeline;
mod pool;
mod reporter;
mod request;
mod root_tablebases;
mod settings;
mod strength_limit;
mod vote;

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, unbounded};
use thiserror::Error;

pub(crate) use analysis::nodes_per_second;
pub use analysis::{Analysis, AnalysisLine, Event};
pub(crate) use best_so_far::BestSoFar;
pub(crate) use own_book::{BOOK_DEPTH_DEFAULT, BOOK_DEPTH_MAX, BookUse};
pub use pool::PoolError;
pub use request::Request;
pub use settings::Settings;
pub(crate) use settings::{
    HASH_DEFAULT, HASH_MAX, HASH_MIN, MULTI_PV_MAX, OVERHEAD_DEFAULT, OVERHEAD_MAX, THREADS_MAX,
    TablebaseUse,
};
pub use strength_limit::Strength;

use crate::board::{Game, GameError, Position, Start};
use crate::eval::{self, EvalKind};
use crate::nnue::{NetError, Network};
use crate::opening_book::BookError;
use crate::search::{SearchRequest, Signals};
use crate::tablebase::{Probing, Tablebases, Wdl};
use crate::types::{CastlingMode, Score};
use pipeline::{Pipeline, Place, Stage};
use pool::Pool;
use reporter::EventReporter;
use root_tablebases::RootTablebases;
use strength_limit::StrengthLimit;

/// The hash table that an engine starts with if there is no memory for the default size.
const HASH_LAST_RESORT: usize = 1;

/// How long [`Engine::analyse`] waits for an event before it reports that there is none.
const IDLE_INTERVAL: Duration = Duration::from_millis(50);

/// Why a request to the engine failed. The engine is as it was before, unless the method says
/// otherwise.
#[derive(Debug, Error)]
pub enum EngineError {
    #[error(transparent)]
    Pool(#[from] PoolError),
    #[error(transparent)]
    Game(#[from] GameError),
    #[error(transparent)]
    Net(#[from] NetError),
    #[error("not while a search is running")]
    Searching,
    #[error("no position: {0}")]
    NoPosition(String),
    /// The first search thread has panicked, where panics do not end the program (the released one
    /// they do). After [`Engine::analyse`] the next search starts new threads.
    #[error("no search threads")]
    NoThreads,
}

/// Loads the tablebases in these folders; `None` if there are none. With remarks for the user: see
/// [`Engine::set_tablebases`].
pub(crate) fn load_tablebases(path: &str) -> (Option<Arc<Tablebases>>, Vec<String>) {
    let (tables, mut remarks) = Tablebases::load(path);
    let (wdl, dtz) = tables.files();
    remarks.push(format!(
        "Found {wdl} WDL and {dtz} DTZ tablebase files (up to {}-man).",
        tables.most_pieces()
    ));
    ((wdl > 0).then(|| Arc::new(tables)), remarks)
}

/// A chess engine with its game, its threads and its memory.
pub struct Engine {
    /// What the next search reads.
    pub settings: Settings,
    castling: CastlingMode,
    hash_mib: usize,
    threads: usize,
    eval_kind: EvalKind,
    pool: Option<Pool>,
    /// To the searches of this pool and of those that replace it.
    signals: Arc<Signals>,
    game: Game,
    /// Why the position last asked for was refused; nothing is searched until a good one comes.
    refused: Option<String>,
    pipeline: Pipeline,
    book: BookUse,
    tablebases: Option<Arc<Tablebases>>,
    tablebase_use: TablebaseUse,
    strength: Strength,
    /// A random seed that is fixed for a game, for the errors of a level.
    game_seed: u64,
    /// A search has begun whose result has not been received.
    searching: bool,
    best: BestSoFar,
    events: Sender<Event>,
    event_receiver: Receiver<Event>,
}

/// Ends an engine's searches from a thread that does not have the engine.
pub struct StopHandle(Arc<Signals>);

impl StopHandle {
    /// Ends the search that is running now, if one is; those that begin later are not concerned.
    pub fn stop(&self) {
        self.0.stop();
    }
}

impl Default for Engine {
    fn default() -> Engine {
        Engine::new()
    }
}

impl Engine {
    /// An engine with default options and the embedded network. Its threads start when
    /// they are first needed.
    #[must_use]
    pub fn new() -> Engine {
        let (events, event_receiver) = unbounded();
        Engine {
            settings: Settings::default(),
            castling: CastlingMode::Standard,
            hash_mib: HASH_DEFAULT,
            threads: 1,
            eval_kind: EvalKind::Network(Network::embedded()),
            pool: None,
            signals: Arc::default(),
            game: Game::default(),
            refused: None,
            pipeline: Pipeline::default(),
            book: BookUse::default(),
            tablebases: None,
            tablebase_use: TablebaseUse::default(),
            strength: Strength::default(),
            game_seed: fastrand::u64(..),
            searching: false,
            best: BestSoFar::default(),
            events,
            event_receiver,
        }
    }

    /// The current game.
    #[must_use]
    pub const fn game(&self) -> &Game {
        &self.game
    }

    /// The current position.
    #[must_use]
    pub const fn position(&self) -> &Position {
        self.game.position()
    }

    /// What evaluates: a network, named, or the tapered evaluation.
    #[must_use]
    pub fn eval_name(&self) -> &str {
        match &self.eval_kind {
            EvalKind::Network(network) => network.name(),
            EvalKind::Tapered => "the tapered evaluation",
        }
    }

    /// Whether a search has begun whose end has not been [received](Engine::received) yet.
    #[must_use]
    pub const fn is_searching(&self) -> bool {
        self.searching
    }

    /// The move to play if the running search could not end.
    #[must_use]
    pub(crate) const fn best_so_far(&self) -> &BestSoFar {
        &self.best
    }

    /// The events of searches, for callers that do not wait for them in [`Engine::analyse`]. Each
    /// event taken from here is to be shown to [`Engine::received`].
    #[must_use]
    pub const fn events(&self) -> &Receiver<Event> {
        &self.event_receiver
    }

    /// Takes note of an event that was taken from [`Engine::events`]: after the result of a
    /// search the engine is at rest.
    pub fn received(&mut self, event: &Event) {
        if matches!(event, Event::Finished(_)) {
            self.searching = false;
        }
    }

    /// Puts a stage into its place in the pipeline of every `go`, or empties the place.
    fn set_stage(&mut self, place: Place, stage: Option<Arc<dyn Stage>>) {
        self.pipeline.set(place, stage);
    }

    /// Loads an opening book, or does without.
    ///
    /// # Errors
    /// If the file is no book; the old one is kept.
    pub fn load_book(&mut self, path: Option<&Path>) -> Result<(), BookError> {
        self.book.load(path)?;
        self.set_stage(Place::OpeningBook, self.book.stage());
        Ok(())
    }

    /// Changes how the opening book is used.
    pub(crate) fn use_book(&mut self, change: impl FnOnce(&mut BookUse)) {
        change(&mut self.book);
        self.set_stage(Place::OpeningBook, self.book.stage());
    }

    /// Loads the tablebases in these folders, separated as the platform separates paths, or does
    /// without any. Returns remarks for the user: how many tables there are, which folders cannot
    /// be read, which files are damaged.
    pub fn set_tablebases(&mut self, path: Option<&str>) -> Vec<String> {
        let (tables, remarks) = path.map_or_else(Default::default, load_tablebases);
        self.share_tablebases(tables);
        remarks
    }

    /// Uses tablebases that are loaded already, or none.
    pub(crate) fn share_tablebases(&mut self, tables: Option<Arc<Tablebases>>) {
        self.tablebases = tables;
        self.place_stages();
    }

    /// The tablebases' result of a position for the side to move, as if its half-move clock were
    /// zero; `None` if no table has it.
    #[must_use]
    pub fn tablebase_result(&self, position: &Position) -> Option<Wdl> {
        let tables = self.tablebases.as_ref()?;
        let pieces = position.board().occupied().count();
        (pieces <= tables.most_pieces() as usize)
            .then(|| tables.wdl(position))
            .flatten()
    }

    /// Changes how tablebases are used.
    pub(crate) fn use_tablebases(&mut self, change: impl FnOnce(&mut TablebaseUse)) {
        change(&mut self.tablebase_use);
        self.place_stages();
    }

    /// Changes how strong the engine plays. Nothing that was learnt at another strength is kept.
    ///
    /// # Errors
    /// If a search is running.
    pub fn set_strength(&mut self, change: impl FnOnce(&mut Strength)) -> Result<(), EngineError> {
        self.idle()?;
        let before = self.strength.level();
        change(&mut self.strength);
        if self.strength.level() != before {
            self.place_stages();
            if let Some(pool) = &mut self.pool {
                pool.clear();
            }
        }
        Ok(())
    }

    /// Puts the stages into their places. A level below full strength plays without tablebases:
    /// they would play its endgames perfectly.
    fn place_stages(&mut self) {
        let level = self.strength.level();
        let TablebaseUse {
            depth,
            pieces,
            fifty_move_rule,
        } = self.tablebase_use;
        let tables = self.tablebases.clone().filter(|_| level.is_none());
        let tablebases = tables.map(|tables| {
            let probing = Probing {
                tables,
                depth,
                pieces,
                fifty_move_rule,
            };
            Arc::new(RootTablebases { probing }) as Arc<dyn Stage>
        });
        let limit = level.map(|level| {
            let seed = self.game_seed;
            Arc::new(StrengthLimit { level, seed }) as Arc<dyn Stage>
        });
        self.set_stage(Place::RootTablebases, tablebases);
        self.set_stage(Place::StrengthLimit, limit);
    }

    /// The static evaluation of the current position, without any search.
    #[must_use]
    pub fn static_eval(&self) -> Score {
        let position = self.position();
        eval::adjust(self.eval_kind.evaluate(position), position.halfmoves(), 0)
    }

    /// Allocates memory and starts the threads now, so that the first move need not wait.
    ///
    /// # Errors
    /// If allocation fails or a thread cannot be started.
    pub fn prepare(&mut self) -> Result<(), EngineError> {
        self.pool().map(|_| ())
    }

    fn pool(&mut self) -> Result<&mut Pool, EngineError> {
        if self.pool.is_none() {
            let mut made = Pool::new(self.threads, self.hash_mib, &self.eval_kind, &self.signals);
            if made.is_err() {
                self.threads = 1;
                self.hash_mib = HASH_LAST_RESORT;
                made = Pool::new(self.threads, self.hash_mib, &self.eval_kind, &self.signals);
            }
            self.pool = Some(made?);
        }
        self.pool.as_mut().ok_or(EngineError::NoThreads)
    }

    fn idle(&self) -> Result<(), EngineError> {
        if self.is_searching() {
            Err(EngineError::Searching)
        } else {
            Ok(())
        }
    }

    /// Replaces the pool. The old one is dropped first, because both may not fit into memory; if
    /// the new one fails, an empty one of the old size is made, or of the least size if that fails
    /// as well.
    fn rebuild(&mut self, threads: usize, hash_mib: usize) -> Result<(), EngineError> {
        self.idle()?;
        self.pool = None;
        match Pool::new(threads, hash_mib, &self.eval_kind, &self.signals) {
            Ok(pool) => {
                self.pool = Some(pool);
                self.threads = threads;
                self.hash_mib = hash_mib;
                Ok(())
            }
            Err(error) => {
                self.pool()?;
                Err(error.into())
            }
        }
    }

    /// Sets the size of the hash table and allocates it at once; a table that has the size keeps
    /// its contents.
    ///
    /// # Errors
    /// If a search is running, or allocation fails. Then the previous size is kept; if that cannot
    /// be allocated any more, there is one thread with a table of the least size.
    pub fn set_hash(&mut self, mib: usize) -> Result<(), EngineError> {
        let mib = mib.clamp(HASH_MIN, HASH_MAX);
        if self.pool.is_some() && mib == self.hash_mib {
            return self.idle();
        }
        self.rebuild(self.threads, mib)
    }

    /// Sets the number of search threads and starts them at once; nothing happens if they run.
    ///
    /// # Errors
    /// If a search is running, or the system refuses. Then the previous number is kept; if those
    /// cannot be started any more, there is one thread with a table of the least size.
    pub fn set_threads(&mut self, threads: usize) -> Result<(), EngineError> {
        let threads = threads.clamp(1, THREADS_MAX);
        if self.pool.is_some() && threads == self.threads {
            return self.idle();
        }
        self.rebuild(threads, self.hash_mib)
    }

    /// Evaluates with the network in a file from now on, or with the embedded one.
    ///
    /// # Errors
    /// If the file is no network that this build can use, the threads cannot be started anew, or a
    /// search is running. The old evaluation is kept.
    pub fn set_network(&mut self, path: Option<&Path>) -> Result<(), EngineError> {
        self.idle()?;
        self.set_eval_kind(EvalKind::Network(match path {
            None => Network::embedded(),
            Some(path) => Network::load(path)?,
        }))
    }

    /// Evaluates by material and piece-square values from now on, for comparison with networks.
    ///
    /// # Errors
    /// If the threads cannot be started anew (the old evaluation is kept) or a search is running.
    pub fn set_tapered(&mut self) -> Result<(), EngineError> {
        self.idle()?;
        self.set_eval_kind(EvalKind::Tapered)
    }

    /// If the pool cannot be made, the old evaluation stays, and the next search makes a pool with
    /// it: the one that `rebuild` made in its place evaluates with the new one.
    fn set_eval_kind(&mut self, eval_kind: EvalKind) -> Result<(), EngineError> {
        let before = std::mem::replace(&mut self.eval_kind, eval_kind);
        let rebuilt = self.rebuild(self.threads, self.hash_mib);
        if rebuilt.is_err() {
            self.eval_kind = before;
            self.pool = None;
        }
        rebuilt
    }

    /// Forgets everything learned: a new game begins.
    ///
    /// # Errors
    /// If a search is running, or the pool cannot be made; then the game is new all the same.
    pub fn new_game(&mut self) -> Result<(), EngineError> {
        self.idle()?;
        self.game = Game::new(&Start::Initial, &[], self.castling)?;
        self.refused = None;
        self.game_seed = fastrand::u64(..);
        self.place_stages();
        self.pool()?.clear();
        Ok(())
    }

    /// Empties the hash table.
    ///
    /// # Errors
    /// If a search is running, or the pool cannot be made.
    pub fn clear_hash(&mut self) -> Result<(), EngineError> {
        self.idle()?;
        self.pool()?.clear_hash();
        Ok(())
    }

    /// Sets the position for the next search. A running search goes on undisturbed.
    ///
    /// # Errors
    /// If the position or a move is wrong: the game stays as it was, to look at, but no search
    /// starts until a correct position is set.
    pub fn set_position(&mut self, start: &Start, moves: &[String]) -> Result<(), EngineError> {
        match Game::new(start, moves, self.castling) {
            Ok(game) => {
                self.set_game(game);
                Ok(())
            }
            Err(error) => {
                self.refused = Some(error.to_string());
                Err(error.into())
            }
        }
    }

    /// Sets how castling is written and loaded, in the current game as well unless its position
    /// is possible in the other mode only: then that game stays as it is.
    pub fn set_castling(&mut self, mode: CastlingMode) {
        self.castling = mode;
        if self.game.position().castling_mode() != mode
            && let Ok(game) = self.game.in_mode(mode)
        {
            self.game = game;
        }
    }

    /// Exchanges the colours in the current position. After a refused position
    /// still nothing is searched.
    ///
    /// # Errors
    /// If the mirrored position is not accepted; the game stays.
    pub fn flip(&mut self) -> Result<(), EngineError> {
        self.game = self.game.flipped()?;
        Ok(())
    }

    /// Sets the game for the next search.
    pub fn set_game(&mut self, game: Game) {
        self.game = game;
        self.refused = None;
    }

    /// Whether there is a position to search.
    ///
    /// # Errors
    /// If the last position was refused.
    pub fn check_position(&self) -> Result<(), EngineError> {
        match &self.refused {
            Some(why) => Err(EngineError::NoPosition(why.clone())),
            None => Ok(()),
        }
    }

    /// Begins a search of the current position. Its lines and its end come as events. Returns
    /// remarks on the parts of the request that are ignored.
    ///
    /// # Errors
    /// If a search is running, the last position was refused, or there are no threads; no
    /// events follow then.
    pub fn go(&mut self, request: &Request) -> Result<Vec<String>, EngineError> {
        self.idle()?;
        self.check_position()?;
        let settings = &self.settings;
        let (limits, refused) = request.limits(
            self.game.position(),
            settings.move_overhead,
            settings.multi_pv,
        );
        let named = limits.root_moves.as_ref();
        self.best
            .set(named.and_then(|moves| moves.first()).copied());
        let search = SearchRequest {
            history: self.game.history().to_vec(),
            ponder: request.ponder,
            infinite: request.infinite,
            past: self.game.moves().to_vec(),
            ..SearchRequest::new(self.game.position().clone(), limits)
        };
        let reporter = EventReporter::new(
            self.events.clone(),
            self.game.clone(),
            self.settings.multi_pv,
            self.best.clone(),
        );
        let pipeline = self.pipeline.clone();
        self.pool()?.start(search, reporter, &pipeline);
        self.searching = true;
        Ok(refused
            .iter()
            .map(|why| format!("ignored: {why}"))
            .collect())
    }

    /// Ends the running search, whose result follows; nothing if there is none.
    pub fn stop(&self) {
        self.signals.stop();
    }

    /// What ends the running search from another thread, as [`Engine::stop`] does.
    #[must_use]
    pub fn stop_handle(&self) -> StopHandle {
        StopHandle(Arc::clone(&self.signals))
    }

    /// The pondered move was played; nothing if no ponder search is running.
    pub fn ponderhit(&self) {
        self.signals.ponderhit();
    }

    /// Analyses a game under limits and waits for the end. Every event is passed to `listen`
    /// before the result is returned, and [`Event::Idle`] where none came for a while; if it
    /// answers with `Break`, the search is stopped.
    ///
    /// # Errors
    /// As [`Engine::go`], or if the first search thread panics.
    pub fn analyse(
        &mut self,
        game: &Game,
        request: &Request,
        mut listen: impl FnMut(&Event) -> ControlFlow<()>,
    ) -> Result<Analysis, EngineError> {
        self.set_game(game.clone());
        self.go(request)?;
        loop {
            let event = match self.event_receiver.recv_timeout(IDLE_INTERVAL) {
                Ok(event) => event,
                Err(_) if self.pool.as_ref().is_none_or(Pool::has_failed) => {
                    self.searching = false;
                    self.pool = None;
                    return Err(EngineError::NoThreads);
                }
                Err(_) => Event::Idle,
            };
            self.received(&event);
            if listen(&event).is_break() {
                self.stop();
            }
            if let Event::Finished(analysis) = event {
                return Ok(analysis);
            }
        }
    }
}

#[cfg(test)]
mod tests;
