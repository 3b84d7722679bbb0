//! The edits that make a step record.

use super::decide::{Record, Work};
use super::place::Place;
use super::script::{Around, forward};
use super::step::{Commands, Step};
use crate::config::Config;
use crate::yaml::{Edits, New, Node};

/// Writes down what is to be changed in a step.
pub(super) fn inject(step: &Step<'_>, work: &Work<'_>, config: &Config, edits: &mut Edits<'_>) {
    match work {
        Work::Map(variable) => variable_set(step, variable, New::text("1"), edits),
        Work::Record(record) => {
            let around = Around::of(record, config);
            commands(step, record.runs.place, &around, config, edits);
            artifacts(step, config, edits);
            timeout(step, timeout_factor(record, config), edits);
            if let Some(options) = record.runs.docker {
                container(options, config, edits);
            }
        }
    }
}

/// That of the slower recorder.
fn timeout_factor(record: &Record<'_>, config: &Config) -> f64 {
    let kernels = record
        .kernels
        .map_or(1.0, |backend| config.backend(backend).timeout_factor);
    let python = if record.python {
        config.python.timeout_factor
    } else {
        1.0
    };
    kernels.max(python)
}

fn commands(
    step: &Step<'_>,
    place: Place<'_>,
    around: &Around,
    config: &Config,
    edits: &mut Edits<'_>,
) {
    let whole = |node: &Node<'_>| New::text(around.text(node.text().unwrap_or_default()));
    match place {
        Place::Text(name, node) => edits.set(step.node, name, whole(node)),
        Place::List(list) => {
            let (before, after) = (&around.before, &around.after);
            edits.surround(list, vec![New::text(before)], vec![New::text(after)]);
        }
        Place::Item(list, node) => edits.replace(list, node, whole(node)),
        Place::Variable { name, node, .. } => {
            variable_set(step, name, whole(node), edits);
            let forward = forward(name, config);
            match &step.commands {
                Commands::None => {}
                Commands::Text(key, node) => {
                    let own = node.text().unwrap_or_default();
                    edits.set(step.node, key, New::text(format!("{forward}\n{own}")));
                }
                Commands::List(list) => edits.surround(list, vec![New::text(forward)], Vec::new()),
            }
        }
    }
}

fn variable_set(step: &Step<'_>, name: &str, value: New, edits: &mut Edits<'_>) {
    match step.env {
        Some(env) => edits.set(env, name, value),
        None => edits.set(step.node, "env", New::Map(vec![(name.to_owned(), value)])),
    }
}

/// Adds to what the step uploads: a list, or one text with `;` between.
fn artifacts(step: &Step<'_>, config: &Config, edits: &mut Edits<'_>) {
    const KEY: &str = "artifact_paths";
    let present = step.node.get(KEY).filter(|node| !node.is_null());
    let paths: Vec<&str> = match present {
        None => Vec::new(),
        Some(node) => match node.items() {
            Some(items) => items.iter().filter_map(Node::text).collect(),
            None => node
                .text()
                .unwrap_or_default()
                .split(';')
                .map(str::trim)
                .collect(),
        },
    };
    let missing = config
        .artifacts
        .iter()
        .filter(|glob| !paths.contains(&glob.as_str()));
    let missing: Vec<&str> = missing.map(String::as_str).collect();
    if missing.is_empty() {
        return;
    }
    match present {
        Some(node) if node.items().is_some() => {
            edits.surround(
                node,
                Vec::new(),
                missing.into_iter().map(New::text).collect(),
            );
        }
        Some(node) if node.scalar().is_some_and(|text| !text.trim().is_empty()) => {
            let own = node.scalar().unwrap_or_default();
            edits.set(
                step.node,
                KEY,
                New::text(format!("{own};{}", missing.join(";"))),
            );
        }
        _ => {
            let all = missing.into_iter().map(New::text).collect();
            edits.set(step.node, KEY, New::List(all));
        }
    }
}

/// Recording costs time; a step without a timeout gets none.
fn timeout(step: &Step<'_>, factor: f64, edits: &mut Edits<'_>) {
    const KEY: &str = "timeout_in_minutes";
    let minutes = step.node.get(KEY).and_then(Node::text);
    let Some(minutes) = minutes.and_then(|text| text.parse::<u32>().ok()) else {
        return;
    };
    // Without the share of a millionth 1.1 times 10 minutes would be 12.
    let raised = (f64::from(minutes) * factor - 1e-6).ceil();
    #[expect(
        clippy::cast_possible_truncation,
        clippy::cast_sign_loss,
        reason = "at most 100 times a u32"
    )]
    let raised = raised.max(0.0) as u64;
    if raised > u64::from(minutes) {
        edits.set(step.node, KEY, New::Number(raised));
    }
}

/// The docker plugin hands over only what it is told to.
fn container(options: &Node<'_>, config: &Config, edits: &mut Edits<'_>) {
    let mount = &config.mount;
    let mut variables: Vec<String> = config.identity.clone();
    variables.push(format!("KERNREC_CHECKOUT_PATH={mount}"));
    let mut volumes = vec![format!("./.kernrec:{mount}/.kernrec")];
    if let Some(release) = &config.release {
        volumes.push(format!("{0}:{0}", release.cache));
    }
    added(options, "environment", variables, edits);
    added(options, "volumes", volumes, edits);
}

fn added(options: &Node<'_>, name: &str, values: Vec<String>, edits: &mut Edits<'_>) {
    let list = options.get(name).filter(|list| list.items().is_some());
    let present: Vec<&str> = list
        .and_then(Node::items)
        .unwrap_or_default()
        .iter()
        .filter_map(Node::text)
        .collect();
    let is_missing = |value: &String| !present.contains(&value.as_str());
    let values: Vec<New> = values
        .into_iter()
        .filter(is_missing)
        .map(New::Text)
        .collect();
    match list {
        _ if values.is_empty() => {}
        Some(list) => edits.surround(list, Vec::new(), values),
        None => edits.set(options, name, New::List(values)),
    }
}
