//! The function record: which Python functions and libraries each step's processes entered.
//!
//! It speaks for Python files and for lists of pinned requirements, and for nothing else; what changed in one is found
//! by `change` (functions, by `kernrec-attribution`) and `pins` (libraries), `index` makes the table searchable and
//! `evidence` says who entered what changed, and what silence about it is worth.

mod change;
mod evidence;
mod index;
mod libraries;
mod pins;
mod record;

pub(crate) use change::{FunctionChange, changes};
pub use evidence::{FunctionEvidence, FunctionFile};
pub use index::FunctionIndex;
pub use libraries::{Libraries, LibrariesError};
pub use record::FunctionRecord;
