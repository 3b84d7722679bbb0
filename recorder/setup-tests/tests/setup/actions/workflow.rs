//! The worked example, and what the page shows: they ask for what the actions declare, and read the answer safely.

use super::expression::{Contexts, shown};
use super::runner::{actions, repository};
use super::yaml;
use crate::bench::shell_status;
use serde_json::{Value, json};
use std::process::Command;

/// The keys of the example's steps.
const KEYS: [&str; 3] = ["attention", "quantization", "rope"];

fn example() -> Value {
    yaml::read(&repository().join("docs/examples/github-workflow.yml"))
}

/// The blocks of YAML on the page.
fn page() -> Vec<Value> {
    let page = fs_err::read_to_string(repository().join("docs/github-actions.md")).unwrap();
    let blocks = page.split("```").skip(1).step_by(2);
    blocks
        .filter_map(|block| block.strip_prefix("yaml\n"))
        .map(yaml::parse)
        .collect()
}

/// Every mapping that satisfies a test, however deep.
fn all<'a>(node: &'a Value, is_one: &dyn Fn(&Value) -> bool, found: &mut Vec<&'a Value>) {
    if is_one(node) {
        found.push(node);
    }
    match node {
        Value::Object(fields) => fields.values().for_each(|value| all(value, is_one, found)),
        Value::Array(items) => items.iter().for_each(|item| all(item, is_one, found)),
        _ => {}
    }
}

fn found<'a>(node: &'a Value, is_one: &dyn Fn(&Value) -> bool) -> Vec<&'a Value> {
    let mut found = Vec::new();
    all(node, is_one, &mut found);
    found
}

/// The action of ours that a step uses.
fn ours(step: &Value) -> Option<Value> {
    let (action, version) = step["uses"].as_str()?.split_once('@').unwrap();
    let Some(name) = action.strip_prefix("OWNER/kernrec/actions/") else {
        // A tag of somebody else's can be moved, in a job that has secrets.
        let is_commit = version.len() == 40 && version.bytes().all(|b| b.is_ascii_hexdigit());
        assert!(is_commit, "{action}@{version}: a commit");
        return None;
    };
    assert_eq!(version, concat!("v", env!("CARGO_PKG_VERSION")));
    Some(yaml::read(&actions().join(name).join("action.yml")))
}

#[test]
fn steps_ask_for_what_the_actions_declare() {
    let mut documents = page();
    documents.push(example());
    let mut used = 0;
    for document in &documents {
        for step in found(document, &|node| node["uses"].is_string()) {
            let Some(action) = ours(step) else {
                continue;
            };
            used += 1;
            let declared = action["inputs"].as_object().unwrap();
            let with = step["with"].as_object().unwrap();
            for name in with.keys() {
                assert!(declared.contains_key(name), "no input `{name}`: {step}");
            }
            for (name, input) in declared {
                let is_given = input["required"] != true || with.contains_key(name);
                assert!(is_given, "`{name}` is required: {step}");
            }
        }
        for step in found(document, &|node| {
            node["run"].is_string() && node["uses"].is_null()
        }) {
            assert!(!shown(&step["run"]).contains("${{"), "{step}");
        }
    }
    assert!(used >= 5, "{used} steps");
}

/// Outputs that are read exist: of the steps of a job, and of the jobs that it needs.
#[test]
fn outputs_that_are_read_are_declared() {
    let example = example();
    let jobs = example["jobs"].as_object().unwrap();
    let mut read = 0;
    for (name, job) in jobs {
        let text = job.to_string();
        for reference in text.split("steps.").skip(1) {
            let Some((id, output)) = reference.split_once(".outputs.") else {
                continue;
            };
            let step = found(job, &|node| node["id"] == id);
            let action = ours(
                step.first()
                    .unwrap_or_else(|| panic!("{name}: no step {id}")),
            );
            assert!(
                action.unwrap()["outputs"].get(word(output)).is_some(),
                "{name}: {output:.20}"
            );
            read += 1;
        }
        for reference in text.split("needs.").skip(1) {
            let (other, rest) = reference.split_once('.').unwrap();
            let needs = job["needs"].as_array().unwrap();
            assert!(needs.contains(&json!(other)), "{name} reads {other}");
            if let Some(output) = rest.strip_prefix("outputs.") {
                assert!(
                    jobs[other]["outputs"].get(word(output)).is_some(),
                    "{name}: {output:.20}"
                );
                read += 1;
            }
        }
    }
    assert!(read >= 4, "{read} outputs");
}

fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    &text[..end.unwrap_or(text.len())]
}

