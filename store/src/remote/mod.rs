//! Stores behind a network: buckets through `object_store`, HTTPS through reqwest.
//!
//! Async stays in here. `http` is the one HTTP client (TLS, timeouts, redirects), `service` the same client as
//! buckets use it, `runtime` the bridge to the synchronous [`Store`](crate::Store) trait, `cause` what a failed
//! request means, `bucket` S3, Google Cloud Storage and Azure, `pointer` how pointers move in them, `web` the
//! read-only store behind a plain web server.

mod bucket;
mod cause;
mod checksum;
mod http;
mod pointer;
mod resume;
mod retry;
mod runtime;
mod service;
mod url;
mod web;

pub use http::{HttpOptions, HttpSetupError, client_builder};
pub use url::{Credentials, RemoteOptions, open_remote};
