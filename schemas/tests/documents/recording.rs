//! The clean-file rule and its near misses (in `recording_cases`), formats.md sections 1.1 to 1.6.

use kernrec_schemas::Backend;
use kernrec_schemas::recording::{HeaderKind, ProcessState, Recording, is_recording_name};

use super::recording_cases::{FOOTER, HEADER, NAMES, clean};

fn state(text: &str) -> ProcessState {
    Recording::read(text.as_bytes()).state
}

#[test]
fn the_documented_new_style_recording_is_clean() {
    let text = clean();
    let recording = Recording::read(text.as_bytes());
    assert_eq!(recording.state, ProcessState::Clean);
    assert_eq!(recording.names, ["_Z9demoScalePfi", "demo_triton_add"]);
    assert_eq!(recording.backend(), Some(Backend::Cuda));
    assert_eq!(recording.first_error, None);
    let footer = recording.footer.unwrap();
    assert_eq!((footer.records, footer.unique, footer.dropped), (52, 2, 0));
    assert_eq!((footer.errors, footer.unresolved), (Some(0), Some(0)));
    let header = recording.header.unwrap();
    assert_eq!((header.pid, header.ppid), (Some(310), Some(301)));
    assert_eq!(header.exe.as_deref(), Some("/opt/py/bin/python"));
}

#[test]
fn a_name_longer_than_the_limit_is_a_broken_line() {
    let long = "x".repeat(64 * 1024 + 1);
    let text = format!("{HEADER}{NAMES}{long}\n{FOOTER}");
    let recording = Recording::read(text.as_bytes());
    assert_eq!(recording.state, ProcessState::BrokenLine);
    assert_eq!(recording.names, ["_Z9demoScalePfi", "demo_triton_add"]);
}

#[test]
fn a_name_that_is_not_utf8_is_kept_with_replacements_and_spoils_the_file() {
    let mut bytes = clean().into_bytes();
    let at = HEADER.len() + "_Z9".len();
    bytes[at] = 0xff;
    let recording = Recording::read(&bytes);
    assert_eq!(recording.state, ProcessState::BrokenLine);
    assert_eq!(
        recording.names,
        ["_Z9\u{fffd}emoScalePfi", "demo_triton_add"]
    );
}

#[test]
fn two_names_that_read_alike_count_once() {
    let mut bytes = HEADER.as_bytes().to_vec();
    bytes.extend(b"a\xff\na\xfe\n");
    let recording = Recording::read(&bytes);
    assert_eq!(recording.names, ["a\u{fffd}"]);
}

#[test]
fn the_first_versions_format_is_read_as_cuda_and_is_never_healthy() {
    let old_header = "# kernrec v1 pid=310 ppid=301 exe=/opt/py/bin/python\n";
    let old_footer = "# dropped=0\n# end records=52 unique=2 dropped=0\n";
    let text = format!("{old_header}{NAMES}{old_footer}");
    let recording = Recording::read(text.as_bytes());
    assert_eq!(recording.backend(), Some(Backend::Cuda));
    assert_eq!(recording.header.unwrap().kind, HeaderKind::Legacy);
    assert!(!recording.state.is_healthy());
}

#[test]
fn dropped_is_the_larger_of_the_lines_and_the_footer() {
    let dropped = |text: String| Recording::read(text.as_bytes()).dropped;
    let footer = |n: u64| format!("# end records=52 unique=2 dropped={n} errors=0 unresolved=0\n");
    assert_eq!(
        dropped(format!(
            "{HEADER}{NAMES}# dropped=2\n# dropped=3\n{}",
            footer(4)
        )),
        5
    );
    assert_eq!(
        dropped(format!(
            "{HEADER}{NAMES}# dropped=2\n# dropped=3\n{}",
            footer(9)
        )),
        9
    );
    assert_eq!(
        dropped(format!("{HEADER}{NAMES}# dropped=2\n")),
        2,
        "without a footer"
    );
    let most = u64::MAX;
    assert_eq!(
        dropped(format!("{HEADER}# dropped={most}\n# dropped={most}\n")),
        most,
        "no overflow"
    );
}

#[test]
fn errors_are_quoted_for_people() {
    let first = |text: String| Recording::read(text.as_bytes()).first_error;
    let text = format!("{HEADER}# error=set-capacity\n# error=final-flush\n{FOOTER}");
    assert_eq!(first(text).as_deref(), Some("error=set-capacity"));
    let text = clean().replace("errors=0", "errors=7");
    assert!(first(text).unwrap().contains("errors=7"));
    let text = format!("{HEADER}# error={}\n", "x".repeat(5000));
    assert_eq!(first(text).unwrap().len(), 200);
}

#[test]
fn headers_that_disagree_leave_the_backend_open() {
    let rocm = HEADER
        .replace("cuda", "rocm")
        .replace("cupti", "rocprofiler-sdk");
    let backend = |text: String| Recording::read(text.as_bytes()).backend();
    assert_eq!(backend(rocm.clone()), Some(Backend::Rocm));
    assert_eq!(backend(format!("{HEADER}{HEADER}")), Some(Backend::Cuda));
    assert_eq!(backend(format!("{HEADER}{rocm}")), None);
    assert_eq!(backend(HEADER.replace("cupti", "rocprofiler-sdk")), None);
    assert_eq!(
        backend(HEADER.replace("pid=310", "pid=x")),
        Some(Backend::Cuda)
    );
    assert_eq!(backend(NAMES.to_owned()), None);
}

#[test]
fn a_header_of_very_many_fields_is_bad_and_read_in_a_moment() {
    let fields: Vec<String> = (0..200_000).map(|n| format!(" k{n}=v")).collect();
    let header = HEADER.replace(" pid=310", &format!("{} pid=310", fields.concat()));
    assert_eq!(
        state(&format!("{header}{NAMES}{FOOTER}")),
        ProcessState::BadHeader
    );
    let few = HEADER.replace(" pid=310", " a=1 b=2 c=3 pid=310");
    assert_eq!(state(&format!("{few}{NAMES}{FOOTER}")), ProcessState::Clean);
}

#[test]
fn a_file_without_content_is_unhealthy() {
    assert_eq!(state(""), ProcessState::Empty);
    assert_eq!(state("\n\n"), ProcessState::BadHeader);
    assert_eq!(state(HEADER), ProcessState::NoFooter);
}

#[test]
fn only_clean_and_idle_are_healthy() {
    let healthy: Vec<_> = ProcessState::ALL
        .into_iter()
        .filter(|state| state.is_healthy())
        .collect();
    assert_eq!(healthy, [ProcessState::Clean, ProcessState::Idle]);
}

#[test]
fn recording_file_names() {
    for name in ["kern.1.txt", "kern.310.0badcafe.txt", "kern..txt"] {
        assert!(is_recording_name(name), "{name}");
    }
    for name in [
        "kern.txt",
        "kern..txt.gz",
        "kern.1.TXT",
        "fn.1.txt",
        "kernrec.json",
        "xkern.1.txt",
    ] {
        assert!(!is_recording_name(name), "{name}");
    }
    assert!(is_recording_name(b"kern.\xff.txt"));
}
