//! Holds the modules to the layers that `src/lib.rs` lists: each imports from below only.

#[path = "common/sources.rs"]
mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use sources::sources;

/// Every top-level module and its layer.
const LAYERS: &[(&str, u32)] = &[
    ("types", 0),
    ("params", 0),
    ("memory", 0),
    ("stdio", 0),
    ("files", 0),
    ("faults", 0),
    ("hash", 0),
    ("progress", 0),
    ("board", 1),
    ("nnue", 2),
    ("tt", 2),
    ("record", 2),
    ("chances", 3),
    ("eval", 3),
    ("history", 3),
    ("time", 3),
    ("teacher", 3),
    ("tablebase", 3),
    ("opening_book", 3),
    ("levels", 4),
    ("search", 4),
    ("engine", 5),
    ("bench", 6),
    ("lab", 6),
    ("train", 6),
    ("datagen", 6),
    ("label", 6),
    ("suite", 6),
    ("annotate", 6),
    ("uci", 7),
    ("cli", 8),
];

/// What trains a network knows of the engine: the board and the network, never the search.
const HIGHEST_FOR_TRAIN: u32 = 2;

/// The places that may name shakmaty.
const SHAKMATY: &[&str] = &["types", "board", "tablebase", "opening_book"];

fn layer(module: &str) -> Option<u32> {
    LAYERS
        .iter()
        .find(|(name, _)| *name == module)
        .map(|&(_, layer)| layer)
}

/// The code of a file: without comments, and without its unit tests, which may look anywhere.
fn code(path: &Path) -> String {
    let text = fs::read_to_string(path).expect("readable");
    let text = text
        .split("#[cfg(test)]\nmod tests {")
        .next()
        .unwrap_or_default();
    text.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .collect::<Vec<_>>()
        .join("\n")
}

fn top_module(root: &Path, path: &Path) -> String {
    let relative = path.strip_prefix(root).expect("below src");
    let first = relative.iter().next().expect("a name").to_string_lossy();
    first.trim_end_matches(".rs").to_owned()
}

/// The top-level modules that a text names behind `crate::`.
fn imports(code: &str) -> Vec<String> {
    let name = |text: &str| -> String {
        text.chars()
            .take_while(|c| c.is_alphanumeric() || *c == '_')
            .collect()
    };
    let mut found = Vec::new();
    for (at, _) in code.match_indices("crate::") {
        let rest = &code[at + "crate::".len()..];
        match rest.strip_prefix('{') {
            Some(group) => {
                let mut depth = 0;
                for part in group.split_inclusive([',', '{', '}']) {
                    if depth == 0 {
                        found.push(name(part.trim_start()));
                    }
                    depth += part.matches('{').count() as i32 - part.matches('}').count() as i32;
                    if depth < 0 {
                        break;
                    }
                }
            }
            None => found.push(name(rest)),
        }
    }
    found.retain(|name| !name.is_empty());
    found
}

