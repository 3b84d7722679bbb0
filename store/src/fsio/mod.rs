//! Durable file operations: the only place that writes, renames, links or locks.
//!
//! A file that appears under its final name is complete and survives a power cut, and so does the name.

mod atomic;
mod durable;
mod error;
mod lock;
mod open;
mod staged;

pub(crate) use atomic::TEMP_PREFIX;
pub use atomic::{AtomicFile, write_atomic};
pub use durable::{create_dir_all, remove_dir_all, rename, replace_symlink_through, sync_dir};
pub use error::FsError;
pub(crate) use error::plain;
pub use lock::{Lock, LockError, available_space};
pub use open::open_regular;
pub use staged::StagedFile;
