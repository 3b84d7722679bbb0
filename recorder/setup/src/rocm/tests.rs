use super::*;

fn prepared(environment: &Environment, command: &[&str]) -> Result<Injection, Unavailable> {
    let command: Vec<OsString> = command.iter().map(OsString::from).collect();
    prepare(&Options::default(), environment, Purpose::Command(&command))
}

fn word(environment: &Environment, command: &[&str]) -> &'static str {
    prepared(environment, command).unwrap_err().word()
}

/// Nothing of ours, and no ROCm: what is asked first.
fn bare(root: &Path) -> Environment {
    Environment::default()
        .with_system(root)
        .with("KERNREC_LIB_DIR", root)
}

#[test]
fn other_tools_and_forked_workers_are_seen_before_anything_is_loaded() {
    let root = tempfile::tempdir().unwrap();
    let none = bare(root.path());
    assert_eq!(word(&none, &["python3"]), "recorder-missing");
    let profiler = "other-profiler-configured";
    let tool = "other-rocprofiler-tool-configured";
    for (name, value, expected) in [
        ("HSA_TOOLS_LIB", "libroctracer64.so", profiler),
        ("ROCPROF_OUTPUT_PATH", "/tmp", profiler),
        ("LD_PRELOAD", "/a/librocprofiler-sdk-tool.so", profiler),
        (
            "ROCPROFILER_REGISTER_ENABLED",
            "0",
            "rocprofiler-register-off",
        ),
        (
            "ROCPROFILER_REGISTER_ENABLED",
            "False",
            "rocprofiler-register-off",
        ),
        ("ROCPROFILER_REGISTER_ENABLED", "1", "recorder-missing"),
        ("ROCP_TOOL_LIBRARIES", "/a/libother.so", tool),
        (
            "ROCP_TOOL_LIBRARIES",
            "/k/libkernrec_rocprofiler.so:/a/libother.so:",
            tool,
        ),
        (
            "ROCP_TOOL_LIBRARIES",
            "/k/libkernrec_rocprofiler.so",
            "recorder-missing",
        ),
        ("ROCP_TOOL_LIBRARIES", "", "recorder-missing"),
        (
            "VLLM_WORKER_MULTIPROC_METHOD",
            "fork",
            "rocm-needs-spawn-workers",
        ),
        ("VLLM_WORKER_MULTIPROC_METHOD", "spawn", "recorder-missing"),
    ] {
        let environment = none.clone().with(name, value);
        assert_eq!(word(&environment, &["python3"]), expected, "{name}={value}");
    }
    for program in ["rocprofv3", "/opt/rocm/bin/rocprof", "rocprof-compute"] {
        assert_eq!(word(&none, &[program, "--", "python3"]), profiler);
    }
}
