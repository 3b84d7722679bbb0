//! Stores behind a network: buckets through `object_store`, HTTPS through reqwest.
//!
//! Async stays in here. `http` is the one HTTP client (TLS, timeouts, redirects), `runtime` the bridge to
//! the synchronous [`Store`](crate::Store) trait, `bucket` S3, Google Cloud Storage and Azure, `web` the
//! read-only store behind a plain web server.

mod bucket;
mod checksum;
mod http;
mod resume;
mod retry;
mod runtime;
mod url;
mod web;

pub use http::{HttpOptions, HttpSetupError};
pub use url::{Credentials, RemoteOptions, open_remote};
