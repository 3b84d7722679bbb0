//! Which branch is built, as `--only-branch` asks.

use crate::environment::{self, Variable};
use crate::error::CommandError;

/// The branch that is built: the one `given`, else what the CI system says; `None` when nobody says. A pull request's
/// is named as such whatever its name is: that of a fork may be called as the one that publishes, and no branch's name
/// holds a blank.
pub(crate) fn built(given: Option<&str>) -> Result<Option<String>, CommandError> {
    let branch = match given {
        Some(branch) => Some(branch.to_owned()),
        None => first_of([environment::BRANCH, environment::REF_NAME])?,
    };
    if !is_pull_request()? {
        return Ok(branch);
    }
    let branch = branch.as_deref().unwrap_or("unknown");
    Ok(Some(format!("{branch} of a pull request")))
}

/// The first value that is set.
fn first_of(variables: [Variable; 2]) -> Result<Option<String>, CommandError> {
    for variable in variables {
        if let Some(value) = variable.read()? {
            return Ok(Some(value));
        }
    }
    Ok(None)
}

/// Buildkite gives the request's number or `false`. GitHub's `pull_request_target` has the base's branch as its own.
fn is_pull_request() -> Result<bool, CommandError> {
    let number = environment::PULL_REQUEST.read()?;
    let event = environment::EVENT_NAME.read()?;
    Ok(number.is_some_and(|number| number != "false")
        || event.is_some_and(|event| event == "pull_request" || event == "pull_request_target"))
}
