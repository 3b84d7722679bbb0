//! From a fetcher's output folder to the records of a question. The one place of this crate that reads files.

use crate::pair::{Pair, Record, Unavailable};
use kernrec_fetch::installed::{self, InstalledPair};
use kernrec_schemas::Backend;
use std::collections::BTreeSet;
use std::path::Path;

/// Opens every backend that was asked for and every other one with something at its name in the folder; each
/// that cannot be opened is there as [`Record::Unavailable`]. Sorted by backend; empty when nothing was asked for
/// and nothing is there.
pub fn open_records(out: &Path, asked: &BTreeSet<Backend>) -> Vec<Record> {
    let mut wanted = asked.clone();
    wanted.extend(installed::backends(out));
    wanted
        .into_iter()
        .map(|backend| open_record(out, backend))
        .collect()
}

fn open_record(out: &Path, backend: Backend) -> Record {
    match installed::open(out, backend) {
        Ok(installed) => Record::Ready(Box::new(installed.into())),
        Err(error) => Record::Unavailable(Unavailable {
            backend,
            reason: error.reason().to_owned(),
            problem: error.to_string(),
        }),
    }
}

impl From<InstalledPair> for Pair {
    fn from(installed: InstalledPair) -> Self {
        Self {
            backend: installed.record.backend,
            published_at: installed.record.origin.published_at,
            revoked: installed.record.revoked.is_some(),
            table: installed.table,
            maps: installed.maps.into_values().collect(),
        }
    }
}
