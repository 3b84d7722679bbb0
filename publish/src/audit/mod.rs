//! What the health rules cost, and which processes of which jobs are to blame.

mod build;
mod report;

pub use build::{audit, audit_function_table, audit_table};
pub use report::{Audit, Blame, RuleCost};
