//! Function recordings and the notes of pytest's sessions, formats.md section 7.

use kernrec_schemas::function_recording::{
    FunctionRecording, SessionNotes, TestSession, is_function_recording_name, is_session_notes_name,
};
use kernrec_schemas::recording::ProcessState;
use proptest::prelude::*;
use std::fmt::Write as _;

const START: &str = "#start\tpid=9\tppid=8\thost=n1\tnonce=0badcafe\torigin=import\troot=\tpy=3.12.1\tBUILDKITE_STEP_KEY=demo\n";
const ROOT: &str = "#root\t/site/vllm/\tt=1.0\n";
const RUN: &str = "/site/vllm/demo.py\tDemo.run\t12\n";
const END: &str = "#end\troot=1\tother=40\terrors=0\tlast_error=\tt=2.0\n";

const ERROR: &str = "#error\tno_tool_id\n";
const COUNTED_ERRORS: &str = "#end\troot=1\tother=0\terrors=2\tlast_error=write_failed\tt=2\n";
const MORE: &str = "#stat\troot=2\tother=0\terrors=0\tlast_error=\tt=2\n";
const MORE_TESTS: &str = "#end\troot=1\ttests=1\tother=0\terrors=0\tlast_error=\tt=2\n";

const FAULTS: &[(&[&str], ProcessState)] = &[
    (&[START, ROOT, RUN], ProcessState::NoFooter),
    (&[START, ROOT, RUN, END, RUN], ProcessState::Clean),
    (&[START, ROOT, RUN, END, END], ProcessState::BadFooter),
    (&[START, ROOT, RUN, ERROR, END], ProcessState::Error),
    (&[START, ROOT, RUN, COUNTED_ERRORS], ProcessState::Error),
    (&[START, ROOT, RUN, MORE, END], ProcessState::Dropped),
    (&[START, ROOT, RUN, MORE_TESTS], ProcessState::Dropped),
    (
        &[START, ROOT, START, RUN, END],
        ProcessState::DuplicateHeader,
    ),
    (&[ROOT, RUN, END], ProcessState::BadHeader),
    (&[RUN, START, ROOT, END], ProcessState::BadHeader),
    (
        &["#start\tppid=9\n", ROOT, RUN, END],
        ProcessState::BadHeader,
    ),
    (
        &["#start\tpid=9\tpid=9\n", ROOT, RUN, END],
        ProcessState::BadHeader,
    ),
    (
        &["#start\tpid=9\tbare\n", ROOT, RUN, END],
        ProcessState::BadHeader,
    ),
    (
        &[START, ROOT, RUN, "two\tfields\n", END],
        ProcessState::BrokenLine,
    ),
    (
        &[START, ROOT, RUN, "a\tb\tc\n", END],
        ProcessState::BrokenLine,
    ),
    (
        &[START, ROOT, RUN, "a\tb\t1\t2\n", END],
        ProcessState::BrokenLine,
    ),
    (
        &[START, ROOT, RUN, "#end\troot=x\terrors=0\n"],
        ProcessState::BrokenLine,
    ),
    (
        &[START, ROOT, RUN, "#tests\ta\tb\n", END],
        ProcessState::BrokenLine,
    ),
    (&[START, ROOT, RUN, "#pkg\n", END], ProcessState::BrokenLine),
    (&[START, ROOT, RUN, END, "/site"], ProcessState::BrokenLine),
    (
        &[START, ROOT, RUN, "#newer\tthing\n", END],
        ProcessState::Clean,
    ),
];

fn names<'a>(recording: &'a FunctionRecording<'_>) -> Vec<&'a str> {
    let functions = recording.functions.iter();
    functions.map(|function| &*function.qualname).collect()
}

#[test]
fn the_documented_recording_is_clean() {
    let text = [START, ROOT, RUN, END].concat();
    let recording = FunctionRecording::read(text.as_bytes());
    assert_eq!(recording.state, ProcessState::Clean);
    assert!(recording.clean_exit);
    assert_eq!(recording.roots, ["/site/vllm/"]);
    let function = &recording.functions[0];
    assert_eq!(
        (&*function.file, &*function.qualname, function.line),
        ("/site/vllm/demo.py", "Demo.run", 12)
    );
    let header = recording.header.unwrap();
    assert_eq!(header.process(), Some(9));
    assert_eq!(header.interpreter(), Some("3.12.1"));
    assert_eq!(header.field("BUILDKITE_STEP_KEY"), Some("demo"));
    assert_eq!((header.field("root"), header.forked_from()), (None, None));
}

#[test]
fn every_fault_has_its_state_and_no_function_is_lost() {
    for (parts, state) in FAULTS {
        let text = parts.concat();
        let recording = FunctionRecording::read(text.as_bytes());
        assert_eq!(recording.state, *state, "{text}");
        assert_eq!(names(&recording)[..1], ["Demo.run"], "{text}");
    }
    assert_eq!(FunctionRecording::read(b"").state, ProcessState::Empty);
}

