//! Field by field, because writers disagree about numbers and strings.

use super::{DOCUMENT, Sidecar};
use crate::id::Variant;
use crate::json::{self, DocumentError, MAX_SMALL_BYTES};
use serde_json::{Map, Value};
use std::fmt::Display;
use std::str::FromStr;

pub(super) fn parse(bytes: &[u8]) -> Result<Sidecar, DocumentError> {
    let object: Map<String, Value> = json::read(DOCUMENT, bytes, MAX_SMALL_BYTES)?;
    let mut reader = Reader {
        object,
        faults: Vec::new(),
    };
    Ok(Sidecar {
        step_key: reader.parsed("step_key"),
        label: reader.text("label"),
        job_id: reader.parsed("job_id"),
        build: reader.text("build"),
        commit: reader.parsed("commit"),
        shard: reader.parsed("parallel_job"),
        shard_count: reader.parsed("parallel_job_count"),
        exit_status: reader.parsed("exit_status"),
        host: reader.text("host"),
        backend: reader.parsed("backend"),
        recorder: reader.text("recorder"),
        collection_available: reader.flag("collection_available"),
        collection_error: reader.text("collection_error"),
        retry_count: reader.parsed("retry_count"),
        variant: reader.parsed::<Variant>("variant").unwrap_or_default(),
        unrecorded_processes: reader.parsed("unrecorded_processes").unwrap_or(0),
        faults: reader.faults,
    })
}

struct Reader {
    object: Map<String, Value>,
    faults: Vec<String>,
}

impl Reader {
    /// A string or a whole number, as text; absent, null and "" are all `None`.
    fn text(&mut self, field: &str) -> Option<String> {
        match self.object.remove(field)? {
            Value::Null => None,
            Value::String(text) => (!text.is_empty()).then_some(text),
            Value::Number(number) if !number.is_f64() => Some(number.to_string()),
            _ => self.fault(field, "expected a string"),
        }
    }

    fn parsed<T: FromStr<Err: Display>>(&mut self, field: &str) -> Option<T> {
        let text = self.text(field)?;
        match text.parse() {
            Ok(value) => Some(value),
            Err(error) => self.fault(field, &error.to_string()),
        }
    }

    fn flag(&mut self, field: &str) -> Option<bool> {
        match self.object.remove(field)? {
            Value::Null => None,
            Value::Bool(flag) => Some(flag),
            _ => self.fault(field, "expected true or false"),
        }
    }

    fn fault<T>(&mut self, field: &str, problem: &str) -> Option<T> {
        self.faults.push(format!("{field}: {problem}"));
        None
    }
}
