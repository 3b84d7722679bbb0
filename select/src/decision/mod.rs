//! From evidence to one decision per step.
//!
//! `reason` holds the stable words and their order, `verdict` reads one pair's row of one step, `policy` says
//! when a record is too old, and `combine` joins the verdicts of all pairs.

mod combine;
mod policy;
mod reason;
mod verdict;

pub(crate) use combine::decide;
pub use combine::{Decision, StepDecision};
pub use policy::{DEFAULT_MAX_AGE, Freshness, Policy};
pub use reason::{Fate, Reason};
pub use verdict::Verdict;
pub(crate) use verdict::record_limits;