#[test]
fn a_line_that_is_not_known_is_kept() {
    let text = [START, ROOT, "#libcall\tflashinfer\tplan\n", END].concat();
    let recording = FunctionRecording::read(text.as_bytes());
    assert_eq!(recording.unknown, ["#libcall\tflashinfer\tplan"]);
}

#[test]
fn functions_outside_of_the_named_places_are_counted_and_kept() {
    let tests = "#tests\t/co/tests/\n";
    let inside = "/co/tests/a.py\ttest_a\t1\n";
    let outside = "/site/vllm_other/a.py\tf\t1\n";
    let text = [START, ROOT, tests, RUN, inside, outside].concat();
    let recording = FunctionRecording::read(text.as_bytes());
    assert_eq!(recording.outside_lines, 1);
    assert_eq!(names(&recording), ["Demo.run", "test_a", "f"]);
}

#[test]
fn without_a_root_line_the_headers_root_is_in_force() {
    let text = ["#start\tpid=9\troot=/site/vllm/\n", RUN].concat();
    let recording = FunctionRecording::read(text.as_bytes());
    assert_eq!(recording.roots, ["/site/vllm/"]);
    assert_eq!(recording.outside_lines, 0);
}

#[test]
fn notes_tell_what_ran_and_what_was_killed() {
    let collected = r#"{"event":"collected","selected":4,"deselected":1}"#;
    let session = r#"{"event":"session","passed":1,"failed":1,"errors":1,"skipped":1,"xfailed":1,"selected":4,"testsfailed":2,"exitstatus":1,"later":[]}"#;
    let notes = |lines: &[&str]| SessionNotes::read(lines.join("\n").as_bytes());
    let read = notes(&[collected, session, ""]);
    assert_eq!(
        read.sessions,
        [TestSession {
            passed: 1,
            failed: 1,
            errors: 1,
            skipped: 1,
            xfailed: 1,
            xpassed: 0,
            selected: 4,
            exit_status: 1
        }]
    );
    assert_eq!(
        (read.executed(), read.unfinished, read.malformed_lines),
        (3, 0, 0)
    );
    assert_eq!(notes(&[collected, ""]).unfinished, 1);
    assert_eq!(notes(&[collected, collected, session, ""]).unfinished, 1);
    assert_eq!(notes(&["nonsense", session, ""]).malformed_lines, 1);
    let torn = notes(&[collected, session]);
    assert_eq!((torn.unfinished, torn.malformed_lines), (1, 1), "torn");
    assert_eq!(notes(&[]), SessionNotes::default());
}

#[test]
fn names_of_files_are_told_apart() {
    for (name, function, notes) in [
        ("fn.n1.0badcafe.9.txt", true, false),
        ("fn.txt", false, false),
        ("kern.9.txt", false, false),
        ("pytest.9.jsonl", false, true),
        ("pytest.jsonl", false, true),
        ("pytest.installed", false, false),
    ] {
        assert_eq!(is_function_recording_name(name), function, "{name}");
        assert_eq!(is_session_notes_name(name), notes, "{name}");
    }
}

fn field() -> impl Strategy<Value = String> {
    "[a-zA-Z0-9_./<> -]{1,12}"
}

proptest! {
    #[test]
    fn what_a_recorder_writes_reads_back(
        functions in proptest::collection::btree_set((field(), field(), any::<u32>()), 0..20),
        packages in proptest::collection::btree_set(field(), 0..5),
    ) {
        let mut text = [START, ROOT].concat();
        for package in &packages {
            let _ = writeln!(text, "#pkg\t{package}");
        }
        for (file, qualname, line) in &functions {
            let _ = writeln!(text, "/site/vllm/{file}\t{qualname}\t{line}");
        }
        let _ = writeln!(text, "#end\troot={}\tother=0\terrors=0\tlast_error=\tt=1", functions.len());
        let recording = FunctionRecording::read(text.as_bytes());
        prop_assert_eq!(recording.state, ProcessState::Clean);
        prop_assert_eq!(recording.outside_lines, 0);
        prop_assert_eq!(&recording.packages, &packages);
        let read: std::collections::BTreeSet<_> = recording
            .functions
            .iter()
            .map(|f| (f.file["/site/vllm/".len()..].to_owned(), f.qualname.to_string(), f.line))
            .collect();
        prop_assert_eq!(read, functions);
    }

    #[test]
    fn no_cut_makes_a_killed_recording_clean(cut in 0..1000_usize) {
        let text = [START, ROOT, RUN, END].concat();
        let cut = cut % text.len();
        let recording = FunctionRecording::read(&text.as_bytes()[..cut]);
        prop_assert_ne!(recording.state, ProcessState::Clean);
    }
}
