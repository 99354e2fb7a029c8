//! The alpha-beta search.

pub mod limits;
pub mod report;
pub mod signals;

pub use limits::Limits;
pub use report::{Info, Report, Silent};
pub use signals::Signals;
