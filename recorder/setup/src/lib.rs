//! Launch set-up: puts the recorder into a command's environment, and says honestly how that went.
//!
//! [`Session::begin`] looks at the machine, chooses the job's folder, writes the sidecar with a null status
//! and says which variables the workload needs; [`run()`] runs one command with them, [`shell_lines`] prints
//! them for a shell. [`Session::finish`] and [`finish`] write the status and pack the bundle. Nothing here can
//! fail a job: whatever stands in the way becomes a reason in the sidecar, and the workload runs unrecorded.
//!
//! A backend is one module with one function that turns a [`Context`] into variables or a reason.
#![warn(missing_docs)]

mod backend;
mod cuda;
mod elf;
mod environment;
mod ffi;
mod finish;
mod functions;
mod identity;
mod job;
mod libraries;
mod options;
mod preload;
mod processes;
mod profilers;
mod program;
mod provenance;
mod python;
mod reason;
mod rocm;
mod run;
mod session;
mod shell;
pub mod variables;

pub use backend::{BackendChoice, UnknownBackend};
pub use environment::Environment;
pub use finish::{FinishOptions, finish};
pub use functions::{RemoveError, Removed, remove_python};
pub use identity::Identity;
pub use options::{Options, Purpose, PythonMode, PythonOptions};
pub use reason::Unavailable;
pub use run::{Ended, run};
pub use session::{Finished, Session};
pub use shell::shell_lines;
