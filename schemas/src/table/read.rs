//! The loader of versions 2 and 3.

use super::{DOCUMENT, KernelTable, Row, RowFault, RowReason, Shards, TableSource};
use crate::id::{Backend, KernelName, RowBackend, StepKey};
use crate::json::{self, DocumentError, MAX_RECORD_BYTES};
use serde::Deserialize;
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashSet};

/// Only the version, to choose the reader.
#[derive(Deserialize)]
struct Versioned<'a> {
    #[serde(borrow)]
    version: &'a RawValue,
}

#[derive(Deserialize)]
struct Wire<'a> {
    source: TableSource,
    names: Vec<KernelName>,
    #[serde(borrow)]
    rows: BTreeMap<String, &'a RawValue>,
}

/// A version 2 row: no backend, no trace health.
#[derive(Deserialize)]
struct RowV2 {
    jobs: u64,
    passed: bool,
    complete: bool,
    processes: u64,
    dropped: u64,
    #[serde(default)]
    shards: Shards,
    kernels: Vec<u32>,
}

pub(super) fn parse(bytes: &[u8]) -> Result<KernelTable, DocumentError> {
    json::check(DOCUMENT, bytes, MAX_RECORD_BYTES)?;
    let Versioned { version } = json::read_unchecked_keys(DOCUMENT, bytes)?;
    let version = match version.get() {
        "2" => 2,
        "3" => 3,
        other => {
            let found = other.chars().take(40).collect();
            return Err(DocumentError::Version {
                document: DOCUMENT,
                found,
                expected: "2 or 3",
            });
        }
    };
    let wire: Wire<'_> = json::read_unchecked_keys(DOCUMENT, bytes)?;
    check_names(&wire.names)?;
    if wire.rows.is_empty() {
        return Err(DocumentError::rule(DOCUMENT, "rows", "no row"));
    }
    let mut table = KernelTable {
        version,
        source: wire.source,
        names: wire.names,
        rows: BTreeMap::new(),
        faults: Vec::new(),
    };
    for (key, raw) in wire.rows {
        add_row(&mut table, key, raw);
    }
    Ok(table)
}

fn check_names(names: &[KernelName]) -> Result<(), DocumentError> {
    if u32::try_from(names.len()).is_err() {
        return Err(DocumentError::rule(
            DOCUMENT,
            "names",
            "more than 4294967295 names",
        ));
    }
    let mut seen =
        HashSet::with_capacity_and_hasher(names.len(), foldhash::fast::RandomState::default());
    for (index, name) in names.iter().enumerate() {
        if !seen.insert(name.as_str()) {
            let problem = format!("`{name}` stands twice");
            return Err(DocumentError::rule(
                DOCUMENT,
                format!("names[{index}]"),
                problem,
            ));
        }
    }
    Ok(())
}

fn add_row(table: &mut KernelTable, key: String, raw: &RawValue) {
    let parsed = parse_row(table.version, table.names.len(), raw);
    let (row, problem) = match parsed {
        Ok(row) => (row, None),
        Err(problem) => (salvage(raw, table.names.len()), Some(problem)),
    };
    let problem = match StepKey::new(key.as_str()) {
        Ok(step) => {
            table.rows.insert(step, row);
            problem
        }
        // No step can have such a key, so the row can neither select nor drop one.
        Err(error) => Some(error.to_string()),
    };
    table
        .faults
        .extend(problem.map(|problem| RowFault { key, problem }));
}

fn parse_row(version: u64, names: usize, raw: &RawValue) -> Result<Row, String> {
    let mut row = if version == 2 {
        from_v2(serde_json::from_str(raw.get()).map_err(|error| error.to_string())?)
    } else {
        serde_json::from_str::<Row>(raw.get()).map_err(|error| error.to_string())?
    };
    if let Some(index) = row.kernels.iter().find(|&&index| index as usize >= names) {
        return Err(format!(
            "kernel index {index} is out of range: there are {names} names"
        ));
    }
    row.kernels.sort_unstable();
    row.kernels.dedup();
    Ok(row)
}

fn from_v2(row: RowV2) -> Row {
    Row {
        jobs: row.jobs,
        passed: row.passed,
        complete: row.complete,
        processes: row.processes,
        dropped: row.dropped,
        shards: row.shards,
        kernels: row.kernels,
        backend: RowBackend::Known(Backend::Cuda),
        trace_complete: false,
        recording_available: row.processes > 0,
        health: None,
        reasons: BTreeSet::from([RowReason::LegacyTable]),
        variants: BTreeSet::new(),
    }
}

/// Keeps the kernels of a row that broke a rule: what was observed still selects.
fn salvage(raw: &RawValue, names: usize) -> Row {
    #[derive(Deserialize)]
    struct Kernels {
        kernels: Vec<serde_json::Value>,
    }
    let indexes =
        serde_json::from_str::<Kernels>(raw.get()).map_or_else(|_| Vec::new(), |k| k.kernels);
    let kernels: BTreeSet<u32> = indexes
        .iter()
        .filter_map(serde_json::Value::as_u64)
        .filter(|&index| index < names as u64)
        .filter_map(|index| u32::try_from(index).ok())
        .collect();
    Row {
        jobs: 0,
        passed: false,
        complete: false,
        processes: 0,
        dropped: 0,
        shards: Shards::default(),
        kernels: kernels.into_iter().collect(),
        backend: RowBackend::Unknown,
        trace_complete: false,
        recording_available: false,
        health: None,
        reasons: BTreeSet::from([RowReason::MalformedRow]),
        variants: BTreeSet::new(),
    }
}

/// A commit that may be the empty text.
pub(crate) mod optional_commit {
    use crate::id::Commit;
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    pub(crate) fn deserialize<'de, D: Deserializer<'de>>(
        from: D,
    ) -> Result<Option<Commit>, D::Error> {
        match Option::<String>::deserialize(from)? {
            Some(text) if !text.is_empty() => Commit::new(text).map(Some).map_err(D::Error::custom),
            _ => Ok(None),
        }
    }

    #[expect(clippy::ref_option, reason = "the signature serde calls")]
    pub(crate) fn serialize<S: Serializer>(
        commit: &Option<Commit>,
        to: S,
    ) -> Result<S::Ok, S::Error> {
        to.serialize_str(commit.as_ref().map_or("", Commit::as_str))
    }
}
