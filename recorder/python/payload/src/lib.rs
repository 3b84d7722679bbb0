//! The Python recorder as files: the bootstrap, the pytest plugin, and where the extension module goes.
//!
//! [`Layout::SitePackages`] is for an image whose Python environment may be written to: a `.pth` file arms every
//! interpreter of it. [`Layout::Path`] is for a folder on `PYTHONPATH`, made for one job and thrown away with
//! it: a `sitecustomize` does. Either needs `CPython` 3.12 or later and does nothing under an older one.
#![warn(missing_docs)]

mod files;
mod write;

pub use files::{EXTENSION, Layout};
pub use write::{PayloadError, remove, write};
