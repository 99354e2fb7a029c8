//! The table of options: what `uci` lists, what `setoption` sets, and what the book documents.

use std::path::Path;

use thiserror::Error;

use super::logfile;
use super::output::Style;
use crate::engine::{self, Engine};
use crate::params::{self, Parameter};
use crate::types::CastlingMode;

/// What clients send for "no text".
const EMPTY: &str = "<empty>";

/// What stands for the tapered evaluation where a network file is named.
const TAPERED: &str = "<tapered>";

/// What the session remembers for itself.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Preferences {
    pub style: Style,
}

/// An option's type, default and range, as UCI has them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    Check { default: bool },
    Spin { default: i64, min: i64, max: i64 },
    Button,
    Text,
}

/// A value that fits its option's kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Value<'a> {
    Check(bool),
    Spin(i64),
    Pressed,
    /// `None` for empty text.
    Text(Option<&'a str>),
}

/// What an option may change.
pub struct Target<'a> {
    pub engine: &'a mut Engine,
    pub preferences: &'a mut Preferences,
}

type Setter = fn(&mut Target<'_>, Value<'_>) -> Result<(), OptionError>;

/// One row of the table.
pub struct UciOption {
    pub name: &'static str,
    pub kind: Kind,
    /// A sentence for the book.
    pub help: &'static str,
    set: Setter,
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
    Engine {
        name: &'static str,
        error: engine::EngineError,
    },
    #[error("option Debug Log File: {0}")]
    LogFile(std::io::Error),
}

/// Every option, in the order in which clients see them.
pub const OPTIONS: &[UciOption] = &[
    UciOption {
        name: "Hash",
        kind: spin(engine::HASH_DEFAULT, engine::HASH_MIN, engine::HASH_MAX),
        help: "Size of the hash table in MiB. If memory lacks, the old size is kept.",
        set: |target, value| engine_option("Hash", target.engine.set_hash(size(value))),
    },
    UciOption {
        name: "Clear Hash",
        kind: Kind::Button,
        help: "Empties the hash table.",
        set: |target, _| engine_option("Clear Hash", target.engine.clear_hash()),
    },
    UciOption {
        name: "Threads",
        kind: spin(1, 1, engine::THREADS_MAX),
        help: "Number of search threads.",
        set: |target, value| engine_option("Threads", target.engine.set_threads(size(value))),
    },
    UciOption {
        name: "MultiPV",
        kind: spin(1, 1, engine::MULTI_PV_MAX),
        help: "How many of the best moves get an exact score and a line each.",
        set: |target, value| {
            target.engine.settings.multi_pv = size(value);
            Ok(())
        },
    },
    UciOption {
        name: "Ponder",
        kind: Kind::Check { default: false },
        help: "Tells that the client may send `go ponder`; nothing changes in the engine.",
        set: |_, _| Ok(()),
    },
    UciOption {
        name: "Move Overhead",
        kind: spin(
            engine::OVERHEAD_DEFAULT as usize,
            0,
            engine::OVERHEAD_MAX as usize,
        ),
        help: "Milliseconds lost on each move outside the engine: raise it over a network.",
        set: |target, value| {
            target.engine.settings.move_overhead = size(value) as u64;
            Ok(())
        },
    },
    UciOption {
        name: "UCI_Chess960",
        kind: Kind::Check { default: false },
        help: "Plays Chess960: castling is written as the king taking its own rook.",
        set: |target, value| {
            let on = value == Value::Check(true);
            let mode = if on {
                CastlingMode::Chess960
            } else {
                CastlingMode::Standard
            };
            engine_option("UCI_Chess960", target.engine.set_castling(mode))
        },
    },
    UciOption {
        name: "UCI_ShowWDL",
        kind: Kind::Check { default: false },
        help: "Adds the chances of winning, drawing and losing, in permille, to every score.",
        set: |target, value| {
            target.preferences.style.show_wdl = value == Value::Check(true);
            Ok(())
        },
    },
    UciOption {
        name: "UCI_AnalyseMode",
        kind: Kind::Check { default: false },
        help: "Accepted for clients that set it; play and analysis are the same search.",
        set: |_, _| Ok(()),
    },
    UciOption {
        name: "SyzygyPath",
        kind: Kind::Text,
        help: "Directories of Syzygy tablebases. Accepted, and without effect so far.",
        set: |target, value| {
            target.engine.settings.syzygy_path = text(value).map(str::to_owned);
            Ok(())
        },
    },
    UciOption {
        name: "EvalFile",
        kind: Kind::Text,
        help: "A network file to evaluate with; empty for the one built in; `<tapered>` for the \
               classical evaluation that networks are measured against.",
        set: |target, value| {
            let result = match text(value) {
                Some(TAPERED) => target.engine.set_tapered(),
                path => target.engine.set_network(path.map(Path::new)),
            };
            engine_option("EvalFile", result)
        },
    },
    UciOption {
        name: "Debug Log File",
        kind: Kind::Text,
        help: "Writes all that is said in both directions to this file; empty to stop.",
        set: |_, value| logfile::redirect(text(value).map(Path::new)).map_err(OptionError::LogFile),
    },
];

