//! The documents of kernrec: their types, loaders, health rules and canonical bytes.
//!
//! Everything here is pure: bytes in, values out. Files, stores and terminals belong to other crates.
//! One folder or file per document; `id` holds the small checked types they share, `json` the strict
//! reader and the canonical writer they all go through.
#![warn(missing_docs)]

pub mod agreement;
pub mod bundle;
pub mod exit;
pub mod function_recording;
pub mod function_table;
pub mod id;
pub mod installed;
pub mod jobs;
pub mod json;
pub mod json_schema;
pub mod manifest;
pub mod pointer;
pub mod recording;
pub mod shown;
pub mod sidecar;
pub mod symbol_map;
pub mod table;
pub mod time;

pub use id::{
    Backend, BuildNumber, Commit, Digest, Generation, InvalidId, JobId, KernelName, KeyId, Nonce,
    Pipeline, RowBackend, StepKey, Variant,
};
pub use json::DocumentError;
pub use time::Timestamp;
