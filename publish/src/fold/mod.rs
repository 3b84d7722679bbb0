//! The table of one backend, of kernels or of functions: formats.md section 3.1 and the health rules of the design.
//!
//! `filing` gives every job its step, `attempts` decides which jobs of a shard speak for it, `judge` says what
//! is wrong with one job, `row` puts a step's row together, and `functions` that of a function table. The result depends on what was collected and on
//! the options, and on nothing else: not on the order of the inputs, not on the clock.

mod attempts;
mod delivery;
mod filing;
mod functions;
mod judge;
mod options;
mod row;
mod table;

pub use delivery::{Delivery, delivery};
pub use functions::fold_functions;
pub use options::FoldOptions;
pub use table::fold;

pub(crate) use filing::{Filed, Filing};
pub(crate) use judge::faults;
pub(crate) use row::deciding;
