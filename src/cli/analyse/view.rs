//! The live view of a search in the terminal, redrawn in place: the board, the evaluation, the
//! effort by root move, and the best lines.

use std::io::{self, Write};
use std::time::Duration;

use crossterm::style::{Color as Ink, ContentStyle, StyledContent, Stylize as _};
use crossterm::{QueueableCommand as _, cursor, terminal};

use crate::board::Position;
use crate::chances::chances;
use crate::engine::{AnalysisLine, nodes_per_second};
use crate::types::{Bound, File, Rank, Role, Score, Square};

/// Columns of the board with its rank numbers, and of the gap behind it.
const BOARD_COLUMNS: usize = 22;
/// Cells of the evaluation bar.
const BAR_CELLS: usize = 40;
/// Cells of a full effort bar.
const EFFORT_CELLS: f64 = 20.0;
/// Root moves shown beside the board.
const EFFORTS_SHOWN: usize = 4;
/// The least time between two drawings.
pub const REDRAW_INTERVAL: Duration = Duration::from_millis(80);
/// Square and piece colours that both 16- and 256-colour terminals show well.
const LIGHT: Ink = Ink::AnsiValue(144);
const DARK: Ink = Ink::AnsiValue(65);
const WHITE: Ink = Ink::AnsiValue(231);
const BLACK: Ink = Ink::AnsiValue(16);
const PERCENT: f64 = 100.0;

/// How to draw.
#[derive(Clone, Copy, Debug)]
pub struct Look {
    pub color: bool,
    /// Chess figures and blocks instead of letters and signs.
    pub unicode: bool,
    /// Black below.
    pub flip: bool,
}

/// What is known of the search so far.
#[derive(Clone, Debug, Default)]
pub struct LinesSoFar {
    /// The last exact line of each multi-PV index, and after it a bound if one came.
    lines: Vec<AnalysisLine>,
    /// The last line that came, for its counters.
    latest: Option<AnalysisLine>,
}

impl LinesSoFar {
    /// Takes the lines that the search ended with.
    pub fn finish(&mut self, lines: &[AnalysisLine]) {
        lines.clone_into(&mut self.lines);
        self.latest = self.lines.first().cloned().or(self.latest.take());
    }

    /// Takes a line of the running search.
    pub fn add(&mut self, line: &AnalysisLine) {
        let index = line.info.multi_pv.saturating_sub(1);
        match self.lines.get_mut(index) {
            Some(old) => *old = line.clone(),
            None => self.lines.push(line.clone()),
        }
        self.latest = Some(line.clone());
    }
}

/// A line of text in parts of different style.
type Styled = Vec<StyledContent<String>>;

/// The picture and its height on the screen.
pub struct LiveView {
    look: Look,
    /// Lines of the picture on the screen, above the cursor.
    drawn: u16,
}

impl LiveView {
    #[must_use]
    pub const fn new(look: Look) -> LiveView {
        LiveView { look, drawn: 0 }
    }

    /// Draws the picture over the last one.
    ///
    /// # Errors
    /// If the output fails.
    pub fn draw(
        &mut self,
        out: &mut impl Write,
        root: &Position,
        found: &LinesSoFar,
        elapsed: Duration,
    ) -> io::Result<()> {
        const FALLBACK: (u16, u16) = (80, 24);
        // Some terminals do not know their size and say 0.
        let known = terminal::size()
            .ok()
            .filter(|&(columns, rows)| columns > 0 && rows > 0);
        let (columns, rows) = known.unwrap_or(FALLBACK);
        let mut lines = frame(root, found, elapsed, self.look);
        // The cursor's line and one more stay free: a screen that scrolls cannot be redrawn in
        // place.
        lines.truncate(usize::from(rows.saturating_sub(2)).max(1));
        out.queue(terminal::BeginSynchronizedUpdate)?;
        if self.drawn > 0 {
            out.queue(cursor::MoveToPreviousLine(self.drawn))?;
        }
        out.queue(terminal::Clear(terminal::ClearType::FromCursorDown))?;
        for line in &lines {
            self.write_line(out, line, usize::from(columns))?;
        }
        out.queue(terminal::EndSynchronizedUpdate)?;
        self.drawn = u16::try_from(lines.len()).unwrap_or(u16::MAX);
        out.flush()
    }

    fn write_line(&self, out: &mut impl Write, line: &Styled, columns: usize) -> io::Result<()> {
        let mut left = columns;
        for part in line {
            let shown: String = part.content().chars().take(left).collect();
            left -= shown.chars().count();
            if self.look.color {
                write!(out, "{}", StyledContent::new(*part.style(), shown))?;
            } else {
                write!(out, "{shown}")?;
            }
        }
        writeln!(out)
    }
}

