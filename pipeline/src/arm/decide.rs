//! Which steps are armed, by which rule.

use super::container::{Inner, Plugin};
use super::report::{Fate, StepReport};
use super::script::MARK;
use super::shell::not_wrappable;
use super::step::{Commands, Step};
use crate::config::{Backends, Config, Facts, Rule, is_step_key};
use crate::yaml::Node;
use kernrec_schemas::Backend;
use std::collections::BTreeMap;

/// What to do with a step.
#[derive(Debug)]
pub(super) enum Decision<'d> {
    Leave(StepReport),
    Edit(Work<'d>, StepReport),
}

/// What to change in a step.
#[derive(Debug)]
pub(super) enum Work<'d> {
    /// Set a variable of its environment.
    Map(&'d str),
    /// Let it record.
    Record {
        backend: Backend,
        key: &'d str,
        place: Place<'d>,
        /// The options of its docker plugin.
        docker: Option<&'d Node<'d>>,
    },
}

/// Where the commands stand that run on the GPUs.
#[derive(Debug)]
pub(super) enum Place<'d> {
    Text(&'static str, &'d Node<'d>),
    List(&'d Node<'d>),
    /// A variable of the step, and the step's commands that hand it over.
    Variable(&'d str, &'d Node<'d>),
    /// An item of a plugin's list.
    Item(&'d Node<'d>, &'d Node<'d>),
}

/// Decides about a step.
pub(super) fn decide<'d>(step: &Step<'d>, config: &'d Config, backends: Backends) -> Decision<'d> {
    match decided(step, config, backends) {
        Ok((work, report)) => Decision::Edit(work, report),
        Err(report) => Decision::Leave(report),
    }
}

fn decided<'d>(
    step: &Step<'d>,
    config: &'d Config,
    backends: Backends,
) -> Result<(Work<'d>, StepReport), StepReport> {
    if !step.is_command() {
        return Err(StepReport::not("no-command-step", ""));
    }
    if let Some(image_build) = image_build(step, config, backends) {
        return image_build;
    }
    if step.has("skip") {
        return Err(StepReport::not("skipped", ""));
    }
    let facts = facts(step, config);
    if facts.command.iter().any(|text| text.contains(MARK)) {
        return Err(StepReport::not("armed-already", ""));
    }
    if step
        .key
        .is_some_and(|key| config.skip.iter().any(|skip| skip == key))
    {
        return Err(StepReport::not("skip-list", ""));
    }
    if let Some((rule, detail)) = first(&config.never, &facts) {
        return Err(StepReport::not(rule, detail));
    }
    let (backend, rule, detail) = backend(config, &facts)?;
    let key = usable_key(step)?;
    let (place, docker) = place(step, config, backend)?;
    if !backends.contains(backend) {
        return Err(switch_off(config, backend));
    }
    let work = Work::Record {
        backend,
        key,
        place,
        docker,
    };
    Ok((work, StepReport::new(Fate::Armed(backend), rule, detail)))
}

/// A step that builds the image of a backend, or of several.
fn image_build<'d>(
    step: &Step<'d>,
    config: &'d Config,
    backends: Backends,
) -> Option<Result<(Work<'d>, StepReport), StepReport>> {
    let key = step.key?;
    let both = [Backend::Cuda, Backend::Rocm];
    let built = |backend: &&Backend| {
        config
            .backend(**backend)
            .image_builds
            .iter()
            .any(|build| build == key)
    };
    let mut builds = both.iter().filter(built).copied().peekable();
    let first = *builds.peek()?;
    let Some(backend) = builds.find(|backend| backends.contains(*backend)) else {
        return Some(Err(switch_off(config, first)));
    };
    let variable = config.backend(backend).map_variable.as_str();
    if step.variable(variable).and_then(Node::scalar) == Some("1") {
        return Some(Err(StepReport::not("armed-already", "")));
    }
    let report = StepReport::new(Fate::Mapped(backend), "image-builds", "");
    Some(Ok((Work::Map(variable), report)))
}

fn switch_off(config: &Config, backend: Backend) -> StepReport {
    StepReport::not(
        "switch-off",
        format!("{} is not 1", config.backend(backend).switch),
    )
}

