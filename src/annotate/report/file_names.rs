//! The names of a report's files.

/// The first page of the index.
pub const INDEX_FILE: &str = "index.html";

/// The file of a game's page.
#[must_use]
pub fn game_file(number: u64) -> String {
    format!("game-{number:06}.html")
}

/// The file of a page of the index, from 0.
pub(super) fn index_file(page: usize) -> String {
    if page == 0 {
        INDEX_FILE.to_owned()
    } else {
        format!("index-{}.html", page + 1)
    }
}
