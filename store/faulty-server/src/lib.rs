//! A web server and an S3 server on loopback that fail on demand, for tests.
//!
//! Written on sockets and not on a framework, because a framework will not send a wrong length, stop in the middle
//! of a body, or drop the answer to a request that it carried out. `server` listens, plain or over TLS, and keeps a
//! log of what was asked; `connection` speaks HTTP/1.1 and `http2` HTTP/2, frame by frame; `files` answers with the
//! files of a folder, `bucket` like S3; `fault` is what can go wrong, `certificate` whom the server claims to be.
#![allow(
    clippy::unwrap_used,
    clippy::missing_panics_doc,
    reason = "a test that cannot have its server fails by panicking"
)]

mod bucket;
mod certificate;
mod connection;
mod fault;
mod files;
mod http;
mod http2;
mod server;

pub use bucket::{Bucket, Conditions};
pub use certificate::Certificate;
pub use fault::{Fault, Rule};
pub use files::Files;
pub use http::{Answer, Request};
pub use server::{Protocol, Seen, Server, Service};
