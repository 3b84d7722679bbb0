//! `kernrec select`: which steps can a change reach?

mod inputs;

use crate::args::select::{FormatArg, SelectArgs};
use crate::error::CommandError;
use crate::shell::Shell;
use inputs::{Gathered, Inputs, RunEverything};
use kernrec_schemas::exit::Exit;
use kernrec_select::{Report, render, select};

pub(crate) fn run(args: &SelectArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let inputs = match Inputs::gather(&args.inputs)? {
        Gathered::Inputs(inputs) => inputs,
        Gathered::RunEverything(why) => return Ok(run_everything(&why, shell)),
    };
    let report = select(&inputs.records, &inputs.question())
        .map_err(|error| CommandError::failed(error.reason(), error))?;
    answer(&report, args.format, shell)
}

fn run_everything(why: &RunEverything, shell: &mut Shell) -> Exit {
    let RunEverything {
        reason,
        problem,
        hint,
    } = why;
    shell.note(format_args!("every step must run: {reason}: {problem}"));
    if let Some(hint) = hint {
        shell.note(format_args!("hint: {hint}"));
    }
    Exit::RunEverything
}

/// Nothing on stdout when everything must run: an empty list would be read as "run nothing". People still get
/// the reasons, on stderr.
fn answer(report: &Report, format: FormatArg, shell: &mut Shell) -> Result<Exit, CommandError> {
    let Some(keys) = render::keys(report) else {
        shell.note_lines(render::text(report).trim_end());
        return Ok(Exit::RunEverything);
    };
    match format {
        FormatArg::Text => shell.line(render::text(report).trim_end())?,
        FormatArg::Json => shell.json(report)?,
        FormatArg::Keys => {
            shell.line(keys.trim_end())?;
            for caveat in render::keys_caveats(report) {
                shell.note(format_args!("note: {caveat}"));
            }
            for note in &report.notes {
                shell.note(format_args!(
                    "note: {}: {}",
                    note.reason.word(),
                    note.message
                ));
            }
        }
    }
    Ok(Exit::Done)
}
