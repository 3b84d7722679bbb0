//! From a fetcher's output folder to the records of a question. The one place of this crate that reads files.

use crate::functions::FunctionRecord;
use crate::lineage::Lineage;
use crate::pair::{Pair, Record, Unavailable};
use kernrec_fetch::installed::{self, InstalledFunctions, InstalledPair};
use kernrec_schemas::{Backend, KeyId};
use kernrec_store::signing::TrustedKeys;
use std::collections::BTreeSet;
use std::path::Path;

/// Opens every backend that was asked for and every other one with something at its name in the folder; each
/// that cannot be opened is there as [`Record::Unavailable`]. Sorted by backend; empty when nothing was asked for
/// and nothing is there. With `keys`, a record that was installed without a signature by one of them may only add:
/// whoever fetched may have asked for none, or not have looked at how that ended.
pub fn open_records(out: &Path, asked: &BTreeSet<Backend>, keys: &TrustedKeys) -> Vec<Record> {
    let mut wanted = asked.clone();
    wanted.extend(installed::backends(out));
    if installed::is_there(out, Backend::Python) {
        wanted.insert(Backend::Python);
    }
    wanted
        .into_iter()
        .map(|backend| open_record(out, backend, keys))
        .collect()
}

fn open_record(out: &Path, backend: Backend, keys: &TrustedKeys) -> Record {
    let opened = match backend {
        Backend::Python => installed::open_functions(out)
            .map(|installed| Record::Functions(Box::new(functions(installed, keys)))),
        _ => installed::open(out, backend)
            .map(|installed| Record::Ready(Box::new(pair(installed, keys)))),
    };
    match opened {
        Ok(record) => record,
        Err(error) => Record::Unavailable(Unavailable {
            backend,
            reason: error.reason().to_owned(),
            problem: error.to_string(),
        }),
    }
}

fn pair(installed: InstalledPair, keys: &TrustedKeys) -> Pair {
    Pair {
        backend: installed.record.backend,
        published_at: installed.record.origin.published_at,
        revoked: installed.record.revoked.is_some(),
        unverified: unverified(installed.record.origin.signed_by.as_ref(), keys),
        lineage: Lineage::default(),
        table: installed.table,
        maps: installed.maps.into_values().collect(),
    }
}

fn functions(installed: InstalledFunctions, keys: &TrustedKeys) -> FunctionRecord {
    FunctionRecord {
        published_at: installed.record.origin.published_at,
        revoked: installed.record.revoked.is_some(),
        unverified: unverified(installed.record.origin.signed_by.as_ref(), keys),
        lineage: Lineage::default(),
        table: installed.table,
    }
}

fn unverified(signed_by: Option<&KeyId>, keys: &TrustedKeys) -> Option<String> {
    if keys.is_empty() || signed_by.is_some_and(|key| keys.holds(key)) {
        return None;
    }
    let how = match signed_by {
        Some(key) => format!("with a signature by `{key}`"),
        None => "without a verified signature".to_owned(),
    };
    let wanted = keys.names();
    Some(format!(
        "it was installed {how}, and one by {wanted} is required"
    ))
}