fn facts(step: &Step<'_>, config: &Config) -> Facts {
    let owned = |text: &str| text.to_owned();
    let variables = step.env.and_then(Node::entries).unwrap_or_default();
    let mut command = vec![step.script()];
    for backend in [&config.cuda, &config.rocm] {
        let handed_over = step.variable(&backend.commands_variable);
        command.extend(handed_over.and_then(Node::text).map(owned));
    }
    for plugin in &step.plugins {
        if let Inner::Text(_, text) = plugin.inner() {
            command.extend(text.text().map(owned));
        }
    }
    Facts {
        key: step.key.into_iter().map(owned).collect(),
        label: step.label.into_iter().map(owned).collect(),
        queue: step.queues.iter().copied().map(owned).collect(),
        plugin: step.plugins.iter().flat_map(Plugin::facts).collect(),
        env: variables
            .iter()
            .map(|entry| {
                let name = entry.key.scalar().unwrap_or_default();
                format!("{name}={}", entry.value.text().unwrap_or_default())
            })
            .collect(),
        command,
    }
}

fn first(rules: &BTreeMap<String, Rule>, facts: &Facts) -> Option<(String, String)> {
    rules
        .iter()
        .find_map(|(name, rule)| Some((name.clone(), rule.holds(facts)?)))
}

/// The backend whose rules hold, which must be one.
fn backend(config: &Config, facts: &Facts) -> Result<(Backend, String, String), StepReport> {
    let cuda = first(&config.cuda.arm, facts);
    let rocm = first(&config.rocm.arm, facts);
    match (cuda, rocm) {
        (None, None) => Err(StepReport::not(
            "no-rule",
            "nothing says that it runs on GPUs",
        )),
        (Some((rule, detail)), None) => Ok((Backend::Cuda, rule, detail)),
        (None, Some((rule, detail))) => Ok((Backend::Rocm, rule, detail)),
        (Some((_, cuda)), Some((_, rocm))) => Err(StepReport::not(
            "two-backends",
            format!("cuda: {cuda}; rocm: {rocm}"),
        )),
    }
}

/// A job whose step nobody knows would record for nothing.
fn usable_key<'d>(step: &Step<'d>) -> Result<&'d str, StepReport> {
    let Some(key) = step.key else {
        return Err(StepReport::not(
            "no-key",
            "a row is filed under its step's key",
        ));
    };
    if !is_step_key(key) {
        return Err(StepReport::not(
            "key-unusable",
            "its key is not letters, digits, `_`, `-`, `:` and `.`",
        ));
    }
    if step.has("matrix") {
        // Nothing tells a recording how many jobs there are, so one that is missing would not be missed.
        return Err(StepReport::not("matrix", "its jobs cannot be counted"));
    }
    Ok(key)
}

fn place<'d>(
    step: &Step<'d>,
    config: &'d Config,
    backend: Backend,
) -> Result<(Place<'d>, Option<&'d Node<'d>>), StepReport> {
    let variable = config.backend(backend).commands_variable.as_str();
    let (place, docker) = match step.variable(variable) {
        Some(node) => (Place::Variable(variable, node), None),
        None => in_container(step, config)?,
    };
    let script = match &place {
        Place::Text(..) | Place::List(_) => step.script(),
        Place::Variable(_, node) | Place::Item(_, node) => {
            node.text().unwrap_or_default().to_owned()
        }
    };
    if script.trim().is_empty() {
        return Err(StepReport::not("no-commands", ""));
    }
    match not_wrappable(&script) {
        Some(word) => Err(StepReport::not(word, "")),
        None => Ok((place, docker)),
    }
}

fn in_container<'d>(
    step: &Step<'d>,
    config: &Config,
) -> Result<(Place<'d>, Option<&'d Node<'d>>), StepReport> {
    let runs = |plugin: &&Plugin<'_>| config.containers.iter().any(|name| name == plugin.name);
    let container = step.plugins.iter().find(runs);
    if container.is_none() && !config.host_steps {
        return Err(StepReport::not("host-step", "it runs in no container"));
    }
    let docker = container.filter(|plugin| plugin.name == "docker");
    let docker = docker.and_then(|plugin| plugin.options);
    match container.map_or(Inner::StepCommands, Plugin::inner) {
        Inner::Unclear(word) => Err(StepReport::not(word, "")),
        Inner::Text(list, text) => Ok((Place::Item(list, text), docker)),
        Inner::StepCommands => match step.commands {
            Commands::None => Err(StepReport::not("no-commands", "")),
            Commands::Text(name, node) => Ok((Place::Text(name, node), docker)),
            Commands::List(node) => Ok((Place::List(node), docker)),
        },
    }
}
