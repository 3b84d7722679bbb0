//! The ROCm idle rule, formats.md section 10.2: a killed process that provably never touched the GPU.

use kernrec_schemas::recording::{ProcessState, Recording};

const HEADER: &str =
    "# kernrec v1 backend=rocm recorder=rocprofiler-sdk pid=77 ppid=70 exe=/usr/bin/python3\n";
const SDK: &str = "# sdk_version=10302 build_sdk_version=10302\n";
const CLEAN_FOOTER: &str = "# end records=0 unique=0 dropped=0 errors=0 unresolved=0\n";

fn state(text: &str) -> ProcessState {
    Recording::read(text.as_bytes()).state
}

#[test]
fn header_and_sdk_version_alone_are_idle() {
    assert_eq!(state(&format!("{HEADER}{SDK}")), ProcessState::Idle);
    assert_eq!(state(&format!("{HEADER}\n{SDK}\n")), ProcessState::Idle);
    assert_eq!(
        state(&format!("{HEADER}{SDK}# dropped=0\n")),
        ProcessState::Idle
    );
}

#[test]
fn near_misses_are_not_idle() {
    let cuda = HEADER
        .replace("rocm", "cuda")
        .replace("rocprofiler-sdk", "cupti");
    let forked = HEADER.replace("exe=/usr/bin/python3", "forked=1");
    let cases = [
        ("an empty file", String::new(), ProcessState::Empty),
        ("header only", HEADER.to_owned(), ProcessState::NoFooter),
        (
            "GPU work began",
            format!("{HEADER}{SDK}# gpu_active\n"),
            ProcessState::NoFooter,
        ),
        (
            "GPU work began, more on the line",
            format!("{HEADER}{SDK}# gpu_active t=1\n"),
            ProcessState::NoFooter,
        ),
        (
            "a name",
            format!("{HEADER}{SDK}_Z9demoScalePfi\n"),
            ProcessState::NoFooter,
        ),
        (
            "an error",
            format!("{HEADER}{SDK}# error=start_context_failed\n"),
            ProcessState::Error,
        ),
        (
            "a drop",
            format!("{HEADER}{SDK}# dropped=1\n"),
            ProcessState::Dropped,
        ),
        (
            "no backend named",
            format!("# kernrec v1 pid=77 ppid=70\n{SDK}"),
            ProcessState::NoFooter,
        ),
        (
            "the wrong recorder",
            format!("{}{SDK}", HEADER.replace("rocprofiler-sdk", "cupti")),
            ProcessState::BadHeader,
        ),
        ("CUDA", format!("{cuda}{SDK}"), ProcessState::NoFooter),
        (
            "a forked child",
            format!("{forked}{SDK}"),
            ProcessState::NoFooter,
        ),
        (
            "a forked child, said otherwise",
            format!("{}{SDK}", forked.replace("forked=1", "forked=yes")),
            ProcessState::NoFooter,
        ),
        (
            "a forked child as recorded",
            format!("{forked}# error=fork_after_sdk_init\n"),
            ProcessState::Error,
        ),
        (
            "two processes",
            format!("{HEADER}{SDK}{HEADER}{SDK}"),
            ProcessState::DuplicateHeader,
        ),
        (
            "a torn SDK line",
            format!("{HEADER}# sdk_version=103"),
            ProcessState::BrokenLine,
        ),
        (
            "a torn header",
            HEADER.trim_end().to_owned(),
            ProcessState::BrokenLine,
        ),
        (
            "a torn last line",
            format!("{HEADER}{SDK}# gpu_ac"),
            ProcessState::BrokenLine,
        ),
        (
            "a malformed SDK version",
            format!("{HEADER}# sdk_version=1.3.2\n"),
            ProcessState::Error,
        ),
        (
            "an unknown line",
            format!("{HEADER}{SDK}# gpu_busy\n"),
            ProcessState::NoFooter,
        ),
        (
            "a footer cut short",
            format!("{HEADER}{SDK}# end\n"),
            ProcessState::BadFooter,
        ),
        (
            "a damaged name",
            format!("{HEADER}{SDK}\0\n"),
            ProcessState::BrokenLine,
        ),
    ];
    for (what, text, expected) in cases {
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
