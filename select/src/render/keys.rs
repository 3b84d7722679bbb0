//! The list a pipeline generator reads.
//!
//! **When everything must run.** Exactly when no step may be skipped ([`Report::everything_must_run`]): every
//! reason that holds a whole record has that effect (no usable record, a file outside the map, a stale or revoked
//! record, an unavailable backend), and so has a change that happens to reach each step by itself. Then there is no
//! list. An empty one would be read as "run nothing", and a full one would leave out the steps that the record has
//! never seen. A list, when there is one, always names at least one step and leaves out at least one: a file lets
//! steps go only if some step launched a kernel of it.

use crate::report::Report;
use kernrec_schemas::StepKey;
use kernrec_schemas::json;

/// The list is not of all steps.
pub(super) const UNRECORDED: &str =
    "Steps without a row in any record are not listed here and must run.";

/// What a bare list of keys cannot say and whoever reads it must know, for stderr.
pub fn keys_caveats(report: &Report) -> Vec<&'static str> {
    let assumed = report.assumes.iter().map(|assumed| assumed.meaning());
    std::iter::once(UNRECORDED).chain(assumed).collect()
}

/// One JSON array of the keys of the steps that must run, sorted, on one line; `None` when everything must run,
/// for which the caller prints nothing and exits with [`Exit::RunEverything`](kernrec_schemas::exit::Exit).
///
/// Steps that no record has a row for are not in the array and must run as well.
pub fn keys(report: &Report) -> Option<String> {
    if report.everything_must_run {
        return None;
    }
    let steps: Vec<&StepKey> = report.steps_to_run().into_iter().collect();
    let mut line = String::from_utf8_lossy(&json::canonical(&steps)).into_owned();
    line.push('\n');
    Some(line)
}