fn plain(text: impl Into<String>) -> StyledContent<String> {
    StyledContent::new(ContentStyle::new(), text.into())
}

/// All lines of the picture.
fn frame(root: &Position, found: &LinesSoFar, elapsed: Duration, look: Look) -> Vec<Styled> {
    let mut lines = board(root, look);
    let side = panel(root, found, elapsed, look);
    for (index, text) in side.into_iter().enumerate() {
        match lines.get_mut(index) {
            Some(line) => line.extend(text),
            None => lines.push(
                std::iter::once(plain(" ".repeat(BOARD_COLUMNS)))
                    .chain(text)
                    .collect(),
            ),
        }
    }
    lines.push(Vec::new());
    for line in &found.lines {
        lines.push(best_line(line));
    }
    lines.push(vec![
        plain("Ctrl-C: stop and show the best move").dark_grey(),
    ]);
    lines
}

fn board(root: &Position, look: Look) -> Vec<Styled> {
    let mut ranks: Vec<Rank> = Rank::ALL.into_iter().rev().collect();
    let mut files = File::ALL.to_vec();
    if look.flip {
        ranks.reverse();
        files.reverse();
    }
    let mut lines = Vec::new();
    for &rank in &ranks {
        let mut line = vec![plain(format!(" {} ", rank.char()))];
        for &file in &files {
            line.push(square(root, Square::from_coords(file, rank), look));
        }
        line.push(plain("   "));
        lines.push(line);
    }
    let names: String = files
        .iter()
        .map(|file| format!("{} ", file.char()))
        .collect();
    lines.push(vec![plain(format!("   {names}   "))]);
    lines
}

fn square(root: &Position, square: Square, look: Look) -> StyledContent<String> {
    let piece = root.board().piece_at(square);
    let sign = match piece {
        None if look.color => ' ',
        None => '.',
        Some(piece) if !look.unicode => piece.char(),
        // On coloured squares the filled figures serve both sides; without colours, White's are
        // the outlined ones.
        Some(piece) => figure(piece.role, look.color || piece.color.is_black()),
    };
    let text = plain(format!("{sign} "));
    if !look.color {
        return text;
    }
    let ground = if square.is_light() { LIGHT } else { DARK };
    let ink = if piece.is_some_and(|piece| piece.color.is_white()) {
        WHITE
    } else {
        BLACK
    };
    text.with(ink).on(ground).bold()
}

const fn figure(role: Role, filled: bool) -> char {
    match (role, filled) {
        (Role::King, true) => '♚',
        (Role::Queen, true) => '♛',
        (Role::Rook, true) => '♜',
        (Role::Bishop, true) => '♝',
        (Role::Knight, true) => '♞',
        (Role::Pawn, true) => '♟',
        (Role::King, false) => '♔',
        (Role::Queen, false) => '♕',
        (Role::Rook, false) => '♖',
        (Role::Bishop, false) => '♗',
        (Role::Knight, false) => '♘',
        (Role::Pawn, false) => '♙',
    }
}

/// The text beside the board.
fn panel(root: &Position, found: &LinesSoFar, elapsed: Duration, look: Look) -> Vec<Styled> {
    let Some(latest) = &found.latest else {
        return vec![vec![plain("searching ...")]];
    };
    let speed = nodes_per_second(latest.info.nodes, latest.info.time);
    let mut lines = vec![
        vec![
            plain(format!(
                "depth {}/{}",
                latest.info.depth, latest.info.seldepth
            ))
            .bold(),
            plain(format!("   {:.1} s", elapsed.as_secs_f64())),
        ],
        vec![plain(format!(
            "{} nodes   {} a second   hash {:.1} %   tb {}",
            short(latest.info.nodes),
            short(speed),
            f64::from(latest.info.hashfull) / 10.0,
            short(latest.info.tb_hits)
        ))],
    ];
    if let Some(best) = found.lines.first() {
        lines.extend(evaluation(best.info.score, root, look));
        lines.extend(efforts(best, look));
    }
    lines
}

