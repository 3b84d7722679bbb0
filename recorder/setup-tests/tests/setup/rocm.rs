//! AMD steps: `run`, `env` and `finish` with the recorder for ROCm, against an imitation of the SDK.

use crate::bench::{Bench, DRIVER, HOST, HOSTILE, assert_quiet, library, shell_status, text};
use crate::recorded::unrecorded_with;
use kernrec_schemas::Backend;
use kernrec_schemas::recording::ProcessState;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

const HIP: &str = env!("CARGO_BIN_EXE_setup-fake-hip");

/// A job's command that launches two kernels, and would exit with 7.
const WORKLOAD: [&str; 4] = [HIP, "init", "launch=_Z5firstv*3", "launch=_Z4lastv"];

/// A test's folder with an installation of ROCm in it.
pub(crate) fn with_rocm(file: &str) -> Bench {
    let bench = Bench::new();
    let lib = bench.path("rocm/lib");
    fs_err::create_dir_all(&lib).unwrap();
    fs_err::copy(library("libkernrec_fake_rocprofiler.so"), lib.join(file)).unwrap();
    fs_err::create_dir(bench.path("rocm/.info")).unwrap();
    fs_err::write(bench.path("rocm/.info/version"), "7.14.0\n").unwrap();
    bench
}

fn sdk(bench: &Bench) -> PathBuf {
    bench.path("rocm/lib/librocprofiler-sdk.so")
}

/// `kernrec run` of the command, for ROCm.
fn recorded(bench: &Bench, command: &[&str]) -> Command {
    let mut run = bench.command(HOST);
    run.args(["run", "--step", "demo", "--backend", "rocm", "--"])
        .args(command)
        .env("ROCM_PATH", bench.path("rocm"));
    run
}

#[test]
fn a_run_leaves_one_bundle_with_a_clean_recording() {
    let bench = with_rocm("librocprofiler-sdk.so");
    let mut run = recorded(&bench, &WORKLOAD);
    run.env("BUILDKITE_JOB_ID", "j-1")
        .env("BUILDKITE_COMMIT", "c0ffee")
        .env("HIP_VISIBLE_DEVICES", "0,1")
        .env("AITER_TRITON_ONLY", "1")
        .env("VLLM_ROCM_USE_AITER_TOKEN", "a-secret");
    assert_quiet(&run.output().unwrap(), 0);
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings.len(), 1);
    let recording = &bundle.recordings[0];
    assert_eq!(recording.state, ProcessState::Clean, "{}", recording.text);
    assert_eq!(recording.names, ["_Z5firstv", "_Z4lastv"]);
    let sidecar = &bundle.sidecar;
    assert_eq!(sidecar.backend, Some(Backend::Rocm));
    assert_eq!(sidecar.collection_available, Some(true));
    assert!(sidecar.faults.is_empty(), "{:?}", sidecar.faults);
    for part in [
        "\"recorder\": \"rocprofiler-sdk\"",
        "\"expected_rocprofiler_sdk\": \"1.3.2\"",
        "\"rocprofiler-sdk\": \"1.3.2\"",
        "\"rocm\": \"7.14.0\"",
        "\"HIP_VISIBLE_DEVICES\": \"0,1\"",
        "\"AITER_TRITON_ONLY\": \"1\"",
    ] {
        assert!(bundle.sidecar_text.contains(part), "{part}");
    }
    assert!(!bundle.sidecar_text.contains("a-secret"));
}

/// What the workload sees: the documented variables, and what was there before kept.
#[test]
fn the_variables_are_the_documented_ones() {
    let bench = with_rocm("librocprofiler-sdk.so.1");
    let mut run = recorded(&bench, &["env"]);
    let theirs = library("libkernrec_cupti_forwarders.so");
    run.env("LD_PRELOAD", &theirs)
        .env("VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS", "99");
    let seen = text(&run.output().unwrap().stdout);
    let line = |name: &str| {
        let lines = seen.lines().find_map(|line| line.strip_prefix(name));
        lines
            .and_then(|rest| rest.strip_prefix('='))
            .map(str::to_owned)
    };
    let sdk = bench.path("rocm/lib/librocprofiler-sdk.so.1");
    let (sdk, theirs) = (sdk.display().to_string(), theirs.display().to_string());
    let recorder = library("libkernrec_rocprofiler.so").display().to_string();
    for (name, value) in [
        ("ROCP_TOOL_LIBRARIES", recorder),
        ("ROCPROFILER_REGISTER_LIBRARY", sdk.clone()),
        ("LD_PRELOAD", format!("{sdk}:{theirs}")),
        ("VLLM_WORKER_MULTIPROC_METHOD", "spawn".to_owned()),
        ("VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS", "99".to_owned()),
    ] {
        assert_eq!(line(name), Some(value), "{name}");
    }
    assert_eq!(line("CUDA_INJECTION64_PATH"), None);
}

