//! The clean-file rule and its near misses, formats.md sections 1.1 to 1.6.

use kernrec_schemas::Backend;
use kernrec_schemas::recording::{HeaderKind, ProcessState, Recording, is_recording_name};

const HEADER: &str =
    "# kernrec v1 backend=cuda recorder=cupti pid=310 ppid=301 exe=/opt/py/bin/python\n";
const NAMES: &str = "_Z9demoScalePfi\ndemo_triton_add\n";
const FOOTER: &str = "# end records=52 unique=2 dropped=0 errors=0 unresolved=0\n";

fn clean() -> String {
    format!("{HEADER}{NAMES}{FOOTER}")
}

fn state(text: &str) -> ProcessState {
    Recording::read(text.as_bytes()).state
}

#[track_caller]
fn expect(cases: &[(&str, String, ProcessState)]) {
    for (what, text, expected) in cases {
        let recording = Recording::read(text.as_bytes());
        assert_eq!(recording.state, *expected, "{what}:\n{text}");
        for name in ["_Z9demoScalePfi", "demo_triton_add"] {
            let written = text.lines().any(|line| line == name);
            let kept = recording.names.iter().any(|kept| kept == name);
            assert_eq!(
                kept, written,
                "{what}: `{name}` must be kept whatever the state"
            );
        }
    }
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
fn what_does_not_spoil_a_clean_recording() {
    let same = ProcessState::Clean;
    expect(&[
        (
            "empty lines",
            format!("\n{HEADER}\n{NAMES}\n\n{FOOTER}\n\n"),
            same,
        ),
        (
            "metadata",
            format!("{HEADER}# hostname=n1\n#\n{NAMES}{FOOTER}"),
            same,
        ),
        (
            "metadata before the header",
            format!("# note\n{HEADER}{NAMES}{FOOTER}"),
            same,
        ),
        (
            "a repeated name",
            format!("{HEADER}{NAMES}{NAMES}{FOOTER}"),
            same,
        ),
        (
            "a zero drop line",
            format!("{HEADER}{NAMES}# dropped=0\n{FOOTER}"),
            same,
        ),
        (
            "more records than names",
            clean().replace("records=52", "records=9999999"),
            same,
        ),
        (
            "as many records as names",
            clean().replace("records=52", "records=2"),
            same,
        ),
        (
            "a path with spaces",
            clean().replace("/opt/py", "/opt/my py"),
            same,
        ),
        (
            "an unknown header field",
            clean().replace("pid=310", "pid=310 host=n1"),
            same,
        ),
        (
            "an unknown footer field",
            clean().replace("records", "seconds=1.5 records"),
            same,
        ),
        (
            "no name at all",
            format!("{HEADER}# end records=0 unique=0 dropped=0 errors=0 unresolved=0\n"),
            same,
        ),
    ]);
}

#[test]
fn near_misses_of_the_footer_rule() {
    let footer = |footer: &str| format!("{HEADER}{NAMES}{footer}");
    expect(&[
        ("none", footer(""), ProcessState::NoFooter),
        (
            "not last: a name follows",
            format!("{HEADER}_Z9demoScalePfi\n{FOOTER}demo_triton_add\n"),
            ProcessState::BadFooter,
        ),
        (
            "not last: metadata follows",
            footer(&format!("{FOOTER}# note\n")),
            ProcessState::BadFooter,
        ),
        (
            "twice",
            footer(&format!("{FOOTER}{FOOTER}")),
            ProcessState::BadFooter,
        ),
        (
            "cut after its mark",
            footer("# end\n"),
            ProcessState::BadFooter,
        ),
        (
            "one name more than counted",
            clean().replace("unique=2", "unique=1"),
            ProcessState::BadFooter,
        ),
        (
            "one name fewer than counted",
            clean().replace("unique=2", "unique=3"),
            ProcessState::BadFooter,
        ),
        (
            "fewer records than names",
            clean().replace("records=52", "records=1"),
            ProcessState::BadFooter,
        ),
        (
            "no records",
            clean().replace("records=52 ", ""),
            ProcessState::BadFooter,
        ),
        (
            "no unique",
            clean().replace("unique=2 ", ""),
            ProcessState::BadFooter,
        ),
        (
            "no dropped",
            clean().replace("dropped=0 ", ""),
            ProcessState::BadFooter,
        ),
        (
            "no errors",
            clean().replace("errors=0 ", ""),
            ProcessState::BadFooter,
        ),
        (
            "no unresolved",
            clean().replace(" unresolved=0", ""),
            ProcessState::BadFooter,
        ),
        (
            "a key twice",
            clean().replace("unique=2", "unique=2 unique=2"),
            ProcessState::BadFooter,
        ),
        (
            "an error",
            clean().replace("errors=0", "errors=1"),
            ProcessState::Error,
        ),
        (
            "an unresolved record",
            clean().replace("unresolved=0", "unresolved=1"),
            ProcessState::Error,
        ),
        (
            "an earlier footer with an error",
            footer(&format!(
                "# end records=2 unique=2 dropped=0 errors=1 unresolved=0\n{FOOTER}"
            )),
            ProcessState::Error,
        ),
        (
            "a lost record",
            clean().replace("dropped=0", "dropped=1"),
            ProcessState::Dropped,
        ),
        (
            "a negative number",
            clean().replace("dropped=0", "dropped=-1"),
            ProcessState::Error,
        ),
        (
            "a signed number",
            clean().replace("unique=2", "unique=+2"),
            ProcessState::Error,
        ),
        (
            "a fraction",
            clean().replace("unique=2", "unique=2.0"),
            ProcessState::Error,
        ),
        (
            "no number",
            clean().replace("errors=0", "errors="),
            ProcessState::Error,
        ),
        (
            "a word",
            clean().replace("records=52", "records=many"),
            ProcessState::Error,
        ),
        (
            "beyond 64 bits",
            clean().replace("records=52", "records=18446744073709551616"),
            ProcessState::Error,
        ),
        (
            "without its line end",
            clean().trim_end().to_owned(),
            ProcessState::BrokenLine,
        ),
        (
            "a carriage return",
            clean().replace("unresolved=0\n", "unresolved=0\r\n"),
            ProcessState::Error,
        ),
    ]);
}

#[test]
fn near_misses_of_the_header_rule() {
    let header = |from: &str, to: &str| clean().replace(from, to);
    let bad = ProcessState::BadHeader;
    expect(&[
        ("none", format!("{NAMES}{FOOTER}"), bad),
        (
            "a name before it",
            format!("_Z9demoScalePfi\n{HEADER}demo_triton_add\n{FOOTER}"),
            bad,
        ),
        (
            "an unknown backend",
            header("backend=cuda", "backend=xpu"),
            bad,
        ),
        (
            "another backend's recorder",
            header("cupti", "rocprofiler-sdk"),
            bad,
        ),
        ("no recorder", header("recorder=cupti ", ""), bad),
        ("no backend", header("backend=cuda ", ""), bad),
        ("a key twice", header("pid=310", "pid=310 pid=310"), bad),
        (
            "an unknown key twice",
            header("pid=310", "pid=310 x=1 x=2"),
            bad,
        ),
        ("a malformed pid", header("pid=310", "pid=abc"), bad),
        ("a negative pid", header(" pid=310", " pid=-1"), bad),
        (
            "another version",
            header("# kernrec v1 ", "# kernrec v2 "),
            bad,
        ),
        (
            "no space after its mark",
            header("# kernrec v1 ", "# kernrec v1"),
            bad,
        ),
        ("another case", header("# kernrec", "# Kernrec"), bad),
        (
            "twice",
            format!("{HEADER}{HEADER}{NAMES}{FOOTER}"),
            ProcessState::DuplicateHeader,
        ),
        (
            "twice, the second at the end",
            format!("{}{HEADER}", clean()),
            ProcessState::DuplicateHeader,
        ),
        (
            "an unknown version beside it",
            format!("{HEADER}# kernrec v2 x=1\n{NAMES}{FOOTER}"),
            ProcessState::BrokenLine,
        ),
    ]);
}

#[test]
fn near_misses_among_the_lines_between() {
    let between = |line: &str| format!("{HEADER}{NAMES}{line}\n{FOOTER}");
    expect(&[
        (
            "an error",
            between("# error=set-allocation"),
            ProcessState::Error,
        ),
        (
            "an unknown error",
            between("# error=of_tomorrow with words"),
            ProcessState::Error,
        ),
        (
            "an error by prefix",
            between("# errors were seen"),
            ProcessState::Error,
        ),
        (
            "an error after the footer",
            format!("{}# error=final-flush\n", clean()),
            ProcessState::Error,
        ),
        ("a drop", between("# dropped=3"), ProcessState::Dropped),
        (
            "a malformed drop",
            between("# dropped=x"),
            ProcessState::Error,
        ),
        (
            "a negative drop",
            between("# dropped=-3"),
            ProcessState::Error,
        ),
        (
            "a malformed SDK version",
            between("# sdk_version=x build_sdk_version=1"),
            ProcessState::Error,
        ),
        (
            "a malformed build SDK version",
            between("# sdk_version=1 build_sdk_version=x"),
            ProcessState::Error,
        ),
        (
            "an SDK version twice",
            between("# sdk_version=1 sdk_version=1"),
            ProcessState::Error,
        ),
        (
            "a name with a carriage return",
            clean()
                .replace("_add\n", "_add\r\n")
                .replace("demo_triton_add\r", "demo_other\r"),
            ProcessState::BrokenLine,
        ),
        (
            "a name with a tab",
            clean()
                .replace("unique=2", "unique=3")
                .replace("# end", "a\tb\n# end"),
            ProcessState::BrokenLine,
        ),
        (
            "NULs of a lost write",
            clean()
                .replace("unique=2", "unique=3")
                .replace("# end", "\0\0\0\n# end"),
            ProcessState::BrokenLine,
        ),
        (
            "a last line without end",
            format!("{}# note", clean()),
            ProcessState::BrokenLine,
        ),
    ]);
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
fn the_first_versions_format_selects_and_is_never_clean() {
    let old_header = "# kernrec v1 pid=310 ppid=301 exe=/opt/py/bin/python\n";
    let old_footer = "# dropped=0\n# end records=52 unique=2 dropped=0\n";
    expect(&[
        (
            "old both",
            format!("{old_header}{NAMES}{old_footer}"),
            ProcessState::Legacy,
        ),
        (
            "old header, new footer",
            format!("{old_header}{NAMES}{FOOTER}"),
            ProcessState::Legacy,
        ),
        (
            "new header, old footer",
            format!("{HEADER}{NAMES}{old_footer}"),
            ProcessState::Legacy,
        ),
        (
            "old, killed",
            format!("{old_header}{NAMES}"),
            ProcessState::NoFooter,
        ),
        (
            "old, a name lost",
            format!("{old_header}_Z9demoScalePfi\n{old_footer}"),
            ProcessState::BadFooter,
        ),
        (
            "old, dropped",
            format!("{old_header}{NAMES}# dropped=1\n# end records=52 unique=2 dropped=1\n"),
            ProcessState::Dropped,
        ),
    ]);
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
    for name in ["kern.1.txt", "kern.310.0badcafe.txt"] {
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
}
