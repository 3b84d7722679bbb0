//! The ROCm idle rule, formats.md section 10.2: a killed process that provably never touched the GPU.

use kernrec_schemas::recording::{ProcessState, Recording};

use ProcessState::{
    BadFooter, BadHeader, BrokenLine, Dropped, DuplicateHeader, Empty, Error, Idle, NoFooter,
};

const HEADER: &str =
    "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=77 ppid=70 exe=/usr/bin/python3\n";
const SDK: &str = "# sdk_version=10302 build_sdk_version=10302\n";
const CLEAN_FOOTER: &str = "# end records=0 unique=0 dropped=0 errors=0 unresolved=0\n";

/// What is tried, the recording (`{H}` for the header, `{S}` for the SDK version), and the state.
#[rustfmt::skip]
const CASES: &[(&str, &str, ProcessState)] = &[
    ("header and SDK version alone", "{H}{S}", Idle),
    ("empty lines between", "{H}\n{S}\n", Idle),
    ("a zero drop line", "{H}{S}# dropped=0\n", Idle),

    ("an empty file", "", Empty),
    ("header only", "{H}", NoFooter),
    ("GPU work began", "{H}{S}# gpu_active\n", NoFooter),
    ("GPU work began, more on the line", "{H}{S}# gpu_active t=1\n", NoFooter),
    ("a name", "{H}{S}_Z9demoScalePfi\n", NoFooter),
    ("an error", "{H}{S}# error=start_context_failed\n", Error),
    ("a drop", "{H}{S}# dropped=1\n", Dropped),
    ("no backend named", "# kernrec v1 pid=77 ppid=70\n{S}", NoFooter),
    ("the wrong recorder", "# kernrec v1 backend=rocm recorder=cupti pid=77\n{S}", BadHeader),
    ("CUDA", "# kernrec v1 backend=cuda recorder=cupti pid=77\n{S}", NoFooter),
    ("a forked child", "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=81 forked=1\n{S}", NoFooter),
    ("a forked child, said otherwise", "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=81 forked=yes\n{S}", NoFooter),
    ("a forked child as recorded", "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=81 forked=1\n# error=fork_after_sdk_init\n", Error),
    ("two processes", "{H}{S}{H}{S}", DuplicateHeader),
    ("a torn SDK line", "{H}# sdk_version=103", BrokenLine),
    ("a torn header", "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=7", BrokenLine),
    ("a torn last line", "{H}{S}# gpu_ac", BrokenLine),
    ("a malformed SDK version", "{H}# sdk_version=1.3.2\n", Error),
    ("an unknown line", "{H}{S}# gpu_busy\n", NoFooter),
    ("a footer cut short", "{H}{S}# end\n", BadFooter),
    ("a damaged line", "{H}{S}\0\n", BrokenLine),
];

fn state(text: &str) -> ProcessState {
    Recording::read(text.as_bytes()).state
}

#[test]
fn idle_and_its_near_misses() {
    for &(what, template, expected) in CASES {
        let text = template.replace("{H}", HEADER).replace("{S}", SDK);
        assert_eq!(state(&text), expected, "{what}:\n{text}");
    }
}

#[test]
fn a_footer_makes_it_clean_not_idle() {
    assert_eq!(
        state(&format!("{HEADER}{SDK}{CLEAN_FOOTER}")),
        ProcessState::Clean
    );
    assert_eq!(
        state(&format!("{HEADER}{CLEAN_FOOTER}")),
        ProcessState::Clean
    );
}

#[test]
fn a_healthy_rocm_recording_is_clean() {
    let text = format!(
        "{HEADER}{SDK}# gpu_active\n_Z9demoScalePfi\n# end records=9 unique=1 dropped=0 errors=0 unresolved=0\n"
    );
    let recording = Recording::read(text.as_bytes());
    assert_eq!(recording.state, ProcessState::Clean);
    assert!(recording.gpu_active);
}
