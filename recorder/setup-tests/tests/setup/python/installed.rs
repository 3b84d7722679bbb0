//! A recorded step in each mode, and each kind of installation.

use super::bench::{MODES, PRINTED, PROGRAM, Step};
use crate::bench::{HOST, assert_quiet, shell_status, text};
use crate::pythons;
use crate::tree::TREE;
use kernrec_schemas::function_recording::PYTEST_MARKER;
use kernrec_schemas::recording::ProcessState;
use std::path::Path;

#[test]
fn a_step_of_python_alone_leaves_one_bundle() {
    for python in pythons::recorded() {
        for mode in MODES {
            let step = Step::new(python);
            let mut run = step.run(mode, &["python", "main.py"]);
            run.env("BUILDKITE_JOB_ID", "j-1")
                .env("BUILDKITE_COMMIT", "c0ffee")
                .env("VLLM_ROCM_USE_AITER", "1")
                .env("HF_TOKEN", "hunter2");
            let output = run.output().unwrap();
            assert_quiet(&output, 0);
            assert_eq!(text(&output.stdout), PRINTED);
            let left = step.left();
            left.assert_recorded(1);
            let names: Vec<&str> = left.files.keys().map(String::as_str).collect();
            assert!(
                matches!(&names[..], ["bundle.json", recording, "fnrec.json"] if recording.starts_with("fn.")),
                "{names:?}"
            );
            let sidecar = &left.sidecar;
            assert_eq!(sidecar.step_key.as_ref().unwrap().as_str(), "demo");
            assert_eq!(sidecar.job_id.as_ref().unwrap().as_str(), "j-1");
            assert_eq!(sidecar.exit_status, Some(0));
            assert_eq!(sidecar.recorder.as_deref(), Some("sys.monitoring"));
            let said = text(&left.files["fnrec.json"]);
            assert!(said.contains("\"python\": \"3.1"), "{said}");
            assert!(said.contains("\"VLLM_ROCM_USE_AITER\": \"1\""), "{said}");
            assert!(
                left.files
                    .values()
                    .all(|file| !text(file).contains("hunter2"))
            );
        }
    }
}

#[test]
fn what_a_host_gets_is_gone_at_the_end() {
    for python in pythons::recorded() {
        let step = Step::new(python);
        let before = step.files();
        for status in [0, 3] {
            let script = format!("{PROGRAM}raise SystemExit({status})\n");
            fs_err::write(step.bench.path("main.py"), script).unwrap();
            let run = step.run("host", &["python", "main.py"]).output().unwrap();
            assert_quiet(&run, status);
        }
        assert_eq!(step.files(), before);
        for job in ["local", "local-2"] {
            let left = fs_err::read_dir(step.bench.path(".kernrec").join(job)).unwrap();
            let names = left.map(|entry| entry.unwrap().file_name().into_string().unwrap());
            let others: Vec<String> = names.filter(|name| !name.starts_with("fn")).collect();
            assert!(
                others.iter().all(|name| name.starts_with(".setup.")),
                "{others:?}"
            );
        }
    }
}

#[test]
fn what_an_image_gets_does_nothing_unless_armed_and_can_be_removed() {
    for python in pythons::recorded() {
        let step = Step::new(python);
        let before = step.files();
        let run = |mode| step.run(mode, &["python", "main.py"]).output().unwrap();
        assert_quiet(&run("container"), 0);
        assert_ne!(step.files(), before);
        let ask = "import sys; print([name for name in sys.modules if 'kernrec' in name])";
        assert_eq!(pythons::ask(&step.python(), ask), "[]");
        // Nothing is written that is there, so that a folder that cannot be written to will do.
        let installed = step.files();
        assert_quiet(&run("container"), 0);
        assert_eq!(step.files(), installed);
        for (times, said) in [
            (1, "removed the Python"),
            (2, "the Python recorder was not"),
        ] {
            let mut remove = step.command(HOST);
            let removed = remove.args(["python", "remove"]).output().unwrap();
            assert_quiet(&removed, 0);
            let shown = text(&removed.stdout);
            assert!(shown.starts_with(said), "{times}: {shown}");
        }
        assert_eq!(step.files(), before);
    }
}

#[test]
fn packages_wherever_they_are_installed() {
    for python in pythons::recorded() {
        for (mode, kind) in MODES
            .into_iter()
            .flat_map(|mode| [(mode, "editable"), (mode, "checkout")])
        {
            let step = Step::empty(python);
            for (path, content) in TREE {
                step.file(&format!("src/{path}"), content);
            }
            let source = step.bench.path("src");
            let mut run = step.run(mode, &["python", "main.py"]);
            if kind == "editable" {
                let line = format!("{}\n", source.display());
                fs_err::write(step.site.join("__editable__.vllm.pth"), line).unwrap();
            } else {
                run.env("PYTHONPATH", &source);
            }
            assert_quiet(&run.output().unwrap(), 0);
            step.left().assert_recorded(1);
        }
    }
}

