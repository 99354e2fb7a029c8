//! The root's moves ranked by the tables, so that a won position makes progress to a mate and a
//! drawn or lost one keeps its result.
//!
//! DTZ tables rank best; without them WDL tables still tell winning moves from others. All moves
//! that surely keep a win share the first rank and the search chooses among them: it may prove a
//! mate. If it proves none, [`RootRanking::converting`] has the move with the shortest distance.
//! (The ranks are Stockfish's; the choice after the search is not.)

use shakmaty::Position as _;
use shakmaty_syzygy::Wdl;

use super::{SPOILED_WIN, Tablebases};
use crate::board::{Game, Position, ROOT_ALONE, occurrences};
use crate::types::{Move, Ply, Score};

/// The rank of a certain win; larger than any distance to zeroing.
const CERTAIN: i32 = 1 << 18;
/// The rank from which distances are subtracted where the 50-move rule or a repetition may spoil
/// the result.
const DOUBTFUL: i32 = CERTAIN / 2;
/// The 50-move rule in plies, as tables count.
const FIFTY_MOVES: i32 = crate::types::FIFTY_MOVES as i32;
/// The distance to zeroing of a move that zeroes the clock at once, and of one that does so for
/// a result which the 50-move rule spoils.
const ZEROING: i32 = 1;
const ZEROING_SPOILED: i32 = FIFTY_MOVES + 1;
/// The largest score of a win that the 50-move rule spoils: it is shown as 49 centipawns. The least
/// is [`SPOILED_WIN`].
const SPOILED_MOST: i32 = 43;

/// Which tables ranked the moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Source {
    Dtz,
    Wdl,
}

/// A root move with its tablebase result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RankedMove {
    pub m: Move,
    /// Moves of equal rank keep equal results; the greatest is best.
    pub rank: i32,
    /// The tablebase score of the move, for the side to move at the root.
    pub score: Score,
    /// Plies to the next capture or pawn move under best play; negative when losing. `None` if
    /// only WDL tables were there.
    pub dtz: Option<i32>,
}

/// The root's moves, best rank first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RootRanking {
    pub moves: Vec<RankedMove>,
    pub source: Source,
}

impl RootRanking {
    /// The best move's score.
    #[must_use]
    pub fn score(&self) -> Score {
        self.moves.first().map_or(Score::DRAW, |best| best.score)
    }

    /// Whether the search should probe as well. With distances, or where the root is not won, it
    /// should look for mates and winning chances without the tables.
    #[must_use]
    pub fn keeps_probing(&self) -> bool {
        self.source == Source::Wdl && self.score() > Score::DRAW
    }

    /// The ranking of a move.
    #[must_use]
    pub fn get(&self, m: Move) -> Option<&RankedMove> {
        self.moves.iter().find(|ranked| ranked.m == m)
    }

    /// The move that makes the most progress: in a win by distance, `chosen` itself or, if it
    /// is slower, the fastest. Where nothing is won, or distances are not known, `chosen`.
    #[must_use]
    pub fn converting(&self, chosen: Move) -> Move {
        let winning =
            |ranked: &&RankedMove| ranked.score.is_win() && ranked.dtz.is_some_and(|dtz| dtz > 0);
        let best = self.moves.iter().filter(winning).min_by_key(|r| r.dtz);
        match (best, self.get(chosen)) {
            (Some(best), Some(own)) if winning(&own) && own.dtz <= best.dtz => chosen,
            (Some(best), _) => best.m,
            (None, _) => chosen,
        }
    }
}

/// Ranks the moves by distance or, if a DTZ table is missing, by result alone; `None` if neither
/// is known for every move.
pub(super) fn rank(
    tables: &Tablebases,
    root: &Position,
    history: &[u64],
    moves: &[Move],
    fifty_move_rule: bool,
) -> Option<RootRanking> {
    let root = RootRanker {
        tables,
        position: root,
        history,
        repeated: has_repeated(root, history),
        fifty_move_rule,
    };
    let distances: Option<Vec<RankedMove>> = moves.iter().map(|&m| root.by_distance(m)).collect();
    let (mut moves, source) = match distances {
        Some(moves) => (moves, Source::Dtz),
        None => {
            let results: Option<_> = moves.iter().map(|&m| root.by_result(m)).collect();
            (results?, Source::Wdl)
        }
    };
    moves.sort_by_key(|ranked| std::cmp::Reverse(ranked.rank));
    Some(RootRanking { moves, source })
}

struct RootRanker<'a> {
    tables: &'a Tablebases,
    position: &'a Position,
    history: &'a [u64],
    /// A position has occurred twice since the last capture or pawn move.
    repeated: bool,
    fifty_move_rule: bool,
}

