//! Where Python cannot be recorded: the step runs once as it would have, and the sidecar says why.

use super::bench::{MODES, PRINTED, Step};
use crate::bench::{library, shell_status, text};
use crate::pythons;
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::process::Command;

#[track_caller]
fn assert_refused(step: &Step, word: &str, mut run: Command, printed: &str) {
    let output = run.output().unwrap();
    assert_eq!(shell_status(&output), 7, "{output:?}");
    assert_eq!(text(&output.stdout), printed);
    let said = text(&output.stderr);
    assert!(said.starts_with(&format!("kernrec: {word}: ")), "{said}");
    assert_eq!(said.lines().count(), 1, "{said}");
    let left = step.left();
    assert!(left.states.is_empty());
    let sidecar = left.sidecar;
    assert_eq!(sidecar.collection_available, Some(false));
    let error = sidecar.collection_error.unwrap();
    assert!(error.starts_with(&format!("{word}: ")), "{error}");
    assert_eq!(
        (sidecar.exit_status, sidecar.unrecorded_processes),
        (Some(7), 1)
    );
    assert_eq!(step.copies("local"), 0);
}

/// Counts its runs, and that nothing of a recorder is set.
const ONCE: &str = "echo run >> runs; test \"$(cat runs)\" = run; test -z \"${KERNREC_PYTHON_DIR-}${PYTHONPATH-}\"; python main.py; exit 7";

#[test]
fn a_python_that_is_too_old() {
    for python in pythons::too_old() {
        if pythons::ask(&python, "import sys; print(sys.version_info[0])") == "2" {
            continue;
        }
        for mode in MODES {
            let step = Step::new(&python);
            let before = step.files().len();
            let run = step.run(mode, &["sh", "-ec", ONCE]);
            assert_refused(&step, "python-too-old", run, PRINTED);
            assert_eq!(step.files().len(), before + 1, "the runs and nothing else");
        }
    }
}

#[test]
fn no_python_at_all() {
    for mode in MODES {
        let step = Step::new(&pythons::recorded()[0]);
        let tools = step.bench.path("tools");
        fs_err::create_dir(&tools).unwrap();
        symlink("/bin/sh", tools.join("sh")).unwrap();
        let mut run = step.run(mode, &["sh", "-c", "exit 7"]);
        run.env("PATH", &tools).env_remove("VIRTUAL_ENV");
        assert_refused(&step, "python-missing", run, "");
    }
}

#[test]
fn a_named_python_that_is_not_there_or_is_none() {
    for (name, word) in [
        ("absent/python", "python-missing"),
        ("/bin/false", "python-not-usable"),
    ] {
        let step = Step::new(&pythons::recorded()[0]);
        let mut run = step.command(crate::bench::HOST);
        run.args([
            "run",
            "--step",
            "demo",
            "--backend",
            "none",
            "--python",
            "host",
        ])
        .args(["--python-exe", name, "--", "sh", "-ec", ONCE]);
        assert_refused(&step, word, run, PRINTED);
    }
}

/// Root may write everywhere, so something else stands in the way.
#[test]
fn a_site_packages_that_takes_nothing() {
    for python in pythons::recorded() {
        let step = Step::new(python);
        fs_err::write(step.site.join("_kernrec_python"), "theirs").unwrap();
        let before = step.files().len();
        let run = step.run("container", &["sh", "-ec", ONCE]);
        assert_refused(&step, "site-packages-not-writable", run, PRINTED);
        assert_eq!(step.files().len(), before + 1);
    }
}

#[test]
fn a_folder_that_no_list_of_folders_can_hold() {
    let step = Step::new(&pythons::recorded()[0]);
    fs_err::create_dir(step.bench.path("a:b")).unwrap();
    let mut run = step.run("host", &["sh", "-ec", "exit 7"]);
    run.current_dir(step.bench.path("a:b"));
    let output = run.output().unwrap();
    assert_eq!(shell_status(&output), 7);
    let said = text(&output.stderr);
    assert!(
        said.starts_with("kernrec: python-folder-not-usable: "),
        "{said}"
    );
}

#[test]
fn a_library_that_is_missing_or_none() {
    let name = "libkernrec_python_extension.so";
    let other_library = fs_err::read(library("libkernrec_cupti.so")).unwrap();
    let cases: [(Option<&[u8]>, &str); 3] = [
        (None, "recorder-missing"),
        (Some(b"text"), "recorder-not-loadable"),
        (Some(&other_library), "recorder-not-loadable"),
    ];
    for mode in MODES {
        for (content, word) in cases {
            let step = Step::new(&pythons::recorded()[0]);
            let before = step.files().len();
            let folder: PathBuf = step.bench.path("libraries");
            fs_err::create_dir(&folder).unwrap();
            if let Some(content) = content {
                fs_err::write(folder.join(name), content).unwrap();
            }
            let added = 2 + usize::from(content.is_some());
            let mut run = step.run(mode, &["sh", "-ec", ONCE]);
            run.env("KERNREC_LIB_DIR", &folder);
            assert_refused(&step, word, run, PRINTED);
            assert_eq!(step.files().len(), before + added);
        }
    }
}
