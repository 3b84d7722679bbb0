//! Untrusted bytes: bounded views that know where they lie, and what is wrong with them.

mod budget;
mod causes;
mod fault;
mod name;
mod region;
mod span;

pub(crate) use budget::Budget;
pub(crate) use causes::with_causes;
pub(crate) use fault::Fault;
pub use fault::Reason;
pub(crate) use name::kernel_name;
pub(crate) use region::Region;
pub(crate) use span::Span;