/// What the workload finds in a variable.
fn seen(mut run: Command, name: &str) -> Option<String> {
    let output = run.output().unwrap();
    assert!(output.stderr.is_empty(), "{}", text(&output.stderr));
    let seen = text(&output.stdout);
    let mut lines = seen.lines();
    let value = |line: &str| Some(line.strip_prefix(name)?.strip_prefix('=')?.to_owned());
    lines.find_map(value)
}

/// The workload may change its folder.
#[test]
fn a_relative_path_is_made_absolute() {
    let bench = with_rocm("librocprofiler-sdk.so");
    for (name, value) in [
        ("LD_LIBRARY_PATH", "nowhere:rocm/lib"),
        ("ROCM_PATH", "rocm"),
        ("ROCPROFILER_SDK_LIB", "rocm/lib"),
        ("ROCPROFILER_SDK_LIB", "rocm/lib/librocprofiler-sdk.so"),
    ] {
        let mut run = recorded(&bench, &["env"]);
        run.current_dir(bench.path("."))
            .env_remove("ROCM_PATH")
            .env(name, value);
        let found = PathBuf::from(seen(run, "LD_PRELOAD").unwrap());
        assert!(found.is_absolute(), "{name}: {found:?}");
        assert_eq!(found.file_name(), sdk(&bench).file_name());
        assert!(found.is_file(), "{name}: {found:?}");
    }
}

/// Two copies in one process can hang it: the job's own is the one that is used, if its version is known.
#[test]
fn the_copy_that_the_job_has_chosen_is_used() {
    let copy = |bench: &Bench| {
        let theirs = bench.path("theirs/librocprofiler-sdk.so.1");
        fs_err::create_dir(theirs.parent().unwrap()).unwrap();
        fs_err::copy(sdk(bench), &theirs).unwrap();
        theirs.display().to_string()
    };
    for name in ["LD_PRELOAD", "ROCPROFILER_REGISTER_LIBRARY"] {
        for seen_in in ["LD_PRELOAD", "ROCPROFILER_REGISTER_LIBRARY"] {
            let bench = with_rocm("librocprofiler-sdk.so");
            let theirs = copy(&bench);
            let mut run = recorded(&bench, &["env"]);
            run.env(name, &theirs);
            assert_eq!(seen(run, seen_in).as_ref(), Some(&theirs), "{name}");
        }
    }
    let bench = with_rocm("librocprofiler-sdk.so");
    let theirs = copy(&bench);
    fs_err::write(&theirs, "not a library").unwrap();
    says_why(&bench, "rocprofiler-sdk-not-usable", |run| {
        run.env("ROCPROFILER_REGISTER_LIBRARY", theirs);
    });
}

#[test]
fn a_shells_commands_are_recorded() {
    for shell in ["bash", "sh"] {
        let bench = with_rocm("librocprofiler-sdk.so");
        let script = "eval \"$(\"$K\" env --step demo --backend rocm)\"; \"$@\"; false; \
                      \"$K\" finish --status $?";
        let mut command = bench.command(shell);
        command.args(["-c", script, shell]).args(WORKLOAD);
        command.env("K", HOST).env("ROCM_PATH", bench.path("rocm"));
        assert_quiet(&command.output().unwrap(), 0);
        let bundle = bench.bundle();
        assert_eq!(bundle.sidecar.exit_status, Some(1), "{shell}");
        assert_eq!(bundle.recordings[0].names, ["_Z5firstv", "_Z4lastv"]);
    }
}

/// Runs a workload that counts its runs, and checks that it ran once, as without us, and that the sidecar says why.
fn says_why(bench: &Bench, word: &str, set: impl FnOnce(&mut Command)) {
    let count = "echo run >> runs; env; exit 7";
    let plain = |command: &mut Command| {
        // What a shell sets by itself differs from one run to the next.
        let output = command.output().unwrap();
        assert_eq!(shell_status(&output), 7, "{}", text(&output.stderr));
        output
    };
    let mut run = recorded(bench, &["sh", "-c", count]);
    set(&mut run);
    let added = |output: &Output| {
        let set_up = [
            "ROCP_TOOL_LIBRARIES=/",
            "ROCPROFILER_REGISTER_LIBRARY",
            "KERNREC_DIR",
        ];
        let seen = text(&output.stdout);
        let ours: Vec<String> = seen
            .lines()
            .filter(|line| set_up.iter().any(|name| line.starts_with(name)))
            .filter(|line| !line.contains("/theirs/"))
            .map(str::to_owned)
            .collect();
        ours
    };
    let output = plain(&mut run);
    assert_eq!(added(&output), Vec::<String>::new());
    let first = format!("kernrec: {word}: ");
    assert!(
        text(&output.stderr).starts_with(&first),
        "{}",
        text(&output.stderr)
    );
    let runs = fs_err::read_to_string(bench.path("runs")).unwrap();
    assert_eq!(runs, "run\n");
    let sidecar = bench.bundle().sidecar;
    assert_eq!(sidecar.collection_available, Some(false));
    let error = sidecar.collection_error.unwrap();
    assert!(error.starts_with(&format!("{word}: ")), "{error}");
    assert_eq!(sidecar.exit_status, Some(7));
}

