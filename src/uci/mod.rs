//! The Universal Chess Interface: commands in, results out, and their order.

mod command;
mod crash;
pub(crate) mod draw;
mod input;
mod logfile;
mod options;
mod outbox;
mod output;
mod session;

pub use command::{Command, ParseError};
pub use session::Session;
pub(crate) use session::{batch::batch, interactive};
