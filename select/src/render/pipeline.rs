//! Why a step is skipped, in the words that a pipeline shows beside it.

use crate::decision::Reason;
use crate::report::{RecordState, Report, SkippedStep};
use kernrec_schemas::StepKey;
use std::collections::BTreeMap;

/// The longest text that Buildkite takes as the value of a step's `skip`.
pub const MAX_SKIP_CHARACTERS: usize = 70;

/// How many hex digits of a commit are shown: with two backends the text still fits.
const COMMIT_DIGITS: usize = 8;

/// The steps that may be skipped, each with a reason of at most [`MAX_SKIP_CHARACTERS`] characters.
pub fn skip_reasons(report: &Report) -> BTreeMap<StepKey, String> {
    let commits = commits(report);
    let skipped = report.skipped.iter();
    skipped
        .map(|step| (step.step.clone(), reason(step, &commits)))
        .collect()
}

fn reason(step: &SkippedStep, commits: &str) -> String {
    let text = match step.reason {
        Reason::NoFileOfTheStepChanged => "no file of the step changed".to_owned(),
        _ => format!("launched no kernel from a changed file{commits}"),
    };
    text.chars().take(MAX_SKIP_CHARACTERS).collect()
}

/// ` (cuda 0123abcd, rocm 0123abcd)`.
fn commits(report: &Report) -> String {
    let records = report.records.iter().filter_map(|record| {
        let RecordState::Ready { commit, .. } = &record.state else {
            return None;
        };
        let commit: String = commit
            .as_ref()?
            .as_str()
            .chars()
            .take(COMMIT_DIGITS)
            .collect();
        Some(format!("{} {commit}", record.backend))
    });
    let records: Vec<String> = records.collect();
    if records.is_empty() {
        return String::new();
    }
    format!(" ({})", records.join(", "))
}
