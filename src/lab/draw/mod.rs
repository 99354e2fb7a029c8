//! Drawings of searches: a tree as textbooks show it, in the terminal or as SVG, complete or step
//! by step; and charts.

mod caption;
mod chart;
mod html;
mod picture;
mod svg;
mod terminal;

pub use caption::advance;
pub use chart::{Chart, Series};
pub use html::html;
pub use picture::{Caption, Picture, PointOfView};
pub use svg::svg;
pub use terminal::terminal;
