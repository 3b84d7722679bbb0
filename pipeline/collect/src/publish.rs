//! From what was gathered to a table and, where this branch publishes, to a published record.

use crate::ci::Gathered;
use crate::compare::{self, Changes};
use crate::delivered::short;
use crate::maps;
use crate::report::{CollectReport, Folded, Names, Obstacle};
use crate::rows::rows;
use crate::run::{OpenStore, Request, table_name};
use crate::workplace::{JOBS, Workplace};
use kernrec_git::Repo;
use kernrec_publish::recorded_at::{Sources, recorded_at};
use kernrec_publish::{
    BatchRequest, Collected, Evidence, FoldOptions, Inputs, Maps, Table, fold, fold_functions,
    publish_all,
};
use kernrec_schemas::jobs::{JobsList, ListedJob};
use kernrec_schemas::table;
use kernrec_schemas::{JobId, StepKey, Variant};
use kernrec_store::artifact;
use kernrec_store::fsio;
use std::collections::{BTreeMap, BTreeSet};

/// Everything there is to fold.
struct Evidences {
    collected: Collected,
    maps: Maps,
    jobs: Option<JobsList>,
}

/// Folds, compares and publishes; what happened goes into the report.
pub(crate) fn publish(
    request: &Request,
    gathered: &Gathered,
    place: &Workplace,
    open: OpenStore<'_>,
    report: &mut CollectReport,
) {
    let mut evidences = match read(request, gathered, place) {
        Ok(evidences) => evidences,
        Err(obstacle) => return report.obstacles.push(obstacle),
    };
    say_maps(request, &evidences.maps, place, report);
    report
        .obstacles
        .extend(doubts(request, gathered, &evidences));
    let has_no_map = evidences.maps.of(request.backend).next().is_none();
    let lacks_map = request.backend.has_kernels() && has_no_map;
    if lacks_map {
        let message = format!("no symbol map of {} arrived", request.backend);
        report
            .obstacles
            .push(Obstacle::refusal("map-missing", message));
    }
    let mut folded = folded(request, &evidences);
    if let Ok(table) = &folded {
        let unfinished = unfinished(request, table, report);
        if !unfinished.is_empty() {
            match and_unfinished(gathered, &unfinished, place) {
                Ok(jobs) => evidences.jobs = jobs,
                Err(obstacle) => return report.obstacles.push(obstacle),
            }
            folded = self::folded(request, &evidences);
        }
    }
    match &folded {
        Ok(table) => {
            report.short = short(&request.steps, table);
            match write_table(request, table, &evidences, place) {
                Ok(counts) => report.folded = Some(counts),
                Err(obstacle) => report.obstacles.push(obstacle),
            }
        }
        // Without a map there is no time either, and the map is what is missed.
        Err(_) if lacks_map => {}
        Err(obstacle) => report.obstacles.push(obstacle.clone()),
    }
    if !report.obstacles.is_empty() || report.skipped.is_some() {
        return;
    }
    let store = match open() {
        Ok(store) => store,
        Err(obstacle) => return report.obstacles.push(obstacle),
    };
    if let Ok(table) = &folded {
        let current = compare::current(
            store.as_ref(),
            request.layout,
            &request.pipeline,
            request.backend,
        );
        match current {
            Ok(current) => report.changes = Some(Changes::between(&current, table)),
            Err(why) => report.not_compared = Some(why.to_string()),
        }
    }
    let mut batch = publish_all(store.as_ref(), &batch(request, &evidences));
    report.publish = batch.reports.pop();
}

