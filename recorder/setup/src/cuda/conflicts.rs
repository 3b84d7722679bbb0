//! Other tools that use the driver's injection or CUPTI: there is room for one.

use super::{INJECTION, RECORDER};
use crate::environment::Environment;
use crate::options::Purpose;
use crate::profilers::Profilers;
use crate::reason::Unavailable;
use std::path::Path;

const PROFILERS: Profilers = Profilers {
    // Variables that NVIDIA's tools set in the processes they watch.
    variables: &[
        "NSYS_PROFILING_SESSION_ID",
        "QUADD_INJECTION_PROXY",
        "NV_NSIGHT_INJECTION_TRANSPORT_TYPE",
        "NV_COMPUTE_PROFILER_PERFWORKS_DIR",
        "NV_TPS_LAUNCH_TOKEN",
        "NV_SANITIZER_INJECTION_PORT_BASE",
        "NV_SANITIZER_INJECTION_TRANSPORT_TYPE",
        "CUDBG_USE_LEGACY_DEBUGGER",
    ],
    // Libraries of these tools in `LD_PRELOAD`.
    preloaded: &["libToolsInjection", "libTreeLauncher"],
    // Programs that set the driver's variable for what they start, over ours.
    programs: &[
        "nsys",
        "ncu",
        "nv-nsight-cu-cli",
        "compute-sanitizer",
        "cuda-gdb",
        "nvprof",
    ],
};

pub(super) fn check(environment: &Environment, purpose: Purpose<'_>) -> Result<(), Unavailable> {
    PROFILERS.check(environment, purpose)?;
    match environment.set(INJECTION).map(Path::new) {
        // Ours, of a set-up around this one.
        Some(path) if path.file_name().is_some_and(|name| name == RECORDER) => Ok(()),
        Some(path) => Err(Unavailable::OtherInjection {
            value: path.to_string_lossy().into_owned(),
        }),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::ffi::OsString;

    fn word(environment: &Environment, command: &[&str]) -> Option<&'static str> {
        let command: Vec<OsString> = command.iter().map(OsString::from).collect();
        let checked = check(environment, Purpose::Command(&command));
        checked.err().map(|reason| reason.word())
    }

    #[test]
    fn other_profilers_are_seen() {
        let none = Environment::default();
        let profiler = Some("other-profiler-configured");
        assert_eq!(word(&none, &["python3", "ncu"]), None);
        assert_eq!(word(&none, &["/opt/nvidia/ncu", "python3"]), profiler);
        assert_eq!(
            word(&none.clone().with("QUADD_INJECTION_PROXY", "x"), &["a"]),
            profiler
        );
        let preloaded = none
            .clone()
            .with("LD_PRELOAD", "/opt/libToolsInjectionProxy64.so");
        assert_eq!(word(&preloaded, &["a"]), profiler);
    }

    #[test]
    fn the_drivers_place_may_be_empty_or_ours() {
        let none = Environment::default();
        assert_eq!(word(&none.clone().with(INJECTION, ""), &["a"]), None);
        assert_eq!(
            word(
                &none.clone().with(INJECTION, "/a/libkernrec_cupti.so"),
                &["a"]
            ),
            None
        );
        assert_eq!(
            word(&none.with(INJECTION, "/a/libother.so"), &["a"]),
            Some("other-injection-configured")
        );
    }
}
