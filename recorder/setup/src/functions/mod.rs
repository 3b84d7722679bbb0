//! Set-up of the Python recorder, which notes the functions that processes enter.

mod holders;
mod host;
mod interpreter;
mod remove;

use crate::environment::Environment;
use crate::libraries;
use crate::options::{Purpose, PythonMode, PythonOptions};
use crate::reason::Unavailable;
use kernrec_python_payload::{self as payload, Layout};
use std::ffi::OsString;
use std::path::Path;

pub(crate) use host::withdraw;
pub use remove::{RemoveError, Removed, remove_python};

/// The folder that the recorder writes to.
pub(crate) const FOLDER: &str = "KERNREC_PYTHON_DIR";
const ROOTS: &str = "KERNREC_PYTHON_ROOTS";
const CHECKOUT: &str = "KERNREC_PYTHON_CHECKOUT";
/// Where interpreters look for modules first.
const PATH: &str = "PYTHONPATH";
/// The extension module, as cargo and a release have it.
const LIBRARY: &str = "libkernrec_python_extension.so";

/// What the workload gets, and what it runs with.
#[derive(Debug)]
pub(crate) struct Prepared {
    pub(crate) variables: Vec<(&'static str, OsString)>,
    /// The interpreter's version.
    pub(crate) version: String,
}

/// Whose set-up it is.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Job<'a> {
    /// The job's folder.
    pub(crate) folder: &'a Path,
    /// The session's id.
    pub(crate) id: &'a str,
}

/// Puts the recorder before the workload's interpreters, or says why that cannot be done.
pub(crate) fn prepare(
    options: &PythonOptions,
    environment: &Environment,
    purpose: Purpose<'_>,
    job: Job<'_>,
) -> Result<Prepared, Unavailable> {
    host::sweep(job.folder);
    let library = libraries::locate(environment, LIBRARY)?;
    libraries::check_kind(&library)?;
    let python = interpreter::find(options.executable.as_deref(), environment, purpose)?;
    let found = interpreter::ask(&python, Some(&library))?;
    let mut variables = vec![(FOLDER, job.folder.as_os_str().to_owned())];
    if let Some(roots) = &options.roots {
        variables.push((ROOTS, roots.into()));
    }
    if let Some(checkout) = &options.checkout {
        variables.push((CHECKOUT, environment.absolute(checkout).into()));
    }
    match options.mode {
        PythonMode::Container => {
            payload::write(&found.site_packages, Layout::SitePackages, &library)
                .map_err(Unavailable::SitePackages)?;
        }
        PythonMode::Host => variables.push((PATH, host::put(job, purpose, environment, &library)?)),
    }
    Ok(Prepared {
        variables,
        version: found.version,
    })
}
