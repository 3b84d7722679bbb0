//! Why there is no pair to read.

use kernrec_schemas::{Backend, DocumentError};
use kernrec_store::fsio::FsError;
use std::io;
use std::path::{Path, PathBuf};

/// Why an installed pair could not be opened. Only [`InstalledError::NeverInstalled`] means that there is none;
/// everything else is a pair that ought to be there and cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum InstalledError {
    /// Nothing was ever installed for the backend.
    #[error("nothing is installed for `{backend}` in `{}`", out.display())]
    NeverInstalled {
        /// The local folder.
        out: PathBuf,
        /// The backend.
        backend: Backend,
    },
    /// What stands at the backend's name was not made by a fetch.
    #[error("`{}` is {found}, not a link to a record folder", path.display())]
    NotOurs {
        /// The path.
        path: PathBuf,
        /// What is there.
        found: &'static str,
    },
    /// Something that belongs to the record is not there.
    #[error("`{}` is missing", path.display())]
    Missing {
        /// What is missing.
        path: PathBuf,
    },
    /// A file is not what it was when it was installed.
    #[error("`{}` is damaged: {problem}", path.display())]
    Damaged {
        /// The file or folder.
        path: PathBuf,
        /// What is wrong with it.
        problem: String,
    },
    /// A document was refused by its loader.
    #[error("`{}`: {source}", path.display())]
    Document {
        /// The file.
        path: PathBuf,
        /// What the loader said.
        source: DocumentError,
    },
    /// A file operation failed.
    #[error(transparent)]
    Fs(FsError),
}

impl InstalledError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::NeverInstalled { .. } => "never-installed",
            Self::NotOurs { .. } => "not-ours",
            Self::Document {
                source: DocumentError::Version { .. },
                ..
            } => "installed-version",
            Self::Missing { .. } | Self::Damaged { .. } | Self::Document { .. } => {
                "installed-damaged"
            }
            Self::Fs(_) => "file-error",
        }
    }

    /// Whether there is nothing at all, rather than something unusable.
    pub const fn is_never_installed(&self) -> bool {
        matches!(self, Self::NeverInstalled { .. })
    }

    pub(crate) fn damaged(path: &Path, problem: impl Into<String>) -> Self {
        Self::Damaged {
            path: path.to_path_buf(),
            problem: problem.into(),
        }
    }

    pub(crate) fn on(action: &'static str, path: &Path, source: io::Error) -> Self {
        if source.kind() == io::ErrorKind::NotFound {
            return Self::Missing {
                path: path.to_path_buf(),
            };
        }
        Self::Fs(FsError::new(action, path, source))
    }
}