#[test]
fn the_keys_are_the_same_in_all_places() {
    let example = example();
    let with = |action: &str, input: &str| {
        let is_it = |node: &Value| {
            node["uses"]
                .as_str()
                .is_some_and(|uses| uses.contains(action))
        };
        let steps = found(&example, &is_it);
        let words = shown(&steps[0]["with"][input]);
        words
            .split_whitespace()
            .map(str::to_owned)
            .collect::<Vec<_>>()
    };
    assert_eq!(with("actions/select@", "all-keys"), KEYS);
    assert_eq!(with("actions/collect@", "steps"), KEYS);
    assert_eq!(matrix(&example, ""), KEYS);
}

/// What the context `needs` says, given what `select` did.
fn needs(keys: &str) -> Value {
    json!({
        "needs": {"select": {"outputs": {"keys": keys}}, "image": {"result": "success"}},
        "github": {"ref_name": "topic"},
    })
}

fn matrix(example: &Value, keys: &str) -> Vec<String> {
    let values = needs(keys);
    let contexts = Contexts {
        values: &values,
        cancelled: false,
    };
    let key = &example["jobs"]["gpu"]["strategy"]["matrix"]["key"];
    serde_json::from_value(contexts.value(key.as_str().unwrap())).unwrap()
}

#[test]
fn where_select_said_nothing_every_step_runs() {
    let example = example();
    let condition = example["jobs"]["gpu"]["if"].as_str().unwrap();
    let runs = |keys: &str, cancelled: bool| {
        let values = needs(keys);
        Contexts {
            values: &values,
            cancelled,
        }
        .holds(condition)
    };
    for (keys, expected) in [
        ("", &KEYS[..]),
        (r#"["attention","quantization","rope"]"#, &KEYS),
        (r#"["rope"]"#, &["rope"]),
    ] {
        assert!(runs(keys, false), "{keys}");
        assert!(!runs(keys, true), "{keys}");
        assert_eq!(matrix(&example, keys), expected, "{keys}");
    }
    // An empty matrix is an error to the runner, so the job is left out.
    assert!(!runs("[]", false));
    // And what the page shows for a single job.
    let page = fs_err::read_to_string(repository().join("docs/github-actions.md")).unwrap();
    let shown = "!contains(fromJSON(needs.select.outputs.skipped || '[]'), 'rope')";
    assert!(page.contains(shown));
    for (skipped, runs) in [
        ("", true),
        ("[]", true),
        (r#"["attention"]"#, true),
        (r#"["rope"]"#, false),
    ] {
        let values = json!({"needs": {"select": {"outputs": {"skipped": skipped}}}});
        let contexts = Contexts {
            values: &values,
            cancelled: false,
        };
        assert_eq!(contexts.holds(shown), runs, "{skipped}");
    }
}

#[test]
fn a_failed_job_uploads_what_it_recorded() {
    let example = example();
    let is_upload = |node: &Value| {
        node["uses"]
            .as_str()
            .is_some_and(|uses| uses.starts_with("actions/upload-artifact@"))
    };
    let gpu = &example["jobs"]["gpu"];
    let upload = found(gpu, &is_upload)[0];
    let main = json!({"github": {"ref_name": "main"}});
    let contexts = Contexts {
        values: &main,
        cancelled: false,
    };
    // Without one of these functions the runner adds `success() &&`.
    let condition = upload["if"].as_str().unwrap();
    assert!(
        condition.contains("!cancelled()") && contexts.holds(condition),
        "{condition}"
    );
    // The collector looks at names of artifacts.
    for upload in found(&example, &is_upload) {
        let name = shown(&upload["with"]["name"]);
        assert!(
            name.starts_with("kernrec-") || name.contains("symbol-map"),
            "{name}"
        );
    }
}

#[test]
fn the_required_check_passes_only_if_the_steps_did_or_none_had_to() {
    let example = example();
    let gate = &example["jobs"]["gpu-tests"];
    assert_eq!(gate["if"], "${{ always() }}");
    let step = &gate["steps"][0];
    for (image, gpu, keys, passes) in [
        ("success", "success", r#"["rope"]"#, true),
        ("success", "skipped", "[]", true),
        ("success", "skipped", "", false),
        ("success", "skipped", r#"["rope"]"#, false),
        ("success", "failure", r#"["rope"]"#, false),
        ("success", "cancelled", "", false),
        ("failure", "skipped", "[]", false),
        ("skipped", "skipped", "[]", false),
        ("success", "", "", false),
    ] {
        let values = json!({"needs": {
            "image": {"result": image}, "gpu": {"result": gpu}, "select": {"outputs": {"keys": keys}},
        }});
        let contexts = Contexts {
            values: &values,
            cancelled: false,
        };
        let mut command = Command::new("bash");
        command.args(["-e", "-c", step["run"].as_str().unwrap()]);
        for (name, value) in step["env"].as_object().unwrap() {
            command.env(name, contexts.text(value.as_str().unwrap()));
        }
        let status = shell_status(&command.output().unwrap());
        assert_eq!(status == 0, passes, "{image} {gpu} {keys}");
    }
}
