//! From evidence to one decision per step.
//!
//! `reason` holds the stable words and their order, `verdict` reads one pair's row of one step, `functions` the function
//! record's, `policy` says when a record is too old, and `combine` joins the verdicts of all.

mod combine;
mod functions;
mod policy;
mod reason;
mod verdict;

pub use combine::{Decision, StepDecision};
pub(crate) use combine::{Evidence, decide};
pub(crate) use functions::function_record_limits;
pub use policy::{DEFAULT_MAX_AGE, Freshness, Policy};
pub use reason::{Fate, Reason};
pub use verdict::Verdict;
pub(crate) use verdict::record_limits;
