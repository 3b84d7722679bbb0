//! Which steps are armed, by which rule.

use super::container::{Inner, Plugin};
use super::place::Runs;
use super::report::{Fate, StepReport};
use super::script::MARK;
use super::step::Step;
use crate::config::{Config, Facts, Rule, Switches, is_step_key};
use crate::yaml::Node;
use kernrec_schemas::Backend;

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
    Record(Record<'d>),
}

/// What a step records.
#[derive(Debug)]
pub(super) struct Record<'d> {
    /// The kernels of this backend.
    pub(super) kernels: Option<Backend>,
    /// Python's functions.
    pub(super) python: bool,
    pub(super) key: &'d str,
    pub(super) runs: Runs<'d>,
}

/// One recorder for a step, and the rule that says so.
#[derive(Debug)]
struct Chosen<'d> {
    backend: Backend,
    rule: String,
    detail: String,
    key: &'d str,
    runs: Runs<'d>,
}

/// Decides about a step.
pub(super) fn decide<'d>(step: &Step<'d>, config: &'d Config, switches: Switches) -> Decision<'d> {
    match decided(step, config, switches) {
        Ok((work, report)) => Decision::Edit(work, report),
        Err(report) => Decision::Leave(report),
    }
}

fn decided<'d>(
    step: &Step<'d>,
    config: &'d Config,
    switches: Switches,
) -> Result<(Work<'d>, StepReport), StepReport> {
    if !step.is_command() {
        return Err(StepReport::not("no-command-step", ""));
    }
    if let Some(image_build) = image_build(step, config, switches) {
        return image_build;
    }
    if step.has("skip") {
        return Err(StepReport::not("skipped", ""));
    }
    let facts = facts(step, config);
    if facts.command.iter().any(|text| text.contains(MARK)) {
        return Err(StepReport::not("armed-already", ""));
    }
    let kernels = kernels(step, config, &facts, switches);
    let python = switches.python.then(|| python(step, config, &facts));
    both(kernels, python, switches)
}

/// One set-up serves both recorders.
fn both<'d>(
    kernels: Result<Chosen<'d>, StepReport>,
    python: Option<Result<Chosen<'d>, StepReport>>,
    switches: Switches,
) -> Result<(Work<'d>, StepReport), StepReport> {
    let (kernels, python, without) = match (kernels, python) {
        (Err(kernels), Some(Err(python))) => {
            let only_python = !switches.cuda && !switches.rocm;
            return Err(if only_python { python } else { kernels });
        }
        (Err(report), None) => return Err(report),
        (Ok(kernels), None) => (Some(kernels), None, String::new()),
        (Ok(kernels), Some(Ok(python))) => (Some(kernels), Some(python), String::new()),
        (Ok(kernels), Some(Err(why))) => {
            (Some(kernels), None, format!("; no functions: {}", why.rule))
        }
        (Err(why), Some(Ok(python))) => (None, Some(python), format!("; no kernels: {}", why.rule)),
    };
    let fate = Fate::Armed {
        kernels: kernels.as_ref().map(|chosen| chosen.backend),
        python: python.is_some(),
    };
    let is_python = python.is_some();
    let Some(chosen) = kernels.or(python) else {
        return Err(StepReport::not("no-rule", ""));
    };
    let report = StepReport::new(fate, chosen.rule, chosen.detail + &without);
    let record = Record {
        kernels: (chosen.backend != Backend::Python).then_some(chosen.backend),
        python: is_python,
        key: chosen.key,
        runs: chosen.runs,
    };
    Ok((Work::Record(record), report))
}

/// Whether its kernels are recorded.
fn kernels<'d>(
    step: &Step<'d>,
    config: &'d Config,
    facts: &Facts,
    switches: Switches,
) -> Result<Chosen<'d>, StepReport> {
    if is_listed(step, &config.skip) {
        return Err(StepReport::not("skip-list", ""));
    }
    if let Some((rule, detail)) = first(config.never.iter(), facts) {
        return Err(StepReport::not(rule, detail));
    }
    let (backend, rule, detail) = backend(config, facts)?;
    let key = usable_key(step)?;
    let runs = Runs::of(step, config, backend, config.host_steps)?;
    if !switches.contains(backend) {
        return Err(switch_off(config, backend));
    }
    Ok(Chosen {
        backend,
        rule,
        detail,
        key,
        runs,
    })
}

/// Whether its Python functions are recorded, which needs no GPU.
fn python<'d>(
    step: &Step<'d>,
    config: &'d Config,
    facts: &Facts,
) -> Result<Chosen<'d>, StepReport> {
    let settings = &config.python;
    if is_listed(step, &settings.skip) {
        return Err(StepReport::not("skip-list", ""));
    }
    let never = config.never.iter();
    let never = never.filter(|(name, _)| settings.never.contains(name));
    if let Some((rule, detail)) = first(never, facts) {
        return Err(StepReport::not(rule, detail));
    }
    let (machines, (rule, detail)) = Backend::KERNELS
        .into_iter()
        .find_map(|backend| Some((backend, first(&config.backend(backend).arm, facts)?)))
        .or_else(|| Some((Backend::Cuda, first(&settings.arm, facts)?)))
        .ok_or_else(|| StepReport::not("no-rule", "nothing says that it is a test"))?;
    let key = usable_key(step)?;
    let runs = Runs::of(step, config, machines, settings.host_steps)?;
    Ok(Chosen {
        backend: Backend::Python,
        rule,
        detail,
        key,
        runs,
    })
}

fn is_listed(step: &Step<'_>, keys: &[String]) -> bool {
    step.key
        .is_some_and(|key| keys.iter().any(|listed| listed == key))
}

/// A step that builds the image of a backend, or of several.
fn image_build<'d>(
    step: &Step<'d>,
    config: &'d Config,
    switches: Switches,
) -> Option<Result<(Work<'d>, StepReport), StepReport>> {
    let key = step.key?;
    let built = |backend: &&Backend| {
        config
            .backend(**backend)
            .image_builds
            .iter()
            .any(|build| build == key)
    };
    let mut builds = Backend::KERNELS.iter().filter(built).copied().peekable();
    let first = *builds.peek()?;
    let Some(backend) = builds.find(|backend| switches.contains(*backend)) else {
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

fn first<'r>(
    rules: impl IntoIterator<Item = (&'r String, &'r Rule)>,
    facts: &Facts,
) -> Option<(String, String)> {
    rules
        .into_iter()
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
            "its key is not letters, digits, `_`, `-`, `:` and `.`, or begins with `-`",
        ));
    }
    if step.has("matrix") {
        // Nothing tells a recording how many jobs there are, so one that is missing would not be missed.
        return Err(StepReport::not("matrix", "its jobs cannot be counted"));
    }
    Ok(key)
}
