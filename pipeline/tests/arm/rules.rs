//! Which rule decides, what can be replaced, and what each edit leaves.

use crate::{BOTH, CUDA, NONE, PYTHON, ROCM, armed, armed_with, fate, text};
use kernrec_pipeline::{Config, Fate, WORDS};
use std::collections::BTreeSet;

const PLUGINS: &str = "\n  plugins: [{docker#v5: {image: x}}]";

/// Fate and rule of the only step of a pipeline.
fn decided(step: &str, config: &str) -> (String, String) {
    let pipeline = format!("steps:\n- {step}\n");
    let report = armed_with(&pipeline, config, BOTH).steps.remove(0);
    let fate = fate(report.fate);
    (fate, report.rule)
}

type Row = (String, &'static str, &'static str);

/// A step that is armed.
fn gpu() -> String {
    format!("key: k\n  command: x\n  agents: {{queue: gpu_1_queue}}{PLUGINS}")
}

#[test]
fn the_first_rule_that_holds_decides() {
    let mut seen = BTreeSet::from(["armed-already", "switch-off"]);
    let tables = [places(), sayings(), containers(), kinds()];
    for (step, fate, rule) in tables.into_iter().flatten() {
        assert_eq!(
            decided(&step, ""),
            (fate.to_owned(), rule.to_owned()),
            "{step}"
        );
        seen.insert(rule);
    }
    let unseen: Vec<&&str> = WORDS.iter().filter(|word| !seen.contains(*word)).collect();
    assert!(unseen.is_empty(), "{unseen:?}");
}

/// By where it runs.
fn places() -> Vec<Row> {
    let at = |queue: &str| gpu().replace("gpu_1_queue", queue);
    vec![
        (at("mithril-H100-pool"), "cuda", "queue"),
        (at("amd_mi325_1"), "rocm", "queue"),
        (at("small_cpu_queue_premerge"), "-", "no-gpu"),
        (at("arm_cpu"), "-", "no-gpu"),
        (at("gh200_queue"), "-", "other-hardware"),
        (at("tpu_v6e"), "-", "other-hardware"),
        (at("default"), "-", "no-rule"),
        (
            at("default").replace("image: x", "gpus: all"),
            "cuda",
            "plugin",
        ),
        (
            at("default").replace("image: x", "devices: [/dev/kfd, /dev/dri]"),
            "rocm",
            "plugin",
        ),
        (
            at("amd_1").replace("image: x", "gpus: all"),
            "-",
            "two-backends",
        ),
    ]
}

/// By what else it says.
fn sayings() -> Vec<Row> {
    let gpu = gpu();
    let with = |more: &str| format!("{gpu}\n  {more}");
    vec![
        (gpu.clone(), "cuda", "queue"),
        (with("skip: too slow"), "-", "skipped"),
        (with("skip: false"), "cuda", "queue"),
        (with("matrix: [a, b]"), "-", "matrix"),
        (with("label: Distributed (2 Nodes)"), "-", "multi-node"),
        (with("env: {NUM_NODES: 2}"), "-", "multi-node"),
        (with("env: {NUM_NODES: 1}"), "cuda", "queue"),
        (with("label: Profile"), "-", "profiler"),
        (gpu.replace("key: k", "key: quantization"), "-", "skip-list"),
        (gpu.replace("key: k", "label: k"), "-", "no-key"),
        (gpu.replace("key: k", "key: a b"), "-", "key-unusable"),
        (gpu.replace("key: k", "key: k-$X"), "-", "key-unusable"),
        (gpu.replace("key: k", "key: -k"), "-", "key-unusable"),
        (gpu.replace("key: k", "identifier: k"), "cuda", "queue"),
    ]
}

/// By its commands and its container: what of the step is replaced by what.
const CONTAINERS: [(&str, &str, &str, &str); 19] = [
    ("command: x", "command: nsys profile x", "-", "profiler"),
    (PLUGINS, "", "-", "host-step"),
    ("docker#v5", "junit-annotate#v2", "-", "host-step"),
    (
        "docker#v5",
        "https://x/docker-buildkite-plugin.git#v5",
        "cuda",
        "queue",
    ),
    ("command: x", "command: ''", "-", "no-commands"),
    ("command: x", "commands: []", "-", "no-commands"),
    (
        "command: x",
        "command: 'cat <<A'",
        "-",
        "open-here-document",
    ),
    ("command: x", "command: alias a=b", "-", "alias"),
    ("image: x", "command: [pytest, x]", "-", "container-command"),
    (
        "image: x",
        "command: [python, -c, x]",
        "-",
        "container-command",
    ),
    ("image: x", "command: [/bin/bash, -exc, x]", "cuda", "queue"),
    (
        "image: x",
        "command: [bash, -oc, x]",
        "-",
        "container-command",
    ),
    ("image: x", "shell: false", "-", "no-shell"),
    ("image: x", "shell: [/bin/bash, -e, -c]", "cuda", "queue"),
    ("image: x", "shell: [powershell, -c]", "-", "no-shell"),
    ("image: x", "entrypoint: /init", "-", "no-shell"),
    ("image: x", "environment: A=b", "-", "plugin-shape"),
    ("{docker#v5: {image: x}}", "docker#v5", "-", "plugin-shape"),
    (
        "{docker#v5: {image: x}}",
        "{kubernetes: {podSpec: {containers: [{command: [x]}]}}}",
        "-",
        "container-command",
    ),
];

