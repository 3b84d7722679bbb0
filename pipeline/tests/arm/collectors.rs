//! The steps that collect: what they wait for, what they start after, and when there is none.

use crate::{BOTH, CUDA, ROCM, armed_with, text};
use kernrec_pipeline::{COLLECTOR_WORDS, CollectorReport, Config, Switches, arm};
use std::collections::BTreeSet;

/// A store to publish to, and short texts for people to read.
pub(crate) const STORE: &str = "[collect]\nstore = \"s3://records/kernrec\"\n\
    [texts]\nset-up = \"KERNREC_BIN=$(command -v kernrec)\"\n";

const YAML: &str = include_str!("pipelines/collected.yaml");

fn reports(pipeline: &str, config: &str, switches: Switches) -> Vec<CollectorReport> {
    armed_with(pipeline, config, switches).collectors
}

#[test]
fn a_collector_for_each_backend() {
    let armed = armed_with(YAML, STORE, BOTH);
    insta::assert_snapshot!(text(&armed));
    insta::assert_debug_snapshot!("what_they_wait_for", armed.collectors);
}

#[test]
fn a_collector_with_a_pinned_release_in_json() {
    let config = format!(
        "{STORE}\n[release]\nurl = \"https://example.com/kernrec.tar.gz\"\nsha256 = \"{}\"\n",
        "5".repeat(64)
    );
    let json = r#"{"steps": [
  {"key": "a", "command": "x", "agents": {"queue": "gpu_1"}, "plugins": [{"docker#v5": {"image": "x"}}]}
]}"#;
    let armed = armed_with(json, &config, CUDA);
    let value: serde_json::Value = serde_json::from_slice(&armed.bytes).unwrap();
    let collector = &value["steps"][1]["steps"][0];
    assert_eq!(collector["depends_on"], serde_json::json!([]));
    insta::assert_snapshot!(collector["command"].as_str().unwrap());
}

/// A step on GPUs with more in it.
fn gpu(key: &str, more: &str) -> String {
    format!(
        "{{key: {key}, command: x, agents: {{queue: gpu_1}}, plugins: [{{docker#v5: {{image: x}}}}], {more}}}"
    )
}

