//! One backend's publish, from evidence to pointer.

use super::bundles::{self, Bundles};
use super::current::{self, Current};
use super::decide::{Decision, decide};
use super::record::{self, Record};
use super::report::{Failure, Outcome, PublishReport};
use super::upload::upload;
use super::{Evidence, PublishError, PublishRequest, Table, evidence, upstream};
use crate::gates::{self, Candidate, Refusal};
use kernrec_schemas::installed::StoreLayout;
use kernrec_schemas::manifest::Counts;
use kernrec_schemas::pointer::{Pointer, RecordRef};
use kernrec_schemas::{Generation, Timestamp};
use kernrec_store::pointers;
use kernrec_store::{Store, Swap};
use std::mem;
use std::panic::resume_unwind;
use std::thread::{self, ScopedJoinHandle};

/// How often a lost race is run again. Each loss is another publisher's success, so this many in a row means
/// that something else is wrong.
const MAX_TRIES: u32 = 1000;

/// Publishes one record of one backend.
///
/// An error means that the pointer was not moved; an end that cannot be told is [`Outcome::Unknown`].
pub fn publish(
    store: &dyn Store,
    request: &PublishRequest<'_>,
) -> Result<PublishReport, PublishError> {
    let (table, delivery) = evidence::table(request);
    let maps = request.maps.of(request.backend);
    let maps: Vec<_> = maps.map(|(_, file)| &file.map).collect();
    let counts = table.counts(&maps);
    let candidate = Candidate {
        backend: request.backend,
        pipeline: &request.pipeline,
        commit: &request.commit,
        build: request.build,
        table: &table,
        maps: request.maps,
        counts: &counts,
        delivery: delivery.as_ref(),
        layout: request.layout,
        has_jobs_list: request.jobs.is_some(),
    };
    let refusals = gates::inherent(&candidate, &request.gates);
    let mut report = PublishReport::blank(
        request.backend,
        &request.pipeline,
        &request.commit,
        request.build,
        request.dry_run,
    );
    report.recorded_at = Some(table.source().recorded_at);
    report.counts = Some(counts);
    report.delivery = delivery;
    report.faulty_rows = faulty_rows(request);
    if !refusals.is_empty() {
        let current = current::read(store, request)?;
        let decision = decide(request, &counts, None, &refusals, current.as_ref())?;
        report.saw(current.as_ref());
        report.decided(decision);
        return Ok(report);
    }
    let prepared = Prepared::new(request, &table, counts)?;
    report.manifest = Some(prepared.record.manifest);
    report.bundles = prepared.bundles.refs().len() as u64;
    report.without_bundle.clone_from(&prepared.bundles.left_out);
    // What is checked by now is right unless this program is wrong, so it may be on its way meanwhile.
    thread::scope(|scope| {
        let checking = Checking::Running(scope.spawn(|| prepared.record.check()));
        prepared.run(store, request, checking, report)
    })
}

/// The check of a record by the loaders of its readers.
enum Checking<'scope> {
    Running(ScopedJoinHandle<'scope, Result<(), PublishError>>),
    Done,
}

impl Checking<'_> {
    /// Waits for it. Nothing may be said of a record before, and no pointer may name it.
    fn end(&mut self) -> Result<(), PublishError> {
        match mem::replace(self, Self::Done) {
            Self::Running(check) => check.join().unwrap_or_else(|panic| resume_unwind(panic)),
            Self::Done => Ok(()),
        }
    }
}

/// A record that passed the gates on itself.
struct Prepared {
    record: Record,
    bundles: Bundles,
    counts: Counts,
}

impl Prepared {
    fn new(
        request: &PublishRequest<'_>,
        table: &Table,
        counts: Counts,
    ) -> Result<Self, PublishError> {
        let bundles = bundles::prepare(request, table)?;
        let record = record::assemble(request, table, counts, bundles.refs())?;
        Ok(Self {
            record,
            bundles,
            counts,
        })
    }

