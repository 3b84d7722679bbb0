//! `_recorder.abi3.so`: the calls between Python and `kernrec-python-recorder`, and nothing else.
//!
//! Built against the stable ABI of `CPython` 3.12. No function raises into the program it records but for
//! arguments of a wrong type, which only the recorder's own Python code could pass; `entered`, which the
//! interpreter calls, never does.
#![warn(missing_docs)]

mod callback;
mod ffi;
mod interpreter;
mod module;
