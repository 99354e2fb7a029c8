//! The bench: a fixed set of positions searched to a fixed depth. With one thread the number of
//! nodes is the same on every machine, and so a signature of how the engine plays.

use std::ops::ControlFlow;
use std::time::Duration;

use thiserror::Error;

use crate::board::{Game, GameError, Start};
use crate::engine::{Analysis, Engine, EngineError, Request, nodes_per_second};
use crate::search::Stats;
use crate::types::CastlingMode;

/// Depth of the signature in commit messages.
pub const DEPTH: i32 = 12;
/// MiB of hash table of the signature.
pub const HASH_MIB: usize = 16;

/// What to search, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Options {
    pub threads: usize,
    pub hash_mib: usize,
    pub limit: Limit,
}

/// The limit of each position's search.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Limit {
    Depth(i32),
    Nodes(u64),
    /// Milliseconds; the number of nodes is then no signature.
    Movetime(i64),
}

impl Default for Options {
    fn default() -> Options {
        Options {
            threads: 1,
            hash_mib: HASH_MIB,
            limit: Limit::Depth(DEPTH),
        }
    }
}

/// Why the bench did not run.
#[derive(Debug, Error)]
pub enum BenchError {
    #[error(
        "bench: '{0}' makes no sense; expected [depth] or [hash threads limit [default] \
         [depth|nodes|movetime]]"
    )]
    Argument(String),
    #[error(transparent)]
    Engine(#[from] EngineError),
    #[error(transparent)]
    Position(#[from] GameError),
}

/// The word for the bench's own positions.
const OWN_POSITIONS: &str = "default";

impl Options {
    /// Reads the words behind `bench`: a depth alone, or hash, threads and limit in the order
    /// that other engines use.
    ///
    /// # Errors
    /// If a word makes no sense.
    pub fn parse(words: &[String]) -> Result<Options, BenchError> {
        let number = |word: &String| {
            word.parse::<u64>()
                .map_err(|_| BenchError::Argument(word.clone()))
        };
        let mut options = Options::default();
        match words {
            [] => {}
            [depth] => options.limit = limit("depth", number(depth)?)?,
            [hash, threads, rest @ ..] => {
                options.hash_mib = usize::try_from(number(hash)?).unwrap_or(usize::MAX);
                options.threads = usize::try_from(number(threads)?).unwrap_or(usize::MAX);
                if options.threads == 0 {
                    return Err(BenchError::Argument(threads.clone()));
                }
                // Other engines take a file of positions here; this bench has its own only.
                let (value, kind) = match rest {
                    [] => return Ok(options),
                    [value] => (value, "depth"),
                    [value, positions] if positions == OWN_POSITIONS => (value, "depth"),
                    [value, kind] => (value, kind.as_str()),
                    [value, positions, kind] if positions == OWN_POSITIONS => {
                        (value, kind.as_str())
                    }
                    [_, _, _, other, ..] | [_, other, _] => {
                        return Err(BenchError::Argument(other.clone()));
                    }
                };
                options.limit = limit(kind, number(value)?)?;
            }
        }
        Ok(options)
    }

    fn request(&self) -> Request {
        match self.limit {
            Limit::Depth(depth) => Request::to_depth(depth),
            Limit::Nodes(nodes) => Request {
                nodes: Some(nodes),
                ..Request::default()
            },
            Limit::Movetime(ms) => Request {
                movetime: Some(ms),
                ..Request::default()
            },
        }
    }
}

fn limit(kind: &str, value: u64) -> Result<Limit, BenchError> {
    match kind {
        "depth" => Ok(Limit::Depth(i32::try_from(value).unwrap_or(i32::MAX))),
        "nodes" => Ok(Limit::Nodes(value)),
        "movetime" => Ok(Limit::Movetime(i64::try_from(value).unwrap_or(i64::MAX))),
        _ => Err(BenchError::Argument(kind.to_owned())),
    }
}

/// One position, searched.
#[derive(Clone, Debug)]
pub struct Measured {
    /// From 1.
    pub number: usize,
    /// How many there are.
    pub of: usize,
    pub analysis: Analysis,
}

/// The whole bench.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct BenchSummary {
    pub nodes: u64,
    pub time: Duration,
}

impl BenchSummary {
    /// Nodes per second.
    #[must_use]
    pub fn nps(&self) -> u64 {
        nodes_per_second(self.nodes, self.time)
    }