/// Steps `a` and `b`, and what of them is left out.
type Blocked = (String, &'static str);

/// What stands in between, in order.
fn in_order() -> Vec<Blocked> {
    let (a, b) = (gpu("a", ""), gpu("b", ""));
    let on = |what: &str| gpu("b", &format!("depends_on: {what}"));
    vec![
        (format!("[{a}, wait, {b}]"), ""),
        (format!("[{a}, {{block: Go?}}, {b}]"), "b"),
        (format!("[{a}, block, wait, {b}]"), "b"),
        (format!("[{a}, {{type: block}}, {b}]"), "b"),
        (format!("[{a}, {{manual: Go?}}, {b}]"), "b"),
        (format!("[{a}, {{block: Go?}}, {}]", on("[]")), ""),
        (format!("[{a}, {{block: Go?}}, {}]", on("~")), ""),
        (format!("[{a}, {{input: Who?}}, {b}]"), ""),
        // A `wait` waits for what is behind a block, wherever that stands.
        (
            format!("[{a}, {{command: y, depends_on: g}}, wait, {b}, {{block: Go?, key: g}}]"),
            "b",
        ),
    ]
}

/// What `b` names.
fn by_name() -> Vec<Blocked> {
    let a = gpu("a", "");
    let on = |what: &str| gpu("b", &format!("depends_on: {what}"));
    let c = |on: &str| format!("{{key: c, command: y, {on}}}");
    vec![
        (format!("[{{input: Who?, key: i}}, {a}, {}]", on("i")), "b"),
        (
            format!("[{a}, {{block: Go?, key: g, depends_on: []}}, {}]", on("a")),
            "",
        ),
        (
            format!("[{a}, {}, {{block: Go?, id: g}}]", on("[a, {step: g}]")),
            "b",
        ),
        (
            format!("[{a}, {}, {{block: Go?}}, {}]", on("c"), c("")),
            "b",
        ),
        (format!("[{a}, {}]", on("elsewhere")), ""),
        // Each waits for the other.
        (format!("[{a}, {}, {}]", on("c"), c("depends_on: b")), ""),
    ]
}

/// Groups, whose lists are their own.
fn in_groups() -> Vec<Blocked> {
    let (a, b) = (gpu("a", ""), gpu("b", ""));
    let on = |what: &str| gpu("b", &format!("depends_on: {what}"));
    let group = |more: &str, steps: &str| format!("{{group: g, {more} steps: [{steps}]}}");
    vec![
        (
            format!("[{}, {b}]", group("", &format!("{a}, {{block: Go?}}"))),
            "",
        ),
        (
            format!("[{}]", group("", &format!("{a}, {{block: Go?}}, {b}"))),
            "b",
        ),
        (
            format!("[{}, {a}, {}]", group("key: g,", "{block: Go?}"), on("g")),
            "b",
        ),
        (format!("[{a}, {{block: Go?}}, {}]", group("", &b)), "b"),
        (
            format!("[{a}, {{block: Go?}}, {}]", group("depends_on: [],", &b)),
            "",
        ),
        (
            format!(
                "[{a}, {{block: Go?, key: g}}, {}]",
                group("depends_on: g,", &on("[]"))
            ),
            "b",
        ),
        (
            format!(
                "[{a}, {}]",
                group("", &format!("{{block: Go?}}, wait, {b}"))
            ),
            "b",
        ),
        (
            format!("[{a}, {}, wait, {b}]", group("", "{block: Go?}")),
            "b",
        ),
    ]
}

#[test]
fn what_waits_for_somebody_is_left_out() {
    for (steps, left_out) in [in_order(), by_name(), in_groups()].concat() {
        let report = reports(&format!("steps: {steps}"), STORE, CUDA).remove(0);
        assert_eq!(report.behind_a_block.join(" "), left_out, "{steps}");
        let expected: &[&str] = if left_out.is_empty() {
            &["a", "b"]
        } else {
            &["a"]
        };
        assert_eq!(report.waits_for, expected, "{steps}");
    }
}

#[test]
fn it_starts_after_the_image_builds_of_its_backend_that_are_there() {
    let a = gpu("a", "");
    let build = |more: &str| format!("{{key: image-build, command: x, {more}}}");
    let amd = "{key: image-build-amd, command: x}";
    for (steps, expected) in [
        (format!("[{}, {amd}, {a}]", build("")), &["image-build"][..]),
        (format!("[{amd}, {a}]"), &[]),
        (
            format!(
                "[{}, {amd}, {a}]",
                build("env: {VLLM_KERNEL_SYMBOL_MAP: 1}")
            ),
            &["image-build"],
        ),
        (format!("[{}, {a}]", build("skip: true")), &[]),
        (format!("[{a}, {{block: Go?}}, {}]", build("")), &[]),
        (
            format!("[{{group: g, skip: true, steps: [{}]}}, {a}]", build("")),
            &[],
        ),
    ] {
        let pipeline = format!("steps: {steps}");
        let report = reports(&pipeline, STORE, BOTH).remove(0);
        assert_eq!(report.depends_on, expected, "{steps}");
        let armed = armed_with(&pipeline, STORE, BOTH);
        assert_eq!(text(&armed).matches("--map-step").count(), expected.len());
    }
}

#[test]
fn only_jobs_that_will_be_are_waited_for() {
    let steps = [
        gpu("one", ""),
        gpu("many", "parallelism: 4"),
        gpu("unknown", "parallelism: $SHARDS"),
        gpu("none", "parallelism: 0"),
        gpu("skipped", "skip: true"),
        format!(
            "{{group: g, skip: why, steps: [{}]}}",
            gpu("in-a-skipped-group", "")
        ),
    ];
    let pipeline = format!("steps: [{}]", steps.join(", "));
    let armed = armed_with(&pipeline, STORE, CUDA);
    let report = &armed.collectors[0];
    assert_eq!(report.waits_for, ["one", "many", "unknown"]);
    assert_eq!(report.jobs, 6);
    assert!(text(&armed).contains("--step one \\\\\\n--step many=4 \\\\\\n--step unknown ||"));
    let skipped = armed.steps.iter().filter(|step| step.rule == "skipped");
    assert_eq!(skipped.count(), 2);
}

#[test]
fn why_there_is_none() {
    let a = gpu("a", "");
    let mut seen = BTreeSet::new();
    for (steps, config, word) in [
        (format!("[{a}]"), "", "no-store"),
        (
            format!("[{{block: Go?}}, {a}]"),
            STORE,
            "all-behind-a-block",
        ),
        (
            format!("[{a}, {{key: kernrec-collect, command: x}}]"),
            STORE,
            "collector-exists",
        ),
        (
            format!("[{a}, {{group: g, key: kernrec-collect, steps: [wait]}}]"),
            STORE,
            "collector-exists",
        ),
    ] {
        let armed = armed_with(&format!("steps: {steps}"), config, CUDA);
        assert_eq!(armed.collectors[0].not_added, Some(word), "{steps}");
        assert!(!text(&armed).contains("kernrec\\\" collect"), "{steps}");
        seen.insert(word);
    }
    assert_eq!(seen, BTreeSet::from(COLLECTOR_WORDS));
    // Nothing is armed, so there is nothing to say either.
    assert_eq!(reports(&format!("steps: [{a}]"), STORE, ROCM), []);
    assert_eq!(
        reports("steps: [{key: image-build, command: x}]", STORE, CUDA),
        []
    );
}

#[test]
fn it_runs_where_the_branch_says() {
    let pipeline = format!("steps: [{}]", gpu("a", ""));
    for (more, branch, queue) in [
        ("", Some("main"), Some("small_cpu_queue_postmerge")),
        ("", Some("topic"), Some("small_cpu_queue_premerge")),
        ("", None, Some("small_cpu_queue_premerge")),
        (
            "only-branch = \"\"",
            None,
            Some("small_cpu_queue_postmerge"),
        ),
        (
            "only-branch = \"release\"\nqueue = \"ours\"",
            Some("release"),
            Some("ours"),
        ),
        ("queue-elsewhere = \"\"", Some("topic"), None),
    ] {
        let config = format!("[collect]\nstore = \"s\"\n{more}\n");
        let config = Config::parse(&config).unwrap();
        let armed = arm(pipeline.as_bytes(), &config, CUDA, branch).unwrap();
        let queues: Vec<&str> = text(&armed).split("\"queue\": ").skip(1).collect();
        let found = queues.first().and_then(|rest| rest.split('"').nth(1));
        assert_eq!(found, queue, "{more} {branch:?}");
        let only = text(&armed).contains("--only-branch");
        assert_eq!(only, !more.contains("only-branch = \"\""), "{more}");
    }
}

#[test]
fn everything_about_it_can_be_replaced() {
    let config = "[collect]\nstore = \"s\"\npipeline = \"nightly\"\ngroup = \"Records\"\n\
        deadline-minutes = 5\ntimeout-minutes = 6\nartifacts = [\"left/*\"]\narguments = [\"--allow-shrink\"]\n\
        [cuda]\ncollector = \"ours\"\n[texts]\ncollect = 'echo @arguments@'\n";
    let armed = armed_with(&format!("steps:\n- {}\n", gpu("a", "")), config, CUDA);
    let at = text(&armed).find("- group").unwrap();
    insta::assert_snapshot!(&text(&armed)[at..]);
}
