//! What the upload and the agent do with a step.

use crate::bench::{Bench, DRIVER, HOST, shell_status, text};
use serde_json::{Value, json};
use std::io::Write as _;
use std::os::unix::fs::PermissionsExt as _;
use std::process::{Command, Output, Stdio};

/// How a job ended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Ended {
    pub(super) status: i32,
    pub(super) stdout: String,
    /// Without what kernrec says.
    pub(super) stderr: String,
    pub(super) said: Vec<String>,
}

/// An agent's machine.
pub(super) struct Agent {
    pub(super) bench: Bench,
}

impl Agent {
    /// With `kernrec` on the path, and `step N`, which says so, uses the GPU if it is the first, and fails with
    /// 10 + N if the variable `FAIL_AT` says N.
    pub(super) fn new() -> Self {
        let bench = Bench::new();
        fs_err::create_dir(bench.path("bin")).unwrap();
        fs_err::os::unix::fs::symlink(HOST, bench.path("bin/kernrec")).unwrap();
        let agent = Self { bench };
        let cupti = agent.bench.path("libcupti.so.13");
        agent.program(
            "step",
            &format!(
                "echo \"step $1\"\necho \"step $1 says\" >&2\n\
                 [ \"$1\" != 1 ] || '{DRIVER}' 'load={}' init launch=_Z1av 2>/dev/null\n\
                 [ \"$FAIL_AT\" != \"$1\" ] || exit \"1$1\"",
                cupti.display()
            ),
        );
        agent
    }

    pub(super) fn program(&self, name: &str, script: &str) {
        let path = self.bench.path("bin").join(name);
        // Never through the link to the real one.
        let _ = fs_err::remove_file(&path);
        fs_err::write(&path, format!("#!/bin/sh\n{script}\n")).unwrap();
        fs_err::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    }

    /// The step as `kernrec arm` leaves it.
    pub(super) fn arm(&self, step: &Value, config: &str) -> Value {
        let armed = self.arm_all(&[step], config)[0].take();
        assert_ne!(&armed, step, "it is not armed");
        armed
    }

    /// The steps as `kernrec arm` leaves them, and the group that it may add.
    pub(super) fn arm_all(&self, steps: &[&Value], config: &str) -> Value {
        let kernels = ["VLLM_CI_KERNREC", "VLLM_CI_KERNREC_AMD"];
        self.arm_for(&kernels, steps, config)
    }

    /// The same with some switches on.
    pub(super) fn arm_for(&self, switches: &[&str], steps: &[&Value], config: &str) -> Value {
        fs_err::write(self.bench.path("kernrec.toml"), config).unwrap();
        let mut command = self.bench.command(HOST);
        command
            .arg("arm")
            .envs(switches.iter().map(|switch| (switch, "1")))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let pipeline = json!({ "steps": steps }).to_string();
        let mut stdin = child.stdin.take().unwrap();
        stdin.write_all(pipeline.as_bytes()).unwrap();
        drop(stdin);
        let output = child.wait_with_output().unwrap();
        assert!(output.status.success(), "{}", text(&output.stderr));
        let mut armed: Value = serde_json::from_slice(&output.stdout).unwrap();
        armed["steps"].take()
    }

    /// A command as the agent runs a step's: with the variables of a job.
    pub(super) fn command(&self, shell: &[&str], script: &str) -> Command {
        let path = std::env::var("PATH").unwrap();
        let mut command = self.bench.command(shell[0]);
        command
            .args(&shell[1..])
            .arg(script)
            .env(
                "PATH",
                format!("{}:{path}", self.bench.path("bin").display()),
            )
            .env("FAIL_AT", "0");
        for (name, value) in Self::variables() {
            command.env(name, value);
        }
        command
    }

    /// What an agent says of a job.
    pub(super) fn variables() -> [(&'static str, &'static str); 8] {
        [
            ("BUILDKITE_STEP_KEY", "demo"),
            ("BUILDKITE_LABEL", "Demo \"1\""),
            ("BUILDKITE_JOB_ID", "0190-job"),
            ("BUILDKITE_BUILD_NUMBER", "41"),
            ("BUILDKITE_COMMIT", "c0ffee"),
            ("BUILDKITE_PARALLEL_JOB", "1"),
            ("BUILDKITE_PARALLEL_JOB_COUNT", "2"),
            ("BUILDKITE_RETRY_COUNT", "1"),
        ]
    }
}

impl Ended {
    pub(super) fn of(output: &Output) -> Self {
        let (said, stderr): (Vec<String>, Vec<String>) = text(&output.stderr)
            .lines()
            .map(str::to_owned)
            .partition(|line| line.contains("kernrec: "));
        Self {
            status: shell_status(output),
            stdout: text(&output.stdout),
            stderr: stderr
                .iter()
                .map(|line| without_line(line))
                .collect::<Vec<_>>()
                .join("\n"),
            said,
        }
    }
}

/// What a shell says of a killed process has the line, which is another in an armed step, and the process.
fn without_line(line: &str) -> &str {
    if line.contains(": line ") && line.contains("Killed") {
        "Killed"
    } else {
        line
    }
}

/// A step's commands as one text, as they come out of the upload.
pub(super) fn script(step: &Value) -> String {
    for key in ["commands", "command"] {
        match &step[key] {
            Value::String(text) => return uploaded(text),
            Value::Array(items) => {
                let items: Vec<&str> = items.iter().map(|item| item.as_str().unwrap()).collect();
                return uploaded(&items.join("\n"));
            }
            _ => {}
        }
    }
    panic!("no commands: {step}")
}

/// What the upload makes of a text. A dollar that it would replace by a variable's value is a mistake here.
pub(super) fn uploaded(text: &str) -> String {
    let without = text.replace("$$", "");
    let lone = without.match_indices('$').any(|(at, _)| {
        without[at + 1..].starts_with(|c: char| c.is_ascii_alphabetic() || c == '_' || c == '{')
    });
    assert!(!lone, "{text}");
    text.replace("$$", "$")
}