const fn spin(default: usize, min: usize, max: usize) -> Kind {
    Kind::Spin {
        default: default as i64,
        min: min as i64,
        max: max as i64,
    }
}

fn size(value: Value<'_>) -> usize {
    match value {
        Value::Spin(number) => usize::try_from(number).unwrap_or(0),
        _ => 0,
    }
}

fn text(value: Value<'_>) -> Option<&str> {
    match value {
        Value::Text(text) => text,
        _ => None,
    }
}

fn engine_option(
    name: &'static str,
    result: Result<(), engine::EngineError>,
) -> Result<(), OptionError> {
    result.map_err(|error| OptionError::Engine { name, error })
}

impl UciOption {
    /// The line that declares the option.
    #[must_use]
    pub fn declaration(&self) -> String {
        let kind = match self.kind {
            Kind::Check { default } => format!("check default {default}"),
            Kind::Spin { default, min, max } => {
                format!("spin default {default} min {min} max {max}")
            }
            Kind::Button => "button".to_owned(),
            Kind::Text => format!("string default {EMPTY}"),
        };
        format!("option name {} type {kind}", self.name)
    }

    /// The option's row in the book's table.
    #[must_use]
    pub fn row(&self) -> String {
        let (kind, default) = match self.kind {
            Kind::Check { default } => ("true or false".to_owned(), default.to_string()),
            Kind::Spin { default, min, max } => (format!("{min} to {max}"), default.to_string()),
            Kind::Button => ("button".to_owned(), String::new()),
            Kind::Text => ("text".to_owned(), "empty".to_owned()),
        };
        format!("| `{}` | {kind} | {default} | {} |", self.name, self.help)
    }

    fn read<'a>(&self, value: Option<&'a str>) -> Result<Value<'a>, OptionError> {
        read(self.name, self.kind, value)
    }
}

/// Reads a value of the given kind. Numbers out of range are refused, not bent.
fn read<'a>(name: &str, kind: Kind, value: Option<&'a str>) -> Result<Value<'a>, OptionError> {
    let given = value.unwrap_or("");
    let wrong = |expected: String| OptionError::Value {
        name: name.to_owned(),
        value: given.chars().take(LONGEST_QUOTE).collect(),
        expected,
    };
    match kind {
        Kind::Check { .. } if given.eq_ignore_ascii_case("true") => Ok(Value::Check(true)),
        Kind::Check { .. } if given.eq_ignore_ascii_case("false") => Ok(Value::Check(false)),
        Kind::Check { .. } => Err(wrong("true or false".to_owned())),
        Kind::Spin { min, max, .. } => given
            .parse()
            .ok()
            .filter(|number| (min..=max).contains(number))
            .map(Value::Spin)
            .ok_or_else(|| wrong(format!("a whole number from {min} to {max}"))),
        Kind::Button => Ok(Value::Pressed),
        Kind::Text => Ok(Value::Text(
            value.filter(|text| !text.is_empty() && *text != EMPTY),
        )),
    }
}

/// Longest piece of a wrong value that an error quotes.
const LONGEST_QUOTE: usize = 60;

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