/// The bar of White's and Black's shares, and the chances in percent.
fn evaluation(score: Score, root: &Position, look: Look) -> Vec<Styled> {
    let turn = root.turn();
    let [win, draw, loss] = chances(score, root).wdl();
    let [white, black] = if turn.is_white() {
        [win, loss]
    } else {
        [loss, win]
    };
    let expected = (f64::from(white) + f64::from(draw) / 2.0) / 1000.0;
    let cells = ((expected * BAR_CELLS as f64).round() as usize).min(BAR_CELLS);
    let (full, empty) = if look.unicode {
        ("█", "░")
    } else {
        ("#", "-")
    };
    let permille = |value: u32| f64::from(value) / 10.0;
    vec![
        vec![
            plain(full.repeat(cells)).with(WHITE),
            plain(empty.repeat(BAR_CELLS - cells)).dark_grey(),
            plain(format!(" {}", score.pawns(turn))).bold(),
        ],
        vec![plain(format!(
            "White {:.1} %   draw {:.1} %   Black {:.1} %",
            permille(white),
            permille(draw),
            permille(black)
        ))],
    ]
}

/// The root moves with the largest shares of the nodes.
fn efforts(line: &AnalysisLine, look: Look) -> Vec<Styled> {
    let total: u64 = line.efforts.iter().map(|effort| effort.nodes).sum();
    let mut sorted = line.efforts.to_vec();
    sorted.sort_by_key(|effort| std::cmp::Reverse(effort.nodes));
    let cell = if look.unicode { "█" } else { "#" };
    sorted
        .iter()
        .take(EFFORTS_SHOWN)
        .map(|effort| {
            let share = effort.nodes as f64 / total.max(1) as f64;
            vec![
                plain(format!(
                    "{:<7} {:>5.1} % ",
                    line.root.san(effort.m),
                    share * PERCENT
                )),
                plain(cell.repeat((share * EFFORT_CELLS).round() as usize)).dark_green(),
            ]
        })
        .collect()
}

fn best_line(line: &AnalysisLine) -> Styled {
    let bound = match line.info.bound {
        Some(Bound::Lower) => ">=",
        Some(Bound::Upper) => "<=",
        _ => "",
    };
    let score = format!("{bound}{}", line.info.score.pawns(line.root.turn()));
    vec![
        plain(format!("{score:>8}")).bold(),
        plain(format!("  {:>3}  ", line.info.depth)).dark_grey(),
        plain(line.root.numbered_line(&line.pv)),
    ]
}

/// A count in at most five characters: `987`, `12.3k`, `4.56M`.
fn short(count: u64) -> String {
    const UNITS: [(f64, &str); 3] = [(1e9, "G"), (1e6, "M"), (1e3, "k")];
    let value = count as f64;
    for (size, unit) in UNITS {
        if value >= size {
            let scaled = value / size;
            let decimals = if scaled < 10.0 {
                2
            } else {
                usize::from(scaled < 100.0)
            };
            return format!("{scaled:.decimals$}{unit}");
        }
    }
    count.to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Look = Look {
        color: false,
        unicode: false,
        flip: false,
    };

    fn text(lines: &[Styled]) -> Vec<String> {
        let join = |line: &Styled| line.iter().map(|part| part.content().as_str()).collect();
        lines.iter().map(join).collect()
    }

    #[test]
    fn boards_turn_round() {
        let start = Position::startpos();
        let white = text(&board(&start, PLAIN));
        assert_eq!(white[0].trim(), "8 r n b q k b n r");
        assert_eq!(white[8].trim(), "a b c d e f g h");
        let black = text(&board(
            &start,
            Look {
                flip: true,
                ..PLAIN
            },
        ));
        assert_eq!(black[0].trim(), "1 R N B K Q B N R");
        assert_eq!(black[8].trim(), "h g f e d c b a");
        let figures = text(&board(
            &start,
            Look {
                unicode: true,
                ..PLAIN
            },
        ));
        assert!(figures[0].contains('♜') && figures[7].contains('♖'));
    }

    #[test]
    fn the_bar_is_white_s_share() {
        let white = Position::startpos();
        let black = white.play(white.legal_moves()[0]);
        let bar = |cp, root| text(&evaluation(Score::cp(cp), root, PLAIN))[0].clone();
        assert!(bar(2000, &white).starts_with(&"#".repeat(BAR_CELLS)));
        assert!(bar(2000, &black).starts_with('-'));
        assert_eq!(bar(0, &black).matches('#').count(), BAR_CELLS / 2);
    }

    #[test]
    fn counts_are_short() {
        assert_eq!(short(987), "987");
        assert_eq!(short(12_345), "12.3k");
        assert_eq!(short(4_560_000), "4.56M");
        assert_eq!(short(123_000_000_000), "123G");
    }
}
