//! `kernrec python`: the Python recorder outside of a job.

use crate::args::python::{PythonArgs, RemoveArgs, What};
use crate::error::CommandError;
use crate::shell::{Form, Shell};
use crate::summary::{Summary, text};
use kernrec_schemas::exit::Exit;
use kernrec_setup::{Environment, RemoveError};

pub(crate) fn run(args: &PythonArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    match &args.what {
        What::Remove(args) => remove(args, shell),
    }
}

fn remove(args: &RemoveArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let environment = Environment::of_process();
    let removed =
        kernrec_setup::remove_python(args.python_exe.as_deref(), &environment).map_err(failed)?;
    let title = if removed.was_there {
        "removed the Python recorder"
    } else {
        "the Python recorder was not there"
    };
    let mut summary = Summary::new("python-remove", title);
    summary.fact("folder", text(removed.folder.display()));
    summary.fact("removed", removed.was_there);
    shell.summary(&summary, Form::of_flag(args.json))?;
    Ok(Exit::Done)
}

fn failed(error: RemoveError) -> CommandError {
    CommandError::failed(error.reason(), error)
}
