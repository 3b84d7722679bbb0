//! What several commands read: recordings, jobs lists, the time of a record.

use crate::args::fold::InputArgs;
use crate::environment;
use crate::error::CommandError;
use kernrec_publish::recorded_at::RecordedAtError;
use kernrec_publish::{Collected, Inputs, collect};
use kernrec_schemas::jobs::JobsList;
use std::path::Path;

/// Reads every recording that was named.
pub(crate) fn recordings(args: &InputArgs) -> Result<Collected, CommandError> {
    let inputs = Inputs {
        recordings: args.recordings.clone(),
        bundles: args.bundle.clone(),
    };
    if inputs.recordings.is_empty() && inputs.bundles.is_empty() {
        let problem = "no recordings: give --recordings DIR or --bundle FILE";
        return Err(CommandError::usage(problem));
    }
    Ok(collect(&inputs)?)
}

/// Reads the jobs list, if one was named.
pub(crate) fn jobs(path: Option<&Path>) -> Result<Option<JobsList>, CommandError> {
    path.map(|path| crate::document::parse(path, JobsList::parse))
        .transpose()
}

/// The value of `SOURCE_DATE_EPOCH`.
pub(crate) fn source_date_epoch() -> Result<Option<String>, CommandError> {
    environment::SOURCE_DATE_EPOCH.read()
}

/// A time that cannot be told is the caller's to give.
pub(crate) fn no_time(error: RecordedAtError) -> CommandError {
    match error {
        RecordedAtError::Repo(error) => CommandError::failed(error.reason(), error),
        other => CommandError::usage(other),
    }
}
