//! Set-up of the ROCm recorder.

mod conflicts;
mod sdk;

use crate::environment::Environment;
use crate::libraries;
use crate::options::{Options, Purpose};
use crate::preload;
use crate::reason::Unavailable;
use crate::session::{Injection, ROCM, ROCPROFILER_SDK, VLLM_SHUTDOWN};
use std::ffi::OsString;
use std::os::unix::ffi::OsStrExt as _;

pub(crate) use sdk::{EXPECTED_SDK, installed};

/// The variable that names the tools the SDK loads.
const TOOLS: &str = "ROCP_TOOL_LIBRARIES";
/// The recorder's library.
const RECORDER: &str = "libkernrec_rocprofiler.so";
/// The library through which every program reaches the kernel driver.
const DRIVER: &str = "libhsa-runtime64.so";
/// The variable that names the SDK to the runtime's registration library, which otherwise looks for a name that
/// installations without development files do not have, and ends the process when it finds nothing.
const SDK: &str = "ROCPROFILER_REGISTER_LIBRARY";
/// How vLLM starts its workers. One that is forked after the SDK has started cannot be recorded.
const WORKERS: &str = "VLLM_WORKER_MULTIPROC_METHOD";

/// The variables that record a workload, or why it cannot be recorded.
pub(crate) fn prepare(
    options: &Options,
    environment: &Environment,
    purpose: Purpose<'_>,
) -> Result<Injection, Unavailable> {
    conflicts::check(environment, purpose)?;
    spawned(environment)?;
    let recorder = libraries::find(environment, RECORDER, Some(c"rocprofiler_configure"))?;
    // The SDK splits its list there.
    if recorder.as_os_str().as_bytes().contains(&b':') {
        let problem = format!("`{TOOLS}` cannot hold a path with a colon");
        return Err(Unavailable::NotLoadable {
            path: recorder,
            problem,
        });
    }
    let sdk = sdk::find(environment)?;
    let mut injection = Injection::load(RECORDER, TOOLS, &recorder, DRIVER);
    if environment.set(SDK).is_none() {
        injection.set(SDK, &sdk.path);
    }
    match preload::decide(Ok(&sdk.path), options, environment, purpose) {
        Ok(value) => injection.set(preload::VARIABLE, value),
        // The registration library loads it then, when the GPU is first used.
        Err(reason) => injection.note(reason.text()),
    }
    if let Some(ms) = options.flush_ms {
        injection.set("KERNREC_FLUSH_MS", ms.to_string());
    }
    for (name, value) in [(WORKERS, "spawn"), VLLM_SHUTDOWN] {
        if environment.set(name).is_none() {
            injection.set(name, OsString::from(value));
        }
    }
    injection.version(ROCPROFILER_SDK, sdk.version);
    if let Some(release) = sdk.rocm {
        injection.version(ROCM, release);
    }
    Ok(injection)
}

/// Another explicit choice is the job's own, and stays.
fn spawned(environment: &Environment) -> Result<(), Unavailable> {
    match environment.set(WORKERS) {
        Some(method) if method != "spawn" => Err(Unavailable::ForkedWorkers {
            method: method.to_string_lossy().into_owned(),
        }),
        Some(_) | None => Ok(()),
    }
}

#[cfg(test)]
mod tests;
