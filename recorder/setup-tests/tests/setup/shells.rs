//! `env` and `finish` in the shells that CI systems use.

use crate::bench::{Bench, HOST, shell_status, text};
use kernrec_schemas::recording::ProcessState;
use std::process::Output;

const SHELLS: [&str; 2] = ["bash", "sh"];

/// Runs a script in which `$K` is the launcher and `$1` and on are the fake driver's command.
fn script(bench: &Bench, shell: &str, text: &str) -> Output {
    let mut command = bench.command(shell);
    command
        .args(["-c", text, shell])
        .args(bench.driver(&["launch=_Z1av"]));
    command.env("K", HOST).output().unwrap()
}

fn check(shell: &str, text_: &str, status: i32, recorded: Option<i64>) -> Output {
    let bench = Bench::new();
    let output = script(&bench, shell, text_);
    assert_eq!(
        shell_status(&output),
        status,
        "{shell}: {}",
        text(&output.stderr)
    );
    let bundle = bench.bundle();
    assert_eq!(bundle.sidecar.exit_status, recorded, "{shell}");
    assert_eq!(bundle.recordings[0].state, ProcessState::Clean, "{shell}");
    output
}

#[test]
fn a_shells_commands_are_recorded() {
    for shell in SHELLS {
        let text =
            "eval \"$(\"$K\" env --step demo --backend cuda)\"; \"$@\"; \"$K\" finish --status $?";
        let output = check(shell, text, 0, Some(0));
        assert!(
            output.stderr.is_empty() && output.stdout.is_empty(),
            "{output:?}"
        );
    }
}

#[test]
fn a_trap_that_somebody_replaced_is_not_needed() {
    for shell in SHELLS {
        let text = "set -eu; eval \"$(\"$K\" env --step demo --backend cuda --trap)\"; \
                    trap 'echo theirs' EXIT; \"$@\"; \"$K\" finish --status 0; exit 4";
        let output = check(shell, text, 4, Some(0));
        assert_eq!(output.stdout, b"theirs\n");
    }
}

#[test]
fn the_trap_finishes_a_step_that_failed() {
    for shell in SHELLS {
        let text = "set -e; eval \"$(\"$K\" env --step demo --backend cuda --trap)\"; \"$@\"; (exit 3); echo not here";
        let output = check(shell, text, 3, Some(3));
        assert!(output.stdout.is_empty(), "{output:?}");
    }
}

#[test]
fn finishing_twice_changes_nothing_and_a_late_failure_counts() {
    for shell in SHELLS {
        let start = "set -e; eval \"$(\"$K\" env --step demo --backend cuda)\"; \"$@\"; \"$K\" finish --status 0; \
                     ls .kernrec > first; ";
        check(
            shell,
            &format!("{start}\"$K\" finish --status 0; ls .kernrec | cmp - first"),
            0,
            Some(0),
        );
        check(
            shell,
            &format!("{start}\"$K\" finish --status 9"),
            0,
            Some(9),
        );
        check(
            shell,
            &format!("{start}\"$K\" finish --status 9; \"$K\" finish --status 0"),
            0,
            Some(9),
        );
    }
}

#[test]
fn taking_the_variables_twice_is_taking_them_once() {
    for shell in SHELLS {
        let text = "set -e; eval \"$(\"$K\" env --step demo --backend cuda)\"; \
                    test -z \"$(\"$K\" env --step demo --backend cuda)\"; \
                    eval \"$(\"$K\" env --step demo --backend cuda)\"; \"$@\"; \"$K\" finish --status 0";
        check(shell, text, 0, Some(0));
    }
}

#[test]
fn finish_never_fails_the_step() {
    for shell in SHELLS {
        let bench = Bench::new();
        for text in [
            "\"$K\" finish --status 0",
            "\"$K\" finish",
            "\"$K\" finish --status ''",
            "\"$K\" finish --status -1",
            "\"$K\" finish --status many --dir /nowhere",
            "KERNREC_SESSION=bad \"$K\" finish --status 0",
            "KERNREC_SESSION=0123456789abcdef:/proc/x \"$K\" finish --status 0",
        ] {
            let output = script(&bench, shell, &format!("set -e; {text}; echo on"));
            assert_eq!(output.stdout, b"on\n", "{text}");
            assert!(!output.stderr.is_empty(), "{text}");
        }
    }
}

#[test]
fn a_shell_that_lost_the_variables_names_the_folder() {
    for shell in SHELLS {
        let text = "set -e; ( eval \"$(\"$K\" env --step demo --backend cuda --dir .kernrec/x)\"; \"$@\" ); \
                    \"$K\" finish --status 6 --dir .kernrec/x";
        check(shell, text, 0, Some(6));
    }
}

#[test]
fn values_of_any_kind_survive_the_shell() {
    let weird = "we'ird \"$(touch pwned)\" `touch pwned` $HOME\n\\ *";
    for shell in SHELLS {
        let bench = Bench::new();
        fs_err::create_dir(bench.path(weird)).unwrap();
        let text = "set -e; cd \"$W\"; eval \"$(\"$K\" env --step 'a $(touch pwned) `x` b' --label \"$W\" --backend cuda)\"; \
                    test \"$KERNREC_DIR\" = \"$PWD/.kernrec/local\"; \"$@\"; \"$K\" finish --status 0; test ! -e pwned";
        let mut command = bench.command(shell);
        command
            .args(["-c", text, shell])
            .args(bench.driver(&["launch=_Z1av"]));
        let output = command.env("K", HOST).env("W", weird).output().unwrap();
        assert_eq!(shell_status(&output), 0, "{shell}: {output:?}");
        let sidecar = fs_err::read(bench.path(weird).join(".kernrec/local/kernrec.json")).unwrap();
        let sidecar = kernrec_schemas::sidecar::Sidecar::parse(&sidecar).unwrap();
        assert_eq!(sidecar.step_key.unwrap().as_str(), "a $(touch pwned) `x` b");
        assert_eq!(sidecar.label.as_deref(), Some(weird));
        assert!(!bench.path("pwned").exists());
    }
}

#[test]
fn where_nothing_can_be_recorded_the_shell_goes_on() {
    for shell in SHELLS {
        let bench = Bench::new();
        let text = "set -eu; eval \"$(\"$K\" env --step demo --backend rocm --trap)\"; \
                    echo \"[${CUDA_INJECTION64_PATH-}${LD_PRELOAD-}]\"; \"$K\" finish --status 0";
        let output = script(&bench, shell, text);
        assert_eq!(
            (shell_status(&output), output.stdout.as_slice()),
            (0, &b"[]\n"[..])
        );
        let sidecar = bench.bundle().sidecar;
        assert_eq!(sidecar.collection_available, Some(false));
        assert_eq!(sidecar.exit_status, Some(0));
    }
}
