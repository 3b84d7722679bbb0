//! GitHub Actions, through its REST API.

mod api;
mod artifacts;
mod jobs;
mod run;
mod unzip;

pub use api::{Access, AccessError};
pub use run::GitHub;