    /// What is printed at the end; OpenBench and fishtest read these lines.
    #[must_use]
    pub fn lines(&self) -> Vec<String> {
        vec![
            format!("Total time (ms) : {}", self.time.as_millis()),
            format!("Nodes searched  : {}", self.nodes),
            format!("Nodes/second    : {}", self.nps()),
            format!("{} nodes {} nps", self.nodes, self.nps()),
        ]
    }
}

/// Searches every position with a fresh engine and reports each to `listen` when it is done;
/// between, `listen` is called with `None` several times a second. It may stop the bench, and
/// then there is no summary. The hash table is kept from one position to the next, as in a game.
///
/// # Errors
/// If memory or threads cannot be allocated.
pub fn run(
    options: &Options,
    mut listen: impl FnMut(Option<&Measured>) -> ControlFlow<()>,
) -> Result<Option<BenchSummary>, BenchError> {
    let mut engine = Engine::new();
    engine.set_threads(options.threads)?;
    engine.set_hash(options.hash_mib)?;
    let request = options.request();
    let mut summary = BenchSummary::default();
    for (index, fen) in POSITIONS.iter().enumerate() {
        let start = Start::Fen((*fen).to_owned());
        let game = Game::new(&start, &[], CastlingMode::Standard)?;
        let mut flow = ControlFlow::Continue(());
        let analysis = engine.analyse(&game, &request, |_| {
            if flow.is_continue() {
                flow = listen(None);
            }
            flow
        })?;
        if flow.is_break() {
            return Ok(None);
        }
        summary.nodes += analysis.nodes;
        summary.time += analysis.time;
        let measured = Measured {
            number: index + 1,
            of: POSITIONS.len(),
            analysis,
        };
        if listen(Some(&measured)).is_break() {
            return Ok(None);
        }
    }
    Ok(Some(summary))
}

/// One position's line of output.
#[must_use]
pub fn position_line(measured: &Measured) -> String {
    let Measured {
        number,
        of,
        analysis,
    } = measured;
    let best = analysis
        .best
        .map_or("(none)".to_owned(), |m| analysis.root.uci(m));
    format!(
        "{number:>2}/{of}  {best:<6} {score:<10} depth {depth:>3}  {nodes:>10} nodes  {fen}",
        score = analysis
            .score
            .map_or("-".to_owned(), |score| score.to_string()),
        depth = analysis.depth.to_string(),
        nodes = analysis.nodes,
        fen = analysis.root.fen(),
    )
}

/// The spread over the positions and the counts of the search's steps, as lines of output.
#[must_use]
pub fn statistics(measured: &[Measured]) -> Vec<String> {
    let mut nodes: Vec<u64> = measured
        .iter()
        .map(|position| position.analysis.nodes)
        .collect();
    let mut speeds: Vec<u64> = measured
        .iter()
        .map(|position| nodes_per_second(position.analysis.nodes, position.analysis.time))
        .collect();
    let row = |name: &str, values: &mut Vec<u64>| {
        values.sort_unstable();
        let at = |numerator: usize| {
            let last = values.len().saturating_sub(1);
            values
                .get(last * numerator / QUARTILES)
                .copied()
                .unwrap_or(0)
        };
        format!(
            "{name:<16}: least {}, quartiles {} {} {}, most {}",
            at(0),
            at(1),
            at(2),
            at(3),
            at(QUARTILES)
        )
    };
    let mut lines = vec![row("Nodes", &mut nodes), row("Nodes/second", &mut speeds)];
    let mut stats = Stats::default();
    for position in measured {
        stats += position.analysis.stats;
    }
    let counts = stats.rows().into_iter();
    lines.extend(counts.map(|(name, count)| format!("{name:<20} {count:>12}")));
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    lines.push(format!(
        "First move best at cut nodes {}, at PV nodes {}; reduced searches repeated {}",
        percent(stats.first_move_cuts()),
        percent(stats.first_move_best()),
        percent(stats.re_search_rate()),
    ));
    lines
}

/// What the process occupies, in bytes, and how much of it is the hash table's, as a line of output.
#[must_use]
pub fn memory_line(resident: Option<u64>, hash_mib: usize) -> String {
    const MIB: u64 = 1 << 20;
    let hash = hash_mib as u64;
    match resident.map(|bytes| bytes / MIB) {
        None => "Resident memory : not known on this system".to_owned(),
        Some(mib) if mib < hash => {
            format!("Resident memory : {mib} MiB; the hash table of {hash} MiB is not in use yet")
        }
        Some(mib) => format!(
            "Resident memory : {mib} MiB, {hash} of them hash, {} all else",
            mib - hash
        ),
    }
}

