//! Every shape of commands, failing at every place, with recording possible, impossible and broken.

use super::agent::{Agent, Ended, script};
use kernrec_schemas::recording::ProcessState;
use serde_json::{Value, json};

const CONFIG: &str = "host-steps = true";
const AGENT: [&str; 3] = ["bash", "-e", "-c"];
const SHELLS: [&[&str]; 3] = [&AGENT, &["sh", "-e", "-c"], &["bash", "-c"]];

/// Three steps in each.
fn shapes() -> Vec<(&'static str, Value)> {
    let mut shapes = plain_shapes();
    shapes.extend(shapes_of_their_own());
    shapes
}

fn plain_shapes() -> Vec<(&'static str, Value)> {
    vec![
        ("a list", json!(["step 1", "step 2", "step 3"])),
        ("a chain", json!("step 1 && step 2 && step 3")),
        (
            "continue on failure",
            json!([
                "CI_OVERALL_STATUS=0",
                "{ step 1; } || CI_OVERALL_STATUS=1",
                "{\nstep 2\n} || CI_OVERALL_STATUS=1",
                "step 3 || CI_OVERALL_STATUS=$$?",
                "exit $$CI_OVERALL_STATUS"
            ]),
        ),
        (
            "a block",
            json!("set -e\nstep 1\nif true; then\n  step 2\nfi\nstep 3\n"),
        ),
        ("set +e", json!(["set +e", "step 1", "step 2", "step 3"])),
        ("set -eu", json!(["set -eu", "step 1", "step 2", "step 3"])),
        (
            "here-documents",
            json!([
                "cat <<'EOF'\n$$HOME ' \" ) `x` EOF\n  EOF\nEOF",
                "step 1 # a comment with ) and '",
                "step 2 <<X\n)\nX",
                "step 3 # the end"
            ]),
        ),
    ]
}

/// What ends a shell in ways of its own.
fn shapes_of_their_own() -> Vec<(&'static str, Value)> {
    vec![
        (
            "a comment alone",
            json!(["step 1", "step 2", "step 3", "# nothing more ("]),
        ),
        (
            "an exit trap",
            json!(["trap 'echo bye' EXIT", "step 1", "step 2", "step 3"]),
        ),
        (
            "a trap with a status",
            json!(["trap 'exit 7' EXIT", "step 1", "step 2", "step 3"]),
        ),
        ("exec", json!(["step 1", "step 2", "exec step 3"])),
        (
            "functions and jobs",
            json!([
                "f() { step 1; }",
                "f & wait $$!",
                "( step 2 )",
                "x=$$(step 3); echo \"$$x\""
            ]),
        ),
        (
            "lines continued",
            json!("step 1 && \\\n  step 2 \\\n  && step 3 \\\n"),
        ),
        (
            "case and if",
            json!([
                "case x in x) step 1 ;; esac",
                "if step 2; then step 3; else exit 4; fi"
            ]),
        ),
        ("an early exit", json!(["step 1", "exit 5", "step 2"])),
        (
            "a signal",
            json!(["step 1", "step 2", "sh -c 'kill -9 $$$$'", "step 3"]),
        ),
        (
            "elsewhere",
            json!(["cd /", "pwd", "step 1", "unset PATH", "HOME=x"]),
        ),
    ]
}

/// How a job of the step ends, armed or not.
fn run(agent: &Agent, shell: &[&str], step: &Value, fail_at: usize) -> Ended {
    let mut command = agent.command(shell, &script(step));
    Ended::of(
        &command
            .env("FAIL_AT", fail_at.to_string())
            .output()
            .unwrap(),
    )
}

fn step(commands: &Value) -> Value {
    json!({"key": "demo", "agents": {"queue": "gpu_1_queue"}, "commands": commands})
}

#[test]
fn every_shape_ends_as_without_and_leaves_its_bundle() {
    for (name, commands) in shapes() {
        let plain = step(&commands);
        let (here, armed) = (Agent::new(), Agent::new().arm(&plain, CONFIG));
        for fail_at in 0..4 {
            let expected = run(&here, &AGENT, &plain, fail_at);
            let agent = Agent::new();
            let ended = run(&agent, &AGENT, &armed, fail_at);
            assert_eq!(ended, expected, "{name}, failing at {fail_at}");
            let bundle = agent.bench.bundle();
            let status = i64::from(expected.status);
            assert_eq!(
                bundle.sidecar.exit_status,
                Some(status),
                "{name}, {fail_at}"
            );
            assert_eq!(bundle.sidecar.step_key.unwrap().as_str(), "demo");
            let left = bundle.recordings.iter().map(|left| left.state);
            let left: Vec<ProcessState> = left.collect();
            assert_eq!(left, [ProcessState::Clean], "{name}, {fail_at}");
        }
    }
}

