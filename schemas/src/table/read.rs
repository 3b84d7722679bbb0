//! The loader of versions 2 and 3.

use super::{DOCUMENT, KernelTable, Row, RowFault, RowReason, Shards, TableSource};
use crate::id::{Backend, KernelName, RowBackend, StepKey};
use crate::json::{self, DocumentError};
use serde::Deserialize;
use serde::de::{Deserializer, SeqAccess, Visitor};
use serde_json::value::RawValue;
use std::collections::{BTreeMap, BTreeSet, HashSet};

const EXPECTED: &str = "2 or 3";

/// The document, its rows not yet looked into: one that is bad must not cost the others.
#[derive(Deserialize)]
struct Wire<'a> {
    #[serde(borrow)]
    version: &'a RawValue,
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
    let wire: Wire<'_> = json::read_versioned(DOCUMENT, bytes, &["2", "3"], EXPECTED)?;
    let version = match wire.version.get() {
        "2" => 2,
        "3" => 3,
        other => return Err(DocumentError::version(DOCUMENT, other, EXPECTED)),
    };
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
    // As they are written: nothing can stand twice, and no table of what was seen is needed to tell.
    if names.is_sorted_by(|one, next| one < next) {
        return Ok(());
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
        from_v2(json::part(raw.get()).map_err(|error| error.to_string())?)
    } else {
        json::part::<Row>(raw.get()).map_err(|error| error.to_string())?
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
    let fields: BTreeMap<String, &RawValue> = json::part(raw.get()).unwrap_or_default();
    let kernels = fields
        .get("kernels")
        .and_then(|kernels| json::part::<Indexes>(kernels.get()).ok())
        .map_or_else(Vec::new, |indexes| indexes.below(names));
    Row {
        jobs: 0,
        passed: false,
        complete: false,
        processes: 0,
        dropped: 0,
        shards: Shards::default(),
        kernels,
        backend: RowBackend::Unknown,
        trace_complete: false,
        recording_available: false,
        health: None,
        reasons: BTreeSet::from([RowReason::MalformedRow]),
        variants: BTreeSet::new(),
    }
}

/// A list of indexes in which some entries may be none.
pub(crate) struct Indexes(Vec<u32>);

impl Indexes {
    /// Those below a bound, ascending, each once.
    pub(crate) fn below(self, names: usize) -> Vec<u32> {
        let mut indexes = self.0;
        indexes.retain(|&index| (index as usize) < names);
        indexes.sort_unstable();
        indexes.dedup();
        indexes
    }
}

impl<'de> Deserialize<'de> for Indexes {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct List;
        impl<'de> Visitor<'de> for List {
            type Value = Indexes;
            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("a list of indexes")
            }
            fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<Indexes, A::Error> {
                let mut indexes = Vec::new();
                while let Some(entry) = list.next_element::<&RawValue>()? {
                    indexes.extend(entry.get().parse::<u32>());
                }
                Ok(Indexes(indexes))
            }
        }
        from.deserialize_seq(List)
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