const QUARTILES: usize = 4;

/// Positions of every stage and kind of game. Facts from public test suites and opening books.
const POSITIONS: &[&str] = &[
    // The start, and openings three moves old.
    "rnbqkbnr/pppppppp/8/8/8/8/PPPPPPPP/RNBQKBNR w KQkq - 0 1",
    "rnbqkb1r/pp1p1ppp/2p1pn2/8/8/N2P1N2/PPP1PPPP/R1BQKB1R w KQkq - 0 1",
    "rn1qkbnr/pp2pppp/2p1b3/3p4/8/1PP2N2/P2PPPPP/RNBQKB1R w KQkq - 0 1",
    "rnbqkb1r/ppp2ppp/4pn2/3p4/4PP2/2N5/PPPP2PP/R1BQKBNR w KQkq - 0 1",
    // Openings of eight plies, out of balance.
    "rnbq1rk1/1p2ppbp/p1p2np1/8/2NPPB2/5N2/PPQ2PPP/R3KB1R w KQ - 0 1",
    "r1b1k2r/pppn1ppp/2q1pn2/3p4/1bPP1B2/2N1PN2/PPQ2PPP/R3KB1R w KQkq - 0 1",
    "r1b1kb1r/ppp1nppp/3q4/3Pp1B1/4P3/2P5/P4PPP/R2QKBNR w KQkq - 0 1",
    "rn1qk2r/ppp1ppbp/4bnp1/8/3P1B2/2NB4/PPPQNPPP/R3K2R w KQkq - 0 1",
    "r1bq1knr/ppp1n1bp/3p2p1/1BPPpp2/4P3/2N1B3/PP3PPP/R2QK1NR w KQ - 0 1",
    "r2qk2r/pppb1pbp/2np1np1/4p3/2PPP3/2NBBP2/PP1Q2PP/R3K1NR w KQkq - 0 1",
    // Middlegames, quiet and tactical (Encyclopedia of Chess Middlegames).
    "1rb1r1k1/p1p1qppp/2pb4/8/2P3n1/4P1P1/PB2BP1P/R1QN1RK1 b - - 0 1",
    "r1bqnrk1/pp2ppb1/1np3pp/4P1N1/5P2/2NBB3/PPP3PP/R2Q1RK1 w - - 0 1",
    "r1bqn1r1/p2k1pp1/1p5p/n1pPpN2/2P1P3/P1PBB2P/4Q1P1/R4RK1 w - - 0 1",
    "2r1rbk1/5pp1/bq5p/1pnBPN2/6Q1/N7/5PPP/R2R2K1 w - - 0 1",
    "5r2/1b2k2p/3bp3/5PP1/Bn1Q3P/1N6/1Pr5/1K3R2 b - - 0 1",
    "r1k4r/ppp1b3/5Npp/4pb1Q/8/1B2B3/PqP2PPP/2RR2K1 w - - 0 1",
    "r1b2rk1/pp2ppbp/2np1np1/q7/4P3/2N1BN2/PPPQBPPP/2KR3R b - - 0 1",
    "6k1/5rb1/6pp/1p2p3/2b5/4B1P1/r4PBP/1RR3K1 w - - 0 1",
    "1r3rk1/5pp1/1n2qn1p/1p1pPNb1/2pP2QP/2P5/1PB3P1/R1B1R1K1 w - - 0 1",
    "r2r2k1/1bqpbpp1/ppn1p2p/2p1P1N1/P1B2B2/2P5/1PPRQPPP/3R2K1 w - - 0 1",
    // Combinations (Win at Chess).
    "r1b2rk1/pp2bppp/2n1pn2/q5B1/2BP4/2N2N2/PP2QPPP/2R2RK1 b - - 0 1",
    "3q1rk1/4bp1p/1n2P2Q/3p1p2/6r1/Pp2R2N/1B4PP/7K w - - 0 1",
    "6k1/pp5p/2p3q1/6BP/2nPr1Q1/8/PP3R1K/8 w - - 0 1",
    "rb3qk1/pQ3ppp/4p3/3P4/8/1P3N2/1P3PPP/3R2K1 w - - 0 1",
    "2k2r2/2p5/1pq5/p1p1n3/P1P2n1B/1R4Pp/2QR4/6K1 b - - 0 1",
    "8/6pp/3q1p2/3n1k2/1P6/3NQ2P/5PP1/6K1 w - - 0 1",
    // A position with every kind of move, and one with many promotions.
    "r3k2r/p1ppqpb1/bn2pnp1/3PN3/1p2P3/2N2Q1p/PPPBBPPP/R3K2R w KQkq - 0 1",
    "n1n5/PPPk4/8/8/8/8/4Kppp/5N1N b - - 0 1",
    // Endings, among them number 70 of Fine.
    "8/1N6/1p1P1n2/p1p1p3/P1P5/1P2k3/2K5/8 w - - 0 1",
    "r5k1/5pp1/1P5p/3R4/2r5/P3P3/2p2PPP/2R3K1 b - - 0 1",
    "1Q6/Nn3pbp/2N2p2/1Pqk1P1P/8/8/6P1/7K w - - 0 1",
    "4k3/2p1b3/4p1p1/1pp1P3/5PP1/1PBK4/r1P2R2/8 b - - 0 1",
    "6k1/3p4/3p4/3P4/4P1p1/6P1/8/K7 w - - 0 1",
    "8/pR4pk/1b6/2p5/N1p5/8/PP1r2PP/6K1 b - - 0 1",
    "8/k7/3p4/p2P1p2/P2P1P2/8/8/K7 w - - 0 1",
    // Zugzwang.
    "2n5/8/Pp5n/5N2/8/5k2/3P4/7K w - - 0 1",
    "3k4/8/4K3/2R5/8/8/8/8 w - - 0 1",
    "4KBkr/7p/6PP/4P3/8/3P1p2/8/8 w - - 0 1",
    // Endings with pieces.
    "8/8/8/8/5kp1/P7/8/1K1N4 w - - 0 1",
    "8/2p5/3p4/KP5r/1R3p1k/8/4P1P1/8 w - - 0 1",
    "6k1/5ppp/4p3/8/3R4/5PP1/r6P/6K1 w - - 0 1",
    "8/5pk1/4p1p1/1p1bP2p/1P1B1P1P/6P1/6K1/8 w - - 0 1",
];

