//! Armed pipelines for people to read.

use crate::{BOTH, CUDA, ROCM, armed, armed_with, fate, text};
use std::fmt::Write as _;

const YAML: &str = include_str!("pipelines/everything.yaml");
const JSON: &str = include_str!("pipelines/everything.json");

#[test]
fn both_backends() {
    insta::assert_snapshot!(text(&armed(YAML, BOTH)));
}

#[test]
fn json_stays_json() {
    let armed = armed(JSON, BOTH);
    let value: serde_json::Value = serde_json::from_slice(&armed.bytes).unwrap();
    assert_eq!(value["steps"][0]["label"], "Kernels \u{1f680}");
    insta::assert_snapshot!(text(&armed));
}

#[test]
fn a_pinned_release() {
    let config = format!(
        "[release]\nurl = \"https://example.com/kernrec.tar.gz\"\nsha256 = \"{}\"\n",
        "5".repeat(64)
    );
    let step =
        "steps:\n- key: a\n  command: pytest\n  plugins:\n  - docker#v5: {image: x, gpus: all}\n";
    insta::assert_snapshot!(text(&armed_with(step, &config, CUDA)));
}

#[test]
fn what_was_decided() {
    for (name, backends) in [("cuda", CUDA), ("rocm", ROCM)] {
        let mut table = String::new();
        for step in armed(YAML, backends).steps {
            let _ = writeln!(
                table,
                "{:24} {:14} {:16} {}",
                step.name,
                fate(step.fate),
                step.rule,
                step.detail
            );
        }
        insta::assert_snapshot!(format!("what_was_decided_{name}"), table);
    }
}
