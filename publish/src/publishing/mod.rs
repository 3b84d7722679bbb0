//! Writing a record and moving the pointer.
//!
//! The order is: decide (gates and ordering), objects, proof that they are there, pointer. A lost race starts
//! again at the decision, against whatever is current then. Nothing is ever deleted.

mod batch;
mod bundles;
mod current;
mod decide;
mod error;
mod evidence;
mod folded;
mod ordering;
mod record;
mod report;
mod request;
mod run;
mod upload;
mod upstream;

pub use batch::publish_all;
pub use error::PublishError;
pub use folded::Table;
pub use ordering::Supersession;
pub use report::{BatchReport, Failure, Outcome, PublishReport, SkippedBranch, UnusedMap};
pub use request::{BatchRequest, BundlePolicy, Evidence, PublishRequest};
pub use run::publish;

pub(crate) use record::read_jobs;
