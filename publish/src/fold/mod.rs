//! The kernel table of one backend: formats.md section 3.1 and the health rules of the design.
//!
//! `filing` gives every job its step, `attempts` decides which jobs of a shard speak for it, `judge` says what
//! is wrong with one job, `row` puts a step's row together. The result depends on what was collected and on
//! the options, and on nothing else: not on the order of the inputs, not on the clock.

mod attempts;
mod delivery;
mod filing;
mod judge;
mod options;
mod row;
mod table;

pub use delivery::{Delivery, delivery};
pub use options::FoldOptions;
pub use table::fold;

pub(crate) use filing::{Filed, Filing};
pub(crate) use judge::faults;
pub(crate) use row::deciding;
