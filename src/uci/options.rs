//! The table of options: what `uci` lists, `setoption` sets, and `help` and the book describe.

use std::error::Error;
use std::fmt::Display;
use std::ops::RangeInclusive;
use std::path::Path;
use std::str::FromStr;

use thiserror::Error;

use super::logfile;
use super::output::Style;
use crate::board::quote;
use crate::engine::{self, Engine};
use crate::levels;
use crate::params::{self, Parameter};
use crate::tablebase;
use crate::types::{CastlingMode, Depth};

/// What clients send for "no text".
const EMPTY: &str = "<empty>";

/// What stands for the tapered evaluation where a network file is named.
const TAPERED: &str = "<tapered>";

/// What the session remembers for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    pub style: Style,
}

/// What an option may change.
pub struct OptionTarget<'a> {
    pub engine: &'a mut Engine,
    pub preferences: &'a mut Preferences,
    /// What a setter has to report to the user.
    pub remarks: Vec<String>,
    /// Part of what the option asks for could not be done; the remarks say what.
    pub incomplete: bool,
}

/// Why a setter refused a value; [`set`] adds the option's name.
type Refusal = Box<dyn Error + Send + Sync>;
type SetResult = Result<(), Refusal>;

/// An option's type with its default, its range, and what it does with a value that fits.
pub enum OptionKind {
    Check {
        default: bool,
        set: fn(&mut OptionTarget<'_>, bool) -> SetResult,
    },
    Spin {
        default: usize,
        min: usize,
        max: usize,
        set: fn(&mut OptionTarget<'_>, usize) -> SetResult,
    },
    Button {
        press: fn(&mut OptionTarget<'_>) -> SetResult,
    },
    /// Empty by default; the setter receives `None` for empty text.
    Text {
        set: fn(&mut OptionTarget<'_>, Option<&str>) -> SetResult,
    },
}

/// One row of the table.
pub struct UciOption {
    pub name: &'static str,
    pub kind: OptionKind,
    /// What the command `help` and the book say of it.
    pub help: &'static str,
}

/// Why an option was not set; it keeps its value.
#[derive(Debug, Error)]
pub enum OptionError {
    #[error("no option '{0}'")]
    Unknown(String),
    #[error("option {name}: '{value}' is not {expected}")]
    Value {
        name: String,
        value: String,
        expected: String,
    },
    #[error("option {name}: {error}")]
    Refused {
        name: &'static str,
        #[source]
        error: Refusal,
    },
}

/// Why a file was refused, with its name.
fn with_file(path: Option<&str>, error: &dyn Error) -> Refusal {
    format!("{}: {error}", path.unwrap_or_default()).into()
}

/// Every option, in the order in which clients see them.
pub const OPTIONS: &[UciOption] = &[
    UciOption {
        name: "Hash",
        kind: OptionKind::Spin {
            default: engine::HASH_DEFAULT,
            min: engine::HASH_MIN,
            max: engine::HASH_MAX,
            set: |target, mib| Ok(target.engine.set_hash(mib)?),
        },
        help: "Size of the hash table in MiB. If so much cannot be allocated, the old size is \
               kept.",
    },
    UciOption {
        name: "Clear Hash",
        kind: OptionKind::Button {
            press: |target| Ok(target.engine.clear_hash()?),
        },
        help: "Empties the hash table.",
    },
    UciOption {
        name: "Threads",
        kind: OptionKind::Spin {
            default: 1,
            min: 1,
            max: engine::THREADS_MAX,
            set: |target, threads| Ok(target.engine.set_threads(threads)?),
        },
        help: "Number of search threads. If so many cannot be started, the old number is kept.",
    },
    UciOption {
        name: "MultiPV",
        kind: OptionKind::Spin {
            default: 1,
            min: 1,
            max: engine::MULTI_PV_MAX,
            set: |target, lines| {
                target.engine.settings.multi_pv = lines;
                Ok(())
            },
        },
        help: "How many of the best moves get an exact score and a line each.",
    },
    UciOption {
        name: "Ponder",
        kind: OptionKind::Check {
            default: false,
            set: |_, _| Ok(()),
        },
        help: "Tells that the client may send `go ponder`; nothing changes in the engine.",
    },
    UciOption {
        name: "Move Overhead",
        kind: OptionKind::Spin {
            default: engine::OVERHEAD_DEFAULT,
            min: 0,
            max: engine::OVERHEAD_MAX,
            set: |target, ms| {
                target.engine.settings.move_overhead = ms;
                Ok(())
            },
        },
        help: "Milliseconds lost on each move outside the engine: raise it over a network.",
    },
    UciOption {
        name: "UCI_Chess960",
        kind: OptionKind::Check {
            default: false,
            set: |target, on| {
                let mode = if on {
                    CastlingMode::Chess960
                } else {
                    CastlingMode::Standard
                };
                target.engine.set_castling(mode);
                Ok(())
            },
        },
        help: "Plays Chess960: castling is written as the king taking its own rook.",
    },
    UciOption {
        name: "UCI_ShowWDL",
        kind: OptionKind::Check {
            default: false,
            set: |target, on| {
                target.preferences.style.show_wdl = on;
                Ok(())
            },
        },
        help: "Adds the chances of winning, drawing and losing, in permille, to every score.",
    },
    UciOption {
        name: "Show Effort",
        kind: OptionKind::Check {
            default: false,
            set: |target, on| {
                target.preferences.style.show_effort = on;
                Ok(())
            },
        },
        help: "After every line, an `info string` with the share of the nodes below its first move.",
    },
    UciOption {
        name: "UCI_AnalyseMode",
        kind: OptionKind::Check {
            default: false,
            set: |_, _| Ok(()),
        },
        help: "Accepted for clients that set it; play and analysis are the same search.",
    },
    UciOption {
        name: "SyzygyPath",
        kind: OptionKind::Text {
            set: |target, path| {
                target.remarks = target.engine.set_tablebases(path);
                // The last says how many tables there are, each before it what was left out.
                target.incomplete = target.remarks.len() > 1;
                Ok(())
            },
        },
        help: "Folders of Syzygy tablebases, separated as in the system's `PATH`; empty for none.",
    },
    UciOption {
        name: "SyzygyProbeDepth",
        kind: OptionKind::Spin {
            default: tablebase::DEPTH_DEFAULT as usize,
            min: 1,
            max: tablebase::DEPTH_MAX as usize,
            set: |target, plies| {
                let depth = Depth(plies as i32);
                target.engine.use_tablebases(|tables| tables.depth = depth);
                Ok(())
            },
        },
        help: "Least depth at which positions with as many pieces as the largest tables, or as \
               `SyzygyProbeLimit` if that is less, are probed: raise it if the tables lie on a \
               slow disk.",
    },
    UciOption {
        name: "SyzygyProbeLimit",
        kind: OptionKind::Spin {
            default: tablebase::LIMIT_DEFAULT as usize,
            min: 0,
            max: tablebase::LIMIT_DEFAULT as usize,
            set: |target, pieces| {
                let pieces = pieces as u32;
                target
                    .engine
                    .use_tablebases(|tables| tables.pieces = pieces);
                Ok(())
            },
        },
        help: "Positions with more pieces, kings included, are not probed; 0 for none at all.",
    },
    UciOption {
        name: "Syzygy50MoveRule",
        kind: OptionKind::Check {
            default: true,
            set: |target, on| {
                target
                    .engine
                    .use_tablebases(|tables| tables.fifty_move_rule = on);
                Ok(())
            },
        },
        help: "Whether a win that takes more than 50 moves without progress counts as a draw; off \
               for correspondence games that ignore the rule.",
    },
    UciOption {
        name: "UCI_LimitStrength",
        kind: OptionKind::Check {
            default: false,
            set: |target, on| {
                Ok(target
                    .engine
                    .set_strength(|strength| strength.limited = on)?)
            },
        },
        help: "Plays at the rating `UCI_Elo`.",
    },
    UciOption {
        name: "UCI_Elo",
        kind: OptionKind::Spin {
            default: levels::ELO_DEFAULT as usize,
            min: levels::ELO_MIN as usize,
            max: levels::ELO_MAX as usize,
            set: |target, elo| {
                let elo = elo as i32;
                Ok(target.engine.set_strength(|strength| strength.elo = elo)?)
            },
        },
        help: "The rating to play at, with `UCI_LimitStrength` only: see the page on levels.",
    },
    UciOption {
        name: "Skill Level",
        kind: OptionKind::Spin {
            default: levels::SKILL_MAX as usize,
            min: 0,
            max: levels::SKILL_MAX as usize,
            set: |target, skill| {
                let skill = skill as i32;
                Ok(target
                    .engine
                    .set_strength(|strength| strength.skill = skill)?)
            },
        },
        help: "For clients that send it, without `UCI_LimitStrength`: 0 plays at 500, each step adds \
               125, and 20 is full strength.",
    },
    UciOption {
        name: "OwnBook",
        kind: OptionKind::Check {
            default: false,
            set: |target, on| {
                target.engine.use_book(|book| book.own = on);
                Ok(())
            },
        },
        help: "Plays from the opening book of `Book File`, if there is one.",
    },
    UciOption {
        name: "Book File",
        kind: OptionKind::Text {
            set: |target, path| {
                let loaded = target.engine.load_book(path.map(Path::new));
                loaded.map_err(|error| with_file(path, &error))
            },
        },
        help: "An opening book in Polyglot's format, for `OwnBook`. If the file is no book, the \
               old one is kept.",
    },
    UciOption {
        name: "Book Depth",
        kind: OptionKind::Spin {
            default: engine::BOOK_DEPTH_DEFAULT,
            min: 1,
            max: engine::BOOK_DEPTH_MAX,
            set: |target, moves| {
                target.engine.use_book(|book| book.depth = moves);
                Ok(())
            },
        },
        help: "The last move of a game that is played from the book.",
    },
    UciOption {
        name: "Best Book Move",
        kind: OptionKind::Check {
            default: false,
            set: |target, on| {
                target.engine.use_book(|book| book.best_only = on);
                Ok(())
            },
        },
        help: "Always plays the book move with the largest weight, in place of a choice with odds \
               in proportion to the weights.",
    },
    UciOption {
        name: "EvalFile",
        kind: OptionKind::Text {
            set: |target, path| {
                match path {
                    Some(TAPERED) => target.engine.set_tapered()?,
                    path => target.engine.set_network(path.map(Path::new))?,
                }
                Ok(())
            },
        },
        help: "A network file to evaluate with; empty for the one built in; `<tapered>` for the \
               classical evaluation that networks are measured against.",
    },
    UciOption {
        name: "Debug Log File",
        kind: OptionKind::Text {
            set: |_, path| {
                logfile::redirect(path.map(Path::new)).map_err(|error| with_file(path, &error))
            },
        },
        help: "Appends all that is said in both directions to this file; empty to stop.",
    },
];

impl UciOption {
    /// The line that declares the option.
    #[must_use]
    pub fn declaration(&self) -> String {
        let kind = match self.kind {
            OptionKind::Check { default, .. } => format!("check default {default}"),
            OptionKind::Spin {
                default, min, max, ..
            } => {
                format!("spin default {default} min {min} max {max}")
            }
            OptionKind::Button { .. } => "button".to_owned(),
            OptionKind::Text { .. } => format!("string default {EMPTY}"),
        };
        format!("option name {} type {kind}", self.name)
    }

    /// The values that fit, and the default; a button has neither.
    fn values(&self) -> (String, String) {
        match self.kind {
            OptionKind::Check { default, .. } => ("true or false".to_owned(), default.to_string()),
            OptionKind::Spin {
                default, min, max, ..
            } => (format!("{min} to {max}"), default.to_string()),
            OptionKind::Button { .. } => ("button".to_owned(), String::new()),
            OptionKind::Text { .. } => ("text".to_owned(), "empty".to_owned()),
        }
    }

    /// What the command `help` says of the option.
    fn description(&self) -> String {
        let (values, default) = self.values();
        let default = match default.as_str() {
            "" => default,
            _ => format!(", default {default}"),
        };
        format!("  {} ({values}{default}): {}", self.name, self.help)
    }

    /// Whether a value fits, as far as that can be seen without setting it.
    fn check(&self, value: Option<&str>) -> Result<(), OptionError> {
        let given = value.unwrap_or("");
        match self.kind {
            OptionKind::Check { .. } => read_check(self.name, given).map(drop),
            OptionKind::Spin { min, max, .. } => read_number(self.name, given, min..=max).map(drop),
            OptionKind::Button { .. } | OptionKind::Text { .. } => Ok(()),
        }
    }

    /// Reads the value and passes it to the setter.
    fn set(&self, target: &mut OptionTarget<'_>, value: Option<&str>) -> Result<(), OptionError> {
        let given = value.unwrap_or("");
        let outcome = match self.kind {
            OptionKind::Check { set, .. } => set(target, read_check(self.name, given)?),
            OptionKind::Spin { min, max, set, .. } => {
                set(target, read_number(self.name, given, min..=max)?)
            }
            OptionKind::Button { press } => press(target),
            OptionKind::Text { set } => set(
                target,
                value.filter(|text| !text.is_empty() && *text != EMPTY),
            ),
        };
        outcome.map_err(|error| OptionError::Refused {
            name: self.name,
            error,
        })
    }
}

fn wrong_value(name: &str, given: &str, expected: String) -> OptionError {
    OptionError::Value {
        name: name.to_owned(),
        value: quote(given),
        expected,
    }
}

fn read_check(name: &str, given: &str) -> Result<bool, OptionError> {
    if given.eq_ignore_ascii_case("true") {
        Ok(true)
    } else if given.eq_ignore_ascii_case("false") {
        Ok(false)
    } else {
        Err(wrong_value(name, given, "true or false".to_owned()))
    }
}

/// Numbers out of range are refused, not clamped.
fn read_number<T: FromStr + PartialOrd + Display>(
    name: &str,
    given: &str,
    range: RangeInclusive<T>,
) -> Result<T, OptionError> {
    let number = given.parse().ok().filter(|number| range.contains(number));
    number.ok_or_else(|| {
        let (min, max) = (range.start(), range.end());
        wrong_value(name, given, format!("a whole number from {min} to {max}"))
    })
}

/// Every `option` line.
#[must_use]
pub fn declarations() -> Vec<String> {
    let mut lines: Vec<String> = OPTIONS.iter().map(UciOption::declaration).collect();
    lines.extend(tunables().iter().map(|p| {
        format!(
            "option name {} type spin default {} min {} max {}",
            p.name, p.default, p.min, p.max
        )
    }));
    lines.extend(
        switches()
            .iter()
            .map(|name| format!("option name {name} type check default true")),
    );
    lines
}

/// What the command `help` says of each option.
#[must_use]
pub fn descriptions() -> Vec<String> {
    OPTIONS.iter().map(UciOption::description).collect()
}

/// The search's parameters, which only builds with the feature `tune` show as options.
fn tunables() -> &'static [Parameter] {
    if cfg!(feature = "tune") {
        params::PARAMETERS
    } else {
        &[]
    }
}

/// The off-switches of the search's techniques, likewise.
fn switches() -> &'static [&'static str] {
    if cfg!(feature = "tune") {
        params::SWITCHES
    } else {
        &[]
    }
}

/// Whether a value fits the option with this name, as far as that can be seen without setting it.
/// Of names that are not in [`OPTIONS`] nothing is known.
///
/// # Errors
/// If the value does not fit.
pub fn check(name: &str, value: Option<&str>) -> Result<(), OptionError> {
    let option = OPTIONS
        .iter()
        .find(|option| option.name.eq_ignore_ascii_case(name));
    option.map_or(Ok(()), |option| option.check(value))
}

/// Whether the option with this name takes a text, of which [`check`] does not know whether it fits.
pub fn is_text(name: &str) -> bool {
    OPTIONS.iter().any(|option| {
        option.name.eq_ignore_ascii_case(name) && matches!(option.kind, OptionKind::Text { .. })
    })
}

/// Sets the option with this name, in any case.
///
/// # Errors
/// If there is no such option, the value does not fit, or the engine refuses it.
pub fn set(
    target: &mut OptionTarget<'_>,
    name: &str,
    value: Option<&str>,
) -> Result<(), OptionError> {
    let is_named = |other: &str| other.eq_ignore_ascii_case(name);
    let given = value.unwrap_or("");
    if let Some(option) = OPTIONS.iter().find(|option| is_named(option.name)) {
        return option.set(target, value);
    }
    if let Some(parameter) = tunables().iter().find(|tunable| is_named(tunable.name)) {
        let range = parameter.min..=parameter.max;
        params::set(parameter.name, read_number(parameter.name, given, range)?);
        return Ok(());
    }
    if let Some(switch) = switches().iter().find(|switch| is_named(switch)) {
        params::switch(switch, read_check(switch, given)?);
        return Ok(());
    }
    Err(OptionError::Unknown(quote(name)))
}

#[cfg(test)]
mod tests;
