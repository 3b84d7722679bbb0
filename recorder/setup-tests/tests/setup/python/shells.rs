//! `env` and `finish`.

use super::bench::{MODES, PRINTED, Step};
use crate::bench::{HOST, shell_status, text};
use crate::pythons;
use std::process::Output;

const SHELLS: [&str; 2] = ["bash", "dash"];

/// Runs a script in which `$K` is the launcher and `$ENV` what starts its set-up.
fn script(step: &Step, shell: &str, mode: &str, script: &str) -> Output {
    let set_up = format!("env --step demo --backend none --python {mode}");
    step.command(shell)
        .args(["-c", script])
        .env("K", HOST)
        .env("ENV", set_up)
        .output()
        .unwrap()
}

#[test]
fn a_shells_commands_are_recorded_and_its_copy_is_gone() {
    for shell in SHELLS {
        for mode in MODES {
            let step = Step::new(&pythons::recorded()[0]);
            let before = step.files();
            let text_ = "set -eu; eval \"$(\"$K\" $ENV)\"; python main.py; python main.py; \
                         \"$K\" finish --status 0; ls -A .kernrec/local";
            let output = script(&step, shell, mode, text_);
            assert_eq!(shell_status(&output), 0, "{output:?}");
            assert_eq!(text(&output.stderr), "");
            let said = text(&output.stdout);
            assert!(said.starts_with(&PRINTED.repeat(2)), "{said}");
            assert!(!said.contains(".python"), "{said}");
            step.left().assert_recorded(2);
            assert_eq!(step.left().sidecar.exit_status, Some(0));
            if mode == "host" {
                assert_eq!(step.files(), before);
            }
        }
    }
}

#[test]
fn the_trap_finishes_and_removes_where_a_step_failed() {
    for shell in SHELLS {
        let step = Step::new(&pythons::recorded()[0]);
        let text_ = "set -eu; eval \"$(\"$K\" $ENV --trap)\"; python main.py; (exit 3); echo on";
        let output = script(&step, shell, "host", text_);
        assert_eq!(shell_status(&output), 3, "{output:?}");
        assert_eq!(text(&output.stdout), PRINTED);
        step.left().assert_recorded(1);
        assert_eq!(step.left().sidecar.exit_status, Some(3));
        assert_eq!(step.copies("local"), 0);
    }
}

/// A set-up within a set-up has no copy of its own, and takes away none.
#[test]
fn a_command_within_a_set_up_shell_is_recorded_once() {
    for shell in SHELLS {
        for inner in ["--python host", ""] {
            let step = Step::new(&pythons::recorded()[0]);
            let text_ = format!(
                "set -eu; eval \"$(\"$K\" $ENV)\"; \
                 \"$K\" run --step demo --backend none --python host -- python main.py; \
                 \"$K\" run --step demo --backend cuda {inner} -- python main.py; \
                 python main.py; \"$K\" finish --status 0"
            );
            let output = script(&step, shell, "host", &text_);
            assert_eq!(shell_status(&output), 0, "{output:?}");
            assert_eq!(text(&output.stdout), PRINTED.repeat(3));
            step.left().assert_recorded(3);
            assert_eq!(step.copies("local"), 0);
        }
    }
}

/// Commands of one job, of which one was not recorded: what it entered is nobody's silence.
#[test]
fn a_job_of_which_one_command_was_not_recorded_says_so() {
    let step = Step::new(&pythons::recorded()[0]);
    let text_ = "set -eu; export BUILDKITE_JOB_ID=j-1; \
                 \"$K\" run --step demo --backend none --python host -- python main.py; \
                 \"$K\" run --step demo --backend cuda -- python main.py";
    let output = script(&step, "bash", "host", text_);
    assert_eq!(shell_status(&output), 0, "{output:?}");
    let left = step.left();
    left.assert_entered(&["vllm/engine.py Engine.run 5"]);
    assert_eq!(left.sidecar.collection_available, Some(false));
    let error = left.sidecar.collection_error.unwrap();
    assert!(error.starts_with("not-in-every-command: "), "{error}");
}
