//! Jobs that are killed, and jobs at the same time.

use super::bench::{MODES, PRINTED, Step, read};
use crate::bench::{assert_quiet, text};
use crate::child;
use crate::pythons;
use kernrec_schemas::recording::ProcessState;
use std::io::{BufRead as _, BufReader};
use std::process::{Child, Stdio};

/// Starts a recorded step that has entered everything and waits for its input to end.
fn waiting(step: &Step, mode: &str, job: &str) -> Child {
    let program = "import sys, vllm, aiter.ops\nvllm.Engine().run(), aiter.ops.gemm()\nprint('entered', flush=True)\nsys.stdin.read()\n";
    step.file("wait.py", program);
    let mut run = step.run(mode, &["python", "wait.py"]);
    run.env("BUILDKITE_JOB_ID", job);
    let mut child = run
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .unwrap();
    let mut line = String::new();
    let mut out = BufReader::new(child.stdout.take().unwrap());
    out.read_line(&mut line).unwrap();
    assert_eq!(line, "entered\n");
    child
}

#[test]
fn what_a_killed_job_left_goes_with_the_next_and_a_live_jobs_copy_stays() {
    for python in pythons::recorded() {
        let step = Step::new(python);
        let mut live = waiting(&step, "host", "j-live");
        let mut killed = waiting(&step, "host", "j-killed");
        child::send(killed.id().try_into().unwrap(), child::KILL);
        killed.wait().unwrap();
        // The workload goes with its launcher, a moment later.
        drop(killed.stdin.take());
        assert_eq!(step.copies("j-killed"), 1);
        while step.copies("j-killed") == 1 {
            let mut next = step.run("host", &["python", "main.py"]);
            next.env("BUILDKITE_JOB_ID", "j-next");
            assert_quiet(&next.output().unwrap(), 0);
        }
        assert_eq!((step.copies("j-live"), step.copies("j-next")), (1, 0));
        drop(live.stdin.take());
        assert!(live.wait().unwrap().success());
        assert_eq!(step.copies("j-live"), 0);
        // What the killed one entered is there, and says that it is not all.
        let folder = step.bench.path(".kernrec/j-killed");
        let sidecar = fs_err::read_to_string(folder.join("fnrec.json")).unwrap();
        assert!(sidecar.contains("\"exit_status\": null"), "{sidecar}");
    }
}

#[test]
fn a_killed_process_leaves_what_it_entered() {
    let program = "import os, signal, vllm, aiter.ops\nvllm.Engine().run(), aiter.ops.gemm()\nos.kill(os.getpid(), signal.SIGKILL)\n";
    for python in pythons::recorded() {
        for mode in MODES {
            let step = Step::new(python);
            step.file("main.py", program);
            let run = step.run(mode, &["python", "main.py"]).output().unwrap();
            assert_quiet(&run, 137);
            let left = step.left();
            assert_eq!(left.states, [ProcessState::NoFooter]);
            left.assert_entered(&["vllm/engine.py Engine.run 5", "aiter/ops.py gemm 1"]);
            assert_eq!(left.sidecar.exit_status, Some(137));
        }
    }
}

/// All write into one `site-packages` at once, and import from it while others write.
#[test]
fn jobs_at_once_in_one_site_packages_do_not_disturb_each_other() {
    for python in pythons::recorded() {
        let step = Step::new(python);
        let start = |job: usize| {
            let mut run = step.run("container", &["python", "main.py"]);
            run.env("BUILDKITE_JOB_ID", format!("j-{job}"));
            run.stdout(Stdio::piped()).stderr(Stdio::piped());
            run.spawn().unwrap()
        };
        let jobs: Vec<Child> = (0..6).map(start).collect();
        for job in jobs {
            let output = job.wait_with_output().unwrap();
            assert_quiet(&output, 0);
            assert_eq!(text(&output.stdout), PRINTED);
        }
        let bundles = step.bench.bundles();
        assert_eq!(bundles.len(), 6);
        for bundle in bundles {
            read(&bundle).assert_recorded(1);
        }
    }
}

/// Another recorder of functions, armed by variables and a tool id of its own.
#[test]
fn another_recorder_of_functions_is_lived_with_or_named() {
    for (others, state) in [
        (&[4][..], ProcessState::Clean),
        (&[3, 4], ProcessState::Error),
    ] {
        for mode in MODES {
            let step = Step::new(&pythons::recorded()[0]);
            let program = format!(
                "import sys\nfor tool in {others:?}: sys.monitoring.use_tool_id(tool, 'fnrec')\nimport os, vllm, aiter.ops\nvllm.Engine().run(), aiter.ops.gemm()\nprint(os.environ['FNREC_ROOT'], [sys.monitoring.get_tool(tool) for tool in {others:?}])\n"
            );
            step.file("main.py", &program);
            let mut run = step.run(mode, &["python", "main.py"]);
            run.env("FNREC_ROOT", "/theirs").env("FNREC_OUT", "/theirs");
            let output = run.output().unwrap();
            assert_quiet(&output, 0);
            let names = vec!["'fnrec'"; others.len()].join(", ");
            assert_eq!(text(&output.stdout), format!("/theirs [{names}]\n"));
            let left = step.left();
            assert_eq!(left.states, [state]);
            let recording = left.files.iter().find(|(name, _)| name.starts_with("fn."));
            let says_so = text(recording.unwrap().1).contains("#error\tno_tool_id");
            assert_eq!(says_so, state == ProcessState::Error);
        }
    }
}
