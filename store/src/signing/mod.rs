//! Signed pointers, for those who do not trust every writer of their bucket.
//!
//! The pointer is all that is signed: it names manifests by their digests, and they name everything else, so who
//! vouches for a pointer vouches for its records, past ones and revocations included. [`SigningKey`] signs,
//! [`TrustedKeys`] verify what was read, [`Signing`] is what a writer of pointers does about what stands there.

mod key_file;
mod keys;
mod policy;
mod seal;

pub use key_file::KeyFileError;
pub use keys::{SigningKey, TrustedKeys};
pub use policy::Signing;
pub use seal::{Seal, SignatureProblem};
