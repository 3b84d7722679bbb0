//! How a store is laid out, as users say it.

use kernrec_fetch::LayoutChoice;
use kernrec_schemas::installed::StoreLayout;

/// The layout to publish in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum WriteLayout {
    /// Ours
    Native,
    /// The existing system's: <pipeline>/kernrec/<commit>/ and latest.json; one map, no bundles
    Upstream,
}

impl From<WriteLayout> for StoreLayout {
    fn from(layout: WriteLayout) -> Self {
        match layout {
            WriteLayout::Native => Self::Native,
            WriteLayout::Upstream => Self::Upstream,
        }
    }
}

/// The layouts to look for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum ReadLayout {
    /// Ours, else the existing system's
    Auto,
    /// Ours
    Native,
    /// The existing system's; the store is the folder of latest.json, or the bucket
    Upstream,
}

impl From<ReadLayout> for LayoutChoice {
    fn from(layout: ReadLayout) -> Self {
        match layout {
            ReadLayout::Auto => Self::Auto,
            ReadLayout::Native => Self::Native,
            ReadLayout::Upstream => Self::Upstream,
        }
    }
}
