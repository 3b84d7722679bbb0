//! `kernrec select`: which steps can a change reach?

use crate::args::select::{FormatArg, SelectArgs};
use crate::error::CommandError;
use crate::shell::Shell;
use kernrec_schemas::exit::Exit;
use kernrec_schemas::{Backend, Timestamp};
use kernrec_select::{Change, Policy, Report, open_records, render, select};
use std::collections::BTreeSet;

pub(crate) fn run(args: &SelectArgs, shell: &mut Shell) -> Result<Exit, CommandError> {
    let change = Change::of_files(&args.changed_file).map_err(CommandError::usage)?;
    let asked: BTreeSet<Backend> = args.backend.iter().copied().collect();
    let records = open_records(&args.data, &asked);
    if records.is_empty() {
        shell.note(format_args!(
            "nothing is installed in `{}`: every step must run",
            args.data.display()
        ));
        shell.note("hint: run `kernrec fetch` first, or check --data");
        return Ok(Exit::RunEverything);
    }
    let policy = Policy {
        max_age: args.max_age,
        ..Policy::at(Timestamp::now())
    };
    let report = select(&records, &change, &policy)
        .map_err(|error| CommandError::failed(error.reason(), error))?;
    answer(&report, args.format, shell)
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
        }
    }
    Ok(Exit::Done)
}
