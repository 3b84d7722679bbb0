//! `kernrec run`: one command, recorded if that can be done. Says nothing unless something is wrong.

use super::job;
use crate::args::run::RunArgs;
use crate::shell::Shell;
use kernrec_setup::Environment;

/// Returns the command's status.
pub(crate) fn run(args: &RunArgs, shell: &mut Shell) -> u8 {
    let options = job::options(&args.job);
    let environment = Environment::of_process();
    let ended = kernrec_setup::run(&options, &environment, &args.command, &mut |problem| {
        shell.note(format_args!("kernrec: {problem}"));
    });
    if let Some(error) = &ended.not_started {
        let program = args.command.first().cloned().unwrap_or_default();
        shell.note(format_args!("kernrec: {}: {error}", program.display()));
    }
    for problem in &ended.problems {
        shell.note(format_args!("kernrec: {problem}"));
    }
    ended.end_alike();
    ended.status
}