#[cfg(test)]
mod tests {
    use super::*;

    fn parse(text: &str) -> Result<Options, BenchError> {
        let words: Vec<String> = text.split_whitespace().map(str::to_owned).collect();
        Options::parse(&words)
    }

    #[test]
    fn arguments_are_read_in_both_customs() {
        assert_eq!(parse("").expect("fine"), Options::default());
        assert_eq!(parse("7").expect("fine").limit, Limit::Depth(7));
        let all = parse("64 2 5000 default nodes").expect("fine");
        assert_eq!(
            (all.hash_mib, all.threads, all.limit),
            (64, 2, Limit::Nodes(5000))
        );
        assert_eq!(parse("64 2 9").expect("fine").limit, Limit::Depth(9));
        assert!(parse("64 2 9 a.epd depth").is_err() && parse("64 0 9").is_err());
        assert!(parse("64 2 9 default depth 1").is_err());
        assert!(parse("x").is_err() && parse("1 1 1 default moons").is_err());
    }

    #[test]
    fn memory_is_hash_and_the_rest() {
        const MIB: u64 = 1 << 20;
        let line = memory_line(Some(100 * MIB), 16);
        assert!(line.ends_with("100 MiB, 16 of them hash, 84 all else"));
        assert!(memory_line(Some(100 * MIB), 128).contains("not in use yet"));
        assert!(memory_line(None, 16).contains("not known"));
    }

    #[test]
    fn the_signature_is_the_same_twice() {
        let options = Options {
            limit: Limit::Depth(3),
            ..Options::default()
        };
        let nodes = || {
            let summary = run(&options, |_| ControlFlow::Continue(())).expect("a bench");
            summary.expect("not stopped").nodes
        };
        assert_eq!(nodes(), nodes());
    }

    #[test]
    fn the_last_line_is_what_openbench_reads() {
        let summary = BenchSummary {
            nodes: 5000,
            time: Duration::from_millis(10),
        };
        assert_eq!(
            summary.lines().last().map(String::as_str),
            Some("5000 nodes 500000 nps")
        );
    }
}