#[test]
fn other_shells_and_options_are_kept() {
    for (name, commands) in shapes() {
        let plain = step(&commands);
        let (here, armed) = (Agent::new(), Agent::new().arm(&plain, CONFIG));
        for shell in &SHELLS[1..] {
            let expected = run(&here, shell, &plain, 2);
            let agent = Agent::new();
            assert_eq!(
                run(&agent, shell, &armed, 2),
                expected,
                "{name} in {shell:?}"
            );
            let status = i64::from(expected.status);
            assert_eq!(
                agent.bench.bundle().sidecar.exit_status,
                Some(status),
                "{name}"
            );
        }
    }
}

/// Programs in the place of `kernrec`, and what is then said.
const BROKEN: [(&str, Option<&str>, &str); 6] = [
    ("not there", None, "not on PATH"),
    ("fails", Some("exit 1"), "set-up failed"),
    (
        "is killed half-way",
        Some("printf \"export A='b\"; kill -9 $$"),
        "set-up failed",
    ),
    (
        "fails with lines",
        Some("echo 'exit 99'; exit 3"),
        "set-up failed",
    ),
    (
        "finish fails",
        Some("[ \"$1\" = env ] || exit 9"),
        "the recording could not be finished",
    ),
    (
        "finish is killed",
        Some("[ \"$1\" = env ] || kill -9 $$"),
        "could not be finished",
    ),
];

#[test]
fn a_broken_recorder_never_costs_a_job() {
    for (name, commands) in shapes() {
        let plain = step(&commands);
        let (here, armed) = (Agent::new(), Agent::new().arm(&plain, CONFIG));
        for fail_at in [0, 2] {
            let expected = run(&here, &AGENT, &plain, fail_at);
            for (how, program, says) in BROKEN {
                let agent = Agent::new();
                match program {
                    Some(script) => agent.program("kernrec", script),
                    None => fs_err::remove_file(agent.bench.path("bin/kernrec")).unwrap(),
                }
                let mut ended = run(&agent, &AGENT, &armed, fail_at);
                let said = std::mem::take(&mut ended.said).join("\n");
                // A shell says of its own accord that a process was killed.
                let own = ended
                    .stderr
                    .lines()
                    .filter(|line| !line.contains("Killed") || name == "a signal");
                let own = own
                    .filter(|line| !line.contains("kernrec"))
                    .collect::<Vec<_>>()
                    .join("\n");
                assert_eq!(
                    (ended.status, ended.stdout, own.matches("says").count()),
                    (
                        expected.status,
                        expected.stdout.clone(),
                        expected.stderr.matches("says").count()
                    ),
                    "{name}, {how}, failing at {fail_at}"
                );
                assert!(said.contains(says), "{name}, {how}: {said}");
                assert!(agent.bench.bundles().is_empty());
            }
        }
    }
}

#[test]
fn what_cannot_be_recorded_says_why() {
    let agent = Agent::new();
    let armed = agent.arm(&step(&json!(["step 1"])), CONFIG);
    let mut command = agent.command(&AGENT, &script(&armed));
    let ended = Ended::of(&command.env("KERNREC_LIB_DIR", "/nowhere").output().unwrap());
    assert_eq!((ended.status, ended.stdout.as_str()), (0, "step 1\n"));
    let sidecar = agent.bench.bundle().sidecar;
    assert_eq!(sidecar.exit_status, Some(0));
    assert_eq!(sidecar.collection_available, Some(false));
}

#[test]
fn the_workload_gets_time_to_end_its_workers_only_where_it_is_recorded() {
    let agent = Agent::new();
    let show = json!(["echo \"$${VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS-unset}\""]);
    let armed = script(&agent.arm(&step(&show), CONFIG));
    for (name, value, expected) in [
        ("X", "", "30\n"),
        ("VLLM_WORKER_SHUTDOWN_TIMEOUT_SECONDS", "7", "7\n"),
        ("KERNREC_LIB_DIR", "/nowhere", "unset\n"),
    ] {
        let agent = Agent::new();
        let output = agent
            .command(&AGENT, &armed)
            .env(name, value)
            .output()
            .unwrap();
        assert_eq!(Ended::of(&output).stdout, expected, "{name}={value}");
    }
}

#[test]
fn an_armed_step_stands_in_a_chain() {
    let agent = Agent::new();
    let armed = script(&agent.arm(&step(&json!("step 1\nstep 2")), CONFIG));
    for (text, status, stdout) in [
        (format!("false && {armed}"), 1, ""),
        (
            format!("true && {armed} && echo on"),
            0,
            "step 1\nstep 2\non\n",
        ),
        (
            format!("{armed} || echo failed"),
            0,
            "step 1\nstep 2\nfailed\n",
        ),
    ] {
        let agent = Agent::new();
        let mut command = agent.command(&["bash", "-c"], &text);
        let fail_at = if stdout.contains("failed") { "2" } else { "0" };
        let ended = Ended::of(&command.env("FAIL_AT", fail_at).output().unwrap());
        assert_eq!(
            (ended.status, ended.stdout.as_str()),
            (status, stdout),
            "{ended:?}"
        );
    }
}
