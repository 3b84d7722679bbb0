//! The command line of kernrec: arguments, text, exit statuses. The work itself is in the libraries.
//!
//! `args` is what a user may write, as plain data; each module of `commands` turns its part into checked
//! options once, does the job and says how it ended. `shell` owns stdout and stderr, `error` the one mapping
//! from failures to text and exit status, `environment` the variables that are read, `summary` the report that
//! becomes text or JSON, `show` the reports on single documents, `inputs` what several
//! commands read, `network` how stores are reached, `progress` the bars on a terminal.
#![warn(missing_docs)]

#[expect(
    clippy::doc_markdown,
    reason = "the doc comments are the help texts, which show no backticks"
)]
mod args;
mod branch;
mod commands;
mod document;
mod environment;
mod error;
mod inputs;
mod network;
mod programs;
mod progress;
mod shell;
mod show;
mod signing;
mod summary;

pub use environment::{VARIABLES, Variable};
pub use programs::{ci_fetch_kernel_record, command_lines, kernrec, kernrec_publish};
