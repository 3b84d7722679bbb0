//! One module per sub-command: options, work, report.

mod diff;
mod show;
mod verify;

use crate::args::Command;
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;

/// Runs a sub-command.
pub(crate) fn run(command: Command, shell: &mut Shell) -> Result<Exit, CommandError> {
    match command {
        Command::Show(args) => show::run(&args, shell),
        Command::Diff(args) => diff::run(&args, shell),
        Command::Verify(args) => verify::run(&args, shell),
    }
}
