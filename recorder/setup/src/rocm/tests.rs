use super::*;
use std::path::Path;

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

/// A variable, its value, and what keeps a step with it from being recorded.
#[rustfmt::skip]
const DECIDED: [(&str, &str, &str); 17] = [
    ("HSA_TOOLS_LIB", "libroctracer64.so", "other-profiler-configured"),
    ("ROCPROF_OUTPUT_PATH", "/tmp", "other-profiler-configured"),
    ("LD_PRELOAD", "/a/librocprofiler-sdk-tool.so", "other-profiler-configured"),
    ("ROCPROFILER_REGISTER_ENABLED", "0", "rocprofiler-register-off"),
    ("ROCPROFILER_REGISTER_ENABLED", "00", "rocprofiler-register-off"),
    ("ROCPROFILER_REGISTER_ENABLED", "False", "rocprofiler-register-off"),
    ("ROCPROFILER_REGISTER_ENABLED", "N", "rocprofiler-register-off"),
    ("ROCPROFILER_REGISTER_ENABLED", "1", "recorder-missing"),
    ("ROCPROFILER_REGISTER_ENABLED", "10", "recorder-missing"),
    ("ROCP_TOOL_LIBRARIES", "/a/libother.so", "other-rocprofiler-tool-configured"),
    ("ROCP_TOOL_LIBRARIES", "/k/libkernrec_rocprofiler.so:/a/libother.so:", "other-rocprofiler-tool-configured"),
    ("ROCP_TOOL_LIBRARIES", "/k/libkernrec_rocprofiler.so", "recorder-missing"),
    ("ROCP_TOOL_LIBRARIES", "", "recorder-missing"),
    ("VLLM_WORKER_MULTIPROC_METHOD", "fork", "rocm-needs-spawn-workers"),
    ("VLLM_WORKER_MULTIPROC_METHOD", "spawn/", "rocm-needs-spawn-workers"),
    ("VLLM_WORKER_MULTIPROC_METHOD", "spawn", "recorder-missing"),
    ("VLLM_WORKER_MULTIPROC_METHOD", "", "recorder-missing"),
];

#[test]
fn other_tools_and_forked_workers_are_seen_before_anything_is_loaded() {
    let root = tempfile::tempdir().unwrap();
    let none = bare(root.path());
    assert_eq!(word(&none, &["python3"]), "recorder-missing");
    for (name, value, expected) in DECIDED {
        let environment = none.clone().with(name, value);
        assert_eq!(word(&environment, &["python3"]), expected, "{name}={value}");
    }
    for program in ["rocprofv3", "/opt/rocm/bin/rocprof", "rocprof-compute"] {
        let word = word(&none, &[program, "--", "python3"]);
        assert_eq!(word, "other-profiler-configured");
    }
}

fn searched(environment: &Environment) -> String {
    sdk::find(environment).unwrap_err().to_string()
}

/// ROCm 7.14 lies in `core` below its root; with the packages of a distribution the usual folders lead there.
#[test]
fn an_installation_has_its_libraries_in_one_of_two_places() {
    let root = tempfile::tempdir().unwrap();
    let environment = Environment::default().with_system(root.path());
    let usual = searched(&environment);
    let named = searched(&environment.clone().with("ROCM_PATH", "/there"));
    for (text, installation) in [(usual, "opt/rocm"), (named, "/there")] {
        for below in ["lib", "core/lib"] {
            assert!(text.contains(&format!("{installation}/{below}`")), "{text}");
        }
    }
    // What is there is used: it is no library.
    let core = root.path().join("opt/rocm/core/lib");
    fs_err::create_dir_all(&core).unwrap();
    fs_err::write(core.join("librocprofiler-sdk.so.1"), "").unwrap();
    let refused = sdk::find(&environment).unwrap_err();
    assert_eq!(refused.word(), "rocprofiler-sdk-not-usable");
}

#[test]
fn the_release_is_that_of_the_installation_a_library_lies_in() {
    let root = tempfile::tempdir().unwrap();
    for folder in ["core/lib", "core/.info"] {
        fs_err::create_dir_all(root.path().join(folder)).unwrap();
    }
    fs_err::write(root.path().join("core/.info/version"), "7.14.0\n").unwrap();
    fs_err::write(root.path().join("core/lib/sdk.so"), "").unwrap();
    std::os::unix::fs::symlink("core/lib", root.path().join("lib")).unwrap();
    for path in ["core/lib/sdk.so", "lib/sdk.so"] {
        let release = sdk::release(&root.path().join(path));
        assert_eq!(release.as_deref(), Some("7.14.0"), "{path}");
    }
    assert_eq!(sdk::release(&root.path().join("a/lib/sdk.so")), None);
    // So it is known in an image without an SDK.
    let environment = Environment::default().with("ROCM_PATH", root.path());
    assert_eq!(sdk::installed(&environment).as_deref(), Some("7.14.0"));
    let bare = Environment::default().with_system(root.path());
    assert_eq!(sdk::installed(&bare), None);
}
