//! The command line: one file a subcommand. Without any, Pleach speaks UCI.

mod analyse;
mod annotate;
mod bench;
mod book;
mod chances;
mod datagen;
mod eval;
mod interruption;
mod lab;
mod label;
mod limits;
mod perft;
mod position;
mod suite;
mod train;

use std::ffi::OsString;
use std::io::{self, Write as _};
use std::ops::ControlFlow;
use std::process::ExitCode;

use clap::{Arg, CommandFactory as _, FromArgMatches as _, Parser, Subcommand};

use crate::datagen::genfens::GenfensRequest;
use crate::eval::EvalKind;
use crate::nnue::Network;
use crate::uci;

/// A UCI chess engine. Without a subcommand it speaks UCI on stdin and stdout, as chess programs
/// expect; UCI commands may also be given as arguments, each in quotes, and are run in order.
#[derive(Parser)]
#[command(name = "pleach", version, about, long_about = None, after_help = EXAMPLES)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

const EXAMPLES: &str = "\
Examples:
  pleach                                         speak UCI
  pleach analyse startpos --movetime 5000        the best move and line, for people
  pleach annotate games.pgn -o annotated.pgn     comments, marks and better lines for games
  pleach suite wac.epd --movetime 500            solve a test suite
  pleach book build games.pgn.zst -o book.bin    an opening book
  pleach perft 6                                 count move sequences
  pleach bench                                   nodes and speed over fixed positions
  pleach \"position startpos moves e2e4\" \"go depth 12\"

Exit codes: 0 success, 1 failure, 2 wrong usage.";

#[derive(Subcommand)]
enum Command {
    /// Speak UCI on stdin and stdout (the default)
    Uci,
    /// Search fixed positions; prints nodes (a signature) and speed
    Bench(bench::Arguments),
    /// Count the sequences of legal moves of a length
    Perft(perft::Arguments),
    /// Show the network's evaluation of a position, without search
    Eval(eval::Arguments),
    /// Search a position and show board, lines and scores
    Analyse(analyse::Arguments),
    /// Annotate the games of a PGN file, with a report in HTML
    Annotate(Box<annotate::Arguments>),
    /// Solve a test suite in EPD and show what was missed
    Suite(suite::Arguments),
    /// Build, show and merge opening books
    Book(book::Arguments),
    /// Compare and draw the textbook algorithms
    Lab(lab::Arguments),
    /// Play games for training, or record positions from such games
    Datagen(datagen::DatagenArgs),
    /// Rewrite the scores of recorded games and positions with another engine's
    Label(label::LabelArgs),
    /// Train a network on recorded games
    Train(Box<train::TrainArgs>),
    /// Fit the model of win, draw and loss to recorded games
    Chances(chances::Arguments),
    /// Print a completion script for a shell
    Completions {
        /// The shell
        shell: clap_complete::Shell,
    },
}

impl Command {
    /// From which level on a subcommand logs; UCI has a log of its own.
    const fn log_level(&self) -> Option<&'static str> {
        match self {
            Command::Uci => None,
            // They run for hours.
            Command::Datagen(_) | Command::Label(_) | Command::Train(_) => Some("info"),
            _ => Some("warn"),
        }
    }
}

/// A command's result: whether everything was done, or why it could not be.
type CommandResult = anyhow::Result<bool>;

/// Runs the program on its arguments.
#[must_use]
pub fn run() -> ExitCode {
    let arguments: Vec<OsString> = std::env::args_os().collect();
    let result = if let Some(made) = run_genfens(&arguments) {
        made
    } else if let Some(commands) = uci_commands(&arguments) {
        uci::batch(&commands).map_err(anyhow::Error::from)
    } else {
        dispatch(parse(arguments))
    };
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        // The reader of the output has closed the pipe.
        Err(error) if is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            let _ = writeln!(io::stderr(), "pleach: {}", with_causes(&error));
            ExitCode::FAILURE
        }
    }
}

