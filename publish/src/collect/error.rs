//! What fails a collection as a whole.

use kernrec_store::bundle::BundleError;
use std::path::PathBuf;

/// Why nothing was collected: an input the user named is not there or cannot be searched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CollectError {
    /// A folder of recordings cannot be searched.
    #[error("search `{}` for recordings: {source}", dir.display())]
    Search {
        /// The folder.
        dir: PathBuf,
        /// Why.
        source: Box<BundleError>,
    },
    /// A bundle that was named on the command line does not exist.
    #[error("read bundle `{}`: there is no such file", path.display())]
    NoSuchBundle {
        /// The bundle.
        path: PathBuf,
    },
}

impl CollectError {
    /// The stable word.
    pub const fn reason(&self) -> &'static str {
        match self {
            Self::Search { source, .. } => source.reason(),
            Self::NoSuchBundle { .. } => "no-such-bundle",
        }
    }
}