    /// Decides, uploads once, and moves the pointer; after a lost race decides again.
    fn run(
        &self,
        store: &dyn Store,
        request: &PublishRequest<'_>,
        mut checking: Checking<'_>,
        mut report: PublishReport,
    ) -> Result<PublishReport, PublishError> {
        let manifest = self.record.manifest;
        let mut uploaded = false;
        for _ in 0..MAX_TRIES {
            let current = current::read(store, request)?;
            report.saw(current.as_ref());
            let decision = decide(
                request,
                &self.counts,
                Some(&manifest),
                &[],
                current.as_ref(),
            )?;
            let renews = matches!(decision, Decision::Renew);
            let moves = renews || matches!(decision, Decision::Go);
            let proceeds = moves || matches!(decision, Decision::Unchanged);
            if proceeds && !uploaded {
                // Also for an unchanged record: what was damaged since is healed.
                let refusal = self.upload(store, request, current.as_ref(), moves);
                checking.end()?;
                if let Some(refusal) = refusal? {
                    report.decided(Decision::Refused(vec![refusal]));
                    return Ok(report);
                }
                // Collectors that know of no rule may replace the files of a commit while the pointer is contended.
                uploaded = request.layout != StoreLayout::Upstream;
            }
            checking.end()?;
            if request.dry_run || !moves {
                report.decided(decision);
                return Ok(report);
            }
            match self.move_pointer(store, request, current.as_ref(), renews)? {
                Moved::Yes(generation) => {
                    report.outcome = Outcome::Published;
                    report.generation = Some(generation);
                    report.signed_by = request.signing.key_id();
                    return Ok(report);
                }
                Moved::LostRace => {}
                Moved::Unknown(error) => {
                    report.outcome = Outcome::Unknown;
                    report.failure = Some(Failure::of(&error));
                    return Ok(report);
                }
            }
        }
        Err(PublishError::Contended { tries: MAX_TRIES })
    }

    /// Stores what the pointer will name, unless this is a dry run; what refuses it, when something does.
    fn upload(
        &self,
        store: &dyn Store,
        request: &PublishRequest<'_>,
        current: Option<&Current>,
        moves: bool,
    ) -> Result<Option<Refusal>, PublishError> {
        if request.layout == StoreLayout::Upstream {
            return upstream::upload(store, request, &self.record, current);
        }
        if request.dry_run {
            return Ok(None);
        }
        upload(store, &self.record, &self.bundles, moves).map(|()| None)
    }

    fn move_pointer(
        &self,
        store: &dyn Store,
        request: &PublishRequest<'_>,
        current: Option<&Current>,
        renews: bool,
    ) -> Result<Moved, PublishError> {
        let expected = current.map(|current| &current.versioned.version);
        let generation = match current {
            None => Generation::FIRST,
            Some(current) => (current.versioned.pointer.generation.next())
                .ok_or(PublishError::GenerationsExhausted)?,
        };
        let swapped = if request.layout == StoreLayout::Upstream {
            let published_at = match current {
                Some(current) if renews => upstream::published_at(current),
                _ => Some(Timestamp::now()),
            };
            let next = upstream::next_pointer(request, &self.record, generation, published_at)?;
            upstream::move_pointer(store, request, expected, &next)
        } else {
            let next = self.next_pointer(request, current, renews)?;
            pointers::swap(store, expected, &next).map_err(PublishError::from)
        };
        Ok(match swapped? {
            Swap::Moved(_) => Moved::Yes(generation),
            Swap::Conflict => Moved::LostRace,
            Swap::Unknown(error) => Moved::Unknown(error.into()),
        })
    }

    fn next_pointer(
        &self,
        request: &PublishRequest<'_>,
        current: Option<&Current>,
        renews: bool,
    ) -> Result<Pointer, PublishError> {
        let record = RecordRef {
            manifest: self.record.manifest,
            commit: request.commit.clone(),
            build: request.build,
            // The one place where the wall clock goes into the store.
            published_at: Timestamp::now(),
        };
        let nonce = pointers::fresh_nonce()?;
        let next = match current.map(|current| &current.versioned.pointer) {
            None => Some(Pointer::first(
                request.pipeline.clone(),
                request.backend,
                record,
                nonce,
            )),
            Some(pointer) if renews => pointer.renewed(nonce),
            Some(pointer) => pointer.advanced(record, nonce),
        };
        let mut next = next.ok_or(PublishError::GenerationsExhausted)?;
        request.signing.sign(&mut next);
        Ok(next)
    }
}

enum Moved {
    Yes(Generation),
    LostRace,
    Unknown(PublishError),
}

fn faulty_rows(request: &PublishRequest<'_>) -> Vec<String> {
    let Evidence::Table(table) = request.evidence else {
        return Vec::new();
    };
    let shown = |fault: &kernrec_schemas::table::RowFault| {
        let key: String = fault
            .key
            .chars()
            .take(80)
            .flat_map(char::escape_debug)
            .collect();
        format!("{key}: {}", fault.problem)
    };
    table.faults().iter().map(shown).collect()
}