/// Parses the arguments; ends the program with a message if they are wrong.
fn parse(arguments: Vec<OsString>) -> Cli {
    let matches = take_negative_numbers(Cli::command()).get_matches_from(arguments);
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// Lets `-5` be the value of every option and argument, so that the message names the range that
/// it misses. Otherwise clap takes it for an unknown option.
fn take_negative_numbers(command: clap::Command) -> clap::Command {
    let allow = |arg: Arg| {
        let takes_values = arg.get_action().takes_values();
        arg.allow_negative_numbers(takes_values)
    };
    command
        .mut_args(allow)
        .mut_subcommands(take_negative_numbers)
}

fn dispatch(cli: Cli) -> CommandResult {
    if let Some(level) = cli.command.as_ref().and_then(Command::log_level) {
        log_to_stderr(level);
    }
    match cli.command {
        None | Some(Command::Uci) => Ok(uci::interactive().map(|()| true)?),
        Some(Command::Bench(arguments)) => bench::run(&arguments),
        Some(Command::Perft(arguments)) => perft::run(&arguments),
        Some(Command::Eval(arguments)) => eval::run(&arguments),
        Some(Command::Analyse(arguments)) => analyse::run(&arguments),
        Some(Command::Annotate(arguments)) => annotate::run(&arguments),
        Some(Command::Suite(arguments)) => suite::run(&arguments),
        Some(Command::Book(arguments)) => book::run(&arguments),
        Some(Command::Lab(arguments)) => lab::run(&arguments),
        Some(Command::Datagen(arguments)) => datagen::run(arguments).map(|()| true),
        Some(Command::Label(arguments)) => label::run(arguments).map(|()| true),
        Some(Command::Train(arguments)) => train::run(&arguments).map(|()| true),
        Some(Command::Chances(arguments)) => chances::run(&arguments),
        Some(Command::Completions { shell }) => {
            let mut script = Vec::new();
            clap_complete::generate(shell, &mut Cli::command(), "pleach", &mut script);
            io::stdout().write_all(&script)?;
            Ok(true)
        }
    }
}

/// Answers OpenBench's request for openings, if that is the first argument.
fn run_genfens(arguments: &[OsString]) -> Option<CommandResult> {
    let request = GenfensRequest::parse(&arguments.get(1)?.to_string_lossy())?;
    let eval_kind = EvalKind::Network(Network::embedded());
    let mut failed = Ok(());
    let made = request.map_err(anyhow::Error::from).and_then(|request| {
        let show = |fen: &str| {
            failed = writeln!(io::stdout(), "info string genfens {fen}");
            match failed {
                Ok(()) => ControlFlow::Continue(()),
                Err(_) => ControlFlow::Break(()),
            }
        };
        Ok(request.run(eval_kind, show)?)
    });
    Some(made.and_then(|()| Ok(failed.map(|()| true)?)))
}

/// Logs to stderr what is at least of a level, unless `RUST_LOG` says otherwise.
fn log_to_stderr(level: &str) {
    let level = env_logger::Env::default().default_filter_or(level);
    // This fails only if there is a logger already, which is as good.
    let _ = env_logger::Builder::from_env(level).try_init();
}

/// An error and its causes in one line. Many errors repeat their cause in their own text; it is not
/// said again.
fn with_causes(error: &anyhow::Error) -> String {
    let mut text = error.to_string();
    for cause in error.chain().skip(1).map(ToString::to_string) {
        if !text.contains(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

fn is_broken_pipe(error: &anyhow::Error) -> bool {
    error
        .downcast_ref::<io::Error>()
        .is_some_and(|error| error.kind() == io::ErrorKind::BrokenPipe)
}

/// The UCI commands in the arguments, if that is what they are: each argument one command, if the
/// first has several words or each begins as one; otherwise all of them together one. Subcommands
/// and flags of our own come first.
fn uci_commands(arguments: &[OsString]) -> Option<Vec<String>> {
    let words: Vec<String> = arguments
        .iter()
        .skip(1)
        .map(|word| word.to_string_lossy().into_owned())
        .collect();
    let begins = |word: &String| {
        word.split_whitespace()
            .next()
            .is_some_and(uci::Command::is_known)
    };
    let first = words.first().filter(|word| begins(word))?;
    // `uci` alone and with options is the subcommand; with more behind it, the first of several
    // commands.
    let is_option = |word: &String| word.starts_with('-');
    let more = words.get(1).is_some_and(|word| !is_option(word));
    let own = Cli::command()
        .get_subcommands()
        .any(|command| command.get_name() == first && !(first == "uci" && more))
        || is_option(first)
        || first == "help";
    if own {
        return None;
    }
    let each = first.contains(char::is_whitespace) || words.iter().all(begins);
    Some(if each { words } else { vec![words.join(" ")] })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn commands(words: &[&str]) -> Option<Vec<String>> {
        let arguments: Vec<OsString> = std::iter::once("pleach")
            .chain(words.iter().copied())
            .map(OsString::from)
            .collect();
        uci_commands(&arguments)
    }

    #[test]
    fn the_command_line_is_well_formed() {
        Cli::command().debug_assert();
    }

    #[test]
    fn a_cause_is_said_once() {
        let inner = || anyhow::anyhow!("no such file");
        let silent = inner().context("cannot read the book");
        assert_eq!(with_causes(&silent), "cannot read the book: no such file");
        let repeated = inner().context("cannot read the book: no such file");
        assert_eq!(
            with_causes(&repeated.context("in book.bin")),
            "in book.bin: cannot read the book: no such file"
        );
    }

    #[test]
    fn uci_commands_are_told_from_subcommands() {
        assert_eq!(commands(&[]), None);
        assert_eq!(commands(&["bench"]), None);
        assert_eq!(commands(&["bench", "5"]), None);
        assert_eq!(commands(&["--help"]), None);
        assert_eq!(commands(&["nonsense"]), None);
        assert_eq!(commands(&["uci"]), None);
        assert_eq!(commands(&["uci", "--help"]), None);
        let misspelt = [
            "position startpos",
            "setopton name Hash value 4",
            "go depth 3",
        ];
        assert_eq!(
            commands(&misspelt),
            Some(misspelt.map(str::to_owned).to_vec())
        );
        assert_eq!(commands(&["uci", "quit"]).map(|list| list.len()), Some(2));
        assert_eq!(
            commands(&["go", "depth", "5"]),
            Some(vec!["go depth 5".to_owned()])
        );
        assert_eq!(
            commands(&["position startpos", "go depth 5", "quit"]).map(|list| list.len()),
            Some(3)
        );
    }
}
