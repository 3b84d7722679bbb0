//! One module per sub-command: options, work, report.

mod arm;
mod audit;
mod collect;
mod diff;
mod env;
mod explain;
mod fetch;
mod finish;
mod fold;
mod job;
mod pack;
mod publish;
mod python;
mod run;
mod select;
mod show;
mod store;
mod symbol_map;
mod validate;
mod verify;

use crate::args::Command;
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;

/// How a sub-command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Ended {
    /// With a status of ours.
    Exit(Exit),
    /// With that of the command it ran.
    Workload(u8),
}

impl Ended {
    /// The process exit status.
    pub(crate) const fn code(self) -> u8 {
        match self {
            Self::Exit(exit) => exit.code(),
            Self::Workload(status) => status,
        }
    }
}

/// Runs a sub-command.
pub(crate) fn run(command: Command, shell: &mut Shell) -> Result<Ended, CommandError> {
    let exit = match command {
        Command::Publish(args) => publish::run(args, shell),
        Command::Fetch(args) => fetch::run(args, shell),
        Command::Select(args) => select::run(&args, shell),
        Command::Explain(args) => explain::run(&args, shell),
        Command::Validate(args) => validate::run(&args, shell),
        Command::Run(args) => return Ok(Ended::Workload(run::run(&args, shell))),
        Command::Env(args) => env::run(&args, shell),
        Command::Finish(args) => Ok(finish::run(&args, shell)),
        Command::Python(args) => python::run(&args, shell),
        Command::SymbolMap(args) => symbol_map::run(&args, shell),
        Command::Arm(args) => arm::run(&args, shell),
        Command::Collect(args) => collect::run(&args, shell),
        Command::Pack(args) => pack::run(&args, shell),
        Command::Fold(args) => fold::run(&args, shell),
        Command::Show(args) => show::run(&args, shell),
        Command::Audit(args) => audit::run(&args, shell),
        Command::Diff(args) => diff::run(&args, shell),
        Command::Verify(args) => verify::run(&args, shell),
        Command::Store(args) => store::run(&args, shell),
    };
    exit.map(Ended::Exit)
}
