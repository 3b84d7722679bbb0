//! What an operator does with a store.
//!
//! [`check`] proves what a store promises, [`fsck`] what it holds, [`gc`] removes what nothing names,
//! [`history`] tells what was published, [`rollback`] makes a past record current again, [`artifact`] puts and
//! gets content by its digest. Beneath them, `pointers` finds every pointer of a store and `closure` what their
//! records name.
//!
//! Nothing here prints or exits: every end is a value with a stable reason word.
#![warn(missing_docs)]

pub mod artifact;
pub mod check;
mod closure;
pub mod fsck;
pub mod gc;
pub mod history;
mod pointers;
mod record;
pub mod rollback;
mod scratch;

pub use record::{Named, Standing};
