//! `kernrec verify`: is it what it should be?

mod build;
mod files;
mod installed;
mod record;

use crate::args::verify::{VerifyArgs, What};
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;

pub(crate) fn run(args: &VerifyArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    match &args.what {
        What::Build(args) => build::run(args, shell),
        What::Files(args) => files::run(args, shell),
        What::Record(args) => record::run(args, shell),
        What::Installed(args) => installed::run(args, shell),
    }
}

/// The status of an answer: a plain "no" is told apart from a question that failed.
const fn verdict(same: bool) -> Exit {
    if same { Exit::Done } else { Exit::Refused }
}
