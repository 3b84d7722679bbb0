//! Set-up of the CUDA recorder.

mod conflicts;
mod cupti;
mod libraries;

use crate::environment::Environment;
use crate::options::{Options, Purpose};
use crate::preload;
use crate::reason::Unavailable;
use crate::session::{Injection, VLLM_SHUTDOWN};
use std::ffi::OsString;

/// The variable that names the library the CUDA driver loads.
pub(crate) const INJECTION: &str = "CUDA_INJECTION64_PATH";
/// The recorder's library.
pub(crate) const RECORDER: &str = "libkernrec_cupti.so";
/// The CUDA driver's.
const DRIVER: &str = "libcuda.so";

/// The variables that record a workload, or why it cannot be recorded.
pub(crate) fn prepare(
    options: &Options,
    environment: &Environment,
    purpose: Purpose<'_>,
) -> Result<Injection, Unavailable> {
    conflicts::check(environment, purpose)?;
    let libraries = libraries::find(environment)?;
    let mut injection = Injection::load(RECORDER, INJECTION, &libraries.recorder, DRIVER);
    let forwarders = libraries.forwarders.as_deref();
    match preload::decide(forwarders, options, environment, purpose) {
        Ok(value) => injection.set(preload::VARIABLE, value),
        Err(reason) => injection.note(reason.text()),
    }
    match cupti::check(options.cupti.as_deref(), environment)? {
        cupti::Found::Named(path) => injection.set(cupti::VARIABLE, path),
        cupti::Found::Somewhere => {}
        cupti::Found::Nowhere => injection.note(cupti::NOT_FOUND),
    }
    if let Some(ms) = options.flush_ms {
        injection.set("KERNREC_FLUSH_MS", ms.to_string());
    }
    if let Some(every) = options.force_every {
        injection.set("KERNREC_FORCE_EVERY", every.to_string());
    }
    let (name, value) = VLLM_SHUTDOWN;
    if environment.set(name).is_none() {
        injection.set(name, OsString::from(value));
    }
    Ok(injection)
}
