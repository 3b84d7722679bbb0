//! What reaches a container: only what a plugin or a runner hands over.

use super::agent::{Agent, Ended, script, uploaded};
use kernrec_schemas::sidecar::Sidecar;
use serde_json::{Value, json};

fn assert_identity(sidecar: &Sidecar) {
    assert!(sidecar.faults.is_empty(), "{:?}", sidecar.faults);
    assert_eq!(sidecar.step_key.as_ref().unwrap().as_str(), "demo");
    assert_eq!(sidecar.job_id.as_ref().unwrap().as_str(), "0190-job");
    assert_eq!(sidecar.build.as_deref(), Some("41"));
    assert_eq!(sidecar.commit.as_ref().unwrap().as_str(), "c0ffee");
    assert_eq!(sidecar.retry_count, Some(1));
}

/// The options of the docker plugin.
fn docker(step: &Value) -> &Value {
    &step["plugins"][0]["docker#v5.2.0"]
}

/// Runs a text where only the plugin's variables are known, the checkout being elsewhere.
fn in_container(agent: &Agent, step: &Value, shell: &[&str], script: &str) -> Ended {
    let mut command = agent.command(shell, script);
    for (name, _) in Agent::variables() {
        command.env_remove(name);
    }
    let mount = "/tmp/kernrec-checkout";
    let volumes = docker(step)["volumes"].as_array().unwrap();
    assert!(
        volumes.contains(&json!(format!("./.kernrec:{mount}/.kernrec"))),
        "{volumes:?}"
    );
    for entry in docker(step)["environment"].as_array().unwrap() {
        let entry = entry.as_str().unwrap();
        let (name, value) = entry.split_once('=').unwrap_or_else(|| {
            let known = Agent::variables();
            let found = known.into_iter().find(|(name, _)| *name == entry);
            found.unwrap_or_else(|| panic!("the agent knows no {entry}"))
        });
        // The mount, as a container sees it.
        let value = value.replace(mount, agent.bench.path("checkout").to_str().unwrap());
        command.env(name, value);
    }
    fs_err::create_dir_all(agent.bench.path("checkout/.kernrec")).unwrap();
    fs_err::create_dir_all(agent.bench.path("work")).unwrap();
    let ended = Ended::of(
        &command
            .current_dir(agent.bench.path("work"))
            .output()
            .unwrap(),
    );
    let left = agent.bench.path("checkout/.kernrec");
    fs_err::rename(left, agent.bench.path(".kernrec")).unwrap();
    ended
}

#[test]
fn the_docker_plugin_hands_over_folder_and_identity() {
    let step = json!({
        "key": "demo", "commands": ["step 1", "step 2"], "artifact_paths": "junit/*",
        "plugins": [{"docker#v5.2.0": {"image": "x", "gpus": "all", "environment": ["BUILDKITE_JOB_ID"]}}],
    });
    let agent = Agent::new();
    let armed = agent.arm(&step, "");
    assert_eq!(armed["artifact_paths"], "junit/*;.kernrec/**/*");
    let ended = in_container(&agent, &armed, &["sh", "-e", "-c"], &script(&armed));
    assert_eq!((ended.status, ended.said), (0, Vec::new()));
    let bundle = agent.bench.bundle();
    assert_identity(&bundle.sidecar);
    assert_eq!(bundle.sidecar.label.as_deref(), Some("Demo \"1\""));
    assert_eq!(bundle.recordings[0].names, ["_Z1av"]);
}

#[test]
fn a_plugins_own_command_records() {
    let step = json!({
        "key": "demo",
        "plugins": [{"docker#v5.2.0": {
            "image": "x", "gpus": "all", "command": ["bash", "-ec", "step 1 && step 2 # both"],
        }}],
    });
    let agent = Agent::new();
    let armed = agent.arm(&step, "");
    let command = docker(&armed)["command"].as_array().unwrap();
    let text = uploaded(command[2].as_str().unwrap());
    let ended = in_container(&agent, &armed, &["bash", "-ec"], &text);
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "step 1\nstep 2\n")
    );
    assert_identity(&agent.bench.bundle().sidecar);
}

/// A runner that starts a container with its own idea of what to hand over.
const RUNNER: &str = "case $VLLM_TEST_COMMANDS in *recorders/kernrec/ci_setup.sh*) ;; *) echo no mount; exit 1 ;; esac\n\
    exec env -i PATH=\"$PATH\" FAIL_AT=\"$FAIL_AT\" LD_LIBRARY_PATH=\"$LD_LIBRARY_PATH\" \
    KERNREC_LIB_DIR=\"$KERNREC_LIB_DIR\" KERNREC_CHECKOUT_PATH=\"$PWD\" \
    bash -c \"cd /; $VLLM_TEST_COMMANDS\"";

#[test]
fn commands_in_a_variable_keep_status_and_identity() {
    for (commands, statuses) in [
        ("step 1 && step 2 && step 3", [0, 11, 12, 13]),
        (
            "{\nstep 1\nstep 2 # comment )\n} && step 3 # end",
            [0, 0, 12, 13],
        ),
        (
            "set -e\ncat <<E\n)\nE\nstep 1; step 2; step 3",
            [0, 11, 12, 13],
        ),
        (
            "S=0; step 1 || S=1; step 2 || S=1; step 3 || S=$$?; exit $$S",
            [0, 1, 1, 13],
        ),
    ] {
        let step = json!({
            "key": "demo", "agents": {"queue": "amd_mi325_1"}, "command": "runner # in a container",
            "env": {"VLLM_TEST_COMMANDS": commands},
        });
        let armed = Agent::new().arm(&step, "");
        for (fail_at, status) in statuses.into_iter().enumerate() {
            let agent = Agent::new();
            agent.program("runner", RUNNER);
            let mut command = agent.command(&["bash", "-e", "-c"], &script(&armed));
            command.env("FAIL_AT", fail_at.to_string()).env(
                "VLLM_TEST_COMMANDS",
                uploaded(armed["env"]["VLLM_TEST_COMMANDS"].as_str().unwrap()),
            );
            let ended = Ended::of(&command.output().unwrap());
            assert_eq!(ended.status, status, "{commands}, {fail_at}: {ended:?}");
            let sidecar = agent.bench.bundle().sidecar;
            assert_eq!(sidecar.exit_status, Some(i64::from(status)));
            assert_identity(&sidecar);
            assert_eq!(
                sidecar.shard.map(|shard| shard.to_string()).as_deref(),
                Some("1")
            );
        }
    }
}
