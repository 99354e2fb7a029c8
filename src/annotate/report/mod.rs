//! The report: one self-contained HTML page for each game, and an index of pages.
//!
//! All text of a game passes through the template engine's escaping or, for the page's script,
//! through JSON whose `<`, `>`, `&` are escaped; the script shows text as text only.

mod chart;
mod file_names;
mod index;
mod page;

pub use file_names::game_file;
pub use index::{IndexEntry, write_index};
pub use page::{GameInfo, page};

/// Style sheet, piece drawings and script of every page.
const STYLE: &str = include_str!("style.css");
const PIECES: &str = include_str!("pieces.svg");
const SCRIPT: &str = include_str!("game.js");
