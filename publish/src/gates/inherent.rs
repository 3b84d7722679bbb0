//! Gates on the record itself.

use super::{GateOptions, Refusal};
use crate::fold::Delivery;
use crate::maps::Maps;
use crate::publishing::Table;
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::{Backend, BuildNumber, Commit, Pipeline};
use std::cmp::Ordering;

/// A record that wants to be published.
#[derive(Debug, Clone, Copy)]
pub struct Candidate<'a> {
    /// Its backend.
    pub backend: Backend,
    /// The pipeline it is published in.
    pub pipeline: &'a Pipeline,
    /// The commit it is published for.
    pub commit: &'a Commit,
    /// The build it is published for.
    pub build: BuildNumber,
    /// Its table.
    pub table: &'a Table,
    /// All maps given.
    pub maps: &'a Maps,
    /// What it holds.
    pub counts: &'a Counts,
    /// What jobs delivered; `None` for a ready-made table.
    pub delivery: Option<&'a Delivery>,
    /// How the store is laid out.
    pub layout: StoreLayout,
    /// Whether a jobs list protects steps whose jobs are missing.
    pub has_jobs_list: bool,
}

/// Every gate on the record itself that refuses.
pub fn inherent(candidate: &Candidate<'_>, options: &GateOptions) -> Vec<Refusal> {
    let mut refusals = Vec::new();
    let has_kernels = candidate.backend.has_kernels();
    if has_kernels {
        maps(candidate, &mut refusals);
    } else if candidate.layout == StoreLayout::Upstream {
        refusals.push(Refusal::BackendNotRepresentable {
            backend: candidate.backend,
        });
    }
    let has_maps = has_kernels && refusals.is_empty();
    backends(candidate, &mut refusals);
    commits(candidate, &mut refusals);
    source(candidate, &mut refusals);
    if let Some(delivery) = candidate.delivery {
        deliveries(delivery, candidate.has_jobs_list, options, &mut refusals);
    }
    let counts = candidate.counts;
    if counts.usable_rows == 0 {
        refusals.push(Refusal::NoUsableRow { rows: counts.rows });
    } else if has_maps && counts.joined == 0 {
        refusals.push(Refusal::NamesDoNotJoin {
            joined: 0,
            symbols: counts.symbols,
            current: None,
        });
    }
    refusals
}

fn maps(candidate: &Candidate<'_>, refusals: &mut Vec<Refusal>) {
    let mut maps = candidate.maps.of(candidate.backend).peekable();
    if maps.peek().is_none() {
        let unread = candidate.maps.refused().iter().map(|refused| {
            let file = refused.path.display();
            format!("; `{file}` cannot be read: {}", refused.problem)
        });
        let none = format!("none of {} was given", candidate.backend);
        let problem = std::iter::once(none).chain(unread).collect();
        refusals.push(Refusal::MapRefused {
            path: None,
            problem,
        });
    }
    for (variant, file) in maps {
        if candidate.layout == StoreLayout::Upstream && !variant.is_default() {
            refusals.push(Refusal::VariantNotRepresentable {
                variant: variant.clone(),
            });
        }
        if let Err(error) = file.map.accept() {
            refusals.push(Refusal::MapRefused {
                path: Some(file.path.clone()),
                problem: error.to_string(),
            });
        }
    }
}

fn backends(candidate: &Candidate<'_>, refusals: &mut Vec<Refusal>) {
    let foreign = candidate.table.rows_of_others(candidate.backend);
    if let Some((step, found)) = foreign.first() {
        refusals.push(Refusal::WrongBackend {
            rows: foreign.len() as u64,
            step: (*step).clone(),
            found: *found,
        });
    }
}

fn commits(candidate: &Candidate<'_>, refusals: &mut Vec<Refusal>) {
    let mut check = |document: String, found: Option<&Commit>| {
        if found != Some(candidate.commit) {
            refusals.push(Refusal::CommitMismatch {
                document,
                found: found.map_or_else(String::new, Commit::to_string),
                expected: candidate.commit.to_string(),
            });
        }
    };
    check("table".to_owned(), candidate.table.source().commit.as_ref());
    for (_, file) in candidate.maps.of(candidate.backend) {
        let document = format!("symbol map `{}`", file.path.display());
        check(document, file.map.commit.as_ref());
    }
}

/// A ready-made table may belong to another build or pipeline.
fn source(candidate: &Candidate<'_>, refusals: &mut Vec<Refusal>) {
    let source = candidate.table.source();
    let fields = [
        (
            "build",
            source.build.to_string(),
            candidate.build.to_string(),
        ),
        (
            "pipeline",
            source.pipeline.clone(),
            candidate.pipeline.to_string(),
        ),
    ];
    for (field, found, expected) in fields {
        if found != expected {
            refusals.push(Refusal::TableMismatch {
                field,
                found,
                expected,
            });
        }
    }
}

fn deliveries(
    delivery: &Delivery,
    has_jobs_list: bool,
    options: &GateOptions,
    refusals: &mut Vec<Refusal>,
) {
    if delivery.foreign.saturating_mul(2) > delivery.folded {
        refusals.push(Refusal::ForeignRecordings {
            foreign: delivery.foreign,
            jobs: delivery.folded,
        });
    }
    if let Some(expected) = options.expected_jobs {
        let floor = options.min_delivered;
        let share = (delivery.delivered as f64).partial_cmp(&(floor * expected as f64));
        // A floor that is no number lets nothing through.
        if share.is_none_or(Ordering::is_lt) {
            refusals.push(Refusal::TooFewJobs {
                delivered: delivery.delivered,
                expected,
                floor,
            });
        }
    }
    refusals.extend(unreadable_input(delivery, has_jobs_list, options));
}

/// Refuses deliveries of which nobody knows the step.
///
/// With a jobs list the step of each has a listed job that delivered nothing (`job-missing`), unless there are
/// more of them than of such jobs. Without one, nothing tells its row from a healthy one.
pub fn unreadable_input(
    delivery: &Delivery,
    has_jobs_list: bool,
    options: &GateOptions,
) -> Option<Refusal> {
    let explained = has_jobs_list && delivery.unreadable.len() <= delivery.missing.len();
    if explained || options.allow_unreadable {
        return None;
    }
    let first = delivery.unreadable.first()?;
    Some(Refusal::UnreadableInput {
        inputs: delivery.unreadable.len() as u64,
        first: first.path.clone(),
        problem: first.message.clone(),
    })
}
