//! A disk that takes nothing more, and folders that cannot be written.

use crate::bench::{Bench, ENGINE};
use crate::pythons;
use kernrec_schemas::recording::ProcessState;
use std::process::Command;

/// A recorded run under a limit of bytes for each file it writes.
fn limited(bench: &Bench, bytes: u64) {
    bench.file("main.py", "import vllm\nprint(vllm.Engine().run())\n");
    let armed = bench.armed(&["main.py"]);
    let mut command = Command::new("prlimit");
    command
        .arg(format!("--fsize={bytes}"))
        .arg("--")
        .arg(armed.get_program());
    command.args(armed.get_args()).current_dir(bench.base());
    for (name, value) in armed.get_envs() {
        match value {
            Some(value) => command.env(name, value),
            None => command.env_remove(name),
        };
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    assert_eq!(output.stdout, b"[0, 1]\n", "{output:?}");
    assert!(output.stderr.is_empty(), "{output:?}");
}

#[test]
fn a_full_disk_at_any_byte_leaves_a_recording_that_is_not_clean() {
    for python in pythons::recorded() {
        let whole = {
            let bench = Bench::new(python);
            limited(&bench, 1 << 20);
            let left = bench.one();
            assert_eq!(left.state, ProcessState::Clean);
            left.text.len() as u64
        };
        for part in 0..8 {
            let bench = Bench::new(python);
            limited(&bench, whole * part / 9);
            // One file, which shows that a process was here.
            let left = bench.one();
            assert_ne!(left.state, ProcessState::Clean, "{}", left.text);
            for function in &left.functions {
                assert!(ENGINE.contains(&function.as_str()), "{}", left.text);
            }
        }
    }
}

#[test]
fn a_folder_that_cannot_be_made_harms_nothing() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.file("out", "a file where the folder should be");
        bench.run("import vllm\nprint(vllm.Engine().run())\n");
    }
}

#[test]
fn a_folder_that_goes_away_harms_nothing() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import os, shutil, vllm\nshutil.rmtree('out', ignore_errors=True)\nprint(vllm.Engine().run())\n");
        assert!(bench.left().is_empty());
    }
}

#[test]
fn no_descriptor_is_held() {
    for python in pythons::recorded() {
        let bench = Bench::new(python);
        bench.run("import os, vllm\nvllm.Engine().run()\nprint(os.open('main.py', os.O_RDONLY), os.listdir('/proc/self/fd'))\n");
        assert_eq!(bench.one().state, ProcessState::Clean);
    }
}
