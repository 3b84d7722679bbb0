//! Object files, shared libraries and archives: which device code they hold.

mod error;
mod host;
mod read;

pub use error::ObjectError;
pub use read::{DeviceCode, ObjectReader, read_object};
