//! The gates: what must hold before a record may become the current one.
//!
//! `inherent` asks what the record says of itself, `relative` compares it with the record it would replace. All
//! gates that refuse are reported.

mod inherent;
mod options;
mod refusal;
mod relative;

pub use inherent::{Candidate, inherent, unreadable_input};
pub use options::{DEFAULT_MIN_DELIVERED, GateOptions};
pub use refusal::{JoinShare, Refusal};
pub use relative::relative;
