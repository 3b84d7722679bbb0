//! `kernrec select`: which steps can a change reach?

mod answer;
mod inputs;

use crate::args::select::{FormatArg, SelectArgs};
use crate::error::CommandError;
use crate::shell::Shell;
use answer::Answer;
pub(crate) use inputs::{Gathered, Inputs, RunEverything, placing, policy, read_steps, trace};
use kernrec_schemas::exit::Exit;
use kernrec_select::{Report, select};

pub(crate) fn run(args: &SelectArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    if args.format == FormatArg::Buildkite && args.inputs.step_files.steps.len() != 1 {
        let problem =
            "--format buildkite writes a pipeline back: give it with --steps, and no other";
        return Err(CommandError::usage(problem));
    }
    let gathered = Inputs::gather(&args.inputs)?;
    let (report, pipeline) = match &gathered {
        Gathered::Inputs(inputs) => (ask(inputs)?, inputs.pipeline()),
        Gathered::RunEverything(why) => (stopped(args, why, shell), None),
    };
    let answer = Answer {
        report: &report,
        pipeline,
    };
    for write in &args.write {
        answer.write(write.form, &write.path)?;
    }
    answer.print(args.format, shell)
}

/// Puts the question.
pub(crate) fn ask(inputs: &Inputs) -> Result<Report, CommandError> {
    select(&inputs.records, &inputs.question())
        .map_err(|error| CommandError::failed(error.reason(), error))
}

/// What could not be had is said at once.
fn stopped(args: &SelectArgs, why: &RunEverything, shell: &mut Shell) -> Report {
    let RunEverything {
        reason,
        problem,
        hint,
    } = why;
    shell.note(format_args!("every step must run: {reason}: {problem}"));
    if let Some(hint) = hint {
        shell.note(format_args!("hint: {hint}"));
    }
    Report::stopped(reason, problem, &policy(&args.inputs))
}