fn read(request: &Request, gathered: &Gathered, place: &Workplace) -> Result<Evidences, Obstacle> {
    // A folder in which nothing arrived was never made.
    let recordings = gathered.folders.iter().filter(|folder| folder.is_dir());
    let inputs = Inputs {
        recordings: recordings.cloned().collect(),
        bundles: gathered.bundles.clone(),
    };
    let collected = kernrec_publish::collect(&inputs)
        .map_err(|error| Obstacle::failure(error.reason(), error.to_string()))?;
    // Of the maps that lie beside what Python left, none is missed and none is in the way.
    let found = if request.backend.has_kernels() {
        gathered.maps.as_slice()
    } else {
        &[]
    };
    let maps = maps::of_backend(request.backend, found)
        .map_err(|error| Obstacle::refusal(error.reason(), error.to_string()))?;
    Ok(Evidences {
        collected,
        maps,
        jobs: jobs(gathered.jobs.as_deref(), place)?,
    })
}

/// The jobs list, also as a file that `kernrec publish --jobs` reads.
fn jobs(listed: Option<&[ListedJob]>, place: &Workplace) -> Result<Option<JobsList>, Obstacle> {
    let Some(listed) = listed else {
        return Ok(None);
    };
    let bytes = serde_json::to_vec_pretty(listed)
        .map_err(|error| Obstacle::failure("file-error", error.to_string()))?;
    fsio::write_atomic(&place.path(JOBS), &bytes)
        .map_err(|error| Obstacle::failure("file-error", error.to_string()))?;
    JobsList::parse(&bytes)
        .map(Some)
        .map_err(|error| Obstacle::refusal(error.reason(), error.to_string()))
}

/// Steps with a row that are late or short of jobs. Where nothing in the recordings says how many shards there are, the
/// row would look whole.
fn unfinished(request: &Request, table: &Table, report: &CollectReport) -> BTreeSet<StepKey> {
    let short = short(&request.steps, table)
        .into_iter()
        .map(|short| short.step);
    let late = report.waited.late().map(|late| late.step.clone());
    let both = short.chain(late);
    both.filter(|step| table.has_row(step)).collect()
}

/// The jobs list with a job for each of these steps that delivered nothing.
fn and_unfinished(
    gathered: &Gathered,
    steps: &BTreeSet<StepKey>,
    place: &Workplace,
) -> Result<Option<JobsList>, Obstacle> {
    let mut listed = gathered.jobs.clone().unwrap_or_default();
    listed.extend(steps.iter().filter_map(|step| {
        let id = JobId::new(format!("{step}.unfinished")).ok()?;
        Some(ListedJob {
            id,
            state: None,
            step_key: Some(step.clone()),
        })
    }));
    jobs(Some(&listed), place)
}

/// What makes it wrong to publish although a gate might let it pass.
fn doubts(request: &Request, gathered: &Gathered, evidences: &Evidences) -> Vec<Obstacle> {
    let mut doubts = Vec::new();
    let nobody_knows: Vec<_> = gathered
        .lost
        .iter()
        .filter(|lost| lost.step.is_none())
        .collect();
    if let Some(first) = nobody_knows.first()
        && !request.gates.allow_unreadable
    {
        let message = format!(
            "nobody knows the steps of {} artifacts that did not arrive, the first: `{}`: {}",
            nobody_knows.len(),
            first.what,
            first.message
        );
        doubts.push(Obstacle::refusal("artifacts-lost", message));
    }
    // A list that is only of steps that are not whole explains none of them.
    if let Some(first) = evidences.collected.unreadable().first()
        && gathered.jobs.is_none()
        && !request.gates.allow_unreadable
    {
        doubts.push(Obstacle::refusal("artifacts-lost", first.message.clone()));
    }
    if request.source_build.is_some() {
        let foreign = |job: &&kernrec_publish::collect::Job| {
            job.commit().is_some_and(|commit| *commit != request.commit)
        };
        let mut jobs = evidences.collected.jobs_of(request.backend).iter();
        if let Some(job) = jobs.find(foreign) {
            let id: &JobId = &job.id;
            let found = job.commit().map(ToString::to_string).unwrap_or_default();
            doubts.push(other_commit(request, &found, &format!("job `{id}`")));
        }
    }
    doubts
}

