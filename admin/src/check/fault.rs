//! Why a proof ended early.

use super::Verdict;
use kernrec_store::StoreError;

/// Why a proof ended early.
pub(super) enum Fault {
    /// The promise is broken.
    Broken(String),
    /// The store failed.
    Store(StoreError),
    /// There is nothing to try it on.
    NotTried(&'static str),
}

/// What a store says that it cannot do is a promise that it does not keep.
pub(super) fn offered<T>(result: Result<T, StoreError>) -> Result<T, Fault> {
    result.map_err(|error| match error {
        StoreError::Unsupported { .. } => Fault::Broken(error.to_string()),
        other => Fault::Store(other),
    })
}

impl From<StoreError> for Fault {
    fn from(error: StoreError) -> Self {
        match error {
            // Seen on the store itself, before anything was moved.
            StoreError::NoConditionalWrites { .. } => Self::Broken(error.to_string()),
            other => Self::Store(other),
        }
    }
}

pub(super) fn verdict(result: Result<(), Fault>) -> Verdict {
    match result {
        Ok(()) => Verdict::Kept,
        Err(Fault::Broken(problem)) => Verdict::Broken { problem },
        Err(Fault::Store(error)) => Verdict::NotTold { error },
        Err(Fault::NotTried(why)) => Verdict::NotTried { why },
    }
}

/// The promise is broken unless the condition holds.
pub(super) fn holds(condition: bool, problem: impl FnOnce() -> String) -> Result<(), Fault> {
    if condition {
        Ok(())
    } else {
        Err(Fault::Broken(problem()))
    }
}
