//! What the actions declare is used, documented, and never run as code.

use super::expression::shown;
use super::runner::{actions, repository};
use super::yaml;
use serde_json::Value;
use std::fmt::Write as _;
use std::path::PathBuf;

/// Set to write the tables into the page instead of comparing.
const UPDATE: &str = "KERNREC_UPDATE_DOCS";

/// Each action's name and content.
fn each() -> Vec<(String, Value)> {
    let mut folders: Vec<PathBuf> = fs_err::read_dir(actions())
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| path.is_dir())
        .collect();
    folders.sort();
    assert!(folders.len() >= 2);
    let action = |folder: PathBuf| {
        let name = folder.file_name().unwrap().to_str().unwrap().to_owned();
        (name, yaml::read(&folder.join("action.yml")))
    };
    folders.into_iter().map(action).collect()
}

#[test]
fn every_input_reaches_a_step_as_a_variable_and_no_other_way() {
    for (name, action) in each() {
        let steps = action["runs"]["steps"].as_array().unwrap();
        for input in action["inputs"].as_object().unwrap().keys() {
            let expression = format!("${{{{ inputs.{input} }}}}");
            let uses = |step: &Value| {
                let variables = step["env"].as_object().unwrap();
                variables.values().any(|value| *value == expression)
                    || step["working-directory"] == expression
            };
            assert!(steps.iter().any(uses), "{name}: nothing uses `{input}`");
        }
        for step in steps {
            let allowed = ["id", "if", "shell", "working-directory", "env", "run"];
            for key in step.as_object().unwrap().keys() {
                assert!(allowed.contains(&key.as_str()), "{name}: `{key}` of a step");
            }
            assert!(!shown(&step["run"]).contains("${{"), "{name}: {step}");
        }
    }
}

#[test]
fn every_input_and_output_has_a_description_and_every_default_is_a_text() {
    for (name, action) in each() {
        for (input, declared) in action["inputs"].as_object().unwrap() {
            assert!(declared["description"].is_string(), "{name}: {input}");
            // The runner makes texts of numbers, and nobody knows how.
            let is_required = declared["required"] == true;
            assert!(
                is_required != declared["default"].is_string(),
                "{name}: {input}"
            );
        }
        for (output, declared) in action["outputs"].as_object().unwrap() {
            assert!(declared["description"].is_string(), "{name}: {output}");
            assert!(declared["value"].is_string(), "{name}: {output}");
        }
    }
}

#[test]
fn the_page_has_what_is_declared() {
    let path = repository().join("docs/github-actions.md");
    let page = fs_err::read_to_string(&path).unwrap();
    let mut expected = page.clone();
    for (name, action) in each() {
        expected = between(&expected, &format!("inputs of {name}"), &inputs(&action));
        expected = between(&expected, &format!("outputs of {name}"), &outputs(&action));
    }
    if std::env::var_os(UPDATE).is_some() {
        fs_err::write(path, expected).unwrap();
        return;
    }
    assert!(page == expected, "run with {UPDATE}=1 and read the change");
}

fn inputs(action: &Value) -> String {
    let mut table = "| input | default | meaning |\n| --- | --- | --- |\n".to_owned();
    for (name, input) in action["inputs"].as_object().unwrap() {
        let default = match input["default"].as_str() {
            None => "required".to_owned(),
            Some("") => String::new(),
            Some(default) => format!("`{default}`").replace('|', "\\|"),
        };
        writeln!(
            table,
            "| `{name}` | {default} | {} |",
            shown(&input["description"])
        )
        .unwrap();
    }
    table
}

fn outputs(action: &Value) -> String {
    let mut table = "| output | meaning |\n| --- | --- |\n".to_owned();
    for (name, output) in action["outputs"].as_object().unwrap() {
        writeln!(table, "| `{name}` | {} |", shown(&output["description"])).unwrap();
    }
    table
}

/// The page with the table between two marks replaced.
fn between(page: &str, mark: &str, table: &str) -> String {
    let (start, end) = (
        format!("<!-- {mark} -->\n"),
        format!("<!-- end of {mark} -->"),
    );
    let (before, rest) = page
        .split_once(&start)
        .unwrap_or_else(|| panic!("no {start}"));
    let (_, after) = rest.split_once(&end).unwrap_or_else(|| panic!("no {end}"));
    format!("{before}{start}{table}{end}{after}")
}
