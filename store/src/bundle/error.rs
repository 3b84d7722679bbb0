//! What can go wrong with bundles and job folders.

use super::{Place, Refusal};
use crate::fsio::FsError;
use std::io;
use std::path::PathBuf;

/// A bundle that could not be packed or read, or a folder that could not be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum BundleError {
    /// A file operation failed: a file is unreadable, vanished, or could not be written.
    #[error(transparent)]
    Fs(#[from] FsError),
    /// Something that should be a recording, a sidecar or a bundle is no regular file.
    #[error("read `{}`: it is a {kind}, not a regular file", path.display())]
    NotRegular {
        /// The path.
        path: PathBuf,
        /// What it is.
        kind: &'static str,
    },
    /// A file of a job folder that a bundle cannot hold.
    #[error("pack `{}`: {refusal}", path.display())]
    Unpackable {
        /// The file, or the job folder.
        path: PathBuf,
        /// Why not.
        refusal: Box<Refusal>,
    },
    /// The source of a bundle could not be read to its end.
    #[error("read bundle `{bundle}`: {source}")]
    Source {
        /// The bundle.
        bundle: String,
        /// What the source said.
        source: io::Error,
    },
    /// The content of a bundle is refused.
    #[error("read bundle `{bundle}`: {}at {place}: {refusal}", entry_prefix(entry.as_deref()))]
    Refused {
        /// The bundle.
        bundle: String,
        /// The entry, when one was reached; control characters are escaped.
        entry: Option<String>,
        /// Where.
        place: Place,
        /// Why.
        refusal: Box<Refusal>,
    },
}

impl BundleError {
    /// The stable word for machines.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Fs(_) => "file-error",
            Self::NotRegular { .. } => "not-a-regular-file",
            Self::Source { .. } => "source-error",
            Self::Unpackable { refusal, .. } | Self::Refused { refusal, .. } => refusal.reason(),
        }
    }
}

fn entry_prefix(entry: Option<&str>) -> String {
    entry.map_or_else(String::new, |entry| format!("entry `{entry}` "))
}
