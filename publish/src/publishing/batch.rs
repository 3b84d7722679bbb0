//! Several backends, each on its own.

use super::report::{BatchReport, Failure, PublishReport, UnusedMap};
use super::{BatchRequest, Evidence, PublishError, PublishRequest, Table, publish};
use crate::recorded_at::{RecordedAtError, Sources, recorded_at};
use kernrec_git::Repo;
use kernrec_schemas::{Backend, Timestamp};
use kernrec_store::Store;
use std::collections::BTreeSet;

/// Publishes every backend on a thread of its own: none touches, delays or hides another.
pub fn publish_all(store: &dyn Store, batch: &BatchRequest<'_>) -> BatchReport {
    let with_map = batch.maps.backends();
    let recorded = recorded_backends(batch);
    let chosen: BTreeSet<Backend> = if batch.backends.is_empty() {
        let without = recorded.iter().filter(|backend| !backend.has_kernels());
        with_map.iter().chain(without).copied().collect()
    } else {
        batch.backends.iter().copied().collect()
    };
    let reports = std::thread::scope(|scope| {
        let threads: Vec<_> = chosen
            .iter()
            .map(|&backend| scope.spawn(move || publish_one(store, batch, backend)))
            .collect();
        threads
            .into_iter()
            .map(|thread| {
                thread
                    .join()
                    .unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            })
            .collect()
    });
    let uncovered = |backend: &Backend| {
        backend.has_kernels() && !with_map.contains(backend) && !chosen.contains(backend)
    };
    BatchReport {
        reports,
        unused_maps: unused_maps(batch, &chosen),
        backends_without_map: recorded.into_iter().filter(uncovered).collect(),
        skipped: None,
    }
}

fn publish_one(store: &dyn Store, batch: &BatchRequest<'_>, backend: Backend) -> PublishReport {
    let request = |recorded_at| PublishRequest {
        backend,
        pipeline: batch.pipeline.clone(),
        commit: batch.commit.clone(),
        build: batch.build,
        org: batch.org.clone(),
        recorded_at,
        evidence: batch.evidence,
        maps: batch.maps,
        jobs: batch.jobs,
        gates: batch.gates,
        repo: batch.repo.clone(),
        layout: batch.layout,
        replace_unnamed: batch.replace_unnamed,
        bundles: batch.bundles,
        signing: batch.signing.clone(),
        dry_run: batch.dry_run,
    };
    let failed = |error| PublishReport {
        failure: Some(Failure::of(&error)),
        ..PublishReport::blank(
            backend,
            &batch.pipeline,
            &batch.commit,
            batch.build,
            batch.dry_run,
        )
    };
    time_of(batch, backend)
        .map_err(PublishError::from)
        .and_then(|time| publish(store, &request(time)))
        .unwrap_or_else(failed)
}

fn time_of(batch: &BatchRequest<'_>, backend: Backend) -> Result<Timestamp, RecordedAtError> {
    if let Evidence::Table(table) = batch.evidence {
        return Ok(table.source().recorded_at);
    }
    let repo = batch.repo.as_ref().map(Repo::new);
    recorded_at(&Sources {
        given: batch.recorded_at,
        source_date_epoch: batch.source_date_epoch.as_deref(),
        repo: repo.as_ref(),
        commit: &batch.commit,
        maps: batch.maps,
        backend,
    })
}

fn unused_maps(batch: &BatchRequest<'_>, chosen: &BTreeSet<Backend>) -> Vec<UnusedMap> {
    let refused = batch.maps.refused().iter().map(|map| UnusedMap {
        path: map.path.clone(),
        problem: Some(map.problem.clone()),
    });
    let others = Backend::KERNELS
        .into_iter()
        .filter(|backend| !chosen.contains(backend))
        .flat_map(|backend| batch.maps.of(backend))
        .map(|(_, file)| UnusedMap {
            path: file.path.clone(),
            problem: None,
        });
    refused.chain(others).collect()
}

fn recorded_backends(batch: &BatchRequest<'_>) -> BTreeSet<Backend> {
    match batch.evidence {
        Evidence::Recordings(collected) => {
            let python = (!collected.python_jobs().is_empty()).then_some(Backend::Python);
            let jobs = collected.jobs().iter();
            let kernels = jobs.filter_map(|job| job.backend.known());
            kernels.chain(python).collect()
        }
        Evidence::Table(Table::Functions(_)) => BTreeSet::from([Backend::Python]),
        Evidence::Table(Table::Kernels(table)) => table
            .rows
            .values()
            .filter_map(|row| row.backend.known())
            .collect(),
    }
}