impl RootRanker<'_> {
    fn by_distance(&self, m: Move) -> Option<RankedMove> {
        let child = self.position.play(m);
        let dtz = self.distance(&child)?;
        let clock = self.position.halfmoves() as i32;
        let total = dtz.abs() + clock;
        let spoiled = self.fifty_move_rule && total > FIFTY_MOVES;
        let rank = if dtz > 0 {
            // One ply is kept in reserve, as tables may round distances down by one. A position
            // that was on the board before is no progress, whatever mate the search sees there.
            let in_time = !self.fifty_move_rule || total < FIFTY_MOVES;
            if in_time && !self.repeated && self.occurrences(&child) == 1 {
                CERTAIN
            } else {
                DOUBTFUL - total
            }
        } else if dtz < 0 {
            // A loss is certain where even twice the distance fits below the 50-move rule.
            if !self.fifty_move_rule || total - dtz < FIFTY_MOVES {
                -CERTAIN
            } else {
                -DOUBTFUL + total
            }
        } else {
            0
        };
        let near_draw = near_draw(total);
        let score = match dtz.signum() {
            0 => Score::DRAW,
            1 if spoiled => Score::DRAW + near_draw,
            1 => Score::tablebase_win(Ply::ROOT),
            _ if spoiled => Score::DRAW - near_draw,
            _ => Score::tablebase_loss(Ply::ROOT),
        };
        Some(RankedMove {
            m,
            rank,
            score,
            dtz: Some(dtz),
        })
    }

    /// The distance to zeroing through a child, in plies from the root, for the root's side.
    fn distance(&self, child: &Position) -> Option<i32> {
        if child.in_check() && !child.has_legal_move() {
            return Some(ZEROING);
        }
        if self.is_draw(child) {
            return Some(0);
        }
        if child.halfmoves() == 0 {
            return Some(match -self.tables.wdl(child)? {
                Wdl::Win => ZEROING,
                Wdl::CursedWin => ZEROING_SPOILED,
                Wdl::Draw => 0,
                Wdl::BlessedLoss => -ZEROING_SPOILED,
                Wdl::Loss => -ZEROING,
            });
        }
        let dtz = -self.tables.dtz(child)?;
        Some(dtz + dtz.signum())
    }

    fn by_result(&self, m: Move) -> Option<RankedMove> {
        /// Within wins and losses, those that the 50-move rule spoils come nearest to a draw.
        const SPOILED: i32 = 1;
        let child = self.position.play(m);
        let mated = child.in_check() && !child.has_legal_move();
        let wdl = if mated {
            Wdl::Win
        } else if self.is_draw(&child) {
            Wdl::Draw
        } else {
            -self.tables.wdl(&child)?
        };
        let probed = super::probed(wdl, Ply::ROOT, self.fifty_move_rule);
        let rank = match wdl {
            Wdl::Win => CERTAIN,
            Wdl::CursedWin if self.fifty_move_rule => SPOILED,
            Wdl::CursedWin => CERTAIN,
            Wdl::Draw => 0,
            Wdl::BlessedLoss if self.fifty_move_rule => -SPOILED,
            Wdl::BlessedLoss | Wdl::Loss => -CERTAIN,
        };
        Some(RankedMove {
            m,
            rank,
            score: probed.score,
            dtz: None,
        })
    }

    /// A child is drawn by the rules: repetition, 50 moves, too little material, stalemate.
    fn is_draw(&self, child: &Position) -> bool {
        let fifty = self.fifty_move_rule && child.halfmoves() as i32 >= FIFTY_MOVES;
        fifty
            || child.chess().is_insufficient_material()
            || !child.in_check() && !child.has_legal_move()
            || self.occurrences(child) >= Game::REPETITIONS_TO_DRAW
    }

    /// How often a child will have occurred in the game once it is on the board.
    fn occurrences(&self, child: &Position) -> usize {
        occurrences(child, self.history, ROOT_ALONE)
    }
}

/// The score of a win that the 50-move rule spoils, by the plies to zeroing on the clock then.
pub(super) fn near_draw(total: i32) -> i32 {
    ((2 * FIFTY_MOVES - total) / 2).clamp(SPOILED_WIN, SPOILED_MOST)
}

/// Whether some position, the root included, has occurred twice since the last capture or pawn
/// move.
fn has_repeated(root: &Position, history: &[u64]) -> bool {
    let window = root.reversible_plies().min(history.len());
    let mut keys: Vec<u64> = history[history.len() - window..].to_vec();
    keys.push(root.key());
    keys.sort_unstable();
    keys.windows(2).any(|pair| pair[0] == pair[1])
}
