//! From a changed Python file to the functions that the change reaches.
//!
//! Both sides are read and compared code object by code object, as the interpreter makes them: `text` says whether a file can
//! be compared at all, `scopes` finds the code objects (tree-sitter's Python grammar) and what each holds of its own,
//! `docs` and `unreached` what of that nobody runs, `compiled` which functions another compiler may read instead, and
//! `compare` holds one side against the other.
//!
//! Names are those of `co_qualname`, since that is what a recording has. What cannot be read counts for the whole file.

mod compare;
mod compiled;
mod docs;
mod scopes;
mod text;
mod unreached;

pub use compare::{ChangedFunctions, PythonAttribution, PythonReader};
pub use scopes::{CodeObject, CodeObjectKind};
pub use text::PythonWhy;
