//! The trace bundle: everything one job left, in one file.
//!
//! A bundle is a tar archive in one canonical form (sorted flat names, zero times and owners, mode 0644,
//! regular files only, exactly two zero blocks at the end), compressed as one zstd frame and named by the
//! digest of the archive: `<64 hex>.tar.zst`. Only one archive holds a given set of entries, so equal content
//! is an equal digest, and the reader takes nothing but that form: whatever a tar archive can be made to say
//! beyond it is refused by name.

mod error;
mod file;
mod folder;
mod found;
mod frame;
mod header;
mod identity;
mod inflate;
mod limits;
mod names;
mod pack;
mod part;
mod read;
mod refusal;

pub use error::BundleError;
pub use folder::JobFolder;
pub use found::{Found, job_folders};
pub use kernrec_schemas::bundle::{BundleMeta, OriginLayout};
pub use limits::{MAX_BUNDLE_BYTES, MAX_ENTRIES, MAX_ENTRY_BYTES, MAX_NAME_BYTES};
pub use names::{PREFLIGHT_LOG, SETUP_LOG};
pub use pack::{PackOptions, PackedBundle, pack};
pub use part::{PYTHON_SIDECAR, Part, SIDECAR};
pub use read::{BundleSummary, read, read_file};
pub use refusal::{Place, Refusal};
