//! The pytest plugin, with the real pytest.

use crate::bench::{Bench, Left, text};
use crate::pythons;
use kernrec_schemas::function_recording::{PYTEST_MARKER, SessionNotes, is_session_notes_name};
use kernrec_schemas::recording::ProcessState;
use std::path::Path;
use std::process::Output;

const TESTS: &str = "import os, pytest, helper\nhelper.before()\nimport vllm.worker\n\ndef test_passes():\n    assert vllm.worker.work() == 7\n\ndef test_fails():\n    assert helper.value() == 8\n\n@pytest.mark.skip\ndef test_skipped():\n    pass\n\n@pytest.mark.xfail\ndef test_expected():\n    assert False\n\n@pytest.mark.xfail\ndef test_unexpected():\n    pass\n\n@pytest.fixture\ndef broken():\n    raise OSError\n\ndef test_error(broken):\n    pass\n\ndef test_left_out():\n    pass\n";
const HELPER: &str = "def before():\n    pass\n\ndef value():\n    return 7\n";

/// A checkout with the fake packages' source elsewhere and tests of its own.
fn checkout(python: &Path) -> Bench {
    let bench = Bench::new(python);
    bench.file("checkout/tests/test_a.py", TESTS);
    bench.file("checkout/tests/helper.py", HELPER);
    bench.file(
        "checkout/tests/conftest.py",
        "def prepare():\n    pass\nprepare()\n",
    );
    bench.file("checkout/pytest.ini", "[pytest]\n");
    bench
}

fn pytest(bench: &Bench, arguments: &[&str]) -> Output {
    let mut command = bench.armed(&["-m", "pytest", "-p", "no:cacheprovider"]);
    command
        .args(arguments)
        .current_dir(bench.path("checkout"))
        .env("KERNREC_PYTHON_CHECKOUT", bench.path("checkout"))
        .env("PYTHONWARNINGS", "error");
    let output = command.output().unwrap();
    let shown = text(&output.stdout) + &text(&output.stderr);
    assert!(!shown.contains("PytestAssertRewriteWarning"), "{shown}");
    output
}

/// The notes of every process.
fn notes(bench: &Bench) -> Vec<SessionNotes> {
    let Ok(entries) = fs_err::read_dir(bench.path("out")) else {
        return Vec::new();
    };
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| is_session_notes_name(path.file_name().unwrap().as_encoded_bytes()))
        .map(|path| SessionNotes::read(&fs_err::read(path).unwrap()))
        .collect()
}

#[track_caller]
fn one(bench: &Bench) -> SessionNotes {
    let mut notes = notes(bench);
    assert_eq!(notes.len(), 1, "{notes:?}");
    assert_eq!(notes[0].malformed_lines, 0);
    notes.remove(0)
}

/// Everything that a test module entered, from before the first watched package was imported.
#[track_caller]
fn assert_tests_recorded(left: &Left) {
    for function in [
        "checkout/tests/conftest.py <module> 1",
        "checkout/tests/conftest.py prepare 1",
        "checkout/tests/helper.py before 1",
        "checkout/tests/helper.py value 4",
        "checkout/tests/test_a.py <module> 1",
        "checkout/tests/test_a.py test_fails 8",
        "src/vllm/worker.py work 1",
    ] {
        assert!(left.has(function), "no {function}: {}", left.text);
    }
    assert!(
        !left.has("checkout/tests/test_a.py test_left_out 33"),
        "{}",
        left.text
    );
}

#[test]
fn a_session_is_noted_and_its_tests_are_recorded() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        let output = pytest(
            &bench,
            &["-q", "--deselect", "tests/test_a.py::test_left_out"],
        );
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let notes = one(&bench);
        assert_eq!(notes.unfinished, 0);
        let session = notes.sessions[0];
        let counts = [
            session.passed,
            session.failed,
            session.errors,
            session.skipped,
        ];
        assert_eq!(counts, [1, 1, 1, 1], "{}", text(&output.stdout));
        assert_eq!((session.xfailed, session.xpassed), (1, 1));
        assert_eq!((session.selected, session.exit_status), (6, 1));
        assert_eq!(session.executed(), 4);
        assert!(bench.path("out").join(PYTEST_MARKER).is_file());
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
        assert_tests_recorded(&left);
    }
}

#[test]
fn workers_of_xdist_are_recorded_and_counted_once() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        let output = pytest(
            &bench,
            &[
                "-q",
                "-n",
                "2",
                "--deselect",
                "tests/test_a.py::test_left_out",
            ],
        );
        assert_eq!(output.status.code(), Some(1), "{output:?}");
        let notes = one(&bench);
        let session = notes.sessions[0];
        assert_eq!(
            (session.executed(), session.selected),
            (4, 6),
            "{}",
            text(&output.stdout)
        );
        let left = bench.left();
        assert_eq!(
            left.len(),
            3,
            "the controller reads the conftest: {left:#?}"
        );
        assert!(
            left.iter().all(|left| left.state == ProcessState::Clean),
            "{left:#?}"
        );
        assert!(
            left.iter()
                .any(|left| left.has("checkout/tests/test_a.py test_fails 8"))
        );
    }
}

