//! What a user may write, as plain data: one module per sub-command. Nothing here decides or reads anything.

pub(crate) mod diff;
pub(crate) mod show;
pub(crate) mod verify;

use clap::{Parser, Subcommand};

/// Record which GPU kernels each CI test step launches, and skip the steps a change cannot reach
#[derive(Debug, Parser)]
#[command(name = "kernrec", version, max_term_width = 100)]
pub(crate) struct Kernrec {
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// The sub-commands.
#[derive(Debug, Subcommand)]
pub(crate) enum Command {
    /// Show any document readably
    Show(show::ShowArgs),
    /// Compare two kernel tables
    Diff(diff::DiffArgs),
    /// Prove that files, a published record or installed data are what they should be
    Verify(verify::VerifyArgs),
}