fn containers() -> Vec<Row> {
    let row = |(part, by, fate, rule): (&str, &str, &'static str, &'static str)| {
        assert!(gpu().contains(part), "{part}");
        (gpu().replace(part, by), fate, rule)
    };
    CONTAINERS.map(row).into()
}

/// By what it is.
fn kinds() -> Vec<Row> {
    vec![
        (
            "key: image-build\n  command: x".to_owned(),
            "map cuda",
            "image-builds",
        ),
        (
            "key: image-build-amd\n  command: x".to_owned(),
            "map rocm",
            "image-builds",
        ),
        (
            "label: ':docker: x'\n  command: x".to_owned(),
            "-",
            "image-build",
        ),
        ("wait: ~".to_owned(), "-", "no-command-step"),
        ("block: Go?".to_owned(), "-", "no-command-step"),
        ("trigger: other".to_owned(), "-", "no-command-step"),
    ]
}

#[test]
fn every_default_can_be_replaced() {
    let step = "key: k\n  command: x\n  agents: {queue: mine}";
    for (config, fate, rule) in [
        ("", "-", "no-rule"),
        (
            "host-steps = true\n[cuda.arm.queue]\nqueue = [\"mine\"]",
            "cuda",
            "queue",
        ),
        (
            "host-steps = true\n[rocm.arm.mine]\nqueue = [\"m?ne\"]",
            "rocm",
            "mine",
        ),
        ("skip = [\"k\"]", "-", "skip-list"),
        ("[never.mine]\nqueue = [\"mine\"]", "-", "mine"),
        ("[cuda]\nimage-builds = [\"k\"]", "map cuda", "image-builds"),
    ] {
        assert_eq!(
            decided(step, config),
            (fate.to_owned(), rule.to_owned()),
            "{config}"
        );
    }
    let config = "containers = [\"podman\"]\nartifacts = [\"a\", \"b\"]\nhost-steps = false\n\
                  [cuda]\ntimeout-factor = 2.0\n[cuda.arm.queue]\nqueue = [\"mine\"]\n\
                  [texts]\nset-up = 'echo up'\nfinish = 'echo \"$KERNREC_STATUS\"'";
    let pipeline = format!("- {step}\n  timeout_in_minutes: 3\n  plugins: [podman#v1]\n");
    let armed = armed_with(&pipeline, config, CUDA);
    let value = text(&armed);
    for part in [
        "timeout_in_minutes: 6\n",
        "    - a\n    - b",
        "echo up\n",
        "echo \"$$KERNREC_STATUS\"\n",
    ] {
        assert!(value.contains(part), "{part}\n{value}");
    }
}

#[test]
fn only_exactly_one_is_on() {
    let config = Config::parse("[rocm]\nswitch = \"MINE\"").unwrap();
    for (value, is_on) in [
        ("1", true),
        ("", false),
        ("0", false),
        ("true", false),
        ("1 ", false),
        ("01", false),
    ] {
        for (variable, expected) in [
            ("VLLM_CI_KERNREC", CUDA),
            ("MINE", ROCM),
            ("VLLM_CI_FNREC", PYTHON),
            ("VLLM_CI_KERNREC_AMD", NONE),
        ] {
            let on = config.switched_on(|name| (name == variable).then(|| value.to_owned()));
            let expected = if is_on { expected } else { NONE };
            assert_eq!(on, expected, "{variable}={value}");
        }
    }
}

#[test]
fn timeouts_are_raised_and_rounded_up() {
    for (written, expected) in [
        ("timeout_in_minutes: 40", "timeout_in_minutes: 50\n"),
        ("timeout_in_minutes: 41 # x", "timeout_in_minutes: 52 # x\n"),
        ("timeout_in_minutes: \"4\"", "timeout_in_minutes: 5\n"),
        ("timeout_in_minutes: ~", "timeout_in_minutes: ~\n"),
        ("timeout_in_minutes: many", "timeout_in_minutes: many\n"),
        ("timeout_in_minutes: 0", "timeout_in_minutes: 0\n"),
    ] {
        let pipeline =
            format!("- key: k\n  {written}\n  agents: {{queue: gpu_1}}\n  command: x{PLUGINS}\n");
        let armed = armed(&pipeline, CUDA);
        assert!(text(&armed).contains(expected), "{}", text(&armed));
    }
}

#[test]
fn a_queue_may_be_that_of_the_pipeline() {
    let pipeline = format!("agents: {{queue: gpu_1}}\nsteps:\n- key: k\n  command: x{PLUGINS}\n");
    assert!(matches!(
        armed(&pipeline, CUDA).steps[0].fate,
        Fate::Armed { .. }
    ));
}

#[test]
fn what_is_put_in_has_no_dollar_that_the_upload_would_take() {
    let gpu = format!("- key: k\n  command: x\n  agents: {{queue: gpu_1}}{PLUGINS}\n");
    let amd = "- key: a\n  command: x\n  agents: {queue: amd_1}\n  env: {VLLM_TEST_COMMANDS: y}\n";
    let pipeline = format!("{gpu}{amd}");
    let interpolated = armed(&pipeline, BOTH);
    assert!(!text(&interpolated).replace("$$", "").contains('$'));
    assert!(
        !text(&interpolated).contains("\\$"),
        "a backslash means something to the upload too"
    );
    let plain = armed_with(&pipeline, "interpolated = false", BOTH);
    assert_eq!(text(&interpolated).replace("$$", "$"), text(&plain));
}
