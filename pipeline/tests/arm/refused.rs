//! Pipelines and configurations that are refused, with the place.

use crate::{BOTH, armed};
use kernrec_pipeline::{Config, ConfigError, MAX_BYTES, arm};

fn refused(pipeline: &[u8]) -> (String, &'static str) {
    let error = arm(pipeline, &Config::built_in(), BOTH, None).unwrap_err();
    (error.to_string(), error.reason())
}

/// Pipeline, place and word.
const REFUSED: &[(&str, &str, &str)] = &[
    ("", "line 1, column 1", "unknown-shape"),
    ("steps: [\n  {a: b\n", "line 3, column 1", "not-yaml"),
    ("steps:\n- a: b\n   c: d\n", "line 3, column 5", "not-yaml"),
    (
        "steps:\n- key: a\n  label: x\n  key: b\n",
        "line 4, column 3",
        "duplicate-key",
    ),
    (
        "{\"steps\": [],\n \"steps\": []}",
        "line 2, column 2",
        "duplicate-key",
    ),
    ("x: &a 1\nsteps: []\n", "line 1, column 4", "anchor"),
    ("steps:\n- *a\n", "line 2, column 3", "not-yaml"),
    ("steps:\n- <<: {a: b}\n", "line 2, column 3", "anchor"),
    ("steps:\n- !x\n  a: b\n", "line 2, column 3", "tag"),
    (
        "steps: []\n---\nsteps: []\n",
        "line 2, column 1",
        "several-documents",
    ),
    ("just text\n", "line 1, column 1", "unknown-shape"),
    ("steps: none\n", "line 1, column 8", "unknown-shape"),
    ("steps:\n- [a]\n", "line 2, column 3", "unknown-shape"),
    ("steps:\n-\n", "line 2, column 2", "unknown-shape"),
    (
        "steps:\n- group: g\n  steps: x\n",
        "line 3, column 10",
        "unknown-shape",
    ),
    (
        "steps:\n- command:\n    a: b\n",
        "line 3, column 5",
        "unknown-shape",
    ),
    (
        "steps:\n- commands:\n  - a: b\n",
        "line 3, column 5",
        "unknown-shape",
    ),
    (
        "steps:\n- env: [A=b]\n",
        "line 2, column 8",
        "unknown-shape",
    ),
    (
        "steps:\n- plugins: docker\n",
        "line 2, column 12",
        "unknown-shape",
    ),
    (
        "steps:\n- ? [a]\n  : b\n",
        "line 2, column 5",
        "unknown-shape",
    ),
];

#[test]
fn what_is_not_understood_is_refused_with_line_and_column() {
    for (pipeline, place, reason) in REFUSED {
        let (message, word) = refused(pipeline.as_bytes());
        assert!(message.starts_with(place), "{pipeline}\n{message}");
        assert_eq!(word, *reason, "{pipeline}\n{message}");
    }
}

#[test]
fn what_is_too_much_is_refused() {
    assert_eq!(
        refused(b"steps:\n- \xff\n").0,
        "line 2, column 3: not UTF-8"
    );
    assert_eq!(refused(&vec![b' '; MAX_BYTES + 1]).1, "pipeline-too-large");
    let deep = format!("steps: {}{}", "[".repeat(200), "]".repeat(200));
    assert_eq!(refused(deep.as_bytes()).1, "too-deep");
    // Deeper than any stack.
    let deep = "- ".repeat(100_000);
    assert_eq!(refused(deep.as_bytes()).1, "too-deep");
}

#[test]
fn forms_that_people_use_are_understood() {
    for pipeline in [
        "- wait\n- command: x\n",
        "steps: []\n",
        "\u{feff}steps: []\n",
        "# remark\n%YAML 1.2\n---\nsteps:\n- wait\n",
        "steps:\r\n- label: x\r\n  command: y\r\n",
        "{\"steps\":\t[\"wait\", {\"command\": [\"a\"], \"label\": \"\\ud83d\\ude80\\/\"}]}",
        "steps:\n- wait: ~\n- block: Go?\n  fields: [{select: x, key: y}]\n- trigger: other\n",
        "steps:\n- command: x\n  plugins: {docker#v5: {image: x}}\n",
    ] {
        assert_eq!(armed(pipeline, BOTH).bytes, pipeline.as_bytes());
    }
}

/// Configuration, and what is said of it.
const CONFIGURATIONS: &[(&str, &str)] = &[
    ("host-steps = maybe", "line 1, column 14"),
    ("[cuda\n", "line 1, column 6"),
    ("hosts-steps = true", "unknown field `hosts-steps`"),
    ("[cuda]\nswitches = \"A\"", "unknown field `switches`"),
    ("[cuda.arm.queue]\nqueues = []", "unknown field `queues`"),
    ("[never.x]\nkey = [\"[\"]", "error parsing glob '['"),
    (
        "[cuda]\ntimeout-factor = 0.5",
        "`timeout-factor` is `0.5`, expected",
    ),
    ("[rocm]\nswitch = \"A B\"", "`switch` is `A B`, expected"),
    ("mount = \"/a b\"", "`mount` is `/a b`, expected"),
    ("identity = [\"A'\"]", "`identity` is `A'`, expected"),
    ("[cuda]\ncollector = \"a b\"", "`collector` is `a b`"),
    (
        "[cuda]\ncollector = \"x\"\n[rocm]\ncollector = \"x\"",
        "another for each backend",
    ),
    ("[cuda]\nimage-builds = [\"b*\"]", "`image-builds` is `b*`"),
    (
        "[python]\nnever = [\"x\"]",
        "`python.never` is `x`, expected the name",
    ),
    ("[python]\nroots = [\"a-b\"]", "`python.roots` is `a-b`"),
    ("[python]\ncheckout = \"a b\"", "`python.checkout` is `a b`"),
    ("[collect]\nstore = \"$X\"", "`collect.store` is `$X`"),
    ("[collect]\nqueue = \"a b\"", "`collect.queue` is `a b`"),
    ("[collect]\narguments = [\"a b\"]", "`collect.arguments` is"),
    ("[collect]\ngroup = \"$X\"", "`collect.group` is `$X`"),
    (
        "[collect]\ndeadline-minutes = 0",
        "`collect.deadline-minutes` is `0`",
    ),
    (
        "[collect]\ndeadline-minutes = 240",
        "`collect.timeout-minutes` is `240`, expected more than",
    ),
    (
        "[release]\nsha256 = \"12\"\nurl = \"https://x\"",
        "`release.sha256` is `12`",
    ),
];

#[test]
fn configurations_are_refused_with_what_is_expected() {
    for (text, expected) in CONFIGURATIONS {
        let error = Config::parse(text).unwrap_err().to_string();
        assert!(error.contains(expected), "{text}\n{error}");
    }
    let sha256 = "0".repeat(64);
    for (text, name) in [
        ("", "release"),
        ("url = \"x\"\nstore = \"y\"", "release"),
        ("store = \"s3://x\"", "release"),
        ("url = \"$(x)\"", "release.url"),
        ("url = \"x\"\ncache = \"~'\"", "release.cache"),
        ("store = \"x\"\ndigest = \"b3:1\"", "release.digest"),
    ] {
        let text = format!("[release]\nsha256 = \"{sha256}\"\n{text}");
        let error = Config::parse(&text).unwrap_err();
        let ConfigError::Value { name: found, .. } = error else {
            panic!("{error}")
        };
        assert_eq!(found, name, "{text}");
    }
}
