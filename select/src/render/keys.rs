//! The list a pipeline generator reads.
//!
//! **When everything must run.** Exactly when no step may be skipped ([`Report::everything_must_run`]): every
//! reason that holds a whole record has that effect (no usable record, a file outside the map, a stale or revoked
//! record, an unavailable backend), and so has a change that happens to reach each step by itself. Then there is no
//! list. An empty one would be read as "run nothing", and a full one would leave out the steps that the record has
//! never seen. A list, when there is one, leaves out at least one step. Without a step file it also names at least
//! one, as a file lets steps go only if some step launched a kernel of it; with one it may be empty, and then nothing
//! of the step file needs to run.

use crate::report::Report;
use kernrec_schemas::StepKey;
use kernrec_schemas::json;

/// Which steps the lists do not name although they may exist.
pub(super) fn unlisted(report: &Report) -> &'static str {
    if report.step_file.is_some() {
        "Steps that are not in the step file are not listed here and not judged."
    } else {
        "Steps without a row in any record are not listed here and must run."
    }
}

/// Steps of the step file that no list can name.
pub(super) fn without_key(report: &Report) -> Option<String> {
    let count = report.step_file.as_ref()?.without_key.len();
    let line = match count {
        0 => return None,
        1 => "1 step of the step file has no key: it must run.".to_owned(),
        count => format!("{count} steps of the step file have no key: they must run."),
    };
    Some(line)
}

/// What a bare list of keys cannot say and whoever reads it must know, for stderr.
pub fn keys_caveats(report: &Report) -> Vec<String> {
    let assumed = report.assumes.iter().map(|assumed| assumed.meaning());
    let said = std::iter::once(unlisted(report)).chain(assumed);
    said.map(str::to_owned).chain(without_key(report)).collect()
}

/// One JSON array of the keys of the steps that must run, sorted, on one line; `None` when everything must run,
/// for which the caller prints nothing and exits with [`Exit::RunEverything`](kernrec_schemas::exit::Exit).
///
/// Without a step file, steps that no record has a row for are not in the array and must run as well.
pub fn keys(report: &Report) -> Option<String> {
    if report.everything_must_run {
        return None;
    }
    let steps: Vec<&StepKey> = report.steps_to_run().into_iter().collect();
    let mut line = String::from_utf8_lossy(&json::canonical(&steps)).into_owned();
    line.push('\n');
    Some(line)
}
