//! How a process ends, and what its recording is worth then.

use crate::bench::{Bench, ENGINE, assert_functions};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;
use std::os::unix::process::ExitStatusExt as _;

/// Enters one more function just before the end.
fn end(python: &std::path::Path, how: &str) -> (Bench, std::process::Output) {
    let bench = Bench::new(python);
    let program = format!(
        "import os, signal, sys, vllm, vllm.worker\nvllm.Engine().run()\nvllm.worker.work()\n{how}\n"
    );
    let output = bench.run(&program);
    // The unrecorded run left nothing; the recorded one, everything.
    let left = bench.one();
    assert!(left.has("src/vllm/worker.py work 1"), "{}", left.text);
    (bench, output)
}

#[test]
fn an_exit_of_any_status_is_an_end() {
    for python in pythons::recorded() {
        for how in [
            "sys.exit(3)",
            "raise SystemExit",
            "pass",
            "vllm.worker.missing()",
        ] {
            let (bench, _) = end(python, how);
            assert_eq!(bench.one().state, ProcessState::Clean, "{how}");
        }
    }
}

#[test]
fn a_process_that_leaves_or_is_killed_keeps_everything_and_is_not_clean() {
    for python in pythons::recorded() {
        for how in [
            "os._exit(4)",
            "os.kill(os.getpid(), signal.SIGKILL)",
            "os.kill(os.getpid(), signal.SIGTERM)",
            "os.abort()",
            "os.execv('/bin/true', ['true'])",
        ] {
            let (bench, _) = end(python, how);
            assert_eq!(bench.one().state, ProcessState::NoFooter, "{how}");
        }
    }
}

#[test]
fn an_interrupt_ends_the_process_as_it_would() {
    for python in pythons::recorded() {
        let (bench, output) = end(python, "os.kill(os.getpid(), signal.SIGINT)");
        assert_eq!(output.status.signal(), Some(2), "{output:?}");
        assert_eq!(bench.one().state, ProcessState::Clean);
    }
}

#[test]
fn what_the_teardown_enters_is_recorded_after_the_end() {
    let program = "import atexit, vllm.worker\nclass Late:\n    def __del__(self):\n        vllm.worker.other()\nlate = Late()\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(program);
        let left = bench.one();
        assert!(left.has("src/vllm/worker.py other 5"), "{}", left.text);
        assert_eq!(left.state, ProcessState::Clean);
        assert!(
            left.text.find("#end") < left.text.find("other\t5"),
            "{}",
            left.text
        );
    }
}

#[test]
fn threads_are_recorded() {
    let program = "import threading, vllm.worker\nthreads = [threading.Thread(target=f) for f in (vllm.worker.work, vllm.worker.other, vllm.Engine().run)]\nfor t in threads: t.start()\nfor t in threads: t.join()\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(program);
        let left = bench.one();
        let mut expected = ENGINE.to_vec();
        expected.extend([
            "src/vllm/worker.py <module> 1",
            "src/vllm/worker.py work 1",
            "src/vllm/worker.py other 5",
        ]);
        assert_functions(&left, &expected);
        assert_eq!(left.state, ProcessState::Clean);
    }
}

#[test]
fn many_threads_lose_nothing() {
    let program = "import threading, vllm.many as m\nstart = threading.Barrier(8)\ndef go(k):\n    start.wait()\n    for i in range(k, 1200, 8):\n        getattr(m, f'f{i}')()\nthreads = [threading.Thread(target=go, args=(k,)) for k in range(8)]\nfor t in threads: t.start()\nfor t in threads: t.join()\n";
    let many: Vec<String> = (0..1200).map(|i| format!("def f{i}(): pass\n")).collect();
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("src/vllm/many.py", &many.concat());
        bench.run(program);
        let left = bench.one();
        assert_eq!(left.state, ProcessState::Clean);
        let functions = left.functions.iter();
        let count = functions.filter(|name| name.contains("many.py f")).count();
        assert_eq!(count, 1200);
        assert!(
            left.text.contains("#stat\troot="),
            "the counters are written on the way"
        );
    }
}
