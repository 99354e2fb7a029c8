//! The Universal Chess Interface: text in, text out, and the order between them.

pub mod command;
mod crash;
pub mod draw;
mod input;
pub mod logfile;
pub mod options;
mod outbox;
pub mod output;
mod session;

pub use command::{Command, ParseError};
pub use session::{Session, batch, interactive};
