//! Pointers: the one mutable document per pipeline and backend.
//!
//! `native` is `kernrec.pointer/1`; `upstream` is the `latest.json` of the existing system.

mod native;
mod signature;
mod upstream;

pub use native::{HISTORY_LIMIT, PastRecord, Pointer, RecordRef};
pub use signature::{PointerSignature, Signable};
pub use upstream::UpstreamPointer;
