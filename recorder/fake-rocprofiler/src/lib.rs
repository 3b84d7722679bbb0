//! A ROCProfiler SDK for tests: the functions the recorder uses, over kernels that a test asks for.
//!
//! Built as a shared library and mapped under the SDK's name; the recorder cannot tell the difference. It
//! has the SDK's contracts and its traps: two halves of a buffer, of which the discarding policy allocates
//! one; a count of lost records that never goes down; an initialiser whose failure is ignored; records that
//! a forked child gets again; the last entry of a list of tools that is skipped. It does worse when told
//! to: `FAKE_ROCPROFILER` is a list of `knob=value`, see `knobs.rs`.
//!
//! Its structures are written down here once more rather than taken from the recorder, so that a wrong
//! offset in one of the two shows.
#![warn(missing_docs)]

mod abi;
mod buffers;
mod ffi;
mod forks;
mod gpu;
mod knobs;
mod state;
mod tools;