#[test]
fn imports_go_downward_only() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut wrong = Vec::new();
    for path in sources(&root) {
        let module = top_module(&root, &path);
        if ["lib", "main"].contains(&module.as_str()) {
            continue;
        }
        let own = layer(&module).unwrap_or_else(|| panic!("module {module} has no layer"));
        for import in imports(&code(&path)) {
            let Some(other) = layer(&import) else {
                continue;
            };
            let highest = if module == "train" {
                HIGHEST_FOR_TRAIN
            } else {
                own - u32::from(own > 0)
            };
            if import != module && other > highest {
                wrong.push(format!(
                    "{}: {module} ({own}) imports {import} ({other})",
                    path.display()
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn the_rules_engine_is_named_in_few_places() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let wrong: Vec<PathBuf> = sources(&root)
        .into_iter()
        .filter(|path| !SHAKMATY.contains(&top_module(&root, path).as_str()))
        .filter(|path| code(path).contains("shakmaty::"))
        .collect();
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn imports_are_found() {
    assert_eq!(imports("use crate::board::Position;"), ["board"]);
    assert_eq!(
        imports("use crate::{board::{self, X}, types};"),
        ["board", "types"]
    );
    assert_eq!(imports("let x = crate::perft::divide(1);"), ["perft"]);
}

/// The files of the own module that a text imports: behind `super::`, `self::` or
/// `crate::module::`, or, from a file that has a folder of its own, behind nothing. In such a
/// folder what `super::` names is in the file `parent`, unless it is a file itself.
fn siblings(code: &str, module: &str, parent: Option<&str>, files: &[String]) -> Vec<String> {
    let own = format!("crate::{module}::");
    let code = code.replace(&own, "super::").replace("self::", "super::");
    let is_file = |name: &str| files.iter().any(|file| file == name);
    let mut found: Vec<String> = code
        .lines()
        .filter_map(|line| line.trim_start().strip_prefix("use ")?.split_once("::"))
        .map(|(name, _)| name.to_owned())
        .filter(|name| is_file(name))
        .collect();
    for (at, _) in code.match_indices("super::") {
        let rest = &code[at + "super::".len()..];
        let group = match rest.strip_prefix('{') {
            Some(group) => group.split(';').next().unwrap_or_default(),
            None => rest
                .split([':', ';', '(', ' ', ','])
                .next()
                .unwrap_or_default(),
        };
        let names: Vec<&str> = group
            .split(|c: char| !(c.is_alphanumeric() || c == '_'))
            .filter(|name| !["", "self", "super"].contains(name))
            .collect();
        let in_files = names.iter().filter(|name| is_file(name));
        found.extend(in_files.map(|name| (*name).to_owned()));
        if names.iter().any(|name| !is_file(name)) {
            found.extend(parent.map(str::to_owned));
        }
    }
    found
}

/// A file that reaches itself through imports, with the way there.
fn circle(imports: &[(String, Vec<String>)]) -> Option<Vec<String>> {
    let reached = |from: &str| {
        let mut way = vec![from.to_owned()];
        let mut next = 0;
        while let Some(file) = way.get(next).cloned() {
            let found = imports.iter().find(|(name, _)| *name == file);
            for target in found.into_iter().flat_map(|(_, targets)| targets) {
                if target == from {
                    return Some(way[..=next].to_vec());
                }
                if !way.contains(target) {
                    way.push(target.clone());
                }
            }
            next += 1;
        }
        None
    };
    imports.iter().find_map(|(file, _)| reached(file))
}

/// `mod.rs` is a module's front: what it declares and passes on is no import. Unit tests may look
/// anywhere.
#[test]
fn files_of_a_module_import_in_no_circle() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let modules = LAYERS.iter().map(|(module, _)| *module);
    for module in modules.filter(|module| root.join(module).is_dir()) {
        let paths = sources(&root.join(module));
        let stem = |path: &Path| {
            path.file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned()
        };
        let files: Vec<String> = paths.iter().map(|path| stem(path)).collect();
        let imports: Vec<(String, Vec<String>)> = paths
            .iter()
            .filter(|path| !["mod", "tests"].contains(&stem(path).as_str()))
            .map(|path| {
                let folder = path
                    .parent()
                    .filter(|folder| folder.with_extension("rs").exists());
                let parent = folder.map(&stem);
                let found = siblings(&code(path), module, parent.as_deref(), &files);
                (stem(path), found)
            })
            .collect();
        assert_eq!(circle(&imports), None, "{module}");
    }
}

#[test]
fn circles_are_found() {
    let files = ["a", "b", "c"].map(str::to_owned);
    let imports = |texts: [&str; 3]| -> Vec<(String, Vec<String>)> {
        let found = texts
            .iter()
            .map(|text| siblings(text, "module", None, &files));
        files.iter().cloned().zip(found).collect()
    };
    assert_eq!(
        circle(&imports(["use super::b::X;", "use super::c;", ""])),
        None
    );
    let round = [
        "use super::b::X;",
        "use super::{Y, a::{X, Z}, c::Z};",
        "crate::module::a::go()",
    ];
    assert!(circle(&imports(round)).is_some());
    let parent_and_child = ["use b::X;", "use super::{Y, a::Z};", ""];
    assert!(circle(&imports(parent_and_child)).is_some());
    let in_folder = |text| siblings(text, "module", Some("a"), &files);
    assert_eq!(in_folder("use super::X;"), ["a"]);
    assert_eq!(in_folder("use super::c::X;"), ["c"]);
    let own_folder = ["use self::b::X;", "use super::a;", ""];
    assert!(circle(&imports(own_folder)).is_some());
    // What a file outside the list imports does not hide what the others do.
    let outside: Vec<String> = ["a", "b", "c", "mod"].map(str::to_owned).into();
    let texts = [
        "use super::{mod::X, b::Y};",
        "use super::c::Z;",
        "use super::a::W;",
    ];
    let found = texts.map(|text| siblings(text, "module", None, &outside));
    let imports: Vec<_> = outside.into_iter().zip(found).collect();
    assert!(circle(&imports).is_some());
}

/// The files of the search that do without the worker: they take what they need, and can be
/// tested alone.
const WITHOUT_WORKER: &[&str] = &[
    "aspiration",
    "limits",
    "node_state",
    "node_type",
    "picker",
    "pv",
    "reductions",
    "report",
    "root_moves",
    "searched_moves",
    "signals",
    "stack",
    "stats",
    "window",
];

#[test]
fn the_parts_of_the_search_do_without_the_worker() {
    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/search");
    for name in WITHOUT_WORKER {
        let code = code(&module.join(name).with_extension("rs"));
        assert!(!code.contains("SearchWorker"), "{name}");
    }
}

/// The off-switches that `params.rs` declares.
fn switches(params: &str) -> Vec<String> {
    let list = params
        .split_once("\nswitches! {")
        .map_or("", |(_, list)| list);
    let list = list.split("\n}").next().unwrap_or_default();
    let names = list
        .lines()
        .filter_map(|line| line.trim().strip_suffix(';'));
    names.map(str::to_owned).collect()
}

/// A switch that is asked in two places can leave a part of its technique on.
#[test]
fn an_off_switch_is_asked_in_one_place() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let params = root.join("params.rs");
    let names = switches(&code(&params));
    assert!(names.len() > 20, "{names:?}");
    let texts: Vec<String> = sources(&root)
        .iter()
        .filter(|path| **path != params)
        .map(|path| code(path))
        .collect();
    for name in names {
        let question = format!("{name}()");
        let times: usize = texts
            .iter()
            .map(|text| text.matches(&question).count())
            .sum();
        assert_eq!(times, 1, "{name}");
    }
}

/// Type names that are defined in several files: how often, and the reason why. The list only
/// shrinks: give a new type a name of its own.
const DEFINED_AGAIN: &[(&str, usize, &str)] = &[
    (
        "Arguments",
        9,
        "what clap parses for one subcommand, named by its file only",
    ),
    (
        "Command",
        2,
        "a subcommand in `cli`, a UCI command in `uci`; clap's and UCI's own word",
    ),
    (
        "Outputs",
        2,
        "of the network in play and of the one in training: the same layers",
    ),
    (
        "Row",
        2,
        "of the network in play and of the one in training: the same weights",
    ),
];

/// The types that a text defines at its top level.
fn defined_types(code: &str) -> Vec<String> {
    let mut found = Vec::new();
    for line in code.lines() {
        let line = match line.strip_prefix("pub") {
            Some(public) => match public.strip_prefix('(') {
                Some(scope) => scope.split_once(") ").map_or("", |(_, rest)| rest),
                None => public.trim_start(),
            },
            None => line,
        };
        let mut words = line.split(|c: char| !(c.is_alphanumeric() || c == '_'));
        if let Some("struct" | "enum" | "trait" | "type" | "union") = words.next()
            && let Some(name) = words.next()
        {
            found.push(name.to_owned());
        }
    }
    found
}

#[test]
fn a_type_name_is_defined_once() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut places: BTreeMap<String, Vec<PathBuf>> = BTreeMap::new();
    for path in sources(&root) {
        if path.ends_with("tests.rs") {
            continue;
        }
        for name in defined_types(&code(&path)) {
            places.entry(name).or_default().push(path.clone());
        }
    }
    let allowed = |name: &str| {
        let known = DEFINED_AGAIN.iter().find(|(known, ..)| *known == name);
        known.map_or(1, |&(_, times, _)| times)
    };
    places.retain(|name, paths| paths.len() != allowed(name));
    assert!(places.is_empty(), "{places:#?}");
}

#[test]
fn switches_are_found() {
    let params = "macro_rules! switches {\n}\n\nswitches! {\n    use_a;\n    use_b;\n}\nuse_c;";
    assert_eq!(switches(params), ["use_a", "use_b"]);
}

#[test]
fn definitions_are_found() {
    let code =
        "pub struct A;\npub(super) enum B {\nstruct C<T>(T);\n    type Item = u8;\nfn f() {}";
    assert_eq!(defined_types(code), ["A", "B", "C"]);
}
