//! The Python recorder, armed alone and together with those of kernels.

use crate::collectors::STORE;
use crate::{ALL, CUDA, PYTHON, ROCM, armed_with, fate, text};
use kernrec_pipeline::{COLLECTOR_WORDS, Switches};
use std::fmt::Write as _;

const YAML: &str = include_str!("pipelines/functions.yaml");

fn decided(switches: Switches) -> String {
    let mut table = String::new();
    for step in armed_with(YAML, STORE, switches).steps {
        let _ = writeln!(
            table,
            "{:18} {:12} {:15} {}",
            step.name,
            fate(step.fate),
            step.rule,
            step.detail
        );
    }
    table
}

#[test]
fn functions_alone() {
    insta::assert_snapshot!("functions_alone_decided", decided(PYTHON));
    let store = "[collect]\nstore = \"s3://records/kernrec\"\n";
    insta::assert_snapshot!(text(&armed_with(YAML, store, PYTHON)));
}

#[test]
fn functions_and_kernels() {
    insta::assert_snapshot!("functions_and_kernels_decided", decided(ALL));
    let armed = armed_with(YAML, STORE, ALL);
    insta::assert_debug_snapshot!("functions_and_kernels_collected", armed.collectors);
}

/// The flags of every set-up in a pipeline.
fn flags(armed: &str) -> Vec<&str> {
    let set_ups = armed.split(" env ").skip(1);
    set_ups
        .map(|rest| rest.split(" --step").next().unwrap())
        .collect()
}

const IN_A_CONTAINER: &str =
    "--python container --python-roots vllm,aiter --python-checkout '/vllm-workspace'";

#[test]
fn each_switch_asks_for_its_own_recorder_in_one_set_up() {
    let docker = "{key: d, command: x, agents: {queue: gpu_1}, plugins: [{docker#v5: {image: x}}]}";
    let amd = "{key: a, command: x, agents: {queue: amd_1}, env: {VLLM_TEST_COMMANDS: y}}";
    let pipeline = format!("steps: [{docker}, {amd}]");
    let of = |switches: Switches| {
        let armed = armed_with(&pipeline, "", switches);
        let flags = flags(text(&armed)).join("; ");
        flags.replace(IN_A_CONTAINER, "--python")
    };
    for (switches, expected) in [
        (CUDA, "--backend cuda"),
        (ROCM, "--backend rocm"),
        (PYTHON, "--backend none --python; --backend none --python"),
        (
            Switches { rocm: false, ..ALL },
            "--backend cuda --python; --backend none --python",
        ),
        (
            Switches { cuda: false, ..ALL },
            "--backend none --python; --backend rocm --python",
        ),
        (ALL, "--backend cuda --python; --backend rocm --python"),
    ] {
        assert_eq!(of(switches), expected, "{switches:?}");
    }
}

#[test]
fn a_host_step_leaves_nothing_behind_and_finds_its_checkout() {
    let pipeline = "steps: [{key: h, command: x, agents: {queue: small_cpu_queue_premerge}}]";
    let armed = armed_with(pipeline, "interpolated = false", PYTHON);
    assert_eq!(
        flags(text(&armed)),
        [
            "--backend none --python host --python-roots vllm,aiter --python-checkout \\\"$KERNREC_ROOT\\\""
        ]
    );
    for (config, rule) in [
        ("[python]\nhost-steps = false", "host-step"),
        ("[python]\nskip = [\"h\"]", "skip-list"),
        ("[python.arm.cpu]\nqueue = []", "no-rule"),
        ("[python]\nnever = [\"no-gpu\"]", "no-gpu"),
    ] {
        let step = armed_with(pipeline, config, PYTHON).steps.remove(0);
        assert_eq!((fate(step.fate).as_str(), step.rule.as_str()), ("-", rule));
    }
}

#[test]
fn names_can_be_replaced() {
    let config = "[python]\nroots = [\"mine\"]\ncheckout = \"\"\ntimeout-factor = 2.0\n";
    let step = "- {key: d, command: x, timeout_in_minutes: 10, agents: {queue: gpu_1}, \
        plugins: [{docker#v5: {image: x}}]}\n";
    for (switches, minutes) in [(PYTHON, 20), (CUDA, 13), (ALL, 20)] {
        let armed = armed_with(step, config, switches);
        let timeout = format!("timeout_in_minutes: {minutes},");
        assert!(text(&armed).contains(&timeout), "{}", text(&armed));
    }
    assert_eq!(
        flags(text(&armed_with(step, config, PYTHON))),
        ["--backend none --python container --python-roots mine"]
    );
}

#[test]
fn its_collector_needs_no_map_and_waits_for_its_own_steps() {
    let armed = armed_with(YAML, STORE, ALL);
    let at = text(&armed).find("key: fnrec-collect").unwrap();
    let own = &text(&armed)[at..];
    assert!(own.contains("collect --backend python "), "{own}");
    assert!(
        own.contains("step: image-build\n") && !own.contains("--map-step"),
        "{own}"
    );
    let none = armed_with(YAML, "", PYTHON).collectors.remove(0);
    assert_eq!(none.not_added, Some(COLLECTOR_WORDS[0]));
}
