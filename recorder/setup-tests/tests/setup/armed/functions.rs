//! Steps armed for Python's functions, alone and together with kernels.

use super::agent::{Agent, Ended, script};
use serde_json::{Value, json};

/// Notes what it is asked for, and sets a variable.
const NOTES: &str = "echo \"$*\" >>asked\n[ \"$1\" != env ] || echo 'export SEEN=1'";

fn run(agent: &Agent, armed: &Value, fail_at: &str) -> (Ended, Vec<String>) {
    let mut command = agent.command(&["bash", "-e", "-c"], &script(armed));
    let ended = Ended::of(&command.env("FAIL_AT", fail_at).output().unwrap());
    let asked = fs_err::read_to_string(agent.bench.path("asked")).unwrap_or_default();
    (ended, asked.lines().map(str::to_owned).collect())
}

fn step(queue: &str) -> Value {
    json!({"key": "demo", "agents": {"queue": queue}, "commands": ["step 1", "echo \"$$SEEN\"", "step 2"]})
}

#[test]
fn one_set_up_and_one_finish_serve_what_is_switched_on() {
    let python = "--python host --python-roots vllm,aiter --python-checkout .";
    for (switches, queue, backend) in [
        (&["VLLM_CI_FNREC"][..], "gpu_1", "none"),
        (&["VLLM_CI_FNREC"], "small_cpu_queue_premerge", "none"),
        (&["VLLM_CI_FNREC", "VLLM_CI_KERNREC"], "gpu_1", "cuda"),
        (&["VLLM_CI_FNREC", "VLLM_CI_KERNREC"], "amd_1", "none"),
        (&["VLLM_CI_FNREC", "VLLM_CI_KERNREC_AMD"], "amd_1", "rocm"),
    ] {
        for (fail_at, status, stdout) in [
            ("0", 0, "step 1\n1\nstep 2\n"),
            ("2", 12, "step 1\n1\nstep 2\n"),
        ] {
            let agent = Agent::new();
            let armed = agent.arm_for(switches, &[&step(queue)], "host-steps = true")[0].take();
            agent.program("kernrec", NOTES);
            let (ended, asked) = run(&agent, &armed, fail_at);
            assert_eq!(
                (ended.status, ended.stdout.as_str()),
                (status, stdout),
                "{ended:?}"
            );
            let set_up =
                format!("env --backend {backend} {python} --step demo --dir ./.kernrec/0190-job");
            assert_eq!(
                asked,
                [set_up, format!("finish --status {status}")],
                "{switches:?} {queue}"
            );
        }
    }
}

#[test]
fn a_kernrec_that_knows_nothing_of_it_costs_no_job() {
    let agent = Agent::new();
    let armed = agent.arm_for(&["VLLM_CI_FNREC"], &[&step("gpu_1")], "")[0].take();
    agent.program(
        "kernrec",
        "echo \"error: unexpected argument '--python' found\" >&2; exit 2",
    );
    let (ended, _) = run(&agent, &armed, "0");
    assert_eq!(
        (ended.status, ended.stdout.as_str()),
        (0, "step 1\n\nstep 2\n")
    );
    assert!(ended.said.join("\n").contains("set-up failed"), "{ended:?}");
}
