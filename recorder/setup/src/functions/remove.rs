//! Taking the recorder out of an interpreter's `site-packages`.

use super::interpreter;
use crate::environment::Environment;
use crate::options::Purpose;
use crate::reason::Unavailable;
use kernrec_python_payload::{self as payload, Layout, PayloadError};
use std::path::{Path, PathBuf};

/// What was removed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removed {
    /// The `site-packages`.
    pub folder: PathBuf,
    /// Whether the recorder was there.
    pub was_there: bool,
}

/// Why it was not.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum RemoveError {
    /// The interpreter was not found, or does not say what it is.
    #[error(transparent)]
    Interpreter(Unavailable),
    /// A file could not be removed.
    #[error(transparent)]
    Payload(#[from] PayloadError),
}

impl RemoveError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Interpreter(reason) => reason.word(),
            Self::Payload(_) => "site-packages-not-writable",
        }
    }
}

/// Takes the recorder out of the `site-packages` of a named interpreter, else of the one that a set-up without a command
/// would find. Processes that are recorded meanwhile may lose what they have not written.
pub fn remove_python(
    executable: Option<&Path>,
    environment: &Environment,
) -> Result<Removed, RemoveError> {
    let python = interpreter::find(executable, environment, Purpose::Shell)
        .and_then(|python| interpreter::ask(&python, None))
        .map_err(RemoveError::Interpreter)?;
    let folder = python.site_packages;
    let was_there = payload::remove(&folder, Layout::SitePackages)?;
    Ok(Removed { folder, was_there })
}
