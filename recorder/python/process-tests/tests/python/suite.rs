//! A large package of pure Python under its own tests: the same outcomes with the recorder as without, and no
//! function missing that coverage.py saw entered.

use crate::bench::{Bench, text};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;
use serde_json::Value;
use std::collections::BTreeSet;
use std::path::Path;
use std::process::Command;

/// A copy of the package's source, for its tests write beside themselves.
fn source(bench: &Bench) {
    let from = pythons::installed().join("source");
    assert!(
        from.join("docutils").is_dir(),
        "no source: run scripts/install-python-tests.sh"
    );
    let mut command = Command::new("cp");
    command.arg("-r").arg(from).arg(bench.path("source"));
    assert!(command.status().unwrap().success());
}

/// Runs the tests with a wrapper around pytest; each test's outcome as pytest's report has it.
fn outcomes(bench: &Bench, armed: bool, wrapper: &[&str]) -> BTreeSet<String> {
    let mut arguments = wrapper.to_vec();
    arguments.extend([
        "-m",
        "pytest",
        "-p",
        "no:cacheprovider",
        "-q",
        "-rA",
        "test",
    ]);
    let mut command = if armed {
        bench.armed(&arguments)
    } else {
        bench.plain(&arguments)
    };
    command
        .current_dir(bench.path("source"))
        .env("KERNREC_PYTHON_ROOTS", "docutils")
        .env("PYTHONHASHSEED", "0");
    let output = command.output().unwrap();
    let stdout = text(&output.stdout);
    let lines = stdout.lines().filter(|line| {
        [
            "PASSED ",
            "FAILED ",
            "SKIPPED ",
            "ERROR ",
            "XFAIL ",
            "SUBPASSED",
            "SUBFAILED",
        ]
        .iter()
        .any(|start| line.starts_with(start))
    });
    let mut outcomes: BTreeSet<String> = lines.map(str::to_owned).collect();
    assert!(outcomes.len() > 300, "{stdout}{}", text(&output.stderr));
    outcomes.insert(format!("{:?}", output.status.code()));
    outcomes
}

/// The functions that coverage.py's report has lines of, `file name`, as `entered.py` works them out.
fn entered_by_coverage(bench: &Bench, python: &Path) -> BTreeSet<String> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/python/entered.py");
    let run = |arguments: &[&str]| {
        let mut command = bench.plain(arguments);
        command.current_dir(bench.path("source"));
        let output = command.output().unwrap();
        assert!(output.status.success(), "{output:?}");
        text(&output.stdout)
    };
    run(&["-m", "coverage", "json", "-q", "-o", "coverage.json"]);
    let listed = run(&[script.to_str().unwrap(), "coverage.json"]);
    let listed: Vec<String> = serde_json::from_str::<Value>(&listed)
        .and_then(serde_json::from_value)
        .unwrap();
    assert!(
        listed.len() > 1000,
        "{} functions with {}",
        listed.len(),
        python.display()
    );
    listed.into_iter().collect()
}

#[test]
fn the_outcomes_are_the_same_and_no_function_is_missing() {
    for python in pythons::with_pytest() {
        let bench = Bench::new(&python);
        source(&bench);
        let plain = outcomes(&bench, false, &[]);
        let recorded = outcomes(&bench, true, &[]);
        assert_eq!(plain, recorded);
        let alone = bench.one();
        assert_eq!(alone.state, ProcessState::Clean);

        fs_err::remove_dir_all(bench.path("out")).unwrap();
        let coverage = ["-m", "coverage", "run", "--source", "docutils"];
        assert_eq!(outcomes(&bench, true, &coverage), plain);
        let beside = bench.one();
        assert_eq!(beside.state, ProcessState::Clean);
        let recorded: BTreeSet<String> = beside
            .functions
            .iter()
            .filter_map(|line| Some(line.strip_prefix("source/")?.rsplit_once(' ')?.0.to_owned()))
            .collect();
        let entered = entered_by_coverage(&bench, &python);
        let missing: Vec<_> = entered.difference(&recorded).collect();
        assert!(
            missing.is_empty(),
            "{} of {}: {missing:?}",
            missing.len(),
            entered.len()
        );
        let lost: Vec<_> = beside.functions.difference(&alone.functions).collect();
        assert!(
            lost.is_empty(),
            "recorded beside coverage.py only: {lost:?}"
        );
    }
}
