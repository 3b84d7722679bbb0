//! Children: forked, spawned, of `multiprocessing`, killed.

use crate::bench::{Bench, Left};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;

#[track_caller]
fn child(left: &[Left]) -> &Left {
    let children: Vec<&Left> = left
        .iter()
        .filter(|left| left.forked_from.is_some())
        .collect();
    assert_eq!(children.len(), 1, "{left:#?}");
    children[0]
}

#[test]
fn a_forked_child_has_a_recording_of_its_own() {
    let program = "import os, vllm.worker\nvllm.Engine().run()\nif os.fork() == 0:\n    vllm.worker.work()\nelse:\n    os.wait()\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(program);
        let left = bench.left();
        assert_eq!(left.len(), 2, "{left:#?}");
        let child = child(&left);
        assert!(child.has("src/vllm/worker.py work 1"), "{}", child.text);
        assert!(
            left.iter().all(|left| left.state == ProcessState::Clean),
            "{left:#?}"
        );
        let parent = left.iter().find(|left| left.forked_from.is_none()).unwrap();
        assert_eq!(child.forked_from, Some(parent.process));
        assert!(!parent.has("src/vllm/worker.py work 1"));
    }
}

#[test]
fn a_forked_child_that_enters_nothing_new_leaves_nothing() {
    let program = "import os, vllm.worker\nvllm.worker.work()\nif os.fork() == 0:\n    vllm.worker.work()\n    os._exit(0)\nos.wait()\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(program);
        assert_eq!(bench.one().state, ProcessState::Clean);
    }
}

#[test]
fn a_child_forked_while_locks_are_held_is_recorded() {
    // The thread holds the import lock of a module that never finishes loading, and a lock of its own.
    let program = "import os, threading, vllm.worker\nheld = threading.Event()\nlock = threading.Lock()\ndef hold():\n    with lock:\n        held.set()\n        threading.Event().wait()\nthreading.Thread(target=hold, daemon=True).start()\nheld.wait()\nif os.fork() == 0:\n    vllm.worker.other()\n    import vllm.extra\n    os._exit(0)\nos.wait()\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("src/vllm/extra.py", "");
        let mut command = bench.armed(&["-W", "ignore", "-c", program]);
        assert!(command.status().unwrap().success());
        let left = bench.left();
        let child = child(&left);
        assert!(child.has("src/vllm/worker.py other 5"), "{}", child.text);
        assert!(child.has("src/vllm/extra.py <module> 1"), "{}", child.text);
        assert_eq!(child.state, ProcessState::NoFooter, "it left by os._exit");
    }
}

#[test]
fn workers_of_multiprocessing_end_cleanly_however_they_are_started() {
    for python in pythons::recorded() {
        for method in ["fork", "spawn", "forkserver"] {
            let bench = Bench::new(python);
            bench.run(&format!(
                "import multiprocessing, vllm, vllm.worker\nif __name__ == '__main__':\n    context = multiprocessing.get_context('{method}')\n    workers = [context.Process(target=vllm.worker.other) for _ in range(2)]\n    for w in workers: w.start()\n    for w in workers: w.join()\n    print([w.exitcode for w in workers])\n"
            ));
            let left = bench.left();
            let workers: Vec<&Left> = left
                .iter()
                .filter(|left| left.has("src/vllm/worker.py other 5"))
                .collect();
            assert_eq!(workers.len(), 2, "{method}: {left:#?}");
            for left in &left {
                assert_eq!(left.state, ProcessState::Clean, "{method}: {}", left.text);
            }
        }
    }
}

#[test]
fn a_worker_that_meets_the_package_first_is_recorded() {
    for python in pythons::recorded() {
        for method in ["fork", "spawn", "forkserver"] {
            let bench = Bench::new(python);
            bench.file(
                "src/job.py",
                "def run():\n    import vllm.worker\n    vllm.worker.work()\n",
            );
            bench.run(&format!(
                "import multiprocessing, job\nif __name__ == '__main__':\n    worker = multiprocessing.get_context('{method}').Process(target=job.run)\n    worker.start()\n    worker.join()\n"
            ));
            let left = bench.one();
            assert!(
                left.has("src/vllm/worker.py work 1"),
                "{method}: {}",
                left.text
            );
            assert_eq!(left.state, ProcessState::Clean, "{method}: {}", left.text);
            assert_eq!(left.forked_from, None, "nothing was recorded in its parent");
        }
    }
}

#[test]
fn a_killed_worker_spoils_its_own_recording_only() {
    let program = "import multiprocessing, os, signal, vllm.worker\ndef die():\n    vllm.worker.work()\n    os.kill(os.getpid(), signal.SIGKILL)\nif __name__ == '__main__':\n    worker = multiprocessing.get_context('fork').Process(target=die)\n    worker.start()\n    worker.join()\n    print(worker.exitcode)\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(program);
        let left = bench.left();
        let worker = child(&left);
        assert_eq!(worker.state, ProcessState::NoFooter);
        assert!(worker.has("src/vllm/worker.py work 1"));
        let clean = left.iter().filter(|left| left.clean_exit).count();
        assert_eq!(clean, 1);
    }
}

#[test]
fn pools_and_their_grandchildren_are_recorded() {
    let program = "import concurrent.futures, multiprocessing, subprocess, sys, vllm.worker\ndef nest():\n    return subprocess.run([sys.executable, '-c', 'import vllm.worker as w; print(w.other())'], capture_output=True, text=True).stdout\nif __name__ == '__main__':\n    with concurrent.futures.ProcessPoolExecutor(1, multiprocessing.get_context('spawn')) as pool:\n        print(pool.submit(nest).result())\n";
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run(program);
        let left = bench.left();
        let grandchild = left
            .iter()
            .find(|left| left.has("src/vllm/worker.py other 5"));
        assert_eq!(grandchild.unwrap().state, ProcessState::Clean, "{left:#?}");
        assert_eq!(left.len(), 3, "{left:#?}");
    }
}
