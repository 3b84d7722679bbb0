//! Which rows of two tables differ, and how.

use kernrec_schemas::table::{KernelTable, Row};
use kernrec_schemas::{KernelName, StepKey};
use serde::Serialize;
use serde_json::Value;
use std::collections::BTreeSet;

/// A row that is not the same in two tables.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RowDifference {
    /// The step.
    pub step: StepKey,
    /// In which way.
    pub change: RowChange,
    /// Fields other than the kernels.
    pub fields: Vec<FieldDifference>,
    /// Kernels that only the first table's row has.
    pub kernels_lost: Vec<KernelName>,
    /// Kernels that only the second table's row has.
    pub kernels_gained: Vec<KernelName>,
}

/// In which way a row differs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum RowChange {
    /// Only the first table has it.
    Missing,
    /// Only the second table has it.
    Extra,
    /// Both have it.
    Changed,
}

/// A field that differs; `null` where it is absent.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FieldDifference {
    /// Its name in the document.
    pub field: String,
    /// The first table's value.
    pub first: Value,
    /// The second table's value.
    pub second: Value,
}

/// The rows that differ, by step. Kernels are compared by name: the numbers are each table's own.
pub fn differences(first: &KernelTable, second: &KernelTable) -> Vec<RowDifference> {
    let steps: BTreeSet<&StepKey> = first.rows.keys().chain(second.rows.keys()).collect();
    let compare = |step: &StepKey| {
        let (one, two) = (first.rows.get(step), second.rows.get(step));
        let (names_one, names_two) = (kernels(first, one), kernels(second, two));
        let difference = RowDifference {
            step: step.clone(),
            change: match (one, two) {
                (Some(_), Some(_)) => RowChange::Changed,
                (Some(_), None) => RowChange::Missing,
                _ => RowChange::Extra,
            },
            fields: fields(one, two),
            kernels_lost: names_one.difference(&names_two).copied().cloned().collect(),
            kernels_gained: names_two.difference(&names_one).copied().cloned().collect(),
        };
        let same = difference.change == RowChange::Changed
            && difference.fields.is_empty()
            && names_one == names_two;
        (!same).then_some(difference)
    };
    steps.into_iter().filter_map(compare).collect()
}

fn kernels<'a>(table: &'a KernelTable, row: Option<&'a Row>) -> BTreeSet<&'a KernelName> {
    row.into_iter().flat_map(|row| table.kernels(row)).collect()
}

fn fields(first: Option<&Row>, second: Option<&Row>) -> Vec<FieldDifference> {
    let (Some(first), Some(second)) = (first, second) else {
        return Vec::new();
    };
    let (first, second) = (members(first), members(second));
    let names: BTreeSet<&String> = first.keys().chain(second.keys()).collect();
    names
        .into_iter()
        .filter(|name| name.as_str() != "kernels" && first.get(*name) != second.get(*name))
        .map(|name| FieldDifference {
            field: name.clone(),
            first: first.get(name).cloned().unwrap_or_default(),
            second: second.get(name).cloned().unwrap_or_default(),
        })
        .collect()
}

/// The row as it stands in the document, so that a field added later is compared too.
fn members(row: &Row) -> serde_json::Map<String, Value> {
    match serde_json::to_value(row) {
        Ok(Value::Object(members)) => members,
        // A row is an object.
        Ok(_) | Err(_) => serde_json::Map::new(),
    }
}
