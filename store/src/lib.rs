//! The content-addressed store of kernrec.
//!
//! From the bottom up: [`fsio`] writes files so that a kill at any instant leaves the old or the new one,
//! [`artifact`] reads and writes one document file, [`Store`] is what a storage backend promises,
//! [`LocalStore`] the backend in a folder, [`objects`] content named by its digest, [`pointers`] the one
//! mutable document per pipeline and backend, [`bundle`] what one job left, in one file, [`upstream`] the
//! existing system's layout.
#![warn(missing_docs)]

pub mod artifact;
pub mod bundle;
#[cfg(feature = "conformance")]
pub mod conformance;
mod error;
pub mod fsio;
mod key;
mod local;
pub mod objects;
mod open;
pub mod pointers;
#[cfg(feature = "remote")]
pub mod remote;
mod settle;
pub mod signing;
mod store;
pub mod upstream;

pub use error::StoreError;
pub use key::{Area, InvalidKey, Key};
pub use local::LocalStore;
#[cfg(feature = "remote")]
pub use open::open_with;
pub use open::{Access, OpenError, open};
pub use store::{Capabilities, Listed, PointerRead, PutNew, Removal, Stat, Store, Swap, Version};