#[test]
fn without_an_sdk_the_workload_runs_unrecorded() {
    let bench = Bench::new();
    says_why(&bench, "rocprofiler-sdk-missing", |_| {});
}

#[test]
fn an_sdk_that_cannot_be_used_costs_the_recording_only() {
    for (knobs, word) in [
        ("version=10303", "rocprofiler-sdk-version"),
        ("version=10000", "rocprofiler-sdk-version"),
        ("crash-version=1", "rocprofiler-sdk-not-usable"),
    ] {
        let bench = with_rocm("librocprofiler-sdk.so");
        says_why(&bench, word, |run| {
            run.env("FAKE_ROCPROFILER", knobs);
        });
    }
    for content in [&b""[..], b"not a library"] {
        let bench = with_rocm("librocprofiler-sdk.so");
        fs_err::write(sdk(&bench), content).unwrap();
        says_why(&bench, "rocprofiler-sdk-not-usable", |_| {});
    }
    // A library that is none of the SDK.
    let bench = with_rocm("librocprofiler-sdk.so");
    fs_err::copy(library("libkernrec_cupti_forwarders.so"), sdk(&bench)).unwrap();
    says_why(&bench, "rocprofiler-sdk-not-usable", |_| {});
}

#[test]
fn an_sdk_that_never_answers_is_given_up() {
    let bench = with_rocm("librocprofiler-sdk.so");
    says_why(&bench, "rocprofiler-sdk-not-usable", |run| {
        run.env("FAKE_ROCPROFILER", "hang-version=1");
    });
}

#[test]
fn what_the_job_chose_for_itself_is_left_to_it() {
    for (name, value, word) in [
        (
            "ROCP_TOOL_LIBRARIES",
            "/theirs/libtool.so",
            "other-rocprofiler-tool-configured",
        ),
        (
            "VLLM_WORKER_MULTIPROC_METHOD",
            "fork",
            "rocm-needs-spawn-workers",
        ),
        (
            "HSA_TOOLS_LIB",
            "/theirs/libtool.so",
            "other-profiler-configured",
        ),
        (
            "ROCPROFILER_REGISTER_ENABLED",
            "0",
            "rocprofiler-register-off",
        ),
    ] {
        let bench = with_rocm("librocprofiler-sdk.so");
        says_why(&bench, word, |run| {
            run.env(name, value);
        });
    }
}

#[test]
fn no_recorder_beside_the_program() {
    let bench = with_rocm("librocprofiler-sdk.so");
    let nothing = bench.path("rocm");
    says_why(&bench, "recorder-missing", |run| {
        run.env("KERNREC_LIB_DIR", nothing);
    });
}

/// A sanitizer must come first, so nothing is preloaded; the runtime loads the SDK itself.
#[test]
fn beside_a_sanitizer_nothing_is_preloaded() {
    let bench = with_rocm("librocprofiler-sdk.so");
    let mut run = recorded(&bench, &WORKLOAD);
    run.env("ASAN_OPTIONS", "detect_leaks=0");
    let output = run.output().unwrap();
    assert_eq!(shell_status(&output), 0, "{}", text(&output.stderr));
    let bundle = bench.bundle();
    assert!(bundle.sidecar_text.contains("no-preload-sanitizer: "));
    assert_eq!(bundle.recordings.len(), 1);
    assert_eq!(bundle.recordings[0].state, ProcessState::Clean);
}

/// No variable but those.
#[test]
fn in_an_almost_empty_environment() {
    let bench = with_rocm("librocprofiler-sdk.so");
    let mut run = Command::new(HOST);
    run.current_dir(bench.path("."))
        .env_clear()
        .env("ROCM_PATH", bench.path("rocm"))
        .env(
            "KERNREC_LIB_DIR",
            Path::new(DRIVER).parent().unwrap().join("deps"),
        )
        .args(["run", "--step", "demo", "--backend", "rocm", "--"])
        .args(WORKLOAD);
    assert_quiet(&run.output().unwrap(), 0);
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings[0].state, ProcessState::Clean);
}

#[test]
fn a_process_that_never_used_the_gpu_is_idle_when_it_is_killed() {
    let bench = with_rocm("librocprofiler-sdk.so");
    let mut run = recorded(&bench, &[HIP, "init", "end=kill"]);
    let output = run.output().unwrap();
    assert_eq!(shell_status(&output), 137, "{}", text(&output.stderr));
    let bundle = bench.bundle();
    assert_eq!(bundle.recordings.len(), 1);
    assert_eq!(bundle.recordings[0].state, ProcessState::Idle);
}

#[test]
fn a_process_of_rocm_with_an_environment_of_its_own_is_counted() {
    let bench = with_rocm("librocprofiler-sdk.so");
    let run = recorded(&bench, &["env", "-i", HOSTILE, "map"]);
    assert_eq!(unrecorded_with(&bench, run, "libhsa-runtime64.so.1"), 1);
}
