//! Which kernels an edit touches, and whether the steps that launched none of them may be skipped.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod device;
mod dispatcher;
mod host;
mod project;
mod properties;
mod text;
mod widening;
