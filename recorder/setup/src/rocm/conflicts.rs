//! Other tools on the SDK, or on what came before it: recorded with one of them, neither can be trusted.

use super::{RECORDER, TOOLS};
use crate::environment::Environment;
use crate::options::Purpose;
use crate::profilers::Profilers;
use crate::reason::Unavailable;
use std::os::unix::ffi::OsStrExt as _;
use std::path::Path;

const PROFILERS: Profilers = Profilers {
    // Variables with which AMD's tools load what they need into the processes they watch.
    variables: &[
        "HSA_TOOLS_LIB",
        "ROCPROF_OUTPUT_PATH",
        "ROCPROFSYS_MODE",
        "OMNITRACE_MODE",
    ],
    // Libraries of these tools in `LD_PRELOAD`.
    preloaded: &[
        "librocprofiler-sdk-tool",
        "librocprofiler64",
        "libroctracer64",
        "librocprof-sys",
        "libomnitrace",
    ],
    // Programs that do so for what they start.
    programs: &[
        "rocprof",
        "rocprofv2",
        "rocprofv3",
        "rocprof-compute",
        "rocprof-sys-run",
        "rocprof-sys-sample",
        "omniperf",
        "omnitrace-run",
        "omnitrace-sample",
    ],
};

/// Turns the registration library off: no tool is ever loaded.
const REGISTRATION: &str = "ROCPROFILER_REGISTER_ENABLED";

pub(super) fn check(environment: &Environment, purpose: Purpose<'_>) -> Result<(), Unavailable> {
    PROFILERS.check(environment, purpose)?;
    if let Some(value) = environment.text(REGISTRATION).filter(|value| is_off(value)) {
        return Err(Unavailable::RegistrationOff {
            value: value.to_owned(),
        });
    }
    tools(environment)
}

/// As the registration library reads a switch: a number, or one of these words.
fn is_off(value: &str) -> bool {
    let is_number = value.bytes().all(|byte| byte.is_ascii_digit());
    let is_zero = value.bytes().all(|byte| byte == b'0');
    let words = ["off", "false", "no", "n", "f"];
    is_number && is_zero || words.contains(&value.to_ascii_lowercase().as_str())
}

/// The list may hold nothing but ours: the SDK ends the process on an entry that is not there, and passes over the
/// last one of several, so what else a list holds cannot be told to work.
fn tools(environment: &Environment) -> Result<(), Unavailable> {
    let Some(list) = environment.set(TOOLS) else {
        return Ok(());
    };
    let mut entries = list
        .as_bytes()
        .split(|&byte| byte == b':')
        .filter(|entry| !entry.is_empty());
    let ours = |entry: &[u8]| {
        let path = Path::new(std::ffi::OsStr::from_bytes(entry));
        path.file_name().is_some_and(|name| name == RECORDER)
    };
    match entries.find(|entry| !ours(entry)) {
        None => Ok(()),
        Some(_) => Err(Unavailable::OtherTools {
            value: list.to_string_lossy().into_owned(),
        }),
    }
}
