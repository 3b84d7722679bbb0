//! From what jobs left to a published record.
//!
//! In the order of the work: [`collect`] reads job folders and bundles, [`fold`] makes the kernel table of one
//! backend of them, [`gates`] decides whether the record may replace the current one, [`publishing`] writes it
//! and moves the pointer, [`verify`] folds a published record again from its own bundles, [`audit`] says what
//! the health rules cost and who is to blame.
//!
//! Nothing here prints or exits: every end is a value with a stable reason word and an exit status.
#![warn(missing_docs)]

pub mod audit;
pub mod collect;
pub mod fold;
pub mod gates;
pub mod maps;
pub mod publishing;
pub mod recorded_at;
mod shown;
pub mod verify;

pub use audit::{Audit, audit, audit_function_table, audit_table};
pub use collect::{CollectError, Collected, Inputs, collect};
pub use fold::{Delivery, FoldOptions, delivery, fold, fold_functions};
pub use gates::{GateOptions, Refusal};
pub use maps::{Maps, MapsError};
pub use publishing::{
    BatchReport, BatchRequest, BundlePolicy, Evidence, Outcome, PublishError, PublishReport,
    PublishRequest, Table, publish, publish_all,
};
pub use verify::{Refold, RefoldError, refold};
