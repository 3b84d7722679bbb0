//! What a GitHub Actions job hands to the jobs after it.

use crate::report::Report;
use kernrec_schemas::json;

/// Lines of `$GITHUB_OUTPUT`: `everything-must-run`, and unless it is `true` the JSON arrays `keys` (what must run) and
/// `skip`, which are empty texts otherwise: reading them as JSON fails, and an empty list would mean "run nothing".
pub fn github_outputs(report: &Report) -> String {
    let everything = report.everything_must_run;
    let list = |list: String| if everything { String::new() } else { list };
    let array = |bytes: Vec<u8>| String::from_utf8_lossy(&bytes).into_owned();
    let run = report.steps_to_run().into_iter().collect::<Vec<_>>();
    let skip: Vec<_> = report.skipped.iter().map(|step| &step.step).collect();
    format!(
        "everything-must-run={everything}\nkeys={}\nskip={}\n",
        list(array(json::canonical(&run))),
        list(array(json::canonical(&skip))),
    )
}
