//! Which Python functions a process entered: everything of the Python recorder but the calls to Python.
//!
//! The extension module hands over what the interpreter says (a code object was entered for the first time,
//! a package is where it is, the process forked, it ends) and this crate decides what that means and writes
//! `fn.<host>.<nonce>.<pid>.txt`. It runs inside other people's processes: it never prints, exits or panics,
//! keeps no descriptor open, and reports every trouble of its own in the recording, which can then not be
//! taken for complete.
//!
//! [`Recorder`] is the process's recording, reached by all its threads and kept right over `fork`; [`Setup`]
//! is what it starts with.
#![warn(missing_docs)]

mod arguments;
mod files;
mod header;
mod line;
mod recorder;
mod recording;
#[cfg(test)]
mod recording_tests;
mod roots;
mod setup;
mod variables;

pub use files::{ModuleFacts, Place};
pub use recorder::Recorder;
pub use recording::{Entered, Recording};
pub use roots::Found;
pub use setup::{Loaded, Setup, Trouble};
pub use variables::ALLOWED;
