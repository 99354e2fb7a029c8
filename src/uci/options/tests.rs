use super::*;

fn try_set(name: &str, value: Option<&str>) -> (Result<(), OptionError>, Engine, Preferences) {
    let mut engine = Engine::new();
    let mut preferences = Preferences::default();
    let mut target = OptionTarget {
        engine: &mut engine,
        preferences: &mut preferences,
        remarks: Vec::new(),
        incomplete: false,
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
        lines.contains(&"option name Move Overhead type spin default 10 min 0 max 5000".to_owned())
    );
}

#[test]
fn the_book_has_this_table() {
    let page = include_str!("../../../book/src/uci.md");
    let row = |option: &UciOption| {
        let (values, default) = option.values();
        format!(
            "| `{}` | {values} | {default} | {} |",
            option.name, option.help
        )
    };
    let rows: Vec<String> = OPTIONS.iter().map(row).collect();
    assert!(
        page.contains(&rows.join("\n")),
        "it should read:\n{}",
        rows.join("\n")
    );
}

#[test]
fn help_describes_each_option() {
    let lines = descriptions();
    assert_eq!(lines.len(), OPTIONS.len());
    assert!(lines[0].starts_with("  Hash (1 to 33554432, default 16): Size of"));
    assert!(lines.contains(&"  Clear Hash (button): Empties the hash table.".to_owned()));
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
fn an_error_names_its_option_once() {
    let refused = try_set("EvalFile", Some("no such file")).0;
    let text = refused.expect_err("no such file").to_string();
    assert!(text.starts_with("option EvalFile: "), "{text}");
    assert_eq!(text.matches("EvalFile").count(), 1, "{text}");
    assert_eq!(text.matches("no such file").count(), 1, "{text}");
}

#[test]
fn declared_defaults_are_what_an_engine_has() {
    let plain = Engine::new().configuration();
    let style = Preferences::default();
    let mut changed = 0;
    for option in OPTIONS {
        let (default, other) = match option.kind {
            OptionKind::Check { default, .. } => (default.to_string(), (!default).to_string()),
            OptionKind::Spin { default, min, .. } => {
                let other = if default == min { min + 1 } else { min };
                (default.to_string(), other.to_string())
            }
            OptionKind::Button { .. } | OptionKind::Text { .. } => continue,
        };
        let (result, engine, preferences) = try_set(option.name, Some(&default));
        assert!(result.is_ok(), "{}", option.name);
        assert_eq!(engine.configuration(), plain, "{}", option.name);
        assert_eq!(preferences, style, "{}", option.name);
        let (_, engine, preferences) = try_set(option.name, Some(&other));
        changed += usize::from(engine.configuration() != plain || preferences != style);
    }
    assert!(changed > 10, "{changed}");
}

#[test]
fn defaults_are_within_their_ranges() {
    for option in OPTIONS {
        if let OptionKind::Spin {
            default, min, max, ..
        } = option.kind
        {
            assert!((min..=max).contains(&default), "{}", option.name);
        }
    }
}

#[test]
fn text_may_be_empty_or_hold_spaces() {
    let mut engine = Engine::new();
    let mut preferences = Preferences::default();
    let mut remarks = |path| {
        let mut target = OptionTarget {
            engine: &mut engine,
            preferences: &mut preferences,
            remarks: Vec::new(),
            incomplete: false,
        };
        set(&mut target, "SyzygyPath", path).expect("any text is accepted");
        target.remarks
    };
    let missing = remarks(Some("/no such tables/at all"));
    assert!(
        missing[0].contains("/no such tables/at all:"),
        "{missing:?}"
    );
    assert_eq!(
        missing[1],
        "Found 0 WDL and 0 DTZ tablebase files (up to 0-man)."
    );
    for empty in [None, Some(""), Some("<empty>")] {
        assert_eq!(remarks(empty), Vec::<String>::new());
    }
}
