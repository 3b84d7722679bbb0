//! The steps that collect what the armed ones leave, one for each backend.

use super::decide::Record;
use super::report::CollectorReport;
use super::script::{Collecting, collect};
use super::step::Step;
use crate::config::Config;
use crate::yaml::{Edits, New, Node};
use kernrec_schemas::Backend;

/// What the walk through a pipeline found for the collectors.
#[derive(Debug, Default)]
pub(super) struct Found<'d> {
    /// The steps that are armed now.
    pub(super) armed: Vec<Armed<'d>>,
    /// The steps that may build images, by key.
    pub(super) builds: Vec<(usize, &'d str)>,
    /// Every key of the pipeline.
    pub(super) keys: Vec<&'d str>,
    /// The groups and their lists.
    pub(super) groups: Vec<&'d Node<'d>>,
}

impl<'d> Found<'d> {
    /// Notes a step that may build images.
    pub(super) fn build(&mut self, step: &Step<'d>, number: usize) {
        if !step.has("skip") {
            self.builds.extend(step.key.map(|key| (number, key)));
        }
    }

    /// Notes a step that is armed.
    pub(super) fn armed(&mut self, step: &Step<'d>, number: usize, record: &Record<'d>) {
        let jobs = step.jobs();
        let python = record.python.then_some(Backend::Python);
        let backends = record.kernels.into_iter().chain(python);
        for backend in backends.filter(|_| jobs > 0) {
            self.armed.push(Armed {
                number,
                key: record.key,
                backend,
                jobs,
            });
        }
    }
}

/// A step that is armed now.
#[derive(Debug)]
pub(super) struct Armed<'d> {
    pub(super) number: usize,
    pub(super) key: &'d str,
    pub(super) backend: Backend,
    pub(super) jobs: u64,
}

/// Where the pipeline is put together.
#[derive(Debug, Clone, Copy)]
pub(super) struct Build<'a> {
    pub(super) config: &'a Config,
    /// The branch that is built, if it is known.
    pub(super) branch: Option<&'a str>,
}

/// Adds the collectors of the backends that steps were armed for.
pub(super) fn add<'d>(
    found: &Found<'d>,
    behind: &[bool],
    build: Build<'_>,
    steps: &'d Node<'d>,
    edits: &mut Edits<'d>,
) -> Vec<CollectorReport> {
    let mut reports = Vec::new();
    let mut added = Vec::new();
    for backend in Backend::ALL {
        let armed = found.armed.iter().filter(|step| step.backend == backend);
        let (late, now): (Vec<_>, Vec<_>) = armed.partition(|step| behind[step.number]);
        if late.is_empty() && now.is_empty() {
            continue;
        }
        let (key, image_builds) = build.config.collector(backend);
        let mut report = CollectorReport {
            key: key.to_owned(),
            jobs: now.iter().map(|step| step.jobs).sum(),
            waits_for: now.iter().map(|step| step.key.to_owned()).collect(),
            depends_on: builds(found, behind, image_builds),
            behind_a_block: late.iter().map(|step| step.key.to_owned()).collect(),
            not_added: None,
        };
        let store = build.config.collect.store.as_deref();
        match (why_not(found, &report), store) {
            (Some(word), _) => report.not_added = Some(word),
            (None, None) => report.not_added = Some("no-store"),
            (None, Some(store)) => added.push(step(backend, &now, &report, store, build)),
        }
        reports.push(report);
    }
    put(added, found, build.config, steps, edits);
    reports
}

fn why_not(found: &Found<'_>, report: &CollectorReport) -> Option<&'static str> {
    if found.keys.contains(&report.key.as_str()) {
        Some("collector-exists")
    } else if report.jobs == 0 {
        Some("all-behind-a-block")
    } else {
        None
    }
}

/// The image builds that it waits for; one that waits for somebody would hold it back.
fn builds(found: &Found<'_>, behind: &[bool], image_builds: &[String]) -> Vec<String> {
    let builds = found
        .builds
        .iter()
        .filter(|(number, key)| !behind[*number] && image_builds.iter().any(|build| build == key));
    builds.map(|(_, key)| (*key).to_owned()).collect()
}

/// In the group of one that is there already, or in a group of their own at the end.
fn put<'d>(
    added: Vec<New>,
    found: &Found<'d>,
    config: &Config,
    steps: &'d Node<'d>,
    edits: &mut Edits<'d>,
) {
    if added.is_empty() {
        return;
    }
    let is_collector = |step: &Node<'_>| {
        let key = step.get("key").and_then(Node::text);
        Backend::ALL
            .into_iter()
            .any(|backend| key == Some(config.collector(backend).0))
    };
    let mut lists = found.groups.iter().filter_map(|group| group.get("steps"));
    let list = lists.find(|list| {
        list.items()
            .is_some_and(|steps| steps.iter().any(is_collector))
    });
    if let Some(list) = list {
        edits.surround(list, Vec::new(), added);
        return;
    }
    let group = map([
        ("group", New::text(&config.collect.group)),
        ("steps", New::List(added)),
    ]);
    edits.surround(steps, Vec::new(), vec![group]);
}

fn step(
    backend: Backend,
    armed: &[&Armed<'_>],
    report: &CollectorReport,
    store: &str,
    build: Build<'_>,
) -> New {
    let collect_config = &build.config.collect;
    let counted: Vec<(&str, u64)> = armed.iter().map(|step| (step.key, step.jobs)).collect();
    let command = collect(
        &Collecting {
            backend: backend.as_str(),
            store,
            maps: if backend.has_kernels() {
                &report.depends_on
            } else {
                &[]
            },
            steps: &counted,
        },
        build.config,
    );
    let is_published =
        collect_config.only_branch.is_empty() || build.branch == Some(&collect_config.only_branch);
    let queue = if is_published {
        &collect_config.queue
    } else {
        &collect_config.queue_elsewhere
    };
    let depends_on = report
        .depends_on
        .iter()
        .map(|key| map([("step", New::text(key)), ("allow_failure", New::Flag(true))]));
    let mut entries = vec![
        (
            "label",
            New::text(format!("Collect the records of {backend}")),
        ),
        ("key", New::text(&report.key)),
        // None is not the same as nothing said: that would wait for the last `wait` or `block`.
        ("depends_on", New::List(depends_on.collect())),
    ];
    if !queue.is_empty() {
        entries.push(("agents", map([("queue", New::text(queue))])));
    }
    let timeout = u64::from(collect_config.timeout_minutes);
    entries.extend([
        ("timeout_in_minutes", New::Number(timeout)),
        ("soft_fail", New::Flag(true)),
    ]);
    if !collect_config.artifacts.is_empty() {
        let artifacts = collect_config.artifacts.iter().map(New::text).collect();
        entries.push(("artifact_paths", New::List(artifacts)));
    }
    entries.push(("command", New::text(command)));
    map(entries)
}

fn map<'a>(entries: impl IntoIterator<Item = (&'a str, New)>) -> New {
    let owned = entries.into_iter();
    New::Map(
        owned
            .map(|(name, value)| (name.to_owned(), value))
            .collect(),
    )
}
