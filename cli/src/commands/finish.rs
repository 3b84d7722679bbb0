//! `kernrec finish`: the end of what a shell ran. Never fails the step it stands in.

use crate::args::finish::FinishArgs;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;
use kernrec_setup::{Environment, FinishOptions};

pub(crate) fn run(args: &FinishArgs, shell: &mut Shell) -> Exit {
    let status = args
        .status
        .as_deref()
        .and_then(|text| text.trim().parse().ok());
    if status.is_none() {
        let given = args.status.as_deref().unwrap_or_default();
        shell.note(format_args!(
            "kernrec: no exit status in `{given}`: it stays unknown"
        ));
    }
    let options = FinishOptions {
        status,
        dir: args.dir.clone(),
    };
    for problem in kernrec_setup::finish(&options, &Environment::of_process()).problems {
        shell.note(format_args!("kernrec: {problem}"));
    }
    Exit::Done
}
