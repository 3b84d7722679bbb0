//! `kernrec env`: the variables as lines for `eval`.

use super::job;
use crate::args::env::EnvArgs;
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;
use kernrec_setup::{Environment, Purpose, Session, shell_lines};

pub(crate) fn run(args: &EnvArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let environment = Environment::of_process();
    let session = Session::begin(&job::options(&args.job), &environment, Purpose::Shell);
    for problem in session.problems() {
        shell.note(format_args!("kernrec: {problem}"));
    }
    shell.bytes(&shell_lines(&session, &environment, args.trap))?;
    Ok(Exit::Done)
}
