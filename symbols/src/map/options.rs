//! What a map is asked for.

use kernrec_schemas::{Backend, Commit, Timestamp, Variant};
use std::path::PathBuf;

/// `reason` of a map that was emptied because objects could not be read.
pub const UNREADABLE_OBJECTS: &str = "unreadable-objects";
/// `reason` of a map made from objects alone.
pub const NO_SOURCES: &str = "no-sources";

/// What a map says about itself.
#[derive(Debug, Clone)]
pub struct Labels {
    /// Which device code is read.
    pub backend: Backend,
    /// The commit that was built, if known.
    pub commit: Option<Commit>,
    /// The image variant.
    pub variant: Variant,
    /// When the map is said to be made; never the wall clock, so that same inputs give same bytes.
    pub generated_at: Option<Timestamp>,
}

/// A map of a build tree.
#[derive(Debug, Clone)]
pub struct BuildOptions {
    /// What the map says about itself.
    pub labels: Labels,
    /// Folders that are searched for build records and objects.
    pub build_roots: Vec<PathBuf>,
    /// The repository: paths inside it are written relative to it.
    pub source_root: PathBuf,
    /// Keep what could be read, with `error` entries for the rest, instead of emptying the map.
    pub partial: bool,
}

/// A map of objects alone: kernels without sources, to be shown and not to be published.
#[derive(Debug, Clone)]
pub struct ObjectsOptions {
    /// What the map says about itself.
    pub labels: Labels,
    /// Objects, shared libraries and archives.
    pub objects: Vec<PathBuf>,
}
