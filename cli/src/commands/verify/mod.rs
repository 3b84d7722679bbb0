//! `kernrec verify`: is it what it should be?

mod files;

use crate::args::verify::{VerifyArgs, What};
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;

pub(crate) fn run(args: &VerifyArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    match &args.what {
        What::Files(args) => files::run(args, shell),
    }
}