/// The build that was to be collected from tested something else.
pub(crate) fn other_commit(request: &Request, found: &str, what: &str) -> Obstacle {
    let message = format!(
        "{what} of the source build is of commit `{found}`, expected `{}`",
        request.commit
    );
    Obstacle::refusal("source-build-differs", message)
}

fn folded(request: &Request, evidences: &Evidences) -> Result<Table, Obstacle> {
    let repo = request.repo.as_ref().map(Repo::new);
    let recorded_at = recorded_at(&Sources {
        given: request.recorded_at,
        source_date_epoch: request.source_date_epoch.as_deref(),
        repo: repo.as_ref(),
        commit: &request.commit,
        maps: &evidences.maps,
        backend: request.backend,
    })
    .map_err(|error| Obstacle::failure(error.reason(), error.to_string()))?;
    let variants = evidences.maps.of(request.backend);
    let variants: BTreeSet<Variant> = variants.map(|(variant, _)| variant.clone()).collect();
    let has_kernels = request.backend.has_kernels();
    let options = FoldOptions {
        backend: request.backend,
        commit: request.commit.clone(),
        build: request.build,
        org: table::default_org(),
        pipeline: request.pipeline.clone(),
        recorded_at,
        jobs: evidences.jobs.clone(),
        map_variants: has_kernels.then_some(variants),
    };
    Ok(if has_kernels {
        Table::Kernels(fold(&evidences.collected, &options))
    } else {
        Table::Functions(fold_functions(&evidences.collected, &options))
    })
}

fn write_table(
    request: &Request,
    table: &Table,
    evidences: &Evidences,
    place: &Workplace,
) -> Result<Folded, Obstacle> {
    let name = table_name(request.backend);
    artifact::write(&place.path(&name), &table.to_canonical())
        .map_err(|error| Obstacle::failure("file-error", error.to_string()))?;
    let mut unusable = BTreeMap::new();
    let rows = rows(table);
    for row in rows.values() {
        for reason in &row.reasons {
            *unusable.entry(reason.word().to_owned()).or_default() += 1;
        }
    }
    let delivered: BTreeSet<&JobId> = evidences
        .collected
        .jobs_of(request.backend)
        .iter()
        .map(|job| &job.id)
        .collect();
    Ok(Folded {
        table: name,
        rows: rows.len() as u64,
        usable_rows: rows.values().filter(|row| row.is_usable()).count() as u64,
        names: match table {
            Table::Kernels(table) => Names::Kernels(table.names.len() as u64),
            Table::Functions(_) => Names::Functions(table.counts(&[]).functions),
        },
        unusable,
        delivered_jobs: delivered.len() as u64,
    })
}

fn say_maps(request: &Request, maps: &Maps, place: &Workplace, report: &mut CollectReport) {
    let used = maps.of(request.backend);
    report.maps = used.map(|(_, file)| place.shown(&file.path)).collect();
    let unread = maps.refused().iter();
    report.unreadable_maps = unread
        .map(|map| format!("{}: {}", place.shown(&map.path), map.problem))
        .collect();
}

fn batch<'a>(request: &Request, evidences: &'a Evidences) -> BatchRequest<'a> {
    BatchRequest {
        backends: vec![request.backend],
        pipeline: request.pipeline.clone(),
        commit: request.commit.clone(),
        build: request.build,
        org: table::default_org(),
        recorded_at: request.recorded_at,
        source_date_epoch: request.source_date_epoch.clone(),
        evidence: Evidence::Recordings(&evidences.collected),
        maps: &evidences.maps,
        jobs: evidences.jobs.as_ref(),
        gates: request.gates,
        repo: request.repo.clone(),
        layout: request.layout,
        replace_unnamed: false,
        bundles: request.bundles,
        signing: request.signing.clone(),
        dry_run: request.dry_run,
    }
}