/// Sets a parameter or an off-switch of the search.
fn set_tuning(name: &str, value: Option<&str>) -> Result<(), OptionError> {
    if let Some(parameter) = tunables()
        .iter()
        .find(|parameter| parameter.name.eq_ignore_ascii_case(name))
    {
        return set_tunable(parameter, value);
    }
    let Some(switch) = switches()
        .iter()
        .find(|switch| switch.eq_ignore_ascii_case(name))
    else {
        return Err(OptionError::Unknown(
            name.chars().take(LONGEST_QUOTE).collect(),
        ));
    };
    if let Value::Check(on) = read(switch, Kind::Check { default: true }, value)? {
        params::switch(switch, on);
    }
    Ok(())
}

/// Sets a parameter of the search.
fn set_tunable(parameter: &Parameter, value: Option<&str>) -> Result<(), OptionError> {
    let kind = Kind::Spin {
        default: parameter.default.into(),
        min: parameter.min.into(),
        max: parameter.max.into(),
    };
    if let Value::Spin(number) = read(parameter.name, kind, value)? {
        #[expect(
            clippy::cast_possible_truncation,
            reason = "within the parameter's range"
        )]
        params::set(parameter.name, number as i32);
    }
    Ok(())
}

/// Sets the option with this name, in any case.
///
/// # Errors
/// If there is no such option, the value does not fit, or the engine refuses it.
pub fn set(target: &mut Target<'_>, name: &str, value: Option<&str>) -> Result<(), OptionError> {
    match OPTIONS
        .iter()
        .find(|option| option.name.eq_ignore_ascii_case(name))
    {
        Some(option) => {
            let value = option.read(value)?;
            (option.set)(target, value)
        }
        None => set_tuning(name, value),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn try_set(name: &str, value: Option<&str>) -> (Result<(), OptionError>, Engine, Preferences) {
        let mut engine = Engine::new();
        let mut preferences = Preferences::default();
        let mut target = Target {
            engine: &mut engine,
            preferences: &mut preferences,
        };
        let result = set(&mut target, name, value);
        (result, engine, preferences)
    }

    #[test]
    fn declarations_have_the_form_that_clients_parse() {
        let lines = declarations();
        assert_eq!(
            lines[0],
            "option name Hash type spin default 16 min 1 max 33554432"
        );
        assert!(lines.contains(&"option name Clear Hash type button".to_owned()));
        assert!(lines.contains(&"option name Ponder type check default false".to_owned()));
        assert!(lines.contains(&"option name SyzygyPath type string default <empty>".to_owned()));
        assert!(
            lines.contains(
                &"option name Move Overhead type spin default 10 min 0 max 5000".to_owned()
            )
        );
    }

    #[test]
    fn the_book_has_this_table() {
        let page = include_str!("../../book/src/uci.md");
        let rows: Vec<String> = OPTIONS.iter().map(UciOption::row).collect();
        assert!(
            page.contains(&rows.join("\n")),
            "it should read:\n{}",
            rows.join("\n")
        );
    }

    #[test]
    fn names_fit_in_any_case() {
        let (result, engine, _) = try_set("mULTIpv", Some("7"));
        assert!(result.is_ok() && engine.settings.multi_pv == 7);
        let (result, _, preferences) = try_set("uci_showwdl", Some("TRUE"));
        assert!(result.is_ok() && preferences.style.show_wdl);
    }

    #[test]
    fn wrong_values_change_nothing() {
        for value in [
            None,
            Some(""),
            Some("0"),
            Some("257"),
            Some("x"),
            Some("1.5"),
            Some("-1"),
        ] {
            let (result, engine, _) = try_set("MultiPV", value);
            assert!(
                matches!(result, Err(OptionError::Value { .. })),
                "{value:?}"
            );
            assert_eq!(engine.settings.multi_pv, 1);
        }
        assert!(matches!(
            try_set("Nonsense", None).0,
            Err(OptionError::Unknown(_))
        ));
    }

    #[test]
    fn text_may_be_empty_or_hold_spaces() {
        let (_, engine, _) = try_set("SyzygyPath", Some("/my tables:/more"));
        assert_eq!(
            engine.settings.syzygy_path.as_deref(),
            Some("/my tables:/more")
        );
        for empty in [None, Some(""), Some("<empty>")] {
            assert_eq!(try_set("SyzygyPath", empty).1.settings.syzygy_path, None);
        }
    }
}
