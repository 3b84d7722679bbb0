//! An error as the map tells it.

use std::error::Error;

/// An error and everything behind it: what the system said stands last, and is what helps.
pub(crate) fn with_causes(error: &dyn Error) -> String {
    let causes = std::iter::successors(error.source(), |cause| (**cause).source());
    causes.fold(error.to_string(), |text, cause| format!("{text}: {cause}"))
}
