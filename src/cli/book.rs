//! `pleach book`: opening books in Polyglot's format: build, show, merge.

use std::fs::File;
use std::io::{self, BufWriter, Read, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, anyhow, ensure};
use clap::{Args, Subcommand, ValueEnum};
use indicatif::{ProgressBar, ProgressStyle};

use super::CommandResult;
use super::position::{joined, position};
use crate::board::{PgnError, PgnReader, STDIN, decompress};
use crate::files::{PendingFile, are_same};
use crate::opening_book::{BookBuilder, BookError, BuildSettings, OpeningBook, Sides, merge};
use crate::types::Color;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    action: Action,
}

#[derive(Subcommand)]
enum Action {
    /// Make a book from games in PGN
    Build(BuildArguments),
    /// Show the moves that a book has for a position
    Show {
        /// The book, in Polyglot's format
        book: PathBuf,
        /// A FEN or EPD (quotes are optional), startpos, or moves such as 1. e4 e5
        /// [default: startpos]
        position: Vec<String>,
    },
    /// Merge several books into one; where they differ, the one named first counts
    Merge {
        /// Books in Polyglot's format
        #[arg(required = true, num_args = 2..)]
        books: Vec<PathBuf>,
        /// The book to write
        #[arg(short, long)]
        output: PathBuf,
    },
}

#[derive(Args)]
struct BuildArguments {
    /// Files of games, or - for standard input; .gz, .bz2 and .zst are unpacked as they are read
    #[arg(required = true)]
    games: Vec<PathBuf>,
    /// The book to write
    #[arg(short, long)]
    output: PathBuf,
    /// Keep moves that were played in at least this many games
    #[arg(long, default_value_t = BuildSettings::default().min_games)]
    min_games: u32,
    /// Use this many moves of each game, for both sides
    #[arg(long, default_value_t = BuildSettings::default().max_plies / 2, value_parser = moves)]
    max_moves: usize,
    /// Whose moves to keep
    #[arg(long, value_enum, default_value_t = SideArgument::Both)]
    side: SideArgument,
}

fn moves(text: &str) -> Result<usize, String> {
    const MOST: usize = 10_000;
    text.parse()
        .ok()
        .filter(|moves| (1..=MOST).contains(moves))
        .ok_or_else(|| format!("a number from 1 to {MOST} is needed"))
}

#[derive(Clone, Copy, ValueEnum)]
enum SideArgument {
    White,
    Black,
    Both,
}

impl From<SideArgument> for Sides {
    fn from(side: SideArgument) -> Sides {
        match side {
            SideArgument::White => Sides::Only(Color::White),
            SideArgument::Black => Sides::Only(Color::Black),
            SideArgument::Both => Sides::Both,
        }
    }
}

pub fn run(arguments: &Arguments) -> CommandResult {
    match &arguments.action {
        Action::Build(arguments) => build(arguments),
        Action::Show { book, position } => show(book, &joined(position)),
        Action::Merge { books, output } => {
            ensure!(
                !books.iter().any(|book| are_same(book, output)),
                "{} would be written over",
                output.display()
            );
            let books = books
                .iter()
                .map(|path| open(path))
                .collect::<anyhow::Result<Vec<_>>>()?;
            write(&merge(&books), output)?;
            Ok(true)
        }
    }
}

fn open(path: &Path) -> anyhow::Result<OpeningBook> {
    OpeningBook::open(path).with_context(|| path.display().to_string())
}

