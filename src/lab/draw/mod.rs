//! Drawings of searches: a tree as textbooks show it, in the terminal or as SVG, complete or step
//! by step; and charts.

mod chart;
mod picture;
mod svg;
mod terminal;

pub use chart::{Chart, Series};
pub use picture::{Drawn, Picture, State, TooLarge, View};
pub use svg::svg;
pub use terminal::terminal;