#[test]
fn a_session_that_is_killed_has_no_end() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        bench.file(
            "checkout/tests/test_a.py",
            "import os, vllm\ndef test_dies():\n    os._exit(0)\n",
        );
        assert_eq!(pytest(&bench, &["-q"]).status.code(), Some(0));
        let notes = one(&bench);
        assert_eq!((notes.unfinished, notes.executed()), (1, 0));
        assert_eq!(bench.one().state, ProcessState::NoFooter);
    }
}

#[test]
fn a_session_without_tests_says_that_it_ran_none() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        let output = pytest(&bench, &["-q", "-k", "nothing"]);
        assert_eq!(output.status.code(), Some(5), "{output:?}");
        let session = one(&bench).sessions[0];
        assert_eq!((session.executed(), session.exit_status), (0, 5));
    }
}

#[test]
fn a_session_within_a_test_is_part_of_the_test() {
    let test = "pytest_plugins = 'pytester'\ndef test_outer(pytester):\n    pytester.makepyfile(test_inner='def test_a(): pass\\ndef test_b(): assert 0')\n    pytester.inline_run('-p', 'no:cacheprovider').assertoutcome(passed=1, failed=1)\n";
    for python in pythons::with_pytest() {
        let bench = Bench::new(&python);
        bench.file("checkout/test_outer.py", test);
        bench.file("checkout/pytest.ini", "[pytest]\n");
        let output = pytest(&bench, &["-q", "test_outer.py"]);
        assert_eq!(output.status.code(), Some(0), "{output:?}");
        let notes = one(&bench);
        assert_eq!(notes.sessions.len(), 1);
        assert_eq!((notes.sessions[0].passed, notes.sessions[0].failed), (1, 0));
    }
}

#[test]
fn a_test_of_subtests_counts_once() {
    let test = "import unittest\nclass T(unittest.TestCase):\n    def test_many(self):\n        for i in range(3):\n            with self.subTest(i=i):\n                self.assertLess(i, 3)\n";
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        bench.file("checkout/tests/test_a.py", test);
        assert_eq!(pytest(&bench, &["-q"]).status.code(), Some(0));
        assert_eq!(one(&bench).executed(), 1);
    }
}

/// Its silence about the package would else count, and what the test entered would be missing.
#[test]
fn a_session_that_imports_no_watched_package_is_recorded() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        bench.file(
            "checkout/tests/test_a.py",
            "import os, helped\ndef test_alone():\n    helped.value()\n    os._exit(0)\n",
        );
        bench.file("checkout/tests/helped.py", "def value():\n    return 1\n");
        pytest(&bench, &["-q"]);
        let left = bench.one();
        assert_eq!(left.state, ProcessState::NoFooter, "{}", left.text);
        for function in [
            "checkout/tests/test_a.py test_alone 2",
            "checkout/tests/helped.py value 1",
        ] {
            assert!(left.has(function), "no {function}: {}", left.text);
        }
    }
}

#[test]
fn tests_imported_without_the_plugin_spoil_the_recording() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        pytest(&bench, &["-q", "-p", "no:kernrec"]);
        assert!(notes(&bench).is_empty());
        let left = bench.one();
        assert!(left.has_error("tests_before_start"), "{}", left.text);
    }
}

#[test]
fn a_package_that_pytest_rewrites_is_recorded() {
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        bench.file("checkout/tests/conftest.py", "import pytest\npytest.register_assert_rewrite('vllm')\ndef prepare(): pass\nprepare()\n");
        pytest(&bench, &["-q"]);
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean, "{}", left.text);
        for function in [
            "src/vllm/__init__.py <module> 1",
            "src/vllm/engine.py Engine 4",
            "src/vllm/worker.py work 1",
        ] {
            assert!(left.has(function), "no {function}: {}", left.text);
        }
    }
}

#[test]
fn a_session_that_is_not_armed_loads_and_leaves_nothing() {
    let test = "import sys\ndef test_nothing():\n    assert '_kernrec_python._pytest_notes' not in sys.modules\n    assert '_kernrec_python._recorder' not in sys.modules\n";
    for python in pythons::with_pytest() {
        let bench = checkout(&python);
        bench.file("checkout/tests/test_a.py", test);
        let mut command = bench.armed(&["-m", "pytest", "-q", "-p", "no:cacheprovider"]);
        command
            .env_remove("KERNREC_PYTHON_DIR")
            .current_dir(bench.path("checkout"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        assert!(!bench.path("out").exists());
    }
}