fn create(path: &Path) -> anyhow::Result<PendingFile> {
    PendingFile::create(path).with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

fn write(book: &OpeningBook, path: &Path) -> anyhow::Result<()> {
    let failed = || cannot_write(path);
    let mut file = create(path)?;
    let mut out = BufWriter::new(&mut file);
    book.write(&mut out)
        .and_then(|()| out.flush())
        .with_context(failed)?;
    drop(out);
    file.commit().with_context(failed)?;
    let (positions, moves) = (book.positions(), book.entry_count());
    writeln!(
        io::stdout(),
        "{}: {positions} positions, {moves} moves",
        path.display()
    )?;
    Ok(())
}

fn build(arguments: &BuildArguments) -> CommandResult {
    for games in &arguments.games {
        let name = games.display();
        ensure!(
            !are_same(games, &arguments.output),
            "the book would be written over the games in {name}"
        );
    }
    // Reading games takes minutes: that the book cannot be written is said before. The file itself
    // is made afterwards, or an interrupted run would leave it behind.
    drop(create(&arguments.output)?);
    let mut builder = BookBuilder::new(BuildSettings {
        min_games: arguments.min_games,
        max_plies: 2 * arguments.max_moves,
        sides: arguments.side.into(),
    });
    let mut flaws = FlawTally::default();
    for path in &arguments.games {
        read_games(path, &mut builder, &mut flaws)?;
    }
    writeln!(io::stderr(), "{}", summary(&builder, &flaws))?;
    ensure!(builder.games > 0, "no game to make a book of");
    let book = builder.finish().map_err(|error| match error {
        BookError::Empty => anyhow!("no move was played often enough: try a smaller --min-games"),
        other => other.into(),
    })?;
    write(&book, &arguments.output)?;
    Ok(true)
}

/// Games that are not as PGN should be.
#[derive(Default)]
struct FlawTally {
    /// Skipped.
    broken: u64,
    /// Read without words that are no moves.
    with_warnings: u64,
}

/// How many games were used, and what was left out.
fn summary(builder: &BookBuilder, flaws: &FlawTally) -> String {
    let mut text = format!(
        "{} games used; left out: {} without result, {} of Chess960, {} broken",
        builder.games, builder.without_result, builder.chess960, flaws.broken
    );
    if flaws.with_warnings > 0 {
        text += &format!(
            "; words that are no moves passed over in {} games",
            flaws.with_warnings
        );
    }
    text
}

/// Adds the games of a file; broken ones are reported.
fn read_games(path: &Path, builder: &mut BookBuilder, flaws: &mut FlawTally) -> anyhow::Result<()> {
    let name = || path.display().to_string();
    let (input, bar): (Box<dyn Read + Send>, ProgressBar) = if path.as_os_str() == STDIN {
        (Box::new(io::stdin()), ProgressBar::hidden())
    } else {
        let file = File::open(path).with_context(name)?;
        let bytes = file.metadata().with_context(name)?.len();
        // Hidden where stderr is no terminal.
        (Box::new(file), ProgressBar::new(bytes).with_message(name()))
    };
    if let Ok(style) = ProgressStyle::with_template("{msg} {wide_bar} {bytes}/{total_bytes} {eta}")
    {
        bar.set_style(style);
    }
    let input = decompress(bar.wrap_read(input)).with_context(name)?;
    for game in PgnReader::main_lines(input) {
        match game {
            Ok(game) => {
                flaws.with_warnings += u64::from(!game.warnings.is_empty());
                builder.add(&game);
            }
            Err(error @ PgnError::Game { .. }) => {
                flaws.broken += 1;
                bar.suspend(|| writeln!(io::stderr(), "{}: {error}", path.display()))?;
            }
            Err(error) => return Err(anyhow::Error::from(error).context(name())),
        }
    }
    bar.finish_and_clear();
    Ok(())
}

fn show(path: &Path, text: &str) -> CommandResult {
    const PERCENT: f64 = 100.0;
    let book = open(path)?;
    let position = position(text, false)?;
    let moves = book.moves(&position);
    let mut out = io::stdout().lock();
    if moves.is_empty() {
        writeln!(io::stderr(), "The book has no moves for this position.")?;
        return Ok(false);
    }
    let total: u64 = moves.iter().map(|m| u64::from(m.weight)).sum();
    for m in &moves {
        let share = PERCENT * f64::from(m.weight) / (total.max(1) as f64);
        let san = position.san(m.played);
        writeln!(out, "{san:>8}  {share:>5.1} %  weight {}", m.weight)?;
    }
    Ok(true)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_not_as_it_should_be_is_counted() {
        let file = tempfile::NamedTempFile::new().expect("a file");
        let games = "[White \"A\"]\n\n1. e4 Nonsense e5 1-0\n\n[White \"B\"]\n\n1. e4 Ke3 1-0\n\n\
                     [White \"C\"]\n\n1. e4 e5 *\n";
        std::fs::write(file.path(), games).expect("written");
        let mut builder = BookBuilder::new(BuildSettings::default());
        let mut flaws = FlawTally::default();
        read_games(file.path(), &mut builder, &mut flaws).expect("readable");
        assert_eq!(
            summary(&builder, &flaws),
            "1 games used; left out: 1 without result, 0 of Chess960, 1 broken; \
             words that are no moves passed over in 1 games"
        );
    }
}