/// The variables that a program finds, without those that belong to no set-up.
#[test]
fn a_program_finds_its_environment_as_it_was() {
    let show = "import os, sys\nfor n in sorted(os.environ): print(n, repr(os.environ[n]))\n";
    let python = &pythons::recorded()[0];
    for mode in MODES {
        for path in [None, Some(""), Some("/some/where:relative")] {
            let step = Step::new(python);
            step.file("show.py", show);
            let mut plain = step.command("python");
            let mut run = step.run(mode, &["python", "show.py"]);
            for command in [&mut plain, &mut run] {
                command.envs(path.map(|path| ("PYTHONPATH", path)));
            }
            let plain = text(&plain.arg("show.py").output().unwrap().stdout);
            let recorded = text(&run.output().unwrap().stdout);
            let folder = step.bench.path(".kernrec/local");
            let kept: Vec<&str> = recorded
                .lines()
                .filter(|line| !line.starts_with("KERNREC_SESSION "))
                .filter(|line| *line != format!("KERNREC_PYTHON_DIR '{}'", folder.display()))
                .filter(|line| mode == "container" || !line.starts_with("PYTHONPATH "))
                .collect();
            let expected: Vec<&str> = plain
                .lines()
                .filter(|line| mode == "container" || !line.starts_with("PYTHONPATH "))
                .collect();
            assert_eq!(kept, expected, "{mode} {path:?}");
            if mode == "host" {
                let line = recorded
                    .lines()
                    .find(|line| line.starts_with("PYTHONPATH "));
                let copy = format!("PYTHONPATH '{}/.python/", folder.display());
                let line = line.unwrap();
                assert!(line.starts_with(&copy), "{line}");
                let rest = line.split_once(':').map(|(_, rest)| rest);
                let expected = path.filter(|path| !path.is_empty());
                assert_eq!(rest, expected.map(|path| format!("{path}'")).as_deref());
            }
        }
    }
}

#[test]
fn the_users_own_sitecustomize_runs() {
    for python in pythons::recorded() {
        for mode in MODES {
            let step = Step::new(python);
            step.file(
                "own/sitecustomize.py",
                "import builtins\nbuiltins.customized = 'theirs'\n",
            );
            step.file("main.py", &format!("{PROGRAM}print(customized)\n"));
            let mut run = step.run(mode, &["python", "main.py"]);
            run.env("PYTHONPATH", step.bench.path("own"));
            let output = run.output().unwrap();
            assert_quiet(&output, 0);
            assert_eq!(text(&output.stdout), format!("{PRINTED}theirs\n"));
            step.left().assert_recorded(1);
        }
    }
}

#[test]
fn workers_of_multiprocessing_are_recorded() {
    let program = "import multiprocessing, sys\nimport vllm.worker, aiter.ops, vllm\ndef main():\n    context = multiprocessing.get_context(sys.argv[1])\n    worker = context.Process(target=vllm.worker.other)\n    worker.start()\n    worker.join()\n    aiter.ops.gemm()\n    vllm.Engine().run()\n    sys.exit(worker.exitcode)\nif __name__ == '__main__':\n    main()\n";
    for python in pythons::recorded() {
        for mode in MODES {
            for method in ["spawn", "fork"] {
                let step = Step::new(python);
                step.file("main.py", program);
                let run = step.run(mode, &["python", "main.py", method]).output();
                assert_quiet(&run.unwrap(), 0);
                let left = step.left();
                left.assert_recorded(2);
                left.assert_entered(&["vllm/worker.py other 5", "vllm/worker.py work 1"]);
            }
        }
    }
}

/// A virtual environment that finds the pytest of another.
fn with_pytest(python: &Path) -> Step {
    let step = Step::new(python);
    let ask = "import sysconfig; print(sysconfig.get_path('purelib'))";
    let line = format!("{}\n", pythons::ask(python, ask));
    fs_err::write(step.site.join("pytest-from-elsewhere.pth"), line).unwrap();
    step.file("checkout/pytest.ini", "[pytest]\n");
    step.file("checkout/tests/helper.py", "def help():\n    return 7\n");
    step.file(
        "checkout/tests/test_a.py",
        "import helper, vllm.worker\ndef test_one():\n    assert vllm.worker.work() == helper.help()\ndef test_two():\n    assert False\n",
    );
    step
}

#[test]
fn sessions_of_pytest_are_noted_and_the_checkouts_tests_recorded() {
    for python in pythons::with_pytest() {
        for mode in MODES {
            let step = with_pytest(&python);
            let mut run = step.command(HOST);
            run.args([
                "run",
                "--step",
                "demo",
                "--backend",
                "none",
                "--python",
                mode,
            ])
            .args(["--python-roots", "vllm", "--python-checkout", "."])
            .args(["--dir", "../.kernrec/j-1", "--job-id", "j-1", "--"])
            .args(["python", "-m", "pytest", "-q", "-p", "no:cacheprovider"])
            .current_dir(step.bench.path("checkout"));
            let output = run.output().unwrap();
            assert_eq!(shell_status(&output), 1, "{output:?}");
            assert_eq!(text(&output.stderr), "");
            let left = step.left();
            assert_eq!(left.states, [ProcessState::Clean]);
            left.assert_entered(&[
                "tests/test_a.py test_one 2",
                "tests/test_a.py test_two 4",
                "tests/helper.py help 1",
                "vllm/worker.py work 1",
            ]);
            assert!(left.files.contains_key(PYTEST_MARKER));
            let notes = left.notes();
            assert_eq!((notes.len(), notes[0].executed()), (1, 2));
            assert_eq!(left.sidecar.exit_status, Some(1));
        }
    }
}
