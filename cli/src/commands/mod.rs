//! One module per sub-command: options, work, report.

mod audit;
mod diff;
mod fetch;
mod fold;
mod pack;
mod publish;
mod select;
mod show;
mod verify;

use crate::args::Command;
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;

/// Runs a sub-command.
pub(crate) fn run(command: Command, shell: &mut Shell) -> Result<Exit, CommandError> {
    match command {
        Command::Publish(args) => publish::run(args, shell),
        Command::Fetch(args) => fetch::run(args, shell),
        Command::Select(args) => select::run(&args, shell),
        Command::Pack(args) => pack::run(&args, shell),
        Command::Fold(args) => fold::run(&args, shell),
        Command::Show(args) => show::run(&args, shell),
        Command::Audit(args) => audit::run(&args, shell),
        Command::Diff(args) => diff::run(&args, shell),
        Command::Verify(args) => verify::run(&args, shell),
    }
}
