//! What the book's page 'How Pleach is tested' states about the source: every `unsafe` block is
//! counted there, and every dependency has its reason.

#[path = "common/sources.rs"]
mod sources;

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use sources::sources;

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn page() -> String {
    fs::read_to_string(root().join("book/src/tested.md")).expect("the page")
}

/// The rows of the table below a heading: the name in the first cell, without its backticks, and
/// the rest.
fn table(page: &str, heading: &str) -> BTreeMap<String, String> {
    let below = page.split_once(heading).map_or("", |(_, below)| below);
    let section = below.split("\n## ").next().unwrap_or_default();
    section
        .lines()
        .filter_map(|line| line.strip_prefix("| `")?.split_once("` | "))
        .map(|(name, rest)| (name.to_owned(), rest.to_owned()))
        .collect()
}

/// How many `unsafe` blocks a file has; comments do not count.
fn unsafe_blocks(text: &str) -> usize {
    text.lines()
        .map(|line| line.split_once("//").map_or(line, |(code, _)| code))
        .map(|code| code.matches("unsafe {").count())
        .sum()
}

#[test]
fn every_unsafe_block_is_counted_in_the_book() {
    let mut found = BTreeMap::new();
    for path in sources(&root().join("src")) {
        let count = unsafe_blocks(&fs::read_to_string(&path).expect("readable"));
        if count > 0 {
            let name = path.strip_prefix(root()).expect("below the root");
            found.insert(name.to_string_lossy().replace('\\', "/"), count);
        }
    }
    let page = page();
    let stated: BTreeMap<String, usize> = table(&page, "\n## Undefined behaviour")
        .into_iter()
        .filter_map(|(name, rest)| Some((name, rest.split(' ').next()?.parse().ok()?)))
        .collect();
    assert_eq!(found, stated, "count them anew in book/src/tested.md");
    let total: usize = found.values().sum();
    assert!(
        page.contains(&format!("{total} `unsafe` blocks")),
        "{total} in all"
    );
}

/// What reads the time of day, which a person or a time server may set back or forward.
const CLOCKS_THAT_ARE_SET: [&str; 3] = ["SystemTime", "UNIX_EPOCH", "Timestamp::now"];

/// Only clocks that never go back are read (`Instant`).
#[test]
fn no_clock_is_read_that_can_be_set() {
    let mut monotonic = 0;
    for path in sources(&root().join("src")) {
        let text = fs::read_to_string(&path).expect("readable");
        let found = CLOCKS_THAT_ARE_SET.iter().find(|name| text.contains(*name));
        assert_eq!(found, None, "{}", path.display());
        monotonic += text.matches("Instant::now()").count();
    }
    assert!(monotonic > 0);
}

/// The names in the dependency tables of `Cargo.toml`.
fn dependencies(manifest: &str) -> Vec<String> {
    let mut inside = false;
    let mut names = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            inside = line.ends_with("dependencies]");
        } else if inside
            && !line.starts_with('#')
            && let Some((name, _)) = line.split_once(" = ")
        {
            names.push(name.to_owned());
        }
    }
    names.sort();
    names.dedup();
    names
}

#[test]
fn every_dependency_has_its_reason_in_the_book() {
    let manifest = fs::read_to_string(root().join("Cargo.toml")).expect("a manifest");
    let stated: Vec<String> = table(&page(), "\n## Dependencies").into_keys().collect();
    assert_eq!(dependencies(&manifest), stated);
}

#[test]
fn what_is_counted_is_found() {
    assert_eq!(
        unsafe_blocks("unsafe { a } // unsafe { b }\nunsafe fn c() {}"),
        1
    );
    let manifest =
        "[package]\nname = 1\n[dependencies]\na = 1\n# b = 2\n[dev-dependencies]\nc = 3\n";
    assert_eq!(dependencies(manifest), ["a", "c"]);
    let page = "## T\n\n| `a` | 1 | x |\n## U\n| `b` | 2 |";
    assert_eq!(table(page, "## T").into_keys().collect::<Vec<_>>(), ["a"]);
}
